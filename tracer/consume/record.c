/*
 * One record: its columns, and its statements in order.
 *
 * c->rec contains a copy that is at least as long as the layout of its EPID
 * says. The layout comes from the compiler; only the values come from the
 * target.
 */
#include <string.h>

#include "tracer/consume/consume_impl.h"

/* ---- which probe, which clause ---- */

static const char *
image_text(const struct region *im, uint32_t ref)
{
	const char *s = region_at(im, ref, 1);

	if (s == NULL || memchr(s, '\0', im->size - ref) == NULL)
		return "";
	return s;
}

/* An object of the image, or NULL. */
static const void *
image_at(const struct region *im, uint64_t ref, size_t len)
{
	return ref > UINT32_MAX ? NULL : region_at(im, (uint32_t)ref, len);
}

static const struct img_ecb *
image_ecb(const struct region *im, uint32_t epid)
{
	const struct img_hdr *h = (const void *)im->base;

	if (im->size < sizeof(*h) || epid == EPID_PAD || epid >= h->ecbs_max ||
	    epid > h->necbs)
		return NULL;
	const uint32_t *ref = image_at(
	    im, (uint64_t)h->ecbs_ref + 4 * (uint64_t)epid, sizeof(*ref));
	if (ref == NULL)
		return NULL;
	return image_at(im, *ref, sizeof(struct img_ecb));
}

bool
record_probe(const struct consume *c, uint32_t epid, struct probe_text *p)
{
	const struct region *im = &c->env.image;
	const struct prog_globals *g = c->env.globals;
	const struct img_ecb *ecb = image_ecb(im, epid);

	*p = (struct probe_text){
		.prov = "", .mod = "", .func = "", .name = ""
	};
	if (ecb == NULL)
		return false;
	const struct img_clause *clause =
	    image_at(im, ecb->clause_ref, sizeof(*clause));
	if (clause != NULL && clause->index < g->clauses.len)
		p->clause = g->clauses.at[clause->index];
	const struct img_probe *probe =
	    image_at(im, ecb->probe_ref, sizeof(*probe));
	if (probe == NULL)
		return true;
	p->id = probe->id;
	p->probe_ref = ecb->probe_ref;
	p->prov = image_text(im, probe->prov_ref);
	p->mod = image_text(im, probe->mod_ref);
	p->func = image_text(im, probe->func_ref);
	p->name = image_text(im, probe->name_ref);
	return true;
}

uint32_t
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

/* ---- messages ---- */

/* Clauses are numbered by their order in all programs of the session. */
struct printer
record_printer(struct consume *c, struct str *to)
{
	return (struct printer){
		.to = to,
		.c = c,
		.escape = c->out.escape,
		.quiet = option_get(c->env.opts, OPT_QUIET),
		.pid = c->rec.at != NULL ? c->rec.hdr->pid : 0,
	};
}

const char *
record_clause_name(const struct prog_clause *clause, char *buf, size_t size)
{
	if (clause == NULL)
		return "dtrace";
	snprintf(buf, size, "dt_clause_%u", clause->global_index);
	return buf;
}

/* Text that was printed before is written first: on a terminal both are one
 * text. */
void
record_error(struct consume *c, uint32_t epid, const char *what)
{
	char name[CLAUSE_NAME];
	struct probe_text p;

	out_write(&c->out, &c->line);
	record_probe(c, epid, &p);
	consume_message(c, "error in %s for probe ID %u (%s:%s:%s:%s): %s",
	    record_clause_name(p.clause, name, sizeof(name)), p.id, p.prov,
	    p.mod, p.func, p.name, what);
}

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
	const struct region *im = &c->env.image;
	const struct img_ecb *a = image_ecb(im, epid);
	const struct img_ecb *b = image_ecb(im, hdr->epid);

	return a != NULL && b != NULL && a->probe_ref == b->probe_ref &&
	    epid != hdr->epid && timestamp == hdr->timestamp;
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

/* A value of the record, or NULL. */
static const uint8_t *
record_value(const struct consume *c, const struct prog_rec *rec)
{
	if (rec->off > c->rec.size || rec->size > c->rec.size - rec->off)
		return NULL;
	return c->rec.at + rec->off;
}

