/*
 * Inlined copies of functions, and names at an instruction; see
 * dwarf_source.h.
 *
 * Both go down the tree of a unit along the entries that have code: functions,
 * blocks, inlined functions, and namespaces, which have functions.
 */
#include "symbols/dwarf_scope.h"

#include <string.h>

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

/* May there be code with a scope of its own below an entry of that tag? */
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

/* The entries of a unit: of its split half where it has one. */
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

/* Where it begins: what the compiler says, or the first of its addresses. */
static bool
inline_entry(Dwarf_Die *die, Dwarf_Addr *addr)
{
	Dwarf_Attribute attr;
	Dwarf_Addr base, end;
	Dwarf_Word offset;

	if (dwarf_attr(die, DW_AT_entry_pc, &attr) != NULL) {
		if (dwarf_formaddr(&attr, addr) == 0)
			return true;
		/* From DWARF 5 on also as an offset. */
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

	if (name != NULL && name[0] != '\0' && inline_entry(die, &addr))
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
		/* A function in a function has a frame of its own. */
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

/* Does it begin at addr? */
static bool
is_copy_at(Dwarf_Die *die, uint64_t addr)
{
	Dwarf_Addr entry;

	return dwarf_tag(die) == DW_TAG_inlined_subroutine &&
	    inline_entry(die, &entry) && entry == addr;
}

/* Is it the function, as a probe calls it? */
static bool
is_called(Dwarf_Die *die, const char *func)
{
	const char *linkage = dwarf_linkage_name(die),
		   *name = dwarf_diename(die);
	size_t n = strlen(func);

	if (linkage != NULL && strcmp(linkage, func) == 0)
		return true;
	return name != NULL && strncmp(name, func, n) == 0 &&
	    (name[n] == '\0' || name[n] == '<');
}

static bool
is_call_on(Dwarf_Die *die, int line)
{
	Dwarf_Attribute attr;
	Dwarf_Word call;

	return dwarf_attr(die, DW_AT_call_line, &attr) != NULL &&
	    dwarf_formudata(&attr, &call) == 0 && call == (Dwarf_Word)line;
}

/* Leave what is deeper than what is meant. */
static void
scopes_cut(struct dwarf_scopes *s, uint64_t addr, const struct dwarf_sense *m)
{
	if (m->entry)
		s->count = 1;
	for (unsigned i = 1; i < s->count; i++) {
		if (!is_copy_at(&s->at[i], addr))
			continue;
		if (m->line > 0 && is_call_on(&s->at[i], m->line))
			s->count = i;
		else if (m->inlined != NULL && is_called(&s->at[i], m->inlined))
			s->count = i + 1;
	}
}

/* ---- names ---- */

static bool
is_variable(Dwarf_Die *die, const char *name)
{
	int tag = dwarf_tag(die);
	const char *own;

	if (tag != DW_TAG_variable && tag != DW_TAG_formal_parameter)
		return false;
	own = dwarf_diename(die);
	return own != NULL && strcmp(own, name) == 0;
}

static bool
find_in(struct die_walk *w, Dwarf_Die *scope, const char *name, Dwarf_Die *out)
{
	if (!die_child(w, scope, out))
		return false;
	do {
		if (is_variable(out, name))
			return true;
	} while (die_sibling(w, out));
	return false;
}

/* The entry in which a copy of an inlined function, or of a block of it, is
 * described as it was in the source: variables that the copy has no use for
 * are there alone. */
static bool
origin_of(Dwarf_Die *die, Dwarf_Die *out)
{
	Dwarf_Attribute attr;

	return dwarf_attr(die, DW_AT_abstract_origin, &attr) != NULL &&
	    dwarf_formref_die(&attr, out) != NULL;
}

/* In the file that the function was written in: after link-time optimisation
 * its unit is another than the one with its code. */
static bool
find_in_file(struct dwarf_scopes *s, const char *name, Dwarf_Die *out)
{
	Dwarf_Die origin, unit;

	if (find_in(&s->walk, &s->unit, name, out))
		return true;
	if (!origin_of(&s->at[0], &origin) ||
	    dwarf_diecu(&origin, &unit, NULL, NULL) == NULL ||
	    unit.addr == s->unit.addr)
		return false;
	die_walk_unit(&s->walk, &unit);
	return find_in(&s->walk, &unit, name, out);
}

static bool
find_variable(struct dwarf_scopes *s, const char *name, Dwarf_Die *out)
{
	Dwarf_Die origin;

	for (unsigned i = s->count; i-- > 0;) {
		s->own = i == 0;
		if (find_in(&s->walk, &s->at[i], name, out) ||
		    (origin_of(&s->at[i], &origin) &&
			find_in(&s->walk, &origin, name, out)))
			return true;
	}
	s->own = false;
	return find_in_file(s, name, out);
}

void
dwarf_local(struct dwtypes *dw, struct object *o, uint64_t addr,
    const struct dwarf_sense *sense, const char *name, struct dwarf_local *out)
{
	struct dwarf_scopes s;
	Dwarf_Die var;

	*out = (struct dwarf_local){ .value = DWARF_NO_SCOPE,
		.place = DWARF_NO_SCOPE };
	if (!dwarf_scopes_at(o, addr, &s))
		return;
	scopes_cut(&s, addr, sense);
	out->value = out->place = DWARF_NO_NAME;
	/* What the search for scopes has spent is not spent again. */
	die_walk_unit(&s.walk, &s.unit);
	if (!find_variable(&s, name, &var))
		return;
	out->type = dwtype_named_by(dw, o, &var);
	dwarf_place(o, &s, &var, addr, out);
}

const char *
dwarf_have_text(enum dwarf_have why)
{
	switch (why) {
	case DWARF_HAVE: break;
	case DWARF_NO_NAME: return "No variable of that name is in scope there";
	case DWARF_NO_SCOPE:
		return "No debug information says what is in scope there";
	case DWARF_AWAY: return "The compiler optimised it away";
	case DWARF_PIECES: return "It is kept in several pieces";
	case DWARF_VECTOR: return "It is in a vector register";
	case DWARF_ENTRY:
		return "It is known only as what the function was called with";
	case DWARF_NOT_YET:
		return "It is not in its place yet: the function has just begun";
	case DWARF_TLS: return "Thread-local variables cannot be read by name";
	case DWARF_COMPUTED: return "It is at a place that is computed";
	case DWARF_REGISTER: return "It is in a register, not in memory";
	case DWARF_VALUE: return "It has a value, but no place in memory";
	case DWARF_LARGE: return "It is wider than 64 bits";
	}
	return "";
}
