/*
 * Shared by the files that locate a local variable: dwarf_local.c finds it by
 * name, dwarf_place.c computes its location, dwarf_entry.c recognises that a
 * parameter is not stored yet, the machine's dwarf_passed.c knows where it is
 * then, and dwarf_scope.c finds entries by address.
 */
#ifndef SYMBOLS_DWARF_DWARF_SCOPE_H
#define SYMBOLS_DWARF_DWARF_SCOPE_H

#include "symbols/dwarf/entries.h"
#include "symbols/dwarf_source.h"

/* The deepest nesting of blocks and inlined functions in one function. */
#define SCOPES_MOST 128

/*
 * A walk through children that always ends, even in damaged debug information:
 * a sibling must lie behind its predecessor, and a unit has at most as many
 * entries as bytes.
 */
struct die_walk {
	uint64_t left; /* entries that may still be visited */
};

void die_walk_unit(struct die_walk *w, Dwarf_Die *unit);
bool die_child(struct die_walk *w, Dwarf_Die *of, Dwarf_Die *child);
bool die_sibling(struct die_walk *w, Dwarf_Die *die);

/* The scopes that contain an instruction, from the function down to the
 * innermost block. */
struct dwarf_scopes {
	Dwarf_Die unit;            /* where the entries are */
	Dwarf_Die lines;           /* where the line table is */
	Dwarf_Die at[SCOPES_MOST]; /* [0] is a DW_TAG_subprogram */
	unsigned count;
	bool own; /* the found variable belongs to at[0], not to an inlined
		   * function */
	struct die_walk walk;
};

/* False: no debug information covers the address. */
bool dwarf_scopes_at(struct object *o, uint64_t addr, struct dwarf_scopes *out);

/* The address where an inlined copy begins: its DW_AT_entry_pc, or its first
 * address.  False: it has none. */
bool dwarf_inline_entry(Dwarf_Die *die, Dwarf_Addr *addr);

/* Set out's locations of `var' at `addr' in the function s->at[0]; out->type is
 * set. */
void dwarf_place(struct object *o, struct dwarf_scopes *s, Dwarf_Die *var,
    uint64_t addr, struct dwarf_local *out);

/* Is the function s->at[0] still setting up its frame at addr? */
bool dwarf_in_prologue(struct dwarf_scopes *s, uint64_t addr);

/*
 * Where the caller has passed a parameter of it: in register *reg (enum ureg),
 * or at the stack pointer + *offset.  DWARF_NOT_YET unless addr is the first
 * instruction and the calling convention is known.
 */
enum dwarf_have dwarf_passed(struct dwarf_scopes *s, Dwarf_Die *param,
    uint64_t addr, uint8_t *reg, int64_t *offset);

#endif
