/*
 * The room symbols/dwarf/: the debug information of one ELF file, DWARF and
 * CTF.  It uses the room elf/ and knows no process.
 *
 * Shared by dwarf.c, which finds entries by name, dwarf_types.c, which converts
 * them to types, dwarf_names.c, which does both, and the files that find
 * entries by address: dwarf_line.c, dwarf_lines.c, dwarf_proto.c (and
 * dwarf_go.c), dwarf_scope.c.
 */
#ifndef SYMBOLS_DWARF_ENTRIES_H
#define SYMBOLS_DWARF_ENTRIES_H

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "symbols/dwarf.h"
#include "symbols/elf/parts.h"

/* Does the operation push the constant that follows it?  (DWARF 5, 7.7.1: their
 * numbers are in one row.) */
static inline bool
dwarf_op_is_constant(uint8_t atom)
{
	return atom >= DW_OP_const1u && atom <= DW_OP_consts;
}

/* The linkage name of an entry; NULL: none. */
const char *dwarf_linkage_name(Dwarf_Die *die);

/* libdw's handle of the debug information, or NULL if there is none. */
Dwarf *dwarf_handle(struct object *o);

/* The unit whose code contains the file address; false: none. */
bool dwarf_unit_at(Dwarf *dbg, uint64_t addr, Dwarf_Die *unit);

/* Is an object of this class passed by its address, although C would pass it by
 * value?  (C++) */
bool dwarf_is_indirect(Dwarf_Die *die);

/*
 * Call each() for every entry outside of functions whose name or linkage name
 * is `name', until it returns true.  Returns whether it did.
 */
typedef bool (*dwarf_each_fn)(void *ctx, Dwarf_Die *die);
bool dwarf_each(
    struct object *o, const char *name, dwarf_each_fn each, void *ctx);

/* Where a variable or function is; *addr is set for DWARF_AT. */
enum dwarf_place dwarf_place_of(Dwarf_Die *die, uint64_t *addr);

/* Does the entry have this flag attribute, set? */
bool dwarf_flag(Dwarf_Die *die, unsigned attr);

/* Find the definition of a tag that is only declared elsewhere. */
bool dwarf_definition(
    struct object *o, int tag, const char *name, Dwarf_Die *out);

/* The type that an entry describes; never NULL. */
struct type *dwtype_of(struct dwtypes *dw, struct object *o, Dwarf_Die *die);
/* Memory that lives as long as the types. */
void *dwtypes_alloc(struct dwtypes *dw, size_t size);

/* dwarf_params(): the parameters of a function, or with `results' the results
 * of a Go function.  Returns their number and in *out a list, which the caller
 * frees with mem_free().  dwtype_params(): their types. */
size_t dwarf_params(Dwarf_Die *fn, bool results, Dwarf_Die **out);
struct type_member *dwtype_params(
    struct dwtypes *dw, struct object *o, Dwarf_Die *dies, size_t n);

/* The calling convention of the function that an entry describes. */
enum dwarf_calls dwarf_calls_of(Dwarf_Die *die);

/* Is the entry of a unit in Go? */
bool dwarf_is_go(Dwarf_Die *die);

/* The part of dwarf_proto() for a Go function. */
void dwarf_go_proto(
    struct dwtypes *dw, struct object *o, Dwarf_Die *die, struct dwarf_go *out);

/* The type of a function. */
struct type *dwtype_func(struct dwtypes *dw, struct object *o, Dwarf_Die *die);
/* The type that an entry's DW_AT_type names; void without one. */
struct type *dwtype_named_by(
    struct dwtypes *dw, struct object *o, Dwarf_Die *die);

/* The entry address of a function.  If it has several ranges, the first one has
 * the entry.  (BOLT gives each function ranges, and low_pc 0.) */
bool dwarf_func_entry(Dwarf_Die *die, Dwarf_Addr *entry);

#endif
