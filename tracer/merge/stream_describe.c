/*
 * The lines of a stream that describe: who sends, what the program is, how its
 * aggregations and records are laid out.
 *
 * What the consumer trusts in a compiled program is checked here, because this
 * one does not come from the compiler.
 */
#include <ctype.h>
#include <string.h>

#include "dlang/vm/agg.h"
#include "tracer/merge/stream_impl.h"

#define KEYS_MOST   64
#define STMTS_MOST  1024
#define RECS_MOST   256
#define SIZE_MOST   65536
#define WORDS_MOST  (1u << 17)
#define FRAMES_MOST 65536

/* A number of things that follow, each of which takes a blank and more. */
static uint64_t
get_count(struct wire_line *l, uint64_t most)
{
	uint64_t n = wire_get_most(l, most);

	if (n > (uint64_t)(l->end - l->at) / 2)
		l->bad = true;
	return l->bad ? 0 : n;
}

/* A text in the stream's memory; "" if the line is bad. */
static const char *
keep(struct stream *s, struct wire_line *l, bool may_be_none)
{
	char *text = wire_get_string(l, WIRE_LINE);
	const char *own = NULL;

	if (text != NULL)
		own = arena_strdup(&s->arena, text);
	else if (!may_be_none)
		l->bad = true;
	mem_free(text);
	return own != NULL || may_be_none ? own : "";
}

bool
describe_head(struct stream *s, struct wire_line *l)
{
	if (s->version != NULL)
		return false;
	s->version = keep(s, l, false);
	s->host = keep(s, l, false);
	s->pid = (uint32_t)wire_get_most(l, UINT32_MAX);
	s->first_at = s->at = wire_get_number(l);
	s->first_realtime = s->realtime = wire_get_number(l);
	s->rate = wire_get_number(l);
	return wire_is_over(l);
}

bool
describe_option(struct stream *s, struct wire_line *l)
{
	struct stream_option o = { 0 };

	o.name = keep(s, l, false);
	o.value = keep(s, l, false);
	*vec_push(&s->options) = o;
	return wire_is_over(l);
}

bool
describe_source(struct stream *s, struct wire_line *l)
{
	struct stream_source src = { 0 };

	src.level = (int)wire_get_most(l, 5); /* enum cc_level */
	src.merged = wire_get_most(l, 1);
	src.name = keep(s, l, false);
	src.text = keep(s, l, false);
	src.noperands = get_count(l, WIRE_LINE);
	if (l->bad)
		return false;
	src.operands =
	    arena_alloc(&s->arena, (src.noperands + 1) * sizeof(char *));
	for (size_t i = 0; i < src.noperands; i++)
		src.operands[i] = (char *)keep(s, l, false);
	*vec_push(&s->sources) = src;
	return wire_is_over(l);
}

/* ---- values ---- */

static bool
size_fits(const struct prog_rec *r)
{
	switch (r->kind) {
	case REC_INT:
		return r->size == 1 || r->size == 2 || r->size == 4 ||
		    r->size == 8;
	case REC_STRING: return r->size > 1 && r->size <= SIZE_MOST;
	case REC_CHARS:
	case REC_BYTES: return r->size > 0 && r->size <= SIZE_MOST;
	case REC_FLOAT: return r->size == 4 || r->size == 8 || r->size == 16;
	case REC_STACK:
		return r->arg <= FRAMES_MOST &&
		    r->size == sizeof(struct rec_stack) + 8 * r->arg;
	case REC_EPID: return r->size <= 8;
	case REC_USYM:
	case REC_UMOD:
	case REC_UADDR:
	case REC_SYM:
	case REC_MOD: return r->size == sizeof(struct rec_sym);
	}
	return false;
}

/* Lay the value out at *off, which moves behind it. */
static void
get_rec(struct wire_line *l, struct prog_rec *r, uint32_t *off, uint32_t most)
{
	*r = (struct prog_rec){ 0 };
	r->kind = (enum rec_kind)wire_get_most(l, REC_EPID);
	r->is_signed = wire_get_most(l, 1);
	r->is_pointer = wire_get_most(l, 1);
	r->size = (uint32_t)wire_get_most(l, STREAM_RECORD);
	r->arg = wire_get_most(l, FRAMES_MOST);
	r->off = ROUND_UP(*off, 8);
	if (l->bad || !size_fits(r) || r->off + r->size > most) {
		l->bad = true;
		return;
	}
	*off = r->off + r->size;
}

/* ---- aggregations ---- */

/* Names are printed, and are words of D. */
static bool
is_identifier(const char *name)
{
	if (*name == '\0' || isdigit((unsigned char)*name))
		return false;
	for (; *name != '\0'; name++)
		if (!isalnum((unsigned char)*name) && *name != '_' &&
		    *name != '`')
			return false;
	return true;
}

/* Does factor^exp fit 63 bits? */
static bool
power_fits(uint64_t factor, uint64_t exp)
{
	uint64_t v = 1;

	for (; exp > 0; exp--)
		if (__builtin_mul_overflow(v, factor, &v) || v > INT64_MAX)
			return false;
	return true;
}

