/*
 * args[n] if its place is known at compile time: registers of the calling
 * convention, or memory to which they point (struct argplace).
 *
 * An object that was passed in registers is assembled in scratch memory, with
 * the layout that it has in the program.  Members, bit-fields and copies then
 * need no special code.
 */
#include "dlang/cc/cg_place.h"

static unsigned
raw_register(struct cg *g, uint8_t reg)
{
	return cg_builtin_at(
	    g, "uregs", DIF_VAR_UREGS, g->c->cc->t_uint64, UREG_RAW + reg);
}

static bool
has_gaps(const struct argplace *p, uint32_t size)
{
	uint32_t told = 0;

	for (unsigned i = 0; i < p->npieces; i++)
		told += p->piece[i].size;
	return told < size;
}

static void
clear(struct cg *g, unsigned at, unsigned to, uint32_t size)
{
	asm_rrr(&g->as, DIF_OP_MOV, at, 0, to);
	for (uint32_t i = 0; i < size; i += 8) {
		if (i > 0)
			cg_op_const(g, DIF_OP_ADD, to, 8);
		asm_rrr(&g->as, DIF_OP_STX, 0, 0, to);
	}
}

/* Assemble the object.  Padding, which no piece has, is 0. */
static unsigned
put_together(struct cg *g, const struct argplace *p, uint32_t size)
{
	static const enum dif_op store[] = { [1] = DIF_OP_STB,
		[2] = DIF_OP_STH,
		[4] = DIF_OP_STW,
		[8] = DIF_OP_STX };
	unsigned at = asm_reg(&g->as), to = asm_reg(&g->as);
	uint64_t done = 0;
	const struct argpiece *last =
	    p->npieces > 0 ? &p->piece[p->npieces - 1] : NULL;

	if (last != NULL)
		size = MAX(size, last->offset + last->size);
	asm_setx(&g->as, ROUND_UP(size, 8), at);
	asm_rrr(&g->as, DIF_OP_ALLOCS, at, 0, at);
	if (p->npieces > 0 && has_gaps(p, size))
		clear(g, at, to, size);
	asm_rrr(&g->as, DIF_OP_MOV, at, 0, to);
	for (unsigned i = 0; i < p->npieces; i++) {
		const struct argpiece *piece = &p->piece[i];
		unsigned r = raw_register(g, piece->reg);

		if (piece->offset != done)
			cg_op_const(g, DIF_OP_ADD, to, piece->offset - done);
		done = piece->offset;
		asm_rrr(&g->as, store[piece->size], r, 0, to);
		asm_reg_free(&g->as, r);
	}
	asm_reg_free(&g->as, to);
	return at;
}

unsigned
cg_argument(struct cg *g, struct node *n)
{
	const struct argplace *p = n->extra;
	struct dif_type d = type_dif(n->type);
	unsigned r;

	n->flags |= NF_CANON;
	switch ((enum argplace_kind)p->kind) {
	case ARGPLACE_REG:
		r = raw_register(g, p->reg);
		if (type_is_scalar(n->type) && cg_is_int_size(d.size))
			cg_extend(g, r, d.size, d.is_signed);
		return r;
	case ARGPLACE_MEM:
	case ARGPLACE_AT:
		r = raw_register(g, p->reg);
		if (p->disp != 0)
			cg_op_const(g, DIF_OP_ADD, r, (uint64_t)p->disp);
		cg_load(g, r,
		    p->kind == ARGPLACE_AT ? g->c->cc->t_uint64 : n->type,
		    false);
		return r;
	case ARGPLACE_EMPTY:
	case ARGPLACE_PIECES: return put_together(g, p, d.size);
	case ARGPLACE_ARG:
	case ARGPLACE_UNKNOWN: break;
	}
	return asm_reg(&g->as);
}
