/*
 * Spills registers that the machine does not have.
 *
 * Code is generated as if there were as many registers as an instruction can
 * name.  If more were used than the machine has, the code is rewritten: the low
 * registers stay, the last three of the machine carry operands, and every other
 * register becomes a clause-local variable, which is loaded before an
 * instruction that reads it and stored after one that writes it.  This does not
 * depend on the path to an instruction, so branches only need new targets.
 */
#include <string.h>

#include "dlang/cc/asm.h"
#include "dlang/forms.h"

#define CARRIERS 3 /* r1, r2 and rd of one instruction */

/* Registers up to this one are the machine's own. */
static unsigned
kept(const struct as *as)
{
	return as->nregs > CARRIERS ? as->nregs - 1 - CARRIERS : 0;
}

unsigned
asm_slots(const struct as *as)
{
	bool enough = as->high < as->nregs || as->nregs <= CARRIERS;

	return enough ? 0 : as->high - kept(as);
}

/* Replace the register in the field at `shift' by carrier number `carrier', if
 * it has become a variable; `op' loads or stores the variable. */
static dif_instr
carry(struct as *as, dif_instr *i, unsigned shift, unsigned carrier,
    enum dif_op op)
{
	unsigned r = *i >> shift & 0xff;
	unsigned with = kept(as) + 1 + carrier;

	if (r <= kept(as))
		return 0;
	*i = (*i & ~(0xffU << shift)) | with << shift;
	return DIF_INSTR_INDEX(op, as->slots[r - kept(as) - 1].id, with);
}

static void
put(struct as *as, dif_instr i)
{
	if (i != 0)
		asm_emit(as, i);
}

static void
rewrite(struct as *as, dif_instr i)
{
	unsigned use = dif_uses(i);
	dif_instr store = 0;

	if (use & DIF_READS_R1)
		put(as, carry(as, &i, 16, 0, DIF_OP_LDLS));
	if (use & DIF_READS_R2)
		put(as, carry(as, &i, 8, 1, DIF_OP_LDLS));
	if (use & DIF_READS_RD)
		put(as, carry(as, &i, 0, 2, DIF_OP_LDLS));
	if (use & DIF_WRITES_RD)
		store = carry(as, &i, 0, 2, DIF_OP_STLS);
	asm_emit(as, i);
	put(as, store);
}

void
asm_spill(struct as *as)
{
	VEC(uint32_t) moved = { 0 }; /* instruction -> where it begins now */
	unsigned nslots = asm_slots(as);

	if (as->nregs <= CARRIERS) {
		as->status = ASM_NOREG;
		return;
	}
	for (unsigned i = 0; i < nslots; i++) {
		asm_note_var(as, &as->slots[i], true);
		asm_note_var(as, &as->slots[i], false);
	}
	size_t len = as->text.len;
	dif_instr *old = mem_alloc(len * sizeof(*old));
	memcpy(old, as->text.at, len * sizeof(*old));
	struct difo_place *places = mem_alloc(len * sizeof(*places));
	memcpy(places, as->places.at, len * sizeof(*places));
	as->text.len = as->places.len = 0;
	for (size_t i = 0; i < len; i++) {
		*vec_push(&moved) = (uint32_t)as->text.len;
		as->here = places[i];
		rewrite(as, old[i]);
	}
	vec_foreach(l, &as->labels)
		*l = moved.at[*l];
	mem_free(old);
	mem_free(places);
	vec_fini(&moved);
}
