/*
 * Faults of the program at run time: which, and where in its text.
 *
 * A fault that is repeated would hide all other messages. So the first ones of
 * a kind are printed, and the others are counted and reported at the end.
 * Faults at the same place of the program are of the same kind, whatever the
 * probe and the address.
 */
#include <stdlib.h>
#include <string.h>

#include "tracer/consume/consume_impl.h"

#define SHOWN_MOST 10

/* clang-format off */
static const struct fault_row {
	uint32_t code;
	enum { NO_VALUE, ADDRESS, NUMBER } shows;
	const char *text;
} fault_rows[] = {
	{ FLT_BADADDR,   ADDRESS,  "invalid address" },
	{ FLT_BADALIGN,  ADDRESS,  "invalid alignment" },
	{ FLT_ILLOP,     NO_VALUE, "illegal operation" },
	{ FLT_DIVZERO,   NO_VALUE, "divide-by-zero" },
	{ FLT_NOSCRATCH, NO_VALUE, "out of scratch space" },
	{ FLT_KPRIV,     NO_VALUE, "invalid kernel access" },
	{ FLT_UPRIV,     NO_VALUE, "invalid user access" },
	{ FLT_TUPOFLOW,  NO_VALUE, "tuple stack overflow" },
	{ FLT_BADSTACK,  ADDRESS,  "bad stack" },
	{ FLT_BADSIZE,   ADDRESS,  "invalid size" },
	{ FLT_BADINDEX,  NUMBER,   "index out of bounds" },
	{ FLT_LIBRARY,   NO_VALUE, "library-level fault" },
	{ FLT_UNKNOWN,   NO_VALUE, "unknown fault" }, /* and all others */
};
/* clang-format on */

struct fault_kind {
	const struct prog_clause *clause; /* the first; or NULL */
	const struct fault_row *row;
	struct difo_place at;
	uint64_t count;
};

static const struct fault_row *
row_of(uint32_t code)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(fault_rows) - 1 && fault_rows[i].code != code)
		i++;
	return &fault_rows[i];
}

/* ---- where ---- */

static bool
has_place(const struct difo *d, uint32_t i)
{
	return d != NULL && d->places != NULL && i < d->len &&
	    d->places[i].line > 0;
}

/* If the VM does not know the offset, the first instruction is named. */
static struct difo_place
place_of(const struct prog_clause *c, const struct rec_fault *f)
{
	uint32_t i =
	    f->offset < 0 ? 0 : (uint32_t)f->offset / sizeof(dif_instr);
	const struct difo *d = NULL, *d2 = NULL;

	if (f->action == 0)
		d = c->pred;
	else if (f->action <= c->nacts) {
		d = c->acts[f->action - 1].difo;
		d2 = c->acts[f->action - 1].difo2;
	}
	if (!has_place(d, i))
		d = d2;
	return has_place(d, i) ? d->places[i] : (struct difo_place){ 0, 0 };
}

/* " at line 3, column 8 of x.d", or nothing. */
static void
add_place(
    const struct prog_clause *clause, struct difo_place at, struct str *to)
{
	const struct source *source = clause->span.source;

	str_printf(to, " at line %d, column %d", at.line, at.col);
	if (source != NULL && source->is_file)
		str_printf(to, " of %s", own(source->name));
}

static struct sink_error
fault_error(const struct prog_clause *clause, const struct fault_row *row,
    struct difo_place at)
{
	const struct source *source =
	    clause != NULL ? clause->span.source : NULL;

	return (struct sink_error){
		.fault = row->text,
		.has_value = row->shows != NO_VALUE,
		.is_address = row->shows == ADDRESS,
		.line = at.line,
		.col = at.col,
		.file = source != NULL && source->is_file ? source->name : NULL,
	};
}

/* ---- how often ---- */

/* A clause with several descriptions is compiled several times. Faults of these
 * copies are of the same kind, because they have the same place. */
