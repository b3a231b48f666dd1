/*
 * What is machine independent of the compiler: see jit.h.
 *
 * Branches go forward only.  So one pass sees all ways to an instruction before
 * the instruction itself, and what comes later in the text is all that can use
 * a value.
 */
#include "dlang/jit/jit.h"

#include "dlang/base/base.h"
#include "dlang/base/mem.h"
#include "dlang/forms.h"
#include "dlang/jit/jit_impl.h"

#define BIT(r) ((uint8_t)(1U << (r)))

/* ---- registers ---- */

static uint8_t
reads(dif_instr i)
{
	unsigned uses = dif_uses(i);

	return (uses & DIF_READS_R1 ? BIT(DIF_R1(i)) : 0) |
	    (uses & DIF_READS_R2 ? BIT(DIF_R2(i)) : 0) |
	    (uses & DIF_READS_RD ? BIT(DIF_RD(i)) : 0);
}

static uint8_t
writes(dif_instr i)
{
	return dif_uses(i) & DIF_WRITES_RD ? BIT(DIF_RD(i)) : 0;
}

static void
note_registers(struct jit_plan *p, uint32_t n)
{
	uint8_t in = reads(p->text[n]), out = writes(p->text[n]);

	/* Register 0 is always 0. */
	p->zeroed |= in & (uint8_t) ~(p->points[n].set | BIT(0));
	p->used |= (in | out) & (uint8_t)~BIT(0);
	for (unsigned r = 1; r < DIF_REGS; r++) {
		if (in & BIT(r))
			p->last[r] = n;
		if (out & BIT(r) && n < p->first[r])
			p->first[r] = n;
	}
}

uint8_t
jit_live(const struct jit_plan *p, uint32_t n)
{
	uint8_t live = 0;

	for (unsigned r = 1; r < DIF_REGS; r++)
		if ((p->first[r] < n || p->zeroed & BIT(r)) && p->last[r] > n)
			live |= BIT(r);
	return live & (uint8_t)~writes(p->text[n]);
}

/* ---- the tuple stack ---- */

/* The depth after an instruction. */
static int8_t
depth_after(struct jit_plan *p, uint32_t op, int8_t depth)
{
	switch (op) {
	case DIF_OP_FLUSHTS: return 0;
	case DIF_OP_PUSHTR:
	case DIF_OP_PUSHTV:
	case DIF_OP_POPTS:
	case DIF_OP_LDGAA:
	case DIF_OP_LDTAA:
	case DIF_OP_STGAA:
	case DIF_OP_STTAA:
	case DIF_OP_CALL: break;
	default: return depth;
	}
	if (depth == JIT_MIXED) {
		p->why = "the number of keys or arguments depends on a branch";
		return depth;
	}
	if (op == DIF_OP_POPTS)
		return depth > 0 ? depth - 1 : 0;
	/* One more than the stack has is a fault. */
	if ((op == DIF_OP_PUSHTR || op == DIF_OP_PUSHTV) && depth < DIF_TUPLE)
		depth++;
	p->tuple = MAX(p->tuple, (uint8_t)depth);
	return depth;
}

/* ---- ways through the text ---- */

/* Control may come to instruction n in the state s. */
static void
come(struct jit_plan *p, uint32_t n, const struct jit_point *s)
{
	struct jit_point *to = &p->points[n];

	if (!to->reached) {
		*to = *s;
		return;
	}
	to->set &= s->set;
	if (to->depth != s->depth)
		to->depth = JIT_MIXED;
	to->cond = 0;
}

static void
look(struct jit_plan *p, uint32_t n)
{
	uint32_t op = DIF_OP_OF(p->text[n]);
	bool branches = dif_form(op) == DIF_FORM_BRANCH;
	struct jit_point s = p->points[n];

	if (dif_form(op) == DIF_FORM_XLATE)
		p->why = "an instruction has no meaning at run time";
	note_registers(p, n);
	if (branches && op != DIF_OP_BA && s.cond == 0)
		p->conds_kept = true;
	p->calls |= jit_op_calls(op);
	s.set |= writes(p->text[n]);
	s.depth = depth_after(p, op, s.depth);
	if (op == DIF_OP_CMP || op == DIF_OP_TST || op == DIF_OP_SCMP)
		s.cond = (uint8_t)op;
	else if (!branches)
		s.cond = 0;
	if (op != DIF_OP_BA && op != DIF_OP_RET)
		come(p, n + 1, &s);
	s.cond = 0;
	if (branches)
		come(p, DIF_LABEL(p->text[n]), &s);
}

void
jit_plan(struct jit_plan *p, const struct region *image,
    const struct img_difo *d, struct jit_point *points)
{
	*p = (struct jit_plan){
		.d = d,
		.text = (const void *)(image->base + d->text_ref),
		.ints = (const void *)(image->base + d->ints_ref),
		.points = points,
	};
	for (unsigned r = 0; r < DIF_REGS; r++)
		p->first[r] = UINT32_MAX;
	points[0].reached = true;
	for (uint32_t n = 0; n < d->len && p->why == NULL; n++)
		if (points[n].reached)
			look(p, n);
}

size_t
jit_difo(const struct region *image, const struct img_difo *d,
    const struct jit_place *place, uint8_t *buf, size_t size, uint32_t *starts,
    const char **why)
{
	struct jit_plan p;
	size_t n = 0;

	if (!jit_possible()) {
		*why = "dtrap has no compiler for this machine";
		return 0;
	}
	struct jit_point *points = mem_zalloc(d->len * sizeof(*points));
	jit_plan(&p, image, d, points);
	p.starts = starts;
	if (p.why == NULL)
		n = jit_write(&p, place, buf, size, &p.why);
	*why = p.why;
	mem_free(points);
	return n;
}
