/*
 * Variables in memory, by what a function calls them; see dwarf_source.h.
 */
#include <string.h>

#include "symbols/dwarf/dwarf_scope.h"

/* The deepest nesting of blocks in a function. */
#define DEPTH_MOST 64

/* The frame pointer is set within so many bytes of a function's begin. */
#define PROLOGUE_MOST 64

struct search {
	struct object *o;
	const char *name;
	dwarf_kept_fn each;
	void *ctx;
	struct die_walk walk;
	Dwarf_Die *fn; /* NULL: variables of its file are meant */
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

/* Is the attribute one operation, wherever the thread is? */
static bool
is_one(Dwarf_Die *die, unsigned name, uint8_t atom, int64_t *number)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_attr(die, name, &attr) == NULL ||
	    dwarf_getlocation(&attr, &ops, &n) != 0 || n != 1 ||
	    ops[0].atom != atom)
		return false;
	*number = (int64_t)ops[0].number;
	return true;
}

static bool
add_ranges(Dwarf_Die *fn, struct dwarf_kept *k)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(fn, at, &base, &start, &end)) > 0) {
		if (k->nranges == DWARF_RANGES_MOST)
			return false;
		k->ranges[k->nranges].start = start;
		k->ranges[k->nranges++].end = end;
	}
	return at == 0;
}

/* GCC counts from what the stack pointer is before the call, clang from the frame
 * pointer without optimisation: the unwind rules say how far it is from there. */
static bool
add_frame_base(struct search *s, struct dwarf_kept *k)
{
	int64_t none;

	if (is_one(s->fn, DW_AT_frame_base, DW_OP_call_frame_cfa, &none))
		return true;
	if (!is_one(s->fn, DW_AT_frame_base, DW_OP_reg0 + CFI_FP, &none))
		return false;
	for (uint64_t at = k->entry; at < k->entry + PROLOGUE_MOST; at++) {
		const struct cfi_row *row = cfi_row(s->o, at);
		if (row == NULL || row->cfa.kind != CFI_REG ||
		    row->cfa.reg != CFI_FP)
			continue;
		k->offset -= row->cfa.offset;
		return true;
	}
	return false;
}

/* A variable of a block shares its place with those of other blocks. */
static bool
see_in_frame(struct search *s, Dwarf_Die *var, unsigned depth)
{
	struct dwarf_kept k = { .in_frame = true, .size = size_of(var) };

	if (s->fn == NULL || depth != 0 ||
	    !is_one(var, DW_AT_location, DW_OP_fbreg, &k.offset) ||
	    !dwarf_func_entry(s->fn, &k.entry) || !add_ranges(s->fn, &k) ||
	    !add_frame_base(s, &k))
		return false;
	s->have = DWARF_HAVE;
	s->each(s->ctx, &k);
	return true;
}

static void
see_variable(struct search *s, Dwarf_Die *var, unsigned depth)
{
	struct dwarf_kept k = { 0 };

	switch (dwarf_place_of(var, &k.addr)) {
	case DWARF_AT:
		s->have = DWARF_HAVE;
		k.size = size_of(var);
		s->each(s->ctx, &k);
		break;
	case DWARF_THREAD: note(s, DWARF_TLS); break;
	case DWARF_UNSUPPORTED:
		if (!see_in_frame(s, var, depth))
			note(s, DWARF_OF_CALL);
		break;
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
			see_variable(s, &die, depth);
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
	s->fn = fn;
	search_in(s, fn, 0);
	s->fn = NULL;
	if (s->have == DWARF_NO_NAME)
		search_in(s, &unit, 0);
	if (before == DWARF_HAVE ||
	    (before != DWARF_NO_SCOPE && s->have == DWARF_NO_NAME))
		s->have = before;
	return false;
}

enum dwarf_have
dwarf_kept(struct object *o, const char *func, const char *name,
    dwarf_kept_fn each, void *ctx)
{
	struct search s = { .o = o,
		.name = name,
		.each = each,
		.ctx = ctx,
		.have = DWARF_NO_SCOPE };

	dwarf_each(o, func, search_function, &s);
	return s.have;
}
