/*
 * One record: its statements in order.  The format (sink.h) prints those that
 * print; the others are carried out here.
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
record_same_probe(const struct consume *c, uint32_t epid, uint32_t other)
{
	const struct img_ecb *a = image_ecb(&c->env.image, epid);
	const struct img_ecb *b = image_ecb(&c->env.image, other);

	return a != NULL && b != NULL && a->probe_ref == b->probe_ref;
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

void
record_fail(struct consume *c, uint32_t epid, struct sink_error *e)
{
	char name[CLAUSE_NAME];
	struct probe_text p;

	record_probe(c, epid, &p);
	e->probe = &p;
	if (c->sink->error != NULL)
		c->sink->error(c, e);
	live_error(c, e);
	e->probe = NULL;
	if (c->sink->elsewhere) /* it is said there */
		return;
	consume_message(c, "error in %s for probe ID %u (%s:%s:%s:%s): %s",
	    record_clause_name(p.clause, name, sizeof(name)), p.id, p.prov,
	    p.mod, p.func, p.name, e->what);
}

/* Report an error in an action of the record in c->rec. */
static void
stmt_failed(struct consume *c, const char *what)
{
	record_fail(c, c->rec.hdr->epid, &(struct sink_error){ .what = what });
}

/* ---- statements ---- */

const uint8_t *
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

size_t
record_memory(
    const struct consume *c, const struct prog_stmt *st, const uint8_t **v)
{
	*v = st->nrecs != 0 ? record_value(c, &st->recs[0]) : NULL;
	if (*v == NULL)
		return 0;
	int64_t size = stmt_arg(c, st, st->recs[0].size);
	if (size < 0 || size > st->recs[0].size)
		size = st->recs[0].size;
	return (size_t)size;
}

/* One record is the object itself; two are its address and the object. */
const struct prog_rec *
record_object(const struct consume *c, const struct prog_stmt *st,
    const uint8_t **v, const uint8_t **addr)
{
	*addr = NULL;
	if (st->nrecs == 0)
		return NULL;
	const struct prog_rec *rec = &st->recs[st->nrecs - 1];
	*v = record_value(c, rec);
	if (st->nrecs == 2 && (*addr = record_value(c, &st->recs[0])) == NULL)
		return NULL;
	return *v != NULL ? rec : NULL;
}

void
record_format(struct consume *c, struct printer *p, const struct prog_stmt *st)
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
stmt_aggs(struct consume *c, const struct prog_stmt *st)
{
	consume_aggs(c);
	if (forgets(c, st))
		snapshots_flip(c);
	for (size_t i = 0; i < st->naggs; i++) {
		struct agg_table *t = aggs_table(&c->aggs, st->aggs[i]);
		if (t == NULL)
			continue;
		bool all = st->kind == ACT_TRUNC && stmt_arg(c, st, 0) == 0;
		if (st->kind == ACT_CLEAR || all)
			t->cleared = c->rec.hdr->timestamp;
		if (st->kind == ACT_CLEAR)
			aggs_clear(&c->aggs, st->aggs[i]);
		else if (st->kind == ACT_TRUNC)
			aggs_trunc(&c->aggs, st->aggs[i], stmt_arg(c, st, 0));
		else if (st->kind == ACT_DENORMALIZE)
			t->normal = 1;
		else if (stmt_arg(c, st, 1) != 0)
			t->normal = (uint64_t)stmt_arg(c, st, 1);
		else
			stmt_failed(c, "couldn't normalize() by 0");
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
		stmt_failed(c, what);
		mem_free(what);
	}
	mem_free(name);
	mem_free(value);
}

static void
stmt_cut(struct consume *c)
{
	if (c->sink->cut != NULL)
		c->sink->cut(c);
}

/* system() and freopen(): the shell or the file system gets the text
 * unchanged. */
static void
stmt_outside(struct consume *c, const struct prog_stmt *st)
{
	struct str text = { 0 };
	struct printer p = record_printer(c, &text);

	p.escape = false;
	record_format(c, &p, st);
	if (st->kind == ACT_FREOPEN && c->sink->elsewhere) {
		stmt_failed(c, "freopen(): the output is merged elsewhere");
		str_fini(&text);
		return;
	}
	stmt_cut(c);
	if (st->kind == ACT_SYSTEM) {
		out_system(&c->out, str_c(&text));
		str_fini(&text);
		return;
	}
	int r = out_reopen(&c->out, str_c(&text));
	if (r != 0) {
		char *what = mem_printf("couldn't freopen() \"%s\": %s",
		    str_c(&text), strerror(-r));
		stmt_failed(c, what);
		mem_free(what);
	}
	str_fini(&text);
}

static void
stmt_carry_out(struct consume *c, const struct prog_stmt *st)
{
	switch (st->kind) {
	case ACT_PRINTA:
		consume_aggs_due(c);
		live_printa(c, st);
		/* Fall through. */
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
	case ACT_MOD:
	case ACT_PRINTF:
	case ACT_TRACEMEM:
	case ACT_PRINT:
		if (c->sink->stmt != NULL)
			c->sink->stmt(c, st);
		break;
	case ACT_CLEAR:
	case ACT_TRUNC:
	case ACT_NORMALIZE:
	case ACT_DENORMALIZE:
		if (c->sink->elsewhere)
			c->sink->stmt(c, st);
		else
			stmt_aggs(c, st);
		break;
	case ACT_SETOPT:
		if (c->sink->elsewhere)
			c->sink->stmt(c, st);
		stmt_setopt(c, st);
		break;
	case ACT_FTRUNCATE:
		if (c->sink->elsewhere)
			break;
		stmt_cut(c);
		out_truncate(&c->out);
		break;
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
	struct probe_text probe;

	record_probe(c, c->rec.hdr->epid, &probe);
	ASSERT(probe.clause != NULL); /* or it would not have been read */
	record_print_as(c, &probe, next);
}

void
record_print_as(struct consume *c, const struct probe_text *probe,
    const struct rec_hdr *next)
{
	live_record(c, probe);
	if (c->sink->open != NULL)
		c->sink->open(c, probe, next);
	for (size_t i = 0; i < probe->clause->nstmts; i++)
		stmt_carry_out(c, &probe->clause->stmts[i]);
	if (c->sink->close != NULL)
		c->sink->close(c);
}
