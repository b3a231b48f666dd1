/*
 * What is machine independent of bodies: which clauses have one; see jit.h.
 *
 * A body that cannot go on gives up before it has changed anything, and the whole
 * firing is done by the VM.  So a body first computes all that its clauses
 * compute, one after the other, with copies of the variables in its frame.  Then it
 * does what the clauses do, which cannot fail any more.
 *
 * Clause-locals last for one firing.  They are in the frame only.
 */
#include "dlang/base/base.h"
#include "dlang/base/mem.h"
#include "dlang/forms.h"
#include "dlang/jit/jit_impl.h"
#include "dlang/vm/agg.h"

/* A body that is being planned. */
struct body {
	struct jit_body *b;
	struct body_parts *p;
	struct body_clause *c;
	struct body_agg *open; /* its key is being built */
	bool early;            /* in the predicate */
	bool text;             /* in an expression that gives a string */
	bool branches;         /* there are, in this expression */
};

static const void *
at(const struct jit_body *b, uint32_t ref)
{
	return ref != 0 ? b->image.base + ref : NULL;
}

/* The longest record of a body. */
#define REC_MOST 1024
/* The most bytes of keys on the lane's stack. */
#define FAR_MOST 2048

/* ---- variables ---- */

static const struct img_var *
row_of(const struct jit_body *b, enum dif_scope scope, uint32_t id)
{
	const struct img_hdr *im = (const void *)b->image.base;
	const struct img_var *v = at(b, im->vars_ref);

	for (uint32_t n = 0; n < im->nvars; n++)
		if (v[n].id == id && v[n].scope == scope)
			return &v[n];
	return NULL;
}

struct body_var *
body_var(struct body_parts *p, enum dif_scope scope, uint32_t id)
{
	unsigned n = 0;

	while (
	    n < p->nvars && (p->vars[n].id != id || p->vars[n].scope != scope))
		n++;
	return n < p->nvars ? &p->vars[n] : NULL;
}

/* The variable, which gets a place in the frame; NULL: a body cannot have it. */
static struct body_var *
variable(struct body *w, enum dif_scope scope, uint32_t id)
{
	const struct img_var *row = row_of(w->b, scope, id);
	struct body_var *v = body_var(w->p, scope, id);

	if (v != NULL || row == NULL || row->flags & DIF_BY_REF ||
	    w->p->nvars == BODY_VARS)
		return v;
	w->p->self |= scope == DIF_THREAD;
	v = &w->p->vars[w->p->nvars++];
	*v = (struct body_var){ .id = id, .scope = (uint8_t)scope };
	return v;
}

/* The variables that later clauses use are fetched before the first one, which may
 * come to its end anywhere. */
static bool
is_early(const struct body *w)
{
	return w->early || w->c != w->p->clauses;
}

static bool
loads(struct body *w, enum dif_scope scope, uint32_t id)
{
	struct body_var *v = variable(w, scope, id);

	if (v == NULL)
		return false;
	v->fetched = true;
	v->early |= is_early(w);
	w->p->again |= v->stored != NULL;
	return true;
}

/* One of the thread's is stored once at most, and not by a predicate, which may
 * be false.  If it may not be stored at all, it gets the value that it has. */
static bool
stores(struct body *w, enum dif_scope scope, uint32_t id)
{
	struct body_var *v = variable(w, scope, id);

	if (v == NULL || scope != DIF_THREAD)
		return v != NULL;
	if (w->early || v->stored != NULL)
		return false;
	v->stored = w->c;
	v->fetched |= w->branches;
	v->early |= is_early(w);
	w->p->stores[w->p->nstores++] = v;
	return true;
}

/* ---- expressions ---- */

/* Does a branch? */
static bool
leads_to(const struct jit_plan *p, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (dif_form(DIF_OP_OF(p->text[i])) == DIF_FORM_BRANCH &&
		    DIF_LABEL(p->text[i]) == n)
			return true;
	return false;
}

/* The compiler writes the index just before the load. */
bool
body_index(const struct jit_plan *p, uint32_t n, uint64_t *index)
{
	dif_instr before = n > 0 ? p->text[n - 1] : 0;

	if (DIF_OP_OF(before) != DIF_OP_SETX ||
	    DIF_RD(before) != DIF_R2(p->text[n]))
		return false;
	*index = p->ints[DIF_INDEX(before)];
	return !leads_to(p, n);
}

