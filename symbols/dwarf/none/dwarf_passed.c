/*
 * A machine that has not been written: nobody knows how it passes parameters.
 */
#include "symbols/dwarf/dwarf_scope.h"

enum dwarf_have
dwarf_passed(struct dwarf_scopes *s, Dwarf_Die *param, uint64_t addr,
    uint8_t *reg, int64_t *offset)
{
	return DWARF_NOT_YET;
}