/* The last argument of an action as a number, or `other' if it has none. */
static int64_t
stmt_arg(const struct consume *c, const struct prog_stmt *st, int64_t other)
{
	if (!st->has_arg || st->nrecs == 0)
		return other;
	const struct prog_rec *rec = &st->recs[st->nrecs - 1];
	const uint8_t *v = record_value(c, rec);
	if (v == NULL || rec->size == 0)
		return other;
	return rec->is_signed ? value_int(v, rec->size) :
				(int64_t)value_uint(v, rec->size);
}

static void
stmt_format(struct consume *c, struct printer *p, const struct prog_stmt *st)
{
	struct fmt_args args = {
		.recs = st->recs,
		.nrecs = st->nrecs,
		.base = c->rec.at,
		.size = c->rec.size,
	};
	if (st->fmt != NULL)
		printf_render(p, st->fmt, &args);
}

static void
stmt_trace(struct consume *c, struct printer *p, const struct prog_stmt *st)
{
	for (size_t i = 0; i < st->nrecs; i++) {
		const uint8_t *v = record_value(c, &st->recs[i]);
		if (v != NULL)
			print_value(p, &st->recs[i], v);
	}
}

static void
stmt_tracemem(struct consume *c, struct printer *p, const struct prog_stmt *st)
{
	const uint8_t *v =
	    st->nrecs != 0 ? record_value(c, &st->recs[0]) : NULL;

	if (v == NULL)
		return;
	int64_t size = stmt_arg(c, st, st->recs[0].size);
	if (size < 0 || size > st->recs[0].size)
		size = st->recs[0].size;
	print_dump(p, v, (size_t)size);
}

/* One record is the object itself; two are its address and the object. */
static void
stmt_print(struct consume *c, struct printer *p, const struct prog_stmt *st)
{
	if (st->nrecs == 0)
		return;
	const struct prog_rec *rec = &st->recs[st->nrecs - 1];
	const uint8_t *v = record_value(c, rec);
	const uint8_t *addr = record_value(c, &st->recs[0]);

	if (v == NULL || addr == NULL)
		return;
	if (st->nrecs == 2)
		print_object(p, value_uint(addr, 8), rec->type, v, rec->size);
	else
		print_typed(p, rec->type, v, rec->size);
}

/* Must a smallest or largest value be forgotten that the lanes still have? */
static bool
forgets(const struct consume *c, const struct prog_stmt *st)
{
	if (st->kind != ACT_CLEAR && st->kind != ACT_TRUNC)
		return false;
	for (size_t i = 0; i < st->naggs; i++) {
		const struct prog_agg *def =
		    c->env.globals->aggs.at[st->aggs[i] - 1];
		if (def->func == AGG_MIN || def->func == AGG_MAX)
			return true;
	}
	return false;
}

/* clear() and similar actions apply to everything that was aggregated up to
 * now, printa() to what was read at the last time of `aggrate'. */
static void
stmt_aggs(struct consume *c, struct printer *p, const struct prog_stmt *st)
{
	if (st->kind == ACT_PRINTA) {
		consume_aggs_due(c);
		printa(p, st->aggs, st->naggs, st->fmt, true);
		return;
	}
	consume_aggs(c);
	if (forgets(c, st))
		snapshots_flip(c);
	for (size_t i = 0; i < st->naggs; i++) {
		struct agg_table *t = aggs_table(&c->aggs, st->aggs[i]);
		if (t == NULL)
			continue;
		if (st->kind == ACT_CLEAR)
			aggs_clear(&c->aggs, st->aggs[i]);
		else if (st->kind == ACT_TRUNC)
			aggs_trunc(&c->aggs, st->aggs[i], stmt_arg(c, st, 0));
		else if (st->kind == ACT_DENORMALIZE)
			t->normal = 1;
		else if (stmt_arg(c, st, 1) != 0)
			t->normal = (uint64_t)stmt_arg(c, st, 1);
		else
			record_error(
			    c, c->rec.hdr->epid, "couldn't normalize() by 0");
	}
}

/* A copy of argument i of setopt(); the record contains those that are
 * computed, in their order. NULL if there is none. */