/* Built-in variables of which the row, the clock or the machine knows the value. */
static bool
builtin(struct body *w, uint32_t id)
{
	switch (id) {
	case DIF_VAR_TIMESTAMP:
		*(w->early ? &w->c->time_early : &w->c->time) = true;
		w->p->time = true;
		return true;
	case DIF_VAR_EPID:
	case DIF_VAR_ID: w->p->row = true; return true;
	}
	return body_reads(w->b, id);
}

/* The last three instructions are these, if copyinstr() gives the result: its argument
 * is pushed, the call, ret.  The address is the string's then. */
static bool
copies_text(const struct jit_plan *p, uint32_t n)
{
	uint32_t len = p->d->len;
	const dif_instr *end = p->text + len - 3;

	return len > 3 && n >= len - 3 && p->tuple == 1 &&
	    DIF_OP_OF(end[0]) == DIF_OP_PUSHTV &&
	    DIF_OP_OF(end[1]) == DIF_OP_CALL &&
	    DIF_INDEX(end[1]) == DIF_SUBR_COPYINSTR &&
	    DIF_OP_OF(end[2]) == DIF_OP_RET &&
	    DIF_RD(end[1]) == DIF_RD(end[2]) && !leads_to(p, len - 2) &&
	    !leads_to(p, len - 1);
}

/* Can a body do without helpers for this instruction? */
static bool
is_plain(struct body *w, const struct jit_plan *p, uint32_t n)
{
	dif_instr i = p->text[n];
	uint32_t op = DIF_OP_OF(i), id = DIF_INDEX(i);
	uint64_t index;

	switch (op) {
	case DIF_OP_LDGS: return builtin(w, id);
	case DIF_OP_LDGA:
		return body_index(p, n, &index) &&
		    body_reads_member(w->b, DIF_R1(i), index);
	case DIF_OP_PUSHTV:
	case DIF_OP_CALL: return w->text && copies_text(p, n);
	case DIF_OP_FLUSHTS: return true;
	case DIF_OP_SETS: return !w->text; /* the image's */
	case DIF_OP_LDTS: return loads(w, DIF_THREAD, id);
	case DIF_OP_LDLS: return loads(w, DIF_LOCAL, id);
	case DIF_OP_STTS: return stores(w, DIF_THREAD, id);
	case DIF_OP_STLS: return stores(w, DIF_LOCAL, id);
	}
	return !jit_op_calls(op);
}

static bool
branches(const struct jit_plan *p)
{
	for (uint32_t n = 0; n < p->d->len; n++)
		if (dif_form(DIF_OP_OF(p->text[n])) == DIF_FORM_BRANCH)
			return true;
	return false;
}

static bool
expression(struct body *w, const struct img_difo *d)
{
	struct jit_plan p;
	bool ok = true;

	if (d == NULL)
		return true;
	struct jit_point *points = mem_zalloc(d->len * sizeof(*points));
	jit_plan(&p, &w->b->image, d, points);
	ok = p.why == NULL && !p.conds_kept && p.tuple <= w->text;
	w->branches = branches(&p);
	for (uint32_t n = 0; n < d->len && ok; n++)
		ok = !points[n].reached || is_plain(w, &p, n);
	w->p->dif |= p.used;
	mem_free(points);
	return ok;
}

/* ---- actions ---- */

static bool
is_value(const struct img_act *a)
{
	bool whole = a->size == 0 || a->size == 1 || a->size == 2 ||
	    a->size == 4 || a->size == 8;

	return (a->flags & ~(uint32_t)ACT_F_KEY) == 0 && a->difo_ref != 0 &&
	    whole;
}

bool
body_is_text(const struct jit_body *b, const struct img_act *a)
{
	const struct img_hdr *im = (const void *)b->image.base;

	return a->op == OP_EXPR && a->flags & ACT_F_STRING &&
	    (a->flags & ~(uint32_t)(ACT_F_KEY | ACT_F_STRING)) == 0 &&
	    a->difo_ref != 0 && a->size == im->strsize && a->off % 8 == 0;
}

