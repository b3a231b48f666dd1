/*
 * Variables and types of a load object, from its DWARF (of the file or of its
 * separate debug file), as types of the D table.
 *
 * Nothing is read before a name is asked for, and then only the units that
 * can hold it.  A struct, union or enum is made as a forward that defines
 * itself when it is first looked into (type_resolve()): what a pointer
 * deep inside points to costs nothing.
 */
#ifndef SYMBOLS_DWARF_H
#define SYMBOLS_DWARF_H

#include <stdbool.h>
#include <stdint.h>

#include "dlang/argloc.h"
#include "dlang/types.h"
#include "symbols/object.h"

/* Reads into one table, which is destroyed first: forwards that nobody looked
 * into refer to it.  Holds the objects it has read. */
struct dwtypes;

struct dwtypes *dwtypes_create(struct types *ts);
void dwtypes_destroy(struct dwtypes *dw);

enum dwarf_place {
	DWARF_AT,          /* in memory, at `addr' */
	DWARF_THREAD,      /* one for each thread */
	DWARF_NOWHERE,     /* the compiler optimised it away */
	DWARF_ELSEWHERE,   /* declared: defined by another file */
	DWARF_UNSUPPORTED, /* at a place that is computed */
};

struct dwarf_var {
	struct type *type; /* a TYPE_FUNC for a function */
	enum dwarf_place place;
	uint64_t addr; /* the file's own */
};

/*
 * The variable or function of that name outside of functions, by its name in
 * the source or for the linker.  Where there are several, the one at `addr'
 * (UINT64_MAX: not known), else one that has a place, else any.  0; -ENOENT
 * when there is none, or no debug information.
 */
int dwarf_var(struct dwtypes *dw, struct object *o, const char *name,
    uint64_t addr, struct dwarf_var *out);

/*
 * A type by its name as C writes it: "struct foo", "union foo", "enum foo",
 * else a typedef (or a class of C++, a struct of Rust).  0, or -ENOENT also
 * when it is declared only.
 */
int dwarf_type(
    struct dwtypes *dw, struct object *o, const char *name, struct type **out);

/* How a function gets its arguments. */
enum dwarf_calls {
	DWARF_CALLS_C,    /* as the ABI of the machine says for C and C++ */
	DWARF_CALLS_RUST, /* as Rust's compiler does */
	DWARF_CALLS_GO,   /* as Go's own compiler does */
	DWARF_CALLS_OWN,  /* some other way that it does not tell */
};

/* Of a function of Go. */
struct dwarf_go {
	const struct type_member *results; /* type NULL: not known */
	size_t nresults;
	/* For each parameter its place at the first instruction, as told:
	 * registers, in PIECES; MEM by the stack pointer; UNKNOWN. */
	const struct argplace *said;
};

struct dwarf_proto {
	struct type *type; /* TYPE_FUNC */
	enum dwarf_calls calls;
	struct dwarf_go go; /* DWARF_CALLS_GO */
};

/*
 * The prototype of the function whose code begins at addr (the file's own),
 * called `name' where several do.  0; -ENOENT when there is none, or no debug
 * information.
 */
int dwarf_proto(struct dwtypes *dw, struct object *o, uint64_t addr,
    const char *name, struct dwarf_proto *out);

/* The base name of the source file, borrowed, and the line that the
 * instruction at addr (the file's own) was made of; false when not known. */
bool dwarf_line(struct object *o, uint64_t addr, const char **file, int *line);

/* Is there debug information with types? */
bool dwarf_present(struct object *o);

#endif
