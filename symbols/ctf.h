/*
 * Variables, types and functions of a load object from its CTF (version 3, by
 * libctf), for objects that have no DWARF.  The answers are those of
 * symbols/dwarf.h.
 *
 * GCC writes it with -gctf; the linker keeps the symbols that others can see,
 * of a program those that are exported (-rdynamic), and every type.
 */
#ifndef SYMBOLS_CTF_H
#define SYMBOLS_CTF_H

#include <stdbool.h>
#include <stdint.h>

#include "dlang/types.h"
#include "symbols/dwarf.h"
#include "symbols/object.h"

/* Reads into one table, which is destroyed first; see struct dwtypes. */
struct ctftypes;

struct ctftypes *ctftypes_create(struct types *ts);
void ctftypes_destroy(struct ctftypes *c);

/* Has the object a section of it?  Nothing is read. */
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
