/*
 * Between dwarf.c (which finds entries by name), dwarf_types.c (which makes
 * types of them) and dwarf_line.c.
 */
#ifndef SYMBOLS_DWARF_IMPL_H
#define SYMBOLS_DWARF_IMPL_H

#include <elfutils/libdw.h>

#include "symbols/dwarf.h"
#include "symbols/object_impl.h"

/* libdw's handle of the debug information, or NULL where there is none. */
Dwarf *dwarf_handle(struct object *o);

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
/* The type of a function. */
struct type *dwtype_func(struct dwtypes *dw, struct object *o, Dwarf_Die *die);
/* The type that an entry's DW_AT_type names; void without one. */
struct type *dwtype_named_by(
    struct dwtypes *dw, struct object *o, Dwarf_Die *die);

#endif
