/*
 * A stream of snapshots as another host may send it: each line of the input is the
 * type and the tokens of a line, which gets a sequence number and the right sum
 * here; a line that begins with "!" is taken as it is.  What the stream says is
 * printed, in the format that the first byte chooses.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "dlang/base/mem.h"
#include "dlang/options.h"
#include "symbols/langname.h"
#include "tracer/consume/consume.h"
#include "tracer/consume/far.h"
#include "tracer/merge/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const formats[] = { "text", "json", "folded", "pprof",
	"prometheus", "snapshot", "chrome" };

struct listener {
	struct consume *c;
	struct consume_env env;
	struct prog_globals globals;
	struct options opts;
};

/* As merge_start() does: its aggregations are the reader's. */
static const char *
ready(void *ctx, struct stream *s)
{
	struct listener *r = ctx;

	if (r->c != NULL)
		return "it has begun";
	vec_foreach(a, &s->aggs)
		*vec_push(&r->globals.aggs) = *a;
	r->c = consume_create(&r->env);
	return NULL;
}

static void
row(void *ctx, struct stream *s, const struct prog_agg *a, const uint8_t *key,
    uint32_t cpu, const uint64_t *value)
{
	struct listener *r = ctx;

	far_row(r->c, a->id, key, cpu, value);
}

static void
record(void *ctx, struct stream *s, const struct probe_text *p, uint8_t *rec,
    uint32_t size)
{
	struct listener *r = ctx;

	far_record(r->c, s->host, p, rec, size);
}

static void
error(void *ctx, struct stream *s, const struct sink_error *e,
    const struct rec_hdr *hdr)
{
	struct listener *r = ctx;

	far_error(r->c, s->host, e, hdr);
}

static void
drop(void *ctx, struct stream *s, const struct sink_drop *d)
{
	struct listener *r = ctx;

	far_drop(r->c, s->host, d);
}

static void
snapshot(void *ctx, struct stream *s)
{
}

static void
say(void *ctx, struct stream *s, const char *what)
{
}

static const struct stream_ops ops = { ready, row, record, error, drop,
	snapshot, say };

static void
give(struct stream *s, const char *text, size_t n)
{
	static uint64_t sequence;
	struct wire_line l;
	char *line;

	if (s->next == 0)
		sequence = 0;
	if (n > 0 && *text == '!') {
		line = mem_strndup(text + 1, n - 1);
		n--;
	} else {
		char *body = mem_printf("^dt1 1 %llx %.*s",
		    (unsigned long long)sequence++, (int)n, text);
		n = strlen(body);
		line = mem_printf(
		    "%s %08lx", body, crc32(0, (const Bytef *)body, (uInt)n));
		n += 9;
		mem_free(body);
	}
	if (wire_open(&l, line, n) == 0)
		stream_line(s, &l);
	mem_free(line);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *nowhere;
	struct stream s;
	struct listener r = { 0 };

	if (size == 0)
		return 0;
	if (nowhere == NULL)
		nowhere = fopen("/dev/null", "w");
	options_init(&r.opts);
	option_set(
	    &r.opts, "oformat", formats[data[0] % ARRAY_SIZE(formats)], false);
	option_set(&r.opts, "aggmax", "64k", false);
	r.opts.active = true;
	r.env = (struct consume_env){ .globals = &r.globals,
		.opts = &r.opts,
		.out = nowhere,
		.err = nowhere,
		.prog = "fuzz" };
	stream_init(&s, 1, &ops, &r);
	for (size_t at = 1; at < size;) {
		const char *text = (const char *)data + at;
		const char *end = memchr(text, '\n', size - at);
		size_t n = end != NULL ? (size_t)(end - text) : size - at;
		give(&s, text, n);
		at += n + 1;
	}
	stream_over(&s);
	if (r.c != NULL) {
		consume_finish(r.c);
		consume_drops(r.c);
		consume_end(r.c, 0);
		consume_destroy(r.c);
	}
	stream_fini(&s);
	vec_fini(&r.globals.aggs);
	options_fini(&r.opts);
	langname_reset();
	return 0;
}
