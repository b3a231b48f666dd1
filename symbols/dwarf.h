/*
 * Variables and types of a load object, from its DWARF (of the file or of its
 * separate debug file), as types of the D table.
 *
 * Debug information is read only when a name is looked up, and only units that
 * may contain it.  A struct, union or enum is at first a forward type;
 * type_resolve() reads its definition.  So types behind pointers cost nothing
 * until they are used.
 */
#ifndef SYMBOLS_DWARF_H
#define SYMBOLS_DWARF_H

#include <stdbool.h>
#include <stdint.h>

#include "dlang/argloc.h"
#include "dlang/types.h"
#include "symbols/object.h"

/* Adds types to one table.  The table must be destroyed first, because its
 * forward types refer to this.  Holds references to the objects that it has
 * read. */
struct dwtypes;

struct dwtypes *dwtypes_create(struct types *ts);
void dwtypes_destroy(struct dwtypes *dw);

enum dwarf_place {
	DWARF_AT,          /* in memory, at `addr' */
	DWARF_THREAD,      /* one for each thread */
	DWARF_NOWHERE,     /* the compiler optimised it away */
	DWARF_ELSEWHERE,   /* declared: defined by another file */
	DWARF_UNSUPPORTED, /* its address is computed in an unsupported way */
};

struct dwarf_var {
	struct type *type; /* a TYPE_FUNC for a function */
	enum dwarf_place place;
	uint64_t addr; /* the file's own */
};

/*
 * Find a global variable or function by its name in the source or its linkage
 * name.  Of several, the one at `addr' is chosen (UINT64_MAX: unknown), else
 * one with an address, else any.  0; -ENOENT: there is none, or no debug
 * information.
 */
int dwarf_var(struct dwtypes *dw, struct object *o, const char *name,
    uint64_t addr, struct dwarf_var *out);

/*
 * Find a type by its name in C: "struct foo", "union foo", "enum foo", else a
 * typedef (or a class of C++, a struct of Rust).  0, or -ENOENT, also if it is
 * only declared.
 */
int dwarf_type(
    struct dwtypes *dw, struct object *o, const char *name, struct type **out);

/* How a function gets its arguments. */
enum dwarf_calls {
	DWARF_CALLS_C,    /* as the ABI of the machine says for C and C++ */
	DWARF_CALLS_RUST, /* as Rust's compiler does */
	DWARF_CALLS_GO,   /* as Go's own compiler does */
	DWARF_CALLS_OWN,  /* in another way, which is not known */
};

/* What is known of a Go function. */
struct dwarf_go {
	const struct type_member *results; /* type NULL: not known */
	size_t nresults;
	/* For each parameter its place at the first instruction, as the debug
	 * information says: PIECES for registers, MEM for the stack, or
	 * UNKNOWN. */
	const struct argplace *said;
};

struct dwarf_proto {
	struct type *type; /* TYPE_FUNC */
	enum dwarf_calls calls;
	struct dwarf_go go; /* DWARF_CALLS_GO */
};

/*
 * The prototype of the function that begins at addr (a file address); if
 * several do, of the one called `name'.  0; -ENOENT: there is none, or no debug
 * information.
 */
int dwarf_proto(struct dwtypes *dw, struct object *o, uint64_t addr,
    const char *name, struct dwarf_proto *out);

/* The source file (base name, borrowed) and line of the instruction at addr (a
 * file address).  False if they are unknown. */
bool dwarf_line(struct object *o, uint64_t addr, const char **file, int *line);

/* Is there debug information with types? */
bool dwarf_present(struct object *o);

#endif
