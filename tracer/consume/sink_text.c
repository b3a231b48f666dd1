/*
 * The format text: what DTrace prints, for people.
 */
#include <string.h>

#include "tracer/consume/consume_impl.h"

/* ---- columns ---- */

enum flow_kind { FLOW_ENTRY, FLOW_RETURN, FLOW_OTHER };

static bool
flow_is(const char *name, const char *word)
{
	size_t n = strlen(name), w = strlen(word);

	if (n < w || strcmp(name + n - w, word) != 0)
		return false;
	return n == w || name[n - w - 1] == '-';
}

/* Are these records of the same firing of one probe, by different clauses? */
static bool
flow_same(const struct consume *c, uint32_t epid, uint64_t timestamp,
    const struct rec_hdr *hdr)
{
	return record_same_probe(c, epid, hdr->epid) && epid != hdr->epid &&
	    timestamp == hdr->timestamp;
}

/* Only the first clause of an entry increases the depth, and only the last
 * clause of a return decreases it. */
static enum flow_kind
flow_kind(struct consume *c, const struct flow *flow, const char *name,
    const struct rec_hdr *next)
{
	const struct rec_hdr *hdr = c->rec.hdr;

	if (flow_is(name, "entry"))
		return flow_same(c, flow->epid, flow->timestamp, hdr) ?
		    FLOW_OTHER :
		    FLOW_ENTRY;
	if (flow_is(name, "return"))
		return next != NULL && next->tid == hdr->tid &&
			flow_same(c, next->epid, next->timestamp, hdr) ?
		    FLOW_OTHER :
		    FLOW_RETURN;
	return FLOW_OTHER;
}

static struct flow *
flow_of(struct consume *c)
{
	uint64_t key = (uint64_t)c->rec.hdr->pid << 32 | c->rec.hdr->tid;
	struct flow *flow = hash_get(&c->flows, key);

	if (flow == NULL) {
		flow = mem_zalloc(sizeof(*flow));
		hash_set(&c->flows, key, flow);
	}
	return flow;
}

void
flows_fini(struct consume *c)
{
	hash_foreach(e, &c->flows) {
		struct flow *flow = e->value;

		vec_fini(&flow->inside);
		mem_free(flow);
	}
	hash_fini(&c->flows);
}

/* The most levels by which a line is indented. */
#define FLOW_SHOWN 2048
/* The most calls that are remembered: a program may enter functions and never
 * return from them. */
#define FLOW_MOST (1 << 20)

static uint64_t
flow_key(const struct probe_text *pr)
{
	return hash_bytes(pr->func, strlen(pr->func)) ^
	    hash_bytes(pr->mod, strlen(pr->mod)) << 1;
}

static void
flow_enter(struct flow *flow, const struct probe_text *pr)
{
	if (flow->inside.len < FLOW_MOST)
		*vec_push(&flow->inside) = flow_key(pr);
}

/* Functions that were entered after this one have ended too: by longjmp(), by
 * an exception, or by a tail call. If the entry of this one was not seen, it
 * replaces the last one. */
static void
flow_leave(struct flow *flow, const struct probe_text *pr)
{
	uint64_t key = flow_key(pr);
	size_t i = flow->inside.len;

	while (i > 0 && flow->inside.at[i - 1] != key)
		i--;
	if (i == 0)
		i = flow->inside.len;
	flow->inside.len = i > 0 ? i - 1 : 0;
}

static void
record_flow(struct consume *c, struct printer *p, const struct probe_text *pr,
    const struct rec_hdr *next)
{
	struct flow *flow = flow_of(c);
	enum flow_kind kind = flow_kind(c, flow, pr->name, next);
	const char *arrow = strcmp(pr->prov, "syscall") == 0 ? "=" : "-";

	if (kind == FLOW_RETURN)
		flow_leave(flow, pr);
	int indent = (int)(2 * MIN(flow->inside.len, FLOW_SHOWN));
	char *name = kind == FLOW_ENTRY ?
	    mem_printf("%*s %s> %s", indent, "", arrow, pr->func) :
	    kind == FLOW_RETURN ?
	    mem_printf("%*s <%s %s", indent, "", arrow, pr->func) :
	    mem_printf("%*s| %s:%s", indent, "", pr->func, pr->name);
	if (kind == FLOW_ENTRY)
		flow_enter(flow, pr);
	flow->epid = c->rec.hdr->epid;
	flow->timestamp = c->rec.hdr->timestamp;

	if (!c->env.testing)
		str_printf(p->to, "%3u ", c->rec.hdr->cpu);
	text_name_padded(p, name, -41);
	str_addc(p->to, ' ');
	mem_free(name);
}

