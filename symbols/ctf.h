/*
 * Variables, types and functions of a load object from its CTF (version 3, by
 * libctf), for objects without DWARF.  Results are as in symbols/dwarf.h.
 *
 * GCC writes CTF with -gctf.  The linker keeps every type, but only exported
 * variables and functions (in a program: with -rdynamic).
 */
#ifndef SYMBOLS_CTF_H
#define SYMBOLS_CTF_H

#include <stdbool.h>
#include <stdint.h>

#include "dlang/types.h"
#include "symbols/dwarf.h"
#include "symbols/object.h"

/* Adds types to one table, which must be destroyed first; see struct
 * dwtypes. */
struct ctftypes;

struct ctftypes *ctftypes_create(struct types *ts);
void ctftypes_destroy(struct ctftypes *c);

/* Has the object a CTF section?  Reads nothing. */
bool ctftypes_present(struct object *o);

/* The variable or function of that name; see dwarf_var(). */
int ctftypes_var(struct ctftypes *c, struct object *o, const char *name,
    uint64_t addr, struct dwarf_var *out);

/* See dwarf_type(). */
int ctftypes_type(
    struct ctftypes *c, struct object *o, const char *name, struct type **out);

/* The prototype of the function of that name; see dwarf_proto(). */
int ctftypes_proto(struct ctftypes *c, struct object *o, const char *name,
    struct dwarf_proto *out);

#endif