static struct fault_kind *
kind_of(struct consume *c, const struct prog_clause *clause,
    const struct rec_fault *f, struct difo_place at)
{
	const void *whose = clause;
	uint64_t where = (uint64_t)f->action << 32 | (uint32_t)f->offset;

	if (at.line != 0) {
		whose = clause->span.source;
		where = (uint64_t)at.line << 32 | (uint32_t)at.col;
	}
	const uint64_t key[] = { (uintptr_t)whose, where, f->code };
	uint64_t h = hash_bytes(key, sizeof(key));
	struct fault_kind *k = hash_get(&c->faults, h);
	if (k == NULL) {
		k = mem_zalloc(sizeof(*k));
		k->clause = clause;
		k->row = row_of(f->code);
		k->at = at;
		hash_set(&c->faults, h, k);
	}
	return k;
}

void
record_fault(struct consume *c)
{
	struct rec_fault f;
	struct probe_text p;
	struct str s = { 0 };
	struct difo_place at = { 0, 0 };

	memcpy(&f, c->rec.at, sizeof(f));
	record_probe(c, f.epid, &p);
	if (p.clause != NULL && !c->env.testing)
		at = place_of(p.clause, &f);
	struct fault_kind *k = kind_of(c, p.clause, &f, at);
	k->count++;
	if (k->count > SHOWN_MOST && !c->env.testing)
		return;
	str_add(&s, own(k->row->text));
	if (k->row->shows == ADDRESS)
		str_printf(&s, " (0x%llx)", (unsigned long long)f.value);
	else if (k->row->shows == NUMBER)
		str_printf(&s, " (%lld)", (long long)f.value);
	if (f.offset >= 0)
		str_printf(&s, " at DIF offset %d", f.offset);
	if (at.line != 0)
		add_place(p.clause, at, &s);
	if (k->count == SHOWN_MOST && !c->env.testing)
		str_add(&s, "; more of these are counted");
	struct sink_error e = fault_error(p.clause, k->row, at);
	e.what = str_c(&s);
	e.value = f.value;
	record_fail(c, f.epid, &e);
	str_fini(&s);
}

/* In the order of the clauses in the program. */
static int
compare_kinds(const void *a, const void *b)
{
	const struct fault_kind *x = *(void *const *)a, *y = *(void *const *)b;
	unsigned i = x->clause != NULL ? x->clause->global_index : UINT32_MAX;
	unsigned j = y->clause != NULL ? y->clause->global_index : UINT32_MAX;

	if (i != j)
		return i < j ? -1 : 1;
	if (x->at.line != y->at.line)
		return x->at.line - y->at.line;
	return x->at.col != y->at.col ? x->at.col - y->at.col :
					strcmp(x->row->text, y->row->text);
}

void
faults_tell(struct consume *c)
{
	VEC(struct fault_kind *) kinds = { 0 };

	if (c->env.testing)
		return;
	hash_foreach(e, &c->faults) {
		struct fault_kind *k = e->value;
		if (k->count > SHOWN_MOST)
			*vec_push(&kinds) = k;
	}
	if (kinds.len > 1)
		qsort(kinds.at, kinds.len, sizeof(*kinds.at), compare_kinds);
	vec_foreach(at, &kinds) {
		const struct fault_kind *k = *at;
		char name[CLAUSE_NAME];
		struct str where = { 0 };
		if (k->at.line != 0)
			add_place(k->clause, k->at, &where);
		else
			str_printf(&where, " in %s",
			    own(record_clause_name(
				k->clause, name, sizeof(name))));
		struct sink_error e = fault_error(k->clause, k->row, k->at);
		e.what = e.fault;
		e.has_value = false;
		e.count = k->count;
		if (c->sink->error != NULL)
			c->sink->error(c, &e);
		live_error(c, &e);
		if (!c->sink->elsewhere) /* else it is said there */
			consume_message(c, "%s%s: %llu times", k->row->text,
			    str_c(&where), (unsigned long long)k->count);
		str_fini(&where);
	}
	vec_fini(&kinds);
}

void
faults_fini(struct consume *c)
{
	hash_foreach(e, &c->faults)
		mem_free(e->value);
	hash_fini(&c->faults);
}
