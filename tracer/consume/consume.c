/*
 * The consumer: takes records out of the lanes in order of time, and what was
 * aggregated (snapshot.c).
 *
 * The target may write to the store at any time.  A record is therefore copied
 * first; its EPID, read from the copy, gives its size; where that is not
 * possible, what is left of the buffer is skipped and counted.
 */
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "dlang/vm/agg.h"
#include "dlang/vm/buf.h"
#include "tracer/consume/consume_impl.h"

/* Text may wait as much as records do, and never less than this. */
#define OUT_LEAST 65536

/* The lanes, as they are before a target can have written there. */
static void
take_lanes(struct consume *c)
{
	struct lane_view v;

	for (uint32_t n = 0; n < c->env.store.size / sizeof(struct lane) &&
	     store_view(&c->env.image, &c->env.store, n, &v);
	     n++)
		*vec_push(&c->lanes) = v;
}

struct consume *
consume_create(const struct consume_env *env)
{
	struct consume *c = mem_zalloc(sizeof(*c));

	c->env = *env;
	take_lanes(c);
	out_init(&c->out, env->out,
	    (size_t)MAX(option_get(env->opts, OPT_BUFSIZE), OUT_LEAST),
	    env->enough);
	aggs_init(
	    &c->aggs, env->globals, (size_t)option_get(env->opts, OPT_AGGMAX));
	return c;
}

void
consume_destroy(struct consume *c)
{
	if (c == NULL)
		return;
	out_fini(&c->out);
	str_fini(&c->line);
	aggs_fini(&c->aggs);
	flows_fini(c);
	faults_fini(c);
	mem_free(c->rec.at);
	vec_fini(&c->drops);
	snapshots_fini(c);
	vec_fini(&c->lanes);
	mem_free(c);
}

struct printer
consume_printer(struct consume *c, struct str *to)
{
	return (struct printer){
		.to = to,
		.c = c,
		.escape = c->out.escape,
		.quiet = option_get(c->env.opts, OPT_QUIET),
		.pid = c->rec.at != NULL ? c->rec.hdr->pid : 0,
	};
}

void
consume_message(struct consume *c, const char *fmt, ...)
{
	va_list ap;

	out_flush(&c->out);
	va_start(ap, fmt);
	text_message(c->env.err, c->env.prog, fmt, ap);
	va_end(ap);
}

/* ---- records ---- */

static void
lane_skip(struct consume *c, const struct lane_view *l, uint32_t size)
{
	c->damaged += size;
	buf_advance(l, size);
}

/* Positions that no writer of ours made: start afresh where it says it is. */
static void
lane_check(struct consume *c, const struct lane_view *l)
{
	uint64_t head = __atomic_load_n(&l->lane->head, __ATOMIC_ACQUIRE);
	uint64_t tail = __atomic_load_n(&l->lane->tail, __ATOMIC_RELAXED);

	if (head - tail <= l->buf_size)
		return;
	c->damaged += l->buf_size;
	__atomic_store_n(&l->lane->tail, head, __ATOMIC_RELEASE);
}

/* The next record of a lane: at least its header; NULL for none. */
static const struct rec_hdr *
lane_peek(struct consume *c, const struct lane_view *l, uint32_t *avail)
{
	uint32_t most = l->buf_size / 8;

	lane_check(c, l);
	/* As many as a buffer can hold: the target may be adding more. */
	for (uint32_t i = 0; i <= most; i++) {
		const void *at = buf_peek(l, avail);
		struct rec_pad pad;

		if (at == NULL || *avail < sizeof(uint32_t))
			return NULL;
		memcpy(&pad, at, MIN(*avail, sizeof(pad)));
		if (pad.epid != EPID_PAD && *avail >= sizeof(struct rec_hdr))
			return at;
		if (pad.epid == EPID_PAD && *avail >= sizeof(pad) &&
		    pad.size >= sizeof(pad) && pad.size <= *avail)
			buf_advance(l, pad.size);
		else
			lane_skip(c, l, *avail);
	}
	return NULL;
}

/* The lane whose next record is the oldest; by order of lanes if order in time
 * is not asked for.  NULL: there is none. */
static const struct lane_view *
consume_oldest(struct consume *c)
{
	bool temporal = option_get(c->env.opts, OPT_TEMPORAL);
	const struct lane_view *best = NULL;
	uint64_t least = 0;
	uint32_t avail;

	vec_foreach(l, &c->lanes) {
		const struct rec_hdr *hdr = lane_peek(c, l, &avail);
		if (hdr == NULL)
			continue;
		uint64_t when;
		memcpy(&when, &hdr->timestamp, sizeof(when));
		if (best != NULL && when >= least)
			continue;
		best = l;
		least = when;
		if (!temporal)
			break;
	}
	return best;
}

