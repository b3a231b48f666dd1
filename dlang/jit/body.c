/*
 * What is machine independent of bodies: which clauses have one; see jit.h.
 *
 * A body that cannot go on gives up before it has changed anything, and the whole
 * firing is done by the VM.  So a clause may have one effect only, and this one
 * comes last.
 */
#include "dlang/base/base.h"
#include "dlang/base/mem.h"
#include "dlang/forms.h"
#include "dlang/jit/jit_impl.h"

static const void *
at(const struct jit_body *b, uint32_t ref)
{
	return ref != 0 ? b->image.base + ref : NULL;
}

/* ---- the clause ---- */

/* Is it the only member of a key of one word at most? */
static bool
is_key(const struct img_act *a, const struct img_agg *agg)
{
	bool by_value = (a->flags & ~(uint32_t)ACT_F_KEY) == 0;
	bool whole =
	    a->size == 1 || a->size == 2 || a->size == 4 || a->size == 8;

	return a->op == OP_EXPR && a->flags & ACT_F_KEY && by_value && whole &&
	    a->off == 0 && a->size <= agg->key_size && agg->key_size <= 8;
}

bool
body_parts(const struct jit_body *b, struct body_parts *p)
{
	const struct img_hdr *im = (const void *)b->image.base;
	const struct img_clause *c = at(b, b->clause_ref);
	const struct img_act *a = at(b, c->acts_ref);
	const struct img_agg *aggs = at(b, im->aggs_ref);
	const struct img_act *last = &a[c->nacts - 1];

	*p = (struct body_parts){ .pred = at(b, c->pred_ref) };
	if (c->flags != 0 || c->rec_size != 0 || im->flags & IMG_AGGPERCPU ||
	    c->nacts < 1 || last->op != OP_AGG || last->difo2_ref != 0)
		return false;
	p->agg = &aggs[last->arg - 1];
	p->value = at(b, last->difo_ref);
	if (p->value == NULL && p->agg->func != AGG_COUNT)
		return false;
	p->pinned = (last->flags & ACT_F_PIN) != 0;
	if (c->nacts == 1 || p->pinned)
		return c->nacts != 1 || p->agg->key_size == 0;
	if (c->nacts > 2)
		return false;
	p->key = at(b, a->difo_ref);
	p->key_size = a->size;
	return is_key(a, p->agg);
}

/* ---- expressions ---- */

/* The compiler writes the index just before the load. */
bool
body_index(const struct jit_plan *p, uint32_t n, uint64_t *index)
{
	dif_instr before = n > 0 ? p->text[n - 1] : 0;

	if (DIF_OP_OF(before) != DIF_OP_SETX ||
	    DIF_RD(before) != DIF_R2(p->text[n]))
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (dif_form(DIF_OP_OF(p->text[i])) == DIF_FORM_BRANCH &&
		    DIF_LABEL(p->text[i]) == n)
			return false;
	*index = p->ints[DIF_INDEX(before)];
	return true;
}

/* Can a body do without helpers and a frame for this instruction? */
static bool
is_plain(struct jit_body *b, const struct jit_plan *p, uint32_t n)
{
	dif_instr i = p->text[n];
	uint32_t op = DIF_OP_OF(i);
	uint64_t index;

	if (op == DIF_OP_LDGS)
		return body_reads(b, DIF_INDEX(i));
	if (op == DIF_OP_LDGA)
		return body_index(p, n, &index) &&
		    body_reads_member(b, DIF_R1(i), index);
	return !jit_op_calls(op);
}

static bool
expression(struct jit_body *b, const struct img_difo *d, uint8_t *dif)
{
	struct jit_plan p;
	bool ok = true;

	if (d == NULL)
		return true;
	struct jit_point *points = mem_zalloc(d->len * sizeof(*points));
	jit_plan(&p, &b->image, d, points);
	ok = p.why == NULL && !p.conds_kept && p.tuple == 0;
	for (uint32_t n = 0; n < d->len && ok; n++)
		ok = !points[n].reached || is_plain(b, &p, n);
	*dif |= p.used;
	mem_free(points);
	return ok;
}

bool
jit_body_plan(struct jit_body *b)
{
	struct body_parts p;
	uint8_t dif = 0;

	b->reads = b->changes = 0;
	if (!jit_possible() || !body_parts(b, &p) || !body_updates(p.agg) ||
	    !expression(b, p.pred, &dif) || !expression(b, p.key, &dif) ||
	    !expression(b, p.value, &dif))
		return false;
	b->pinned = p.pinned;
	b->changes = body_changes(&p, dif);
	return true;
}

size_t
jit_body(const struct jit_body *b, uint8_t *buf, size_t size)
{
	struct body_parts p;

	return body_parts(b, &p) ? body_write(b, &p, buf, size) : 0;
}