static void
record_columns(
    struct consume *c, struct printer *p, const struct probe_text *pr)
{
	char *name = mem_printf("%s:%s", pr->func, pr->name);

	if (!c->env.testing)
		str_printf(p->to, "%3u %6u ", c->rec.hdr->cpu, pr->id);
	text_name_padded(p, name, 32);
	str_addc(p->to, ' ');
	mem_free(name);
}

static void
record_header(struct consume *c, bool flow)
{
	if (c->header)
		return;
	c->header = true;
	if (flow) {
		if (!c->env.testing)
			str_printf(&c->line, "%3s ", "CPU");
		str_printf(&c->line, "%-41s\n", "FUNCTION");
		return;
	}
	if (!c->env.testing)
		str_printf(&c->line, "%3s %6s ", "CPU", "ID");
	str_printf(&c->line, "%32s\n", "FUNCTION:NAME");
}

/* ---- statements ---- */

static void
text_trace(struct consume *c, struct printer *p, const struct prog_stmt *st)
{
	for (size_t i = 0; i < st->nrecs; i++) {
		const uint8_t *v = record_value(c, &st->recs[i]);
		if (v != NULL)
			print_value(p, &st->recs[i], v);
	}
}

static void
text_print(struct consume *c, struct printer *p, const struct prog_stmt *st)
{
	const uint8_t *v, *addr;
	const struct prog_rec *rec = record_object(c, st, &v, &addr);

	if (rec != NULL && addr != NULL)
		print_object(p, value_uint(addr, 8), rec->type, v, rec->size);
	else if (rec != NULL)
		print_typed(p, rec->type, v, rec->size);
}

static void
text_stmt(struct consume *c, const struct prog_stmt *st)
{
	struct printer p = record_printer(c, &c->line);
	const uint8_t *v;

	/* A setopt() in the record changes only what follows the record. */
	p.quiet = c->bare;
	if (st->kind == ACT_PRINTF) {
		record_format(c, &p, st);
	} else if (st->kind == ACT_PRINTA) {
		printa(&p, st->aggs, st->naggs, st->fmt, true);
	} else if (st->kind == ACT_TRACEMEM) {
		size_t size = record_memory(c, st, &v);
		if (v != NULL)
			print_dump(&p, v, size);
	} else if (st->kind == ACT_PRINT) {
		text_print(c, &p, st);
	} else {
		text_trace(c, &p, st);
	}
}

/* ---- the record ---- */

static void
text_open(struct consume *c, const struct probe_text *probe,
    const struct rec_hdr *next)
{
	const struct options *opts = c->env.opts;
	bool flow = option_get(opts, OPT_FLOWINDENT);
	bool quiet = option_get(opts, OPT_QUIET);
	struct printer p = record_printer(c, &c->line);

	c->bare = quiet;
	if (flow || !quiet)
		record_header(c, flow);
	if (flow)
		record_flow(c, &p, probe, next);
	else if (!quiet)
		record_columns(c, &p, probe);
}

static void
text_cut(struct consume *c)
{
	out_write(&c->out, &c->line);
}

static void
text_close(struct consume *c)
{
	if (!c->bare)
		str_addc(&c->line, '\n');
	out_write(&c->out, &c->line);
}

/* Text that was printed before is written first: on a terminal both are one
 * text. */
static void
text_error(struct consume *c, const struct sink_error *e)
{
	out_write(&c->out, &c->line);
}

/* ---- the end ---- */

/* In the order of their ids; `aggsortrev' reverses this order like that of the
 * lines. */
static void
text_report(struct consume *c)
{
	struct printer p = record_printer(c, &c->line);
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

const struct sink sink_text = {
	.name = "text",
	.open = text_open,
	.stmt = text_stmt,
	.cut = text_cut,
	.close = text_close,
	.error = text_error,
	.report = text_report,
};
