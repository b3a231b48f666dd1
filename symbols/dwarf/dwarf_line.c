/*
 * The source line of an address.
 */
#include <string.h>

#include "symbols/dwarf/entries.h"

/* Not every compiler writes an index of addresses (.debug_aranges), so the
 * ranges of the units themselves are used. */
bool
dwarf_unit_at(Dwarf *dbg, uint64_t addr, Dwarf_Die *unit)
{
	Dwarf_CU *cu = NULL;
	uint8_t type;

	if (dwarf_addrdie(dbg, addr, unit) != NULL)
		return true;
	while (dwarf_get_units(dbg, cu, &cu, NULL, &type, unit, NULL) == 0)
		if (unit->addr != NULL && dwarf_haspc(unit, addr) == 1)
			return true;
	return false;
}

bool
dwarf_line(struct object *o, uint64_t addr, const char **file, int *line)
{
	Dwarf *dbg = dwarf_handle(o);
	Dwarf_Die unit;

	if (dbg == NULL || !dwarf_unit_at(dbg, addr, &unit))
		return false;
	Dwarf_Line *at = dwarf_getsrc_die(&unit, addr);
	if (at == NULL || dwarf_lineno(at, line) != 0 || *line <= 0)
		return false;
	const char *path = dwarf_linesrc(at, NULL, NULL);
	if (path == NULL)
		return false;
	const char *slash = strrchr(path, '/');
	*file = slash != NULL ? slash + 1 : path;
	return true;
}