/* copyinstr() does not look at the last one, where the NUL is to be. */
uint32_t
body_text_limit(const struct jit_body *b, const struct img_act *a)
{
	const struct img_difo *d = at(b, a->difo_ref);
	const dif_instr *text = at(b, d->text_ref);

	return a->size -
	    (d->len > 1 && DIF_OP_OF(text[d->len - 2]) == DIF_OP_CALL);
}

static bool
text(struct body *w, const struct img_act *a)
{
	w->p->texts++;
	w->p->scratch += VM_ALIGN(a->size) + 8;
	w->text = true;
	bool ok = expression(w, at(w->b, a->difo_ref));
	w->text = false;
	return ok;
}

/* The aggregation that the actions from this one on belong to.  In each word of
 * its key a member begins: the rest of the word is 0, or other members. */
static struct body_agg *
begin_agg(struct body *w, const struct img_act *a)
{
	const struct img_hdr *im = (const void *)w->b->image.base;
	const struct img_agg *aggs = at(w->b, im->aggs_ref);

	if (w->open == NULL && w->p->naggs < BODY_AGGS) {
		while (a->op != OP_AGG)
			a++;
		w->open = &w->p->aggs[w->p->naggs++];
		w->open->clause = w->c;
		w->open->agg = &aggs[a->arg - 1];
		w->open->act = a;
		w->open->words = (w->open->agg->key_size + 7) / 8;
		w->open->pinned = a->flags & ACT_F_PIN &&
		    w->b->pins >> (w->c - w->p->clauses) & 1;
	}
	return w->open;
}

static bool
key_member(struct body *w, const struct img_act *a)
{
	struct body_agg *g = begin_agg(w, a);

	if (g == NULL)
		return false;
	if (g->pinned)
		return true; /* it is not computed */
	g->members++;
	if (body_is_text(w->b, a)) {
		bool next = a->off / 8 == g->begun;
		g->far = g->agg->key_size % 8 == 0;
		g->begun += VM_ALIGN(a->size) / 8;
		return next && g->far && g->begun <= g->words && text(w, a);
	}
	g->begun += a->off % 8 == 0;
	return is_value(a) && a->size != 0 && a->off / 8 + 1 == g->begun &&
	    a->off % 8 + a->size <= 8 && g->begun <= g->words &&
	    expression(w, at(w->b, a->difo_ref));
}

static bool
aggregation(struct body *w, const struct img_act *a)
{
	struct body_agg *g = begin_agg(w, a);
	const struct img_difo *d = at(w->b, a->difo_ref);

	if (g == NULL || !body_updates(g->agg) || a->difo2_ref != 0 ||
	    (!g->far && !g->pinned && g->words > AGG_HASH_ALL / 8) ||
	    (d == NULL && g->agg->func != AGG_COUNT) ||
	    (!g->pinned && g->begun != g->words))
		return false;
	w->p->scratch += 8 * g->words + 8;
	w->open = NULL;
	return expression(w, d);
}

static bool
action(struct body *w, const struct img_act *a)
{
	switch ((enum img_op)a->op) {
	case OP_AGG: return aggregation(w, a);
	case OP_MARK: return true;
	case OP_EXPR:
		if (a->flags & ACT_F_KEY)
			return key_member(w, a);
		if (body_is_text(w->b, a))
			return text(w, a);
		return is_value(a) && expression(w, at(w->b, a->difo_ref));
	default: return false;
	}
}

/* The header of a record has the EPID, the time and the processor. */
static void
record(struct body *w, uint32_t size)
{
	if (size == 0)
		return;
	w->c->rec_size = VM_ALIGN(size);
	w->c->time = true;
	w->p->row = w->p->time = w->p->records = true;
}

/* The next clause. */
static bool
clause(struct body *w, const struct img_clause *c)
{
	bool ok = c->flags == 0 && c->rec_size <= REC_MOST &&
	    c->acts_ref != 0 && c->nacts != 0;

	w->c = &w->p->clauses[w->p->nclauses++];
	*w->c = (struct body_clause){
		.pred = at(w->b, c->pred_ref),
		.acts = at(w->b, c->acts_ref),
		.nacts = c->nacts,
	};
	w->early = true;
	ok = ok && expression(w, w->c->pred);
	w->early = false;
	for (uint32_t n = 0; n < c->nacts && ok; n++)
		ok = action(w, &w->c->acts[n]);
	record(w, c->rec_size);
	return ok;
}

