/*
 * Registers that the machine does not have.
 *
 * Code is generated as if there were as many registers as an instruction can
 * name.  When that was more than there are, the text is written anew: the low
 * registers stay, the last three of the machine carry operands, and every
 * other register is a clause-local variable, loaded before an instruction that
 * reads it and stored after one that writes it.  As this does not depend on the
 * path by which an instruction is reached, branches need only their new
 * targets.
 */
#include <string.h>

#include "dlang/cc/asm.h"

#define CARRIERS  3 /* r1, r2 and rd of one instruction */

#define READS_R1  1U
#define READS_R2  2U
#define READS_RD  4U
#define WRITES_RD 8U

static const uint8_t uses[] = {
	[DIF_FORM_RRR] = READS_R1 | READS_R2 | WRITES_RD,
	[DIF_FORM_RR] = READS_R1 | WRITES_RD,
	[DIF_FORM_CMP] = READS_R1 | READS_R2,
	[DIF_FORM_TST] = READS_R1,
	[DIF_FORM_BRANCH] = 0,
	[DIF_FORM_LOAD] = READS_R1 | WRITES_RD,
	[DIF_FORM_STORE] = READS_R1 | READS_RD,
	[DIF_FORM_RET] = READS_RD,
	[DIF_FORM_NONE] = 0,
	[DIF_FORM_SETX] = WRITES_RD,
	[DIF_FORM_SETS] = WRITES_RD,
	[DIF_FORM_LDARRAY] = READS_R2 | WRITES_RD,
	[DIF_FORM_LDVAR] = WRITES_RD,
	[DIF_FORM_STVAR] = READS_RD,
	[DIF_FORM_CALL] = WRITES_RD,
	[DIF_FORM_PUSHREF] = READS_R2 | READS_RD,
	[DIF_FORM_PUSHVAL] = READS_RD,
	[DIF_FORM_COPY] = READS_R1 | READS_R2 | READS_RD,
	[DIF_FORM_XLATE] = 0,
};

static const uint8_t forms[] = {
#define DIF_OP(n, NAME, text, form) [n] = DIF_FORM_##form,
#include "dlang/dif_ops.def"
#undef DIF_OP
};

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

/* The register in the field at `shift', carried by number `carrier' if it is
 * a variable; `op' loads or stores that. */
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
	unsigned use = uses[forms[DIF_OP_OF(i)]];
	dif_instr store = 0;

	if (use & READS_R1)
		put(as, carry(as, &i, 16, 0, DIF_OP_LDLS));
	if (use & READS_R2)
		put(as, carry(as, &i, 8, 1, DIF_OP_LDLS));
	if (use & READS_RD)
		put(as, carry(as, &i, 0, 2, DIF_OP_LDLS));
	if (use & WRITES_RD)
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
