/*
 * The room symbols/dwarf/: what debug information says of one ELF file, DWARF
 * and CTF.  It knows the room elf/, and no process.
 *
 * Between dwarf.c, which finds entries by name, dwarf_types.c, which makes types
 * of them, dwarf_names.c, which does both, and the files that go by addresses:
 * dwarf_line.c, dwarf_lines.c, dwarf_proto.c (and dwarf_go.c), dwarf_scope.c.
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

/* What the linker calls an entry; NULL: nothing of its own. */
const char *dwarf_linkage_name(Dwarf_Die *die);

/* libdw's handle of the debug information, or NULL where there is none. */
Dwarf *dwarf_handle(struct object *o);

/* The unit whose code has the address (the file's own); false: none. */
bool dwarf_unit_at(Dwarf *dbg, uint64_t addr, Dwarf_Die *unit);

/* The unit's language passes objects by address that C passes by value: does
 * it so with those of this class?  (C++) */
bool dwarf_is_indirect(Dwarf_Die *die);

/*
 * Every entry outside of functions whose name, or name for the linker, is
 * `name'.  Ends when each() says true; did it?
 */
typedef bool (*dwarf_each_fn)(void *ctx, Dwarf_Die *die);
bool dwarf_each(
    struct object *o, const char *name, dwarf_each_fn each, void *ctx);

/* A flag attribute that is there and set. */
bool dwarf_flag(Dwarf_Die *die, unsigned attr);

/* The definition of a tag that is only declared where it is used. */
bool dwarf_definition(
    struct object *o, int tag, const char *name, Dwarf_Die *out);

/* The type that an entry describes; never NULL. */
struct type *dwtype_of(struct dwtypes *dw, struct object *o, Dwarf_Die *die);
/* Memory that lives as long as the types. */
void *dwtypes_alloc(struct dwtypes *dw, size_t size);

/* The parameters of a function, or, of Go, its results: how many there are, and
 * a list of them, mem_free()'d by the caller; their types. */
size_t dwarf_params(Dwarf_Die *fn, bool results, Dwarf_Die **out);
struct type_member *dwtype_params(
    struct dwtypes *dw, struct object *o, Dwarf_Die *dies, size_t n);

/* How the function is called that an entry describes. */
enum dwarf_calls dwarf_calls_of(Dwarf_Die *die);

/* Is it of a unit that was written in Go? */
bool dwarf_is_go(Dwarf_Die *die);

/* What dwarf_proto() tells of a function of Go. */
void dwarf_go_proto(
    struct dwtypes *dw, struct object *o, Dwarf_Die *die, struct dwarf_go *out);

/* The type of a function. */
struct type *dwtype_func(struct dwtypes *dw, struct object *o, Dwarf_Die *die);
/* The type that an entry's DW_AT_type names; void without one. */
struct type *dwtype_named_by(
    struct dwtypes *dw, struct object *o, Dwarf_Die *die);

/* Where a function begins.  Of one in several parts compilers put the part first
 * that is entered.  BOLT gives each function ranges, and 0 for its low_pc. */
bool dwarf_func_entry(Dwarf_Die *die, Dwarf_Addr *entry);

#endif
