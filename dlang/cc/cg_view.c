/*
 * stringof() and copyin() of a structure with an address and a length: become
 * calls of copyinstr() and copyin().
 */
#include "dlang/cc/cg_place.h"
#include "dlang/cc/view.h"

/* Load the 8 bytes at `offset' of the object at `at' into a new register. */
static unsigned
word_at(struct cg *g, unsigned at, uint64_t offset)
{
	unsigned r = asm_reg(&g->as);

	asm_rrr(&g->as, DIF_OP_MOV, at, 0, r);
	if (offset != 0)
		cg_op_const(g, DIF_OP_ADD, r, offset);
	cg_load(g, r, g->c->cc->t_uint64, false);
	return r;
}

static void
push(struct cg *g, unsigned r)
{
	asm_rrr(&g->as, DIF_OP_PUSHTV, DIF_TYPE_CTF, 0, r);
}

/* If the length is 0, the address may be invalid: use that of "". */
static void
never_nowhere(struct cg *g, unsigned address, unsigned length)
{
	uint32_t some = asm_label(&g->as);

	asm_rrr(&g->as, DIF_OP_TST, length, 0, 0);
	asm_branch(&g->as, DIF_OP_BNE, some);
	asm_sets(&g->as, "", address);
	asm_place(&g->as, some);
}

unsigned
cg_view(struct cg *g, struct node *n, enum dif_subr subr)
{
	struct view v = { 0 };
	unsigned at = cg_expr(g, n);

	view_of(n->type, &v);
	unsigned address = word_at(g, at, v.address);
	unsigned length = word_at(g, at, v.length);
	asm_reg_free(&g->as, at);
	if (subr == DIF_SUBR_COPYINSTR) {
		never_nowhere(g, address, length);
		cg_op_const(g, DIF_OP_ADD, length, 1); /* the NUL */
	} else if (v.unit != 1) {
		cg_op_const(g, DIF_OP_MUL, length, v.unit);
	}
	asm_rrr(&g->as, DIF_OP_FLUSHTS, 0, 0, 0);
	push(g, address);
	push(g, length);
	asm_reg_free(&g->as, length);
	asm_call(&g->as, subr, address);
	return address;
}
