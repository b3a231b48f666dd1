/*
 * Finishes the code of a DIFO: spills registers that the machine does not have,
 * and resolves branches.
 */
#include <string.h>

#include "dlang/cc/asm.h"

static void
resolve_labels(struct as *as)
{
	vec_foreach(i, &as->text) {
		enum dif_op op = (enum dif_op)DIF_OP_OF(*i);
		if (op < DIF_OP_BA || op > DIF_OP_BLEU)
			continue;
		uint32_t to = as->labels.at[DIF_LABEL(*i)];
		ASSERT(to != ASM_UNPLACED);
		*i = DIF_INSTR_BRANCH(op, to);
	}
}

static void *
keep(struct arena *a, const void *p, size_t size)
{
	return size == 0 ? NULL : memcpy(arena_alloc(a, size), p, size);
}

struct difo *
asm_finish(
    struct as *as, unsigned r, struct dif_type rtype, struct arena *arena)
{
	asm_rrr(as, DIF_OP_RET, 0, 0, r);
	if (as->high >= as->nregs && as->status == ASM_OK)
		asm_spill(as);
	if (as->status != ASM_OK)
		return NULL;
	resolve_labels(as);
	struct difo *d = arena_alloc(arena, sizeof(*d));
	d->text = keep(arena, as->text.at, as->text.len * sizeof(dif_instr));
	d->places =
	    keep(arena, as->places.at, as->places.len * sizeof(*d->places));
	d->len = (uint32_t)as->text.len;
	d->ints = keep(arena, as->ints.at, as->ints.len * sizeof(uint64_t));
	d->nints = (uint32_t)as->ints.len;
	d->strs = keep(arena, as->strs.s, as->strs.len);
	d->strs_len = (uint32_t)as->strs.len;
	d->vars = keep(arena, as->vars.at, as->vars.len * sizeof(*d->vars));
	d->nvars = (uint32_t)as->vars.len;
	d->rtype = rtype;
	return d;
}
