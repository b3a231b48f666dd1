/*
 * Where the caller has put a parameter: the System V ABI for x86-64, 3.2.3, as
 * far as it can be told from debug information alone.
 */
#include <dwarf.h>

#include "symbols/dwarf/dwarf_scope.h"

static const uint8_t integer_regs[] = { UREG_RDI, UREG_RSI, UREG_RDX, UREG_RCX,
	UREG_R8, UREG_R9 };
#define VECTOR_REGS 8

enum passing { PASS_INTEGER, PASS_VECTOR, PASS_MEMORY, PASS_UNKNOWN };

static bool
is_c(struct dwarf_scopes *s)
{
	switch (dwarf_srclang(&s->unit)) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11: return true;
	default: return false;
	}
}

/* How a value of the type that an entry names is passed, and its size.  What
 * takes more than one register, or is passed by a reference that C++ makes, is
 * not told. */
static enum passing
passing(struct dwarf_scopes *s, Dwarf_Die *of, uint64_t *size)
{
	Dwarf_Attribute attr;
	Dwarf_Die type;
	Dwarf_Word encoding = 0, bytes = 0;

	*size = 8;
	if (dwarf_attr_integrate(of, DW_AT_type, &attr) == NULL ||
	    dwarf_formref_die(&attr, &type) == NULL ||
	    dwarf_peel_type(&type, &type) != 0)
		return PASS_UNKNOWN;
	if (dwarf_attr_integrate(&type, DW_AT_byte_size, &attr) != NULL &&
	    dwarf_formudata(&attr, &bytes) != 0)
		return PASS_UNKNOWN;
	switch (dwarf_tag(&type)) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
	case DW_TAG_enumeration_type: return PASS_INTEGER;
	case DW_TAG_base_type:
		if (bytes == 0 || bytes > 8 ||
		    dwarf_attr_integrate(&type, DW_AT_encoding, &attr) ==
			NULL ||
		    dwarf_formudata(&attr, &encoding) != 0)
			return PASS_UNKNOWN;
		switch (encoding) {
		case DW_ATE_float: return PASS_VECTOR;
		case DW_ATE_address:
		case DW_ATE_boolean:
		case DW_ATE_signed:
		case DW_ATE_signed_char:
		case DW_ATE_unsigned:
		case DW_ATE_unsigned_char:
		case DW_ATE_UTF: return PASS_INTEGER;
		default: return PASS_UNKNOWN;
		}
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		*size = bytes;
		return is_c(s) && bytes > 16 && bytes < UINT32_MAX ?
		    PASS_MEMORY :
		    PASS_UNKNOWN;
	default: return PASS_UNKNOWN;
	}
}

/* Does the caller say in the first register where the result goes? */
static bool
result_register(struct dwarf_scopes *s, unsigned *integers)
{
	Dwarf_Attribute attr;
	uint64_t size;

	*integers = 0;
	if (dwarf_attr_integrate(&s->at[0], DW_AT_type, &attr) == NULL)
		return true; /* there is none */
	switch (passing(s, &s->at[0], &size)) {
	case PASS_INTEGER:
	case PASS_VECTOR: return true;
	case PASS_MEMORY: *integers = 1; return true;
	default: return is_c(s) && size <= 16;
	}
}

/* Values on the stack, in order; the first is above the return address. */
static int64_t
on_stack(int64_t *next, uint64_t size)
{
	int64_t at = *next;

	*next += (int64_t)ROUND_UP(size, 8);
	return at;
}

enum dwarf_have
dwarf_passed(struct dwarf_scopes *s, Dwarf_Die *param, uint64_t addr,
    uint8_t *reg, int64_t *offset)
{
	unsigned integers, vectors = 0;
	int64_t stack = 8;
	Dwarf_Attribute attr;
	Dwarf_Addr low;
	uint64_t size;
	Dwarf_Die die;

	*reg = ARGLOC_NOREG;
	*offset = 0;
	/* A copy that the compiler has made for callers that it knows may have
	 * a convention of its own. */
	if (dwarf_lowpc(&s->at[0], &low) != 0 || addr != low ||
	    dwarf_attr(&s->at[0], DW_AT_abstract_origin, &attr) != NULL ||
	    !result_register(s, &integers) ||
	    !die_child(&s->walk, &s->at[0], &die))
		return DWARF_NOT_YET;
	do {
		bool wanted = die.addr == param->addr;

		if (dwarf_tag(&die) != DW_TAG_formal_parameter)
			continue;
		switch (passing(s, &die, &size)) {
		case PASS_INTEGER:
			if (integers < ARRAY_SIZE(integer_regs))
				*reg = integer_regs[integers++];
			else
				*offset = on_stack(&stack, size);
			break;
		case PASS_VECTOR:
			if (vectors++ < VECTOR_REGS) {
				if (wanted)
					return DWARF_VECTOR;
			} else {
				*offset = on_stack(&stack, size);
			}
			break;
		case PASS_MEMORY: *offset = on_stack(&stack, size); break;
		case PASS_UNKNOWN: return DWARF_NOT_YET;
		}
		if (wanted)
			return DWARF_HAVE;
		*reg = ARGLOC_NOREG;
	} while (die_sibling(&s->walk, &die));
	return DWARF_NOT_YET;
}
