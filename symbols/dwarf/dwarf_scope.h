/*
 * Between dwarf_local.c, which finds a variable by its name, dwarf_place.c, which
 * reads where it is, dwarf_entry.c, which knows that a parameter is not there
 * yet, the machine's dwarf_passed.c, which knows where it is then, and, below
 * them, dwarf_scope.c, which finds entries by where code is.
 */
#ifndef SYMBOLS_DWARF_DWARF_SCOPE_H
#define SYMBOLS_DWARF_DWARF_SCOPE_H

#include "symbols/dwarf/entries.h"
#include "symbols/dwarf_source.h"

/* Blocks and inlined functions nest no deeper in one function. */
#define SCOPES_MOST 128

/*
 * A walk through children that damaged information cannot make endless: the
 * next sibling lies behind this one, and there are no more entries in all than
 * the unit has bytes.
 */
struct die_walk {
	uint64_t left; /* entries that may still be looked at */
};

void die_walk_unit(struct die_walk *w, Dwarf_Die *unit);
bool die_child(struct die_walk *w, Dwarf_Die *of, Dwarf_Die *child);
bool die_sibling(struct die_walk *w, Dwarf_Die *die);

/* The scopes round an instruction, from the function that is there down to
 * the innermost block. */
struct dwarf_scopes {
	Dwarf_Die unit;            /* where the entries are */
	Dwarf_Die lines;           /* where the line table is */
	Dwarf_Die at[SCOPES_MOST]; /* [0] is a DW_TAG_subprogram */
	unsigned count;
	bool own; /* the variable found is of at[0], the function itself */
	struct die_walk walk;
};

/* False: no debug information says what is there. */
bool dwarf_scopes_at(struct object *o, uint64_t addr, struct dwarf_scopes *out);

/* Where a copy of an inlined function begins: what the compiler says, or the first
 * of its addresses.  False: nowhere. */
bool dwarf_inline_entry(Dwarf_Die *die, Dwarf_Addr *addr);

/* Where `var' is, at `addr' in the function s->at[0]; out->type is known. */
void dwarf_place(struct object *o, struct dwarf_scopes *s, Dwarf_Die *var,
    uint64_t addr, struct dwarf_local *out);

/* Is the function s->at[0] still setting up its frame at addr? */
bool dwarf_in_prologue(struct dwarf_scopes *s, uint64_t addr);

/*
 * Where its caller has put a parameter of it: a register (enum ureg), else at
 * the stack pointer + *offset.  DWARF_NOT_YET unless addr is the first instruction and the
 * calling convention tells.
 */
enum dwarf_have dwarf_passed(struct dwarf_scopes *s, Dwarf_Die *param,
    uint64_t addr, uint8_t *reg, int64_t *offset);

#endif
