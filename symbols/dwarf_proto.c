/*
 * Functions by the address of their code, and how they are called; see
 * dwarf.h.
 *
 * A symbol may be an alias, a clone or a constructor that has no name in the
 * source: what is at its address is the function, whatever that is called.  A
 * unit is gone through once, all its functions are noted; other units are not
 * touched.
 */
#include <errno.h>
#include <string.h>

#include <dwarf.h>

#include "dlang/base/arena.h"
#include "dlang/base/hash.h"
#include "dlang/base/mem.h"
#include "symbols/dwarf_impl.h"

/* Namespaces, classes and functions in each other nest no deeper. */
#define SCOPE_DEPTH 32
/* Members of a class and of those in it, before it is taken for one that damaged
 * information has made of itself. */
#define CLASS_ENTRIES 10000
/* Definition, abstract instance, declaration: a longer way is a circle. */
#define ORIGIN_STEPS 4

struct dwfunc {
	struct dwfunc *next; /* at the same address: folded by the linker */
	Dwarf_Die die;
};

struct dwfuncs {
	struct hash by_addr; /* struct dwfunc */
	struct hash seen;    /* addresses of the entries of units */
	struct arena arena;
};

void
dwfuncs_destroy(struct dwfuncs *f)
{
	if (f == NULL)
		return;
	hash_fini(&f->by_addr);
	hash_fini(&f->seen);
	arena_fini(&f->arena);
	mem_free(f);
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

/* Where a function in several parts begins: compilers put the part that is
 * entered first. */
static bool
entry_of(Dwarf_Die *die, Dwarf_Addr *entry)
{
	Dwarf_Addr base, end;

	return dwarf_entrypc(die, entry) == 0 ||
	    dwarf_ranges(die, 0, &base, entry, &end) > 0;
}

static void
note(struct dwfuncs *f, Dwarf_Die *die)
{
	Dwarf_Addr low;
	struct dwfunc *fn;

	/* 0 is what the linker leaves of a function that it threw away. */
	if (dwarf_tag(die) != DW_TAG_subprogram || !entry_of(die, &low) ||
	    low == 0)
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
	struct dwfunc *known =
	    o->funcs != NULL ? hash_get(&o->funcs->by_addr, addr) : NULL;

	/* Without an index, finding the unit means to ask all of them. */
	if (known != NULL)
		return known;
	if (!dwarf_unit_at(dbg, addr, &unit))
		return NULL;
	if (o->funcs == NULL) {
		o->funcs = mem_zalloc(sizeof(*o->funcs));
		arena_init(&o->funcs->arena);
	}
	if (hash_get(&o->funcs->seen, (uintptr_t)unit.addr) == NULL) {
		hash_set(&o->funcs->seen, (uintptr_t)unit.addr, o->funcs);
		dwarf_cu_info(
		    unit.cu, &version, &type, NULL, &split, NULL, NULL, NULL);
		note_scope(o->funcs,
		    type == DW_UT_skeleton && split.addr != NULL ? &split :
								   &unit,
		    0);
	}
	return hash_get(&o->funcs->by_addr, addr);
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

/* ---- how it is called ---- */

static uint64_t
unsigned_attr(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Word v;

	return dwarf_attr_integrate(die, name, &attr) != NULL &&
		dwarf_formudata(&attr, &v) == 0 ?
	    v :
	    0;
}

static int
language(Dwarf_Die *die)
{
	Dwarf_Die unit;

	return dwarf_diecu(die, &unit, NULL, NULL) != NULL ?
	    dwarf_srclang(&unit) :
	    -1;
}

bool
dwarf_is_go(Dwarf_Die *die)
{
	return language(die) == DW_LANG_Go;
}

/* GCC calls functions of Go as it calls those of C. */
static bool
is_gcc(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Die unit;
	const char *by = NULL;

	if (dwarf_diecu(die, &unit, NULL, NULL) != NULL &&
	    dwarf_attr(&unit, DW_AT_producer, &attr) != NULL)
		by = dwarf_formstring(&attr);
	return by != NULL && strncmp(by, "GNU ", 4) == 0;
}

static bool
is_mangled(Dwarf_Die *die)
{
	const char *name = dwarf_linkage_name(die);

	return name != NULL &&
	    (strncmp(name, "_ZN", 3) == 0 || strncmp(name, "_R", 2) == 0);
}

static enum dwarf_calls
calls_of(Dwarf_Die *die)
{
	/* LLVM says so of a function whose parameters it has changed. */
	if (unsigned_attr(die, DW_AT_calling_convention) == DW_CC_nocall)
		return DWARF_CALLS_OWN;
	switch (language(die)) {
	case DW_LANG_Go: return is_gcc(die) ? DWARF_CALLS_C : DWARF_CALLS_GO;
	case DW_LANG_Swift: return DWARF_CALLS_OWN;
	/* A name that is not the compiler's own is for callers in C.  One of
	 * these that has it cannot be told: for what both pass in the same way
	 * it does not matter. */
	case DW_LANG_Rust:
		return is_mangled(die) ? DWARF_CALLS_RUST : DWARF_CALLS_C;
	default: return DWARF_CALLS_C;
	}
}

/* A copy that was left over from inlining has those parameters that it needed;
 * what it is a copy of has all of them.  (With Go it is the other way round.) */
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
	out->calls = calls_of(&die);
	if (out->calls != DWARF_CALLS_GO)
		original(&die);
	out->type = dwtype_func(dw, o, &die);
	if (out->calls == DWARF_CALLS_GO)
		dwarf_go_proto(dw, o, &die, &out->go);
	return 0;
}

/* ---- classes that are passed by address ---- */

/* Is it a member function that the ABI asks for: a destructor, or one that
 * makes an object of another of its class? */
static bool
is_copy_or_destroy(Dwarf_Die *fn, Dwarf_Die *class)
{
	Dwarf_Die param, type;
	Dwarf_Attribute attr;
	const char *name = dwarf_diename(fn), *of = dwarf_diename(class);
	int nth = 0, tag = 0;

	if (name == NULL || of == NULL ||
	    unsigned_attr(fn, DW_AT_defaulted) == DW_DEFAULTED_in_class)
		return false;
	if (name[0] == '~')
		return true;
	if (strcmp(name, of) != 0 || dwarf_child(fn, &param) != 0)
		return false;
	do { /* `this', and then a reference to an object of the class */
		if (dwarf_tag(&param) != DW_TAG_formal_parameter ||
		    dwarf_attr(&param, DW_AT_type, &attr) == NULL ||
		    dwarf_formref_die(&attr, &type) == NULL)
			return false;
		tag = dwarf_tag(&type);
		nth++;
	} while (dwarf_siblingof(&param, &param) == 0);
	if (nth != 2 ||
	    (tag != DW_TAG_reference_type &&
		tag != DW_TAG_rvalue_reference_type))
		return false;
	while (dwarf_attr(&type, DW_AT_type, &attr) != NULL &&
	    dwarf_formref_die(&attr, &type) != NULL &&
	    dwarf_tag(&type) == DW_TAG_const_type)
		;
	return type.addr == class->addr;
}

static bool
indirect_at(Dwarf_Die *die, unsigned depth, unsigned *left)
{
	Dwarf_Die child, type;
	Dwarf_Attribute attr;
	int tag;

	switch (unsigned_attr(die, DW_AT_calling_convention)) {
	case DW_CC_pass_by_reference: return true;
	case DW_CC_pass_by_value: return false;
	default: break;
	}
	if (depth > SCOPE_DEPTH || dwarf_child(die, &child) != 0)
		return false;
	do {
		if (*left == 0)
			return false;
		--*left;
		tag = dwarf_tag(&child);
		if (tag == DW_TAG_subprogram &&
		    (is_copy_or_destroy(&child, die) ||
			unsigned_attr(&child, DW_AT_virtuality) != 0))
			return true;
		if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) &&
		    !dwarf_flag(&child, DW_AT_external) &&
		    (unsigned_attr(&child, DW_AT_virtuality) != 0 ||
			(dwarf_attr(&child, DW_AT_type, &attr) != NULL &&
			    dwarf_formref_die(&attr, &type) != NULL &&
			    indirect_at(&type, depth + 1, left))))
			return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

bool
dwarf_is_indirect(Dwarf_Die *die)
{
	unsigned left = CLASS_ENTRIES;

	switch (language(die)) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14: return indirect_at(die, 0, &left);
	default: return false;
	}
}
