/*
 * What debug information says of places in code, the other way round and in
 * depth: where a line of the source begins, where the copies of an inlined
 * function begin, and what a name of the source means at an instruction.
 *
 * All addresses are the file's own.  Nothing that comes from the file is
 * trusted: who changes text looks himself whether an instruction begins there.
 */
#ifndef SYMBOLS_DWARF_SOURCE_H
#define SYMBOLS_DWARF_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "dlang/argloc.h"
#include "dlang/types.h"
#include "symbols/dwarf.h"
#include "symbols/object.h"

/* ---- lines ---- */

/* Is this file meant?  Asked once for each path that a line table has; the
 * path is the table's, absolute as a rule. */
typedef bool (*dwarf_file_fn)(void *ctx, const char *path);
typedef void (*dwarf_row_fn)(
    void *ctx, const char *path, int line, uint64_t addr);

/*
 * Call each() for every address at which a line of the files that are meant
 * begins: where a statement of it begins (the table says so) behind code of
 * another line.  Each copy of the line is one: inlined, unrolled, in several
 * functions.  In no order; an address may come twice.
 *
 * `base' is the last component that each meant path has, or NULL: an object
 * whose tables do not have it is not read.  Paths are borrowed from the
 * object.  False: there is no debug information.
 */
bool dwarf_rows(struct object *o, const char *base, dwarf_file_fn meant,
    dwarf_row_fn each, void *ctx);

/* ---- inlined functions ---- */

/* `linkage' is the name for the linker, NULL where there is none. */
typedef void (*dwarf_inline_fn)(
    void *ctx, const char *name, const char *linkage, uint64_t addr);

/* Call each() with the entry of every inlined copy of every function.  False:
 * there is no debug information. */
bool dwarf_inlines(struct object *o, dwarf_inline_fn each, void *ctx);

/* ---- names ---- */

enum dwarf_have {
	DWARF_HAVE,
	DWARF_NO_NAME,  /* no variable of that name is in scope */
	DWARF_NO_SCOPE, /* no debug information covers the address */
	DWARF_AWAY,     /* optimised away, here or altogether */
	DWARF_PIECES,   /* in several registers or places */
	DWARF_VECTOR,   /* in a vector register */
	DWARF_ENTRY,    /* known only as what it was on entry */
	DWARF_NOT_YET,  /* the frame that it is kept in is not set up */
	DWARF_TLS,      /* one for each thread */
	DWARF_COMPUTED, /* by an expression that is not supported */
	DWARF_REGISTER, /* in a register: it has no address */
	DWARF_VALUE,    /* computed by the debugger alone: no address */
	DWARF_LARGE,    /* wider than a register, and in none */
};

/* Where a variable is at one address.  Structs, unions and arrays are values
 * by their address. */
struct dwarf_local {
	struct type *type;            /* NULL: DWARF_NO_NAME, DWARF_NO_SCOPE */
	enum dwarf_have value, place; /* can these be told? */
	struct argloc value_loc;      /* gives its value */
	struct argloc place_loc;      /* gives its address */
	bool relative;                /* the locations' disp is an address of
					* the file: add the load bias */
};

/*
 * One instruction can be the first of a function, of a copy that was inlined
 * there, of another one in that, and of the line of the call.  Which of them
 * is meant decides whose names are.
 */
struct dwarf_sense {
	bool entry; /* of the function itself */
	int line;   /* this line, which may be that of the call; or 0 */
	const char *inlined; /* the copy of this function; or NULL */
};

/*
 * The variable or parameter that `name' means in the source where the
 * instruction at addr was made of: of the innermost block, then of those round
 * it; of an inlined function, then of who it was inlined into; then of the
 * file.
 */
void dwarf_local(struct dwtypes *dw, struct object *o, uint64_t addr,
    const struct dwarf_sense *sense, const char *name, struct dwarf_local *out);

/* Why it cannot be read. */
const char *dwarf_have_text(enum dwarf_have why);

#endif
