/*
 * Finds variables by name at an instruction; see dwarf_source.h.
 */
#include <string.h>

#include <dwarf.h>

#include "symbols/dwarf/dwarf_scope.h"

/* Does it begin at addr? */
static bool
is_copy_at(Dwarf_Die *die, uint64_t addr)
{
	Dwarf_Addr entry;

	return dwarf_tag(die) == DW_TAG_inlined_subroutine &&
	    dwarf_inline_entry(die, &entry) && entry == addr;
}

/* Is this the function with the name that a probe has? */
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

/* Remove the scopes that are inside of the one that is meant. */
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

/* The entry that describes the source of an inlined function, or of a block of
 * it. Variables that the copy does not use are only there. */
static bool
origin_of(Dwarf_Die *die, Dwarf_Die *out)
{
	Dwarf_Attribute attr;

	return dwarf_attr(die, DW_AT_abstract_origin, &attr) != NULL &&
	    dwarf_formref_die(&attr, out) != NULL;
}

/* Search the file in which the function was written. After link-time
 * optimisation the unit of that file is not the unit that contains the code. */
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
	/* The limit of entries applies to each of the two walks. */
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
	case DWARF_NO_SCOPE: return "No debug information covers this place";
	case DWARF_AWAY: return "The compiler optimised it away";
	case DWARF_PIECES: return "It is kept in several pieces";
	case DWARF_VECTOR: return "It is in a vector register";
	case DWARF_ENTRY:
		return "Only its value at the entry of the function is known";
	case DWARF_NOT_YET:
		return "The function has just begun and has not stored it yet";
	case DWARF_TLS: return "Thread-local variables cannot be read by name";
	case DWARF_COMPUTED:
		return "Its location is computed in a way that "
		       "is not supported";
	case DWARF_REGISTER: return "It is in a register, not in memory";
	case DWARF_VALUE: return "It has a value but no address";
	case DWARF_LARGE: return "It is wider than 64 bits";
	case DWARF_OF_CALL: return "Each call of the function has its own";
	}
	return "";
}