/* Bytes of a record, by its EPID; 0 when there is no such thing. */
static uint32_t
record_size(const struct consume *c, uint32_t epid)
{
	struct probe_text p;

	if (epid == EPID_FAULT)
		return sizeof(struct rec_fault);
	if (!record_probe(c, epid, &p) || p.clause == NULL ||
	    p.clause->rec_size < sizeof(struct rec_hdr))
		return 0;
	return p.clause->rec_size;
}

/* Move a lane's next record to c->rec.  False when it could not be read. */
static bool
consume_take(struct consume *c, const struct lane_view *l)
{
	uint32_t avail, epid;
	const struct rec_hdr *at = lane_peek(c, l, &avail);

	if (at == NULL)
		return false;
	memcpy(&epid, &at->epid, sizeof(epid));
	uint32_t size = record_size(c, epid);
	if (size == 0 || size > avail) {
		lane_skip(c, l, avail);
		return false;
	}
	if (c->rec.cap < size) {
		c->rec.cap = ROUND_UP(size, 4096);
		c->rec.at = mem_realloc(c->rec.at, c->rec.cap);
	}
	memcpy(c->rec.at, at, size);
	c->rec.hdr->epid = epid; /* what `size' is right for */
	c->rec.size = size;
	buf_advance(l, size);
	return true;
}

/* What has been written when the call began is at most what the buffers hold;
 * more is for the next call, or a busy target would keep us here. */
static uint64_t
consume_limit(const struct consume *c)
{
	uint64_t limit = 0;

	vec_foreach(l, &c->lanes)
		limit += l->buf_size;
	return limit;
}

int
consume_records(struct consume *c)
{
	uint64_t limit = consume_limit(c), done = 0;
	const struct lane_view *l;

	while (done < limit && !out_full(&c->out) &&
	    (l = consume_oldest(c)) != NULL) {
		uint64_t skipped = c->damaged;
		if (!consume_take(c, l)) {
			done += MAX(c->damaged - skipped, REC_ALIGN);
			continue;
		}
		done += c->rec.size;
		if (c->rec.hdr->epid == EPID_FAULT) {
			record_fault(c);
			continue;
		}
		/* A copy: the record behind it may be in the next pass. */
		struct rec_hdr next;
		uint32_t avail;
		const struct rec_hdr *at = lane_peek(c, l, &avail);
		if (at != NULL)
			memcpy(&next, at, sizeof(next));
		record_print(c, at != NULL ? &next : NULL);
	}
	return out_flush(&c->out);
}

void
consume_patiently(struct consume *c)
{
	c->out.patient = true;
}

/* ---- aggregations ---- */

static uint64_t
consume_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

void
consume_aggs_due(struct consume *c)
{
	int64_t rate = option_get(c->env.opts, OPT_AGGRATE);

	if (rate <= 0 || c->aggs_at == 0 ||
	    consume_now() - c->aggs_at >= (uint64_t)rate)
		consume_aggs(c);
}

void
consume_aggs(struct consume *c)
{
	if (snapshots_read(c))
		c->aggs_at = consume_now();
}

/* In the order of their ids, which `aggsortrev' turns round as it does that of
 * the lines. */
static void
consume_report(struct consume *c)
{
	struct printer p = consume_printer(c, &c->line);
	bool reverse = option_get(c->env.opts, OPT_AGGSORTREV);
	uint32_t n = (uint32_t)c->env.globals->aggs.len;

	str_addc(&c->line, '\n');
	for (uint32_t i = 1; i <= n; i++) {
		uint32_t id = reverse ? n + 1 - i : i;
		if (!aggs_table(&c->aggs, id)->printed)
			printa(&p, &id, 1, NULL, false);
	}
	out_write(&c->out, &c->line);
}

int
consume_finish(struct consume *c)
{
	consume_patiently(c);
	c->over = true;
	int r = consume_records(c);

	/* After the records: a printa() among them is not yet the end. */
	consume_aggs(c);
	consume_drops(c);
	faults_tell(c);
	if (r == 0) {
		if (c->env.report != NULL)
			c->env.report->print(c->env.report->ctx, c);
		else
			consume_report(c);
		r = out_flush(&c->out);
	}
	return r;
}