static char *
stmt_string(const struct consume *c, const struct prog_stmt *st, size_t i)
{
	size_t n = 0;

	if (st->strs[i] != NULL)
		return mem_printf("%s", st->strs[i]);
	for (size_t j = 0; j < i; j++)
		n += st->strs[j] == NULL;
	const char *v =
	    n < st->nrecs ? (const char *)record_value(c, &st->recs[n]) : NULL;
	if (v == NULL)
		return NULL;
	return mem_printf("%.*s", (int)st->recs[n].size, v);
}

static void
stmt_setopt(struct consume *c, const struct prog_stmt *st)
{
	char *name = stmt_string(c, st, 0), *value = stmt_string(c, st, 1);
	int r = name != NULL ? option_set(c->env.opts, name, value, true) : 0;

	if (r != 0) {
		/* An empty line follows it, as in DTrace. */
		char *what =
		    mem_printf("couldn't set option \"%s\" to \"%s\": %s\n",
			name, value != NULL ? value : "1", option_error(r));
		record_error(c, c->rec.hdr->epid, what);
		mem_free(what);
	}
	mem_free(name);
	mem_free(value);
}

/* system() and freopen(): the shell or the file system gets the text
 * unchanged. */
static void
stmt_outside(struct consume *c, const struct prog_stmt *st)
{
	struct str text = { 0 };
	struct printer p = record_printer(c, &text);

	p.escape = false;
	stmt_format(c, &p, st);
	out_write(&c->out, &c->line);
	if (st->kind == ACT_SYSTEM) {
		out_system(&c->out, str_c(&text));
		str_fini(&text);
		return;
	}
	int r = out_reopen(&c->out, str_c(&text));
	if (r != 0) {
		char *what = mem_printf("couldn't freopen() \"%s\": %s",
		    str_c(&text), strerror(-r));
		record_error(c, c->rec.hdr->epid, what);
		mem_free(what);
	}
	str_fini(&text);
}

static void
stmt_carry_out(struct consume *c, struct printer *p, const struct prog_stmt *st)
{
	switch (st->kind) {
	case ACT_TRACE:
	case ACT_USTACK:
	case ACT_JSTACK:
	case ACT_STACK:
	case ACT_USYM:
	case ACT_UFUNC:
	case ACT_UMOD:
	case ACT_UADDR:
	case ACT_SYM:
	case ACT_FUNC:
	case ACT_MOD: stmt_trace(c, p, st); break;
	case ACT_PRINTF: stmt_format(c, p, st); break;
	case ACT_PRINTA:
	case ACT_CLEAR:
	case ACT_TRUNC:
	case ACT_NORMALIZE:
	case ACT_DENORMALIZE: stmt_aggs(c, p, st); break;
	case ACT_SETOPT: stmt_setopt(c, st); break;
	case ACT_FTRUNCATE:
		out_write(&c->out, &c->line);
		out_truncate(&c->out);
		break;
	case ACT_TRACEMEM: stmt_tracemem(c, p, st); break;
	case ACT_PRINT: stmt_print(c, p, st); break;
	case ACT_SYSTEM:
	case ACT_FREOPEN: stmt_outside(c, st); break;
	/* Done at the hit, or nothing is printed: */
	case ACT_NONE:
	case ACT_EXIT:
	case ACT_STOP:
	case ACT_RAISE:
	case ACT_BREAKPOINT:
	case ACT_PANIC:
	case ACT_CHILL:
	case ACT_SPECULATE:
	case ACT_COMMIT:
	case ACT_DISCARD: break;
	}
}

void
record_print(struct consume *c, const struct rec_hdr *next)
{
	const struct options *opts = c->env.opts;
	bool flow = option_get(opts, OPT_FLOWINDENT);
	bool quiet = option_get(opts, OPT_QUIET);
	struct printer p = record_printer(c, &c->line);
	struct probe_text probe;

	record_probe(c, c->rec.hdr->epid, &probe);
	ASSERT(probe.clause != NULL); /* or it would not have been read */
	if (flow || !quiet)
		record_header(c, flow);
	if (flow)
		record_flow(c, &p, &probe, next);
	else if (!quiet)
		record_columns(c, &p, &probe);
	for (size_t i = 0; i < probe.clause->nstmts; i++) {
		stmt_carry_out(c, &p, &probe.clause->stmts[i]);
		/* freopen() may have made a terminal the output. */
		p.escape = c->out.escape;
	}
	if (!quiet)
		str_addc(&c->line, '\n');
	out_write(&c->out, &c->line);
}
