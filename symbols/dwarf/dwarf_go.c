/*
 * Debug information of a Go function: its results, and the places of its
 * parameters at its first instruction.
 *
 * For each parameter, Go's compiler writes a list of places. The first one is
 * valid at the first instruction: the registers in which the parameter was
 * passed. Or there is one place, in the frame of the caller. A parameter that
 * is not used may have no place.
 */
#include "symbols/dwarf/entries.h"

#include "dlang/base/mem.h"

static bool
register_of(const Dwarf_Op *op, uint8_t *reg)
{
	uint64_t n;

	if (op->atom == DW_OP_regx)
		n = op->number;
	else if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
		n = op->atom - DW_OP_reg0;
	else
		return false;
	if (n >= CFI_PC)
		return machine_vector(n, reg);
	*reg = machine_uregs[n];
	return true;
}

/* Registers, one for each piece. Go 1.19 may list a piece twice. */
static bool
in_registers(const Dwarf_Op *ops, size_t n, struct argplace *p)
{
	for (size_t i = 0; i < n; i++) {
		struct argpiece *piece = &p->piece[p->npieces];

		if (p->npieces == ARGPLACE_PIECES_MAX ||
		    !register_of(&ops[i], &piece->reg))
			return false;
		if (p->npieces == 0 || piece[-1].reg != piece->reg)
			p->npieces++;
		if (i + 1 < n && ops[++i].atom != DW_OP_piece)
			return false;
	}
	p->kind = ARGPLACE_PIECES;
	return n > 0;
}

/* In the caller's frame, which begins above the return address. */
static bool
in_frame(const Dwarf_Op *ops, size_t n, struct argplace *p)
{
	int64_t at = 0;

	if (n == 0 ||
	    (ops[0].atom != DW_OP_call_frame_cfa && ops[0].atom != DW_OP_fbreg))
		return false;
	if (ops[0].atom == DW_OP_fbreg)
		at = (int64_t)ops[0].number;
	if (at < 0 || at > INT32_MAX / 2 ||
	    (n > 1 && ops[1].atom != DW_OP_piece))
		return false;
	*p = (struct argplace){ .kind = ARGPLACE_MEM,
		.reg = machine_uregs[CFI_SP],
		.disp = (int32_t)(MACHINE_CALL_BYTES + at) };
	return true;
}

static struct argplace
place_at(Dwarf_Die *param, Dwarf_Addr pc)
{
	struct argplace p = { .kind = ARGPLACE_UNKNOWN };
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_attr(param, DW_AT_location, &attr) == NULL ||
	    dwarf_getlocation_addr(&attr, pc, &ops, &n, 1) != 1)
		return p;
	if (!in_registers(ops, n, &p) && !in_frame(ops, n, &p))
		p = (struct argplace){ .kind = ARGPLACE_UNKNOWN };
	return p;
}

/* In a function that was also inlined, results without a name come after those
 * with one. */
static bool
order_is_lost(Dwarf_Die *dies, size_t n)
{
	size_t copied = 0;

	for (size_t i = 0; i < n; i++)
		copied += dwarf_hasattr(&dies[i], DW_AT_abstract_origin);
	return copied > 0 && copied < n;
}

void
dwarf_go_proto(
    struct dwtypes *dw, struct object *o, Dwarf_Die *die, struct dwarf_go *out)
{
	struct type_member *results;
	struct argplace *said;
	Dwarf_Addr pc = 0;
	Dwarf_Die *dies;

	size_t n = dwarf_params(die, false, &dies);
	dwarf_lowpc(die, &pc);
	said = dwtypes_alloc(dw, (n + 1) * sizeof(*said));
	for (size_t i = 0; i < n; i++)
		said[i] = place_at(&dies[i], pc);
	out->said = said;
	mem_free(dies);
	out->nresults = dwarf_params(die, true, &dies);
	out->results = results = dwtype_params(dw, o, dies, out->nresults);
	for (size_t i = 0;
	     i < out->nresults && order_is_lost(dies, out->nresults); i++)
		results[i].type = NULL;
	mem_free(dies);
}
