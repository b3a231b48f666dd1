/*
 * How functions are called, depending on the language of their unit; and which
 * classes of C++ are passed by address.
 */
#include <string.h>

#include <dwarf.h>

#include "symbols/dwarf/entries.h"

/* The most members, of a class and of the classes in it, that are examined.
 * Damaged debug information may have more. */
#define CLASS_ENTRIES 10000
#define SCOPE_DEPTH   32

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

/* GCC calls functions of Go in the way of C. */
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

enum dwarf_calls
dwarf_calls_of(Dwarf_Die *die)
{
	/* LLVM writes this for a function whose parameters it has changed. */
	if (unsigned_attr(die, DW_AT_calling_convention) == DW_CC_nocall)
		return DWARF_CALLS_OWN;
	switch (language(die)) {
	case DW_LANG_Go: return is_gcc(die) ? DWARF_CALLS_C : DWARF_CALLS_GO;
	case DW_LANG_Swift: return DWARF_CALLS_OWN;
	/* A name that is not mangled is for callers in C. A Rust function with
	 * such a name may still have Rust's own convention. That does not
	 * matter for arguments that both conventions pass in the same way. */
	case DW_LANG_Rust:
		return is_mangled(die) ? DWARF_CALLS_RUST : DWARF_CALLS_C;
	default: return DWARF_CALLS_C;
	}
}

/* ---- classes that are passed by address ---- */

/* Is it one of the member functions that the ABI names: a destructor, or a copy
 * or move constructor? */
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
	do { /* `this', and a reference to an object of the class */
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
