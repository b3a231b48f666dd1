/*
 * Inlined copies of functions, and the scopes that contain an instruction; see
 * dwarf_source.h.
 *
 * Both walk down the tree of a unit along the entries that have code:
 * functions, blocks and inlined functions, and namespaces, which contain
 * functions.
 */
#include "symbols/dwarf/dwarf_scope.h"

#include <dwarf.h>

/* ---- walking ---- */

void
die_walk_unit(struct die_walk *w, Dwarf_Die *unit)
{
	Dwarf_Off from = dwarf_dieoffset(unit) - dwarf_cuoffset(unit), next;
	size_t head;

	/* An entry takes a byte at least. */
	if (dwarf_next_unit(dwarf_cu_getdwarf(unit->cu), from, &next, &head,
		NULL, NULL, NULL, NULL, NULL, NULL) == 0 &&
	    next > from)
		w->left = next - from;
	else
		w->left = UINT16_MAX;
}

bool
die_child(struct die_walk *w, Dwarf_Die *of, Dwarf_Die *child)
{
	return w->left > 0 && w->left-- > 0 && dwarf_child(of, child) == 0;
}

bool
die_sibling(struct die_walk *w, Dwarf_Die *die)
{
	const void *at = die->addr;

	return w->left > 0 && w->left-- > 0 && dwarf_siblingof(die, die) == 0 &&
	    (const char *)die->addr > (const char *)at;
}

/* May entries below one with this tag have code in a scope of their own? */
enum holds { HOLDS_NOTHING, HOLDS_CODE, HOLDS_SCOPES };

static enum holds
holds(Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block: return HOLDS_CODE;
	case DW_TAG_namespace:
	case DW_TAG_module: return HOLDS_SCOPES;
	default: return HOLDS_NOTHING;
	}
}

/* The entry with the unit's children: in the split part, if it has one. */
static bool
unit_entries(Dwarf_CU *cu, Dwarf_Die *unit)
{
	Dwarf_Die split;
	uint8_t type;

	if (dwarf_cu_info(cu, NULL, &type, unit, &split, NULL, NULL, NULL) != 0)
		return false;
	if (type == DW_UT_skeleton && split.addr != NULL)
		*unit = split;
	return unit->addr != NULL && type != DW_UT_type;
}

/* ---- inlined functions ---- */

struct inline_walk {
	dwarf_inline_fn each;
	void *ctx;
	struct die_walk walk;
};

bool
dwarf_inline_entry(Dwarf_Die *die, Dwarf_Addr *addr)
{
	Dwarf_Attribute attr;
	Dwarf_Addr base, end;
	Dwarf_Word offset;

	if (dwarf_attr(die, DW_AT_entry_pc, &attr) != NULL) {
		if (dwarf_formaddr(&attr, addr) == 0)
			return true;
		/* From DWARF 5 on it may also be an offset. */
		if (dwarf_formudata(&attr, &offset) == 0 &&
		    dwarf_lowpc(die, &base) == 0) {
			*addr = base + offset;
			return true;
		}
	}
	return dwarf_ranges(die, 0, &base, addr, &end) > 0;
}

static void
inline_seen(struct inline_walk *w, Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);
	Dwarf_Addr addr;

	if (name != NULL && name[0] != '\0' && dwarf_inline_entry(die, &addr))
		w->each(w->ctx, name, dwarf_linkage_name(die), addr);
}

static void
inlines_below(struct inline_walk *w, Dwarf_Die *scope, unsigned depth)
{
	Dwarf_Die die;

	if (depth > SCOPES_MOST || !die_child(&w->walk, scope, &die))
		return;
	do {
		if (holds(&die) == HOLDS_NOTHING)
			continue;
		if (dwarf_tag(&die) == DW_TAG_inlined_subroutine)
			inline_seen(w, &die);
		inlines_below(w, &die, depth + 1);
	} while (die_sibling(&w->walk, &die));
}

bool
dwarf_inlines(struct object *o, dwarf_inline_fn each, void *ctx)
{
	struct inline_walk w = { .each = each, .ctx = ctx };
	Dwarf *dbg = dwarf_handle(o);
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;

	if (dbg == NULL)
		return false;
	while (dwarf_get_units(dbg, cu, &cu, NULL, NULL, NULL, NULL) == 0) {
		if (!unit_entries(cu, &unit))
			continue;
		die_walk_unit(&w.walk, &unit);
		inlines_below(&w, &unit, 0);
	}
	return true;
}

/* ---- scopes ---- */

static bool
scopes_below(
    struct dwarf_scopes *s, Dwarf_Die *scope, uint64_t addr, unsigned depth)
{
	Dwarf_Die die;

	if (depth >= SCOPES_MOST || !die_child(&s->walk, scope, &die))
		return false;
	do {
		enum holds h = holds(&die);

		if (h == HOLDS_SCOPES && scopes_below(s, &die, addr, depth + 1))
			return true;
		if (h != HOLDS_CODE || dwarf_haspc(&die, addr) != 1)
			continue;
		/* A nested function has a frame of its own. */
		if (dwarf_tag(&die) == DW_TAG_subprogram)
			s->count = 0;
		else if (s->count == 0)
			continue;
		if (s->count < SCOPES_MOST)
			s->at[s->count++] = die;
		scopes_below(s, &die, addr, depth + 1);
		return true;
	} while (die_sibling(&s->walk, &die));
	return false;
}

bool
dwarf_scopes_at(struct object *o, uint64_t addr, struct dwarf_scopes *s)
{
	Dwarf *dbg = dwarf_handle(o);

	s->count = 0;
	if (dbg == NULL || !dwarf_unit_at(dbg, addr, &s->lines) ||
	    !unit_entries(s->lines.cu, &s->unit))
		return false;
	die_walk_unit(&s->walk, &s->unit);
	scopes_below(s, &s->unit, addr, 0);
	return s->count > 0;
}
