/*
 * Variables that exist once, by what a function calls them; see
 * dwarf_source.h.
 */
#include <string.h>

#include "symbols/dwarf/dwarf_scope.h"

/* The deepest nesting of blocks in a function. */
#define DEPTH_MOST 64

struct search {
	const char *name;
	dwarf_static_fn each;
	void *ctx;
	struct die_walk walk;
	enum dwarf_have have;
};

/* The reason why there is none; unless there was one. */
static void
note(struct search *s, enum dwarf_have have)
{
	if (s->have != DWARF_HAVE)
		s->have = have;
}

static uint64_t
size_of(Dwarf_Die *var)
{
	Dwarf_Attribute attr;
	Dwarf_Die type;
	Dwarf_Word size;

	return dwarf_attr_integrate(var, DW_AT_type, &attr) != NULL &&
		dwarf_formref_die(&attr, &type) != NULL &&
		dwarf_aggregate_size(&type, &size) == 0 ?
	    size :
	    0;
}

static void
see_variable(struct search *s, Dwarf_Die *var)
{
	uint64_t addr;

	switch (dwarf_place_of(var, &addr)) {
	case DWARF_AT:
		s->have = DWARF_HAVE;
		s->each(s->ctx, addr, size_of(var));
		break;
	case DWARF_THREAD: note(s, DWARF_TLS); break;
	case DWARF_UNSUPPORTED: note(s, DWARF_OF_CALL); break;
	case DWARF_NOWHERE: note(s, DWARF_AWAY); break;
	case DWARF_ELSEWHERE: break;
	}
}

static bool
is_called(Dwarf_Die *die, const char *name)
{
	const char *own = dwarf_diename(die);

	return own != NULL && strcmp(own, name) == 0;
}

/* Blocks, too, but not functions in it. */
static void
search_in(struct search *s, Dwarf_Die *scope, unsigned depth)
{
	Dwarf_Die die;

	if (depth > DEPTH_MOST || !die_child(&s->walk, scope, &die))
		return;
	do {
		int tag = dwarf_tag(&die);
		if (tag == DW_TAG_lexical_block)
			search_in(s, &die, depth + 1);
		else if ((tag == DW_TAG_variable ||
			     tag == DW_TAG_formal_parameter) &&
		    is_called(&die, s->name))
			see_variable(s, &die);
	} while (die_sibling(&s->walk, &die));
}

/* One function with the name; other files may have others.  What is declared is
 * defined elsewhere, and a copy of an inlined one has only the variables that it
 * uses. */
static bool
search_function(void *ctx, Dwarf_Die *fn)
{
	struct search *s = ctx;
	enum dwarf_have before = s->have;
	Dwarf_Die unit;

	if (dwarf_tag(fn) != DW_TAG_subprogram ||
	    dwarf_flag(fn, DW_AT_declaration) ||
	    dwarf_hasattr(fn, DW_AT_abstract_origin) ||
	    dwarf_diecu(fn, &unit, NULL, NULL) == NULL)
		return false;
	s->have = DWARF_NO_NAME;
	die_walk_unit(&s->walk, &unit);
	search_in(s, fn, 0);
	if (s->have == DWARF_NO_NAME)
		search_in(s, &unit, 0);
	if (before == DWARF_HAVE ||
	    (before != DWARF_NO_SCOPE && s->have == DWARF_NO_NAME))
		s->have = before;
	return false;
}

enum dwarf_have
dwarf_statics(struct object *o, const char *func, const char *name,
    dwarf_static_fn each, void *ctx)
{
	struct search s = {
		.name = name, .each = each, .ctx = ctx, .have = DWARF_NO_SCOPE
	};

	dwarf_each(o, func, search_function, &s);
	return s.have;
}
