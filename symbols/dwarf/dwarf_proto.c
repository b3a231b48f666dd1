/*
 * Finds functions by the address of their code, and says how they are called;
 * see dwarf.h.
 *
 * A symbol may be an alias, a clone or a constructor, whose name is not in the
 * source. So the entry at its address is the function, whatever its name is. A
 * unit is read once, and all its functions are recorded. Other units are not
 * read.
 */
#include <errno.h>
#include <string.h>

#include <dwarf.h>

#include "dlang/base/arena.h"
#include "dlang/base/hash.h"
#include "symbols/dwarf/entries.h"

/* More than the nesting of namespaces, classes and functions in any known
 * program. */
#define SCOPE_DEPTH 32
/* Definition, abstract instance, declaration: a longer chain is a cycle. */
#define ORIGIN_STEPS 4

struct dwfunc {
	struct dwfunc *next; /* another function at the same address, which the
			      * linker has merged */
	Dwarf_Die die;
};

struct dwfuncs {
	struct hash by_addr; /* struct dwfunc */
	struct hash seen;    /* addresses of the entries of units */
	struct arena arena;
};

static void
dwfuncs_fini(void *part)
{
	struct dwfuncs *f = part;

	hash_fini(&f->by_addr);
	hash_fini(&f->seen);
	arena_fini(&f->arena);
}

/* ---- the functions of a unit ---- */

static bool
has_functions(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type: /* Rust's have methods */
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block: return true;
	default: return false;
	}
}

bool
dwarf_func_entry(Dwarf_Die *die, Dwarf_Addr *entry)
{
	Dwarf_Addr base, end;

	return (dwarf_entrypc(die, entry) == 0 && *entry != 0) ||
	    dwarf_ranges(die, 0, &base, entry, &end) > 0;
}

static void
note(struct dwfuncs *f, Dwarf_Die *die)
{
	Dwarf_Addr low;
	struct dwfunc *fn;

	/* The linker leaves 0 for a function that it has removed. */
	if (dwarf_tag(die) != DW_TAG_subprogram ||
	    !dwarf_func_entry(die, &low) || low == 0)
		return;
	fn = arena_alloc(&f->arena, sizeof(*fn));
	fn->die = *die;
	fn->next = hash_get(&f->by_addr, low);
	hash_set(&f->by_addr, low, fn);
}

static void
note_scope(struct dwfuncs *f, Dwarf_Die *scope, unsigned depth)
{
	Dwarf_Die die;

	if (depth > SCOPE_DEPTH || dwarf_child(scope, &die) != 0)
		return;
	do {
		note(f, &die);
		if (has_functions(dwarf_tag(&die)))
			note_scope(f, &die, depth + 1);
	} while (dwarf_siblingof(&die, &die) == 0);
}

static struct dwfunc *
functions_at(struct object *o, Dwarf *dbg, uint64_t addr)
{
	Dwarf_Die unit, split = { 0 };
	Dwarf_Half version;
	uint8_t type = 0;
	struct dwfuncs *f = object_part(o, PART_DWFUNCS);
	struct dwfunc *known = f != NULL ? hash_get(&f->by_addr, addr) : NULL;

	/* Without an index, every unit must be tried. */
	if (known != NULL)
		return known;
	if (!dwarf_unit_at(dbg, addr, &unit))
		return NULL;
	if (f == NULL) {
		f = object_part_new(o, PART_DWFUNCS, sizeof(*f), dwfuncs_fini);
		arena_init(&f->arena);
	}
	if (hash_get(&f->seen, (uintptr_t)unit.addr) == NULL) {
		hash_set(&f->seen, (uintptr_t)unit.addr, f);
		dwarf_cu_info(
		    unit.cu, &version, &type, NULL, &split, NULL, NULL, NULL);
		note_scope(f,
		    type == DW_UT_skeleton && split.addr != NULL ? &split :
								   &unit,
		    0);
	}
	return hash_get(&f->by_addr, addr);
}

static bool
is_called(Dwarf_Die *die, const char *name)
{
	Dwarf_Attribute attr;
	const char *own = dwarf_diename(die);

	if (own != NULL && strcmp(own, name) == 0)
		return true;
	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) == NULL)
		return false;
	own = dwarf_formstring(&attr);
	return own != NULL && strcmp(own, name) == 0;
}

static struct dwfunc *
best_of(struct dwfunc *first, const char *name)
{
	for (struct dwfunc *f = first; f != NULL; f = f->next)
		if (is_called(&f->die, name))
			return f;
	return first;
}

/* A copy of an inlined function has only the parameters that it uses; the entry
 * of which it is a copy has all of them. With Go it is the other way round. */
static void
original(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Die from;

	for (int i = 0; i < ORIGIN_STEPS &&
	     dwarf_attr(die, DW_AT_abstract_origin, &attr) != NULL &&
	     dwarf_formref_die(&attr, &from) != NULL;
	     i++)
		*die = from;
}

int
dwarf_proto(struct dwtypes *dw, struct object *o, uint64_t addr,
    const char *name, struct dwarf_proto *out)
{
	Dwarf *dbg = dwarf_handle(o);
	struct dwfunc *f = dbg != NULL ? functions_at(o, dbg, addr) : NULL;

	if (f == NULL)
		return -ENOENT;
	Dwarf_Die die = best_of(f, name)->die;
	out->calls = dwarf_calls_of(&die);
	if (out->calls != DWARF_CALLS_GO)
		original(&die);
	out->type = dwtype_func(dw, o, &die);
	if (out->calls == DWARF_CALLS_GO)
		dwarf_go_proto(dw, o, &die, &out->go);
	return 0;
}