/* As the compiler admits them (dlang/cc/check_agg.c). */
static bool
param_fits(enum dif_agg func, uint64_t p)
{
	uint64_t factor = LLQUANTIZE_FACTOR(p), steps = LLQUANTIZE_NSTEPS(p);

	if (func == AGG_LQUANTIZE)
		return LQUANTIZE_STEP(p) != 0 && LQUANTIZE_LEVELS(p) != 0;
	if (func != AGG_LLQUANTIZE)
		return true;
	return factor >= 2 && steps > 0 && LLQUANTIZE_HIGH(p) < 64 &&
	    LLQUANTIZE_HIGH(p) >= LLQUANTIZE_LOW(p) &&
	    power_fits(factor, LLQUANTIZE_HIGH(p) + 1) &&
	    (steps < factor ? factor % steps == 0 : steps % factor == 0);
}

bool
describe_agg(struct stream *s, struct wire_line *l)
{
	struct prog_agg *a = arena_alloc(&s->arena, sizeof(*a));
	uint32_t off = 0;

	a->id = (uint32_t)wire_get_most(l, STREAM_LINES);
	a->name = keep(s, l, false);
	a->func = (enum dif_agg)wire_get_most(l, AGG_LLQUANTIZE);
	a->param = wire_get_number(l);
	a->words = (uint32_t)wire_get_most(l, WORDS_MOST);
	a->is_signed = wire_get_most(l, 1);
	a->nkeys = get_count(l, KEYS_MOST);
	if (l->bad || a->id != s->aggs.len + 1 || !is_identifier(a->name) ||
	    a->func < AGG_COUNT || !param_fits(a->func, a->param) ||
	    a->words == 0 || a->words != agg_words(a->func, a->param))
		return false;
	a->keys = arena_alloc(&s->arena, a->nkeys * sizeof(*a->keys));
	for (size_t i = 0; i < a->nkeys; i++)
		get_rec(l, &a->keys[i], &off, SIZE_MOST);
	a->key_size = ROUND_UP(off, 8);
	*vec_push(&s->aggs) = a;
	return wire_is_over(l);
}

/* ---- clauses ---- */

static void
get_format(struct stream *s, struct wire_line *l, struct prog_stmt *st)
{
	const char *text = keep(s, l, true), *error;

	if (text != NULL && fmt_parse(&s->arena, text, &st->fmt, &error) != 0)
		l->bad = true;
	if (st->kind == ACT_PRINTF && st->fmt == NULL)
		l->bad = true;
}

static void
get_stmt(
    struct stream *s, struct wire_line *l, struct prog_stmt *st, uint32_t *off)
{
	st->kind = (enum dif_act)wire_get_most(l, UINT16_MAX);
	if (!wire_carries(st->kind))
		l->bad = true;
	get_format(s, l, st);
	st->strs[0] = keep(s, l, true);
	st->strs[1] = keep(s, l, true);
	st->has_arg = wire_get_most(l, 1);
	st->naggs = get_count(l, s->aggs.len);
	st->aggs = arena_alloc(&s->arena, st->naggs * sizeof(*st->aggs));
	for (size_t i = 0; i < st->naggs; i++)
		st->aggs[i] = (uint32_t)wire_get_most(l, s->aggs.len);
	for (size_t i = 0; i < st->naggs; i++)
		l->bad |= st->aggs[i] == 0;
	st->nrecs = get_count(l, RECS_MOST);
	st->recs = arena_alloc(&s->arena, st->nrecs * sizeof(*st->recs));
	for (size_t i = 0; i < st->nrecs; i++)
		get_rec(l, &st->recs[i], off, STREAM_RECORD);
}

bool
describe_clause(struct stream *s, struct wire_line *l)
{
	struct prog_clause *p = arena_alloc(&s->arena, sizeof(*p));
	uint32_t off = sizeof(struct rec_hdr);

	p->global_index = (unsigned)wire_get_most(l, STREAM_LINES);
	p->nstmts = get_count(l, STMTS_MOST);
	if (l->bad)
		return false;
	p->stmts = arena_alloc(&s->arena, p->nstmts * sizeof(*p->stmts));
	for (size_t i = 0; i < p->nstmts && !l->bad; i++)
		get_stmt(s, l, &p->stmts[i], &off);
	p->rec_size = ROUND_UP(off, REC_ALIGN);
	p->records = true;
	if (!wire_is_over(l))
		return false;
	while (s->clauses.len <= p->global_index)
		*vec_push(&s->clauses) = NULL;
	s->clauses.at[p->global_index] = p;
	return true;
}

void
describe_translate(struct stream *s)
{
	vec_foreach(p, &s->clauses)
		for (size_t i = 0; *p != NULL && i < (*p)->nstmts; i++) {
			struct prog_stmt *st = &(*p)->stmts[i];
			for (size_t j = 0; j < st->naggs; j++)
				st->aggs[j] = s->ids.at[st->aggs[j] - 1]->id;
		}
}

/* ---- probes ---- */

bool
describe_probe(struct stream *s, struct wire_line *l)
{
	struct probe_text *p = arena_alloc(&s->arena, sizeof(*p));
	uint64_t epid = wire_get_most(l, UINT32_MAX);

	p->id = (uint32_t)wire_get_most(l, UINT32_MAX);
	p->prov = keep(s, l, false);
	p->mod = keep(s, l, false);
	p->func = keep(s, l, false);
	p->name = keep(s, l, false);
	uint64_t clause = wire_get_most(l, UINT32_MAX);
	if (!wire_is_over(l) || clause >= s->clauses.len ||
	    s->clauses.at[clause] == NULL)
		return false;
	p->clause = s->clauses.at[clause];
	hash_set(&s->probes, epid, p);
	return true;
}