/* ---- the frame ---- */

static int32_t
take(struct body_parts *p, uint32_t words)
{
	int32_t at = (int32_t)(8 * p->words);

	p->words += words;
	return at;
}

bool
body_in_register(const struct body_parts *p, const struct body_agg *g, bool key)
{
	const struct body_clause *c = &p->clauses[0];
	bool last = p->naggs == 1 && p->nclauses == 1 &&
	    g->act == &c->acts[c->nacts - 1];
	bool has_value = g->act->difo_ref != 0;

	return last && has_value != key &&
	    (!key || (g->members == 1 && g->words == 1));
}

/* Is the last member of its key a string, with nothing behind it? */
static bool
ends_with_text(const struct jit_body *b, const struct body_agg *g)
{
	const struct img_act *last = g->act - 1;

	return body_is_text(b, last) &&
	    VM_ALIGN(last->off + last->size) == 8 * g->words;
}

static void
place_agg(const struct jit_body *b, struct body_parts *p, struct body_agg *g)
{
	g->count = BODY_NOWHERE;
	if (g->far) {
		g->key = (int32_t)p->far;
		p->far += 8 * g->words;
		if (ends_with_text(b, g))
			g->count = take(p, 1);
	} else if (!g->pinned && !body_in_register(p, g, true)) {
		g->key = take(p, g->words);
	}
	if (g->act->difo_ref != 0 && !body_in_register(p, g, false))
		g->value = take(p, 1);
	if (p->naggs > 1)
		g->entry = take(p, 1);
}

/* Is the row used after something else has been in its register? */
static bool
keeps_row(const struct body_parts *p)
{
	bool computes = p->nclauses > 1 || p->clauses[0].pred != NULL;
	bool pinned = false;

	for (unsigned n = 0; n < p->naggs; n++) {
		pinned |= p->aggs[n].pinned;
		computes |= p->aggs[n].act->difo_ref != 0;
	}
	return p->row || (pinned && computes);
}

/* Lay out the frame. */
static bool
place_all(const struct jit_body *b, struct body_parts *p)
{
	for (unsigned n = 0; n < p->nclauses; n++) {
		struct body_clause *c = &p->clauses[n];
		c->fires_at = p->nclauses > 1 && c->pred != NULL ? take(p, 1) :
								   BODY_NOWHERE;
	}
	for (unsigned n = 0; n < p->nvars; n++)
		p->vars[n].at = take(p, 1);
	for (unsigned n = 0; n < p->naggs; n++)
		place_agg(b, p, &p->aggs[n]);
	p->keeps_row = keeps_row(p);
	p->row_at = take(p, p->keeps_row);
	p->time_at = take(p, p->time);
	p->rec_at = take(p, p->records);
	p->head_at = take(p, p->records);
	if (p->nstores == 1 && p->stores[0]->fetched)
		p->kept_at = take(p, 2);
	return p->words <= JIT_BODY_WORDS && p->far <= FAR_MOST;
}

/* Find out what the body has to do.  False: there is none. */
static bool
plan(struct jit_body *b, struct body_parts *p)
{
	const struct img_hdr *im = (const void *)b->image.base;
	struct body w = { .b = b, .p = p };
	bool ok = jit_possible() && !(im->flags & IMG_AGGPERCPU) &&
	    b->nclauses > 0 && b->nclauses <= JIT_BODY_CLAUSES;

	*p = (struct body_parts){ 0 };
	b->reads = 0;
	for (uint32_t n = 0; ok && n < b->nclauses; n++)
		ok = clause(&w, at(b, b->clauses[n]));
	return ok && place_all(b, p);
}

bool
jit_body_plan(struct jit_body *b)
{
	struct body_parts p;

	b->changes = 0;
	if (!plan(b, &p))
		return false;
	b->changes = body_changes(&p);
	return true;
}

size_t
jit_body(struct jit_body *b, uint8_t *buf, size_t size)
{
	struct jit_body again = *b;
	struct body_parts p;

	return plan(&again, &p) ? body_write(b, &p, buf, size) : 0;
}
