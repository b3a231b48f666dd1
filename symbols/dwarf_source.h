/*
 * From the source to the code: the addresses where a line begins, the addresses
 * where the copies of an inlined function begin, and the meaning of a name at
 * an instruction.  Provider pid and tracer/names/locals.c use it.
 *
 * All addresses are file addresses.  The results are not trustworthy: before
 * text is changed, the caller must check that an instruction begins at the
 * address.
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

/* Is this source file meant?  Called once for each path in a line table; paths
 * are usually absolute. */
typedef bool (*dwarf_file_fn)(void *ctx, const char *path);
typedef void (*dwarf_row_fn)(
    void *ctx, const char *path, int line, uint64_t addr);

/*
 * Call each() for every address where a line of these files begins, that is,
 * where the line table marks a statement of the line and the code before is of
 * another line.  Each copy of a line counts: inlined, unrolled, in several
 * functions.  The order is undefined; an address may come twice.
 *
 * `base' is the last component of all paths that are meant, or NULL; objects
 * whose tables do not contain it are not read.  Paths are borrowed from the
 * object.  False: there is no debug information.
 */
bool dwarf_rows(struct object *o, const char *base, dwarf_file_fn meant,
    dwarf_row_fn each, void *ctx);

/* ---- inlined functions ---- */

/* `linkage' is the linkage name; NULL: none. */
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
	DWARF_ENTRY,    /* only its value on entry is known */
	DWARF_NOT_YET,  /* the stack frame that holds it is not set up yet */
	DWARF_TLS,      /* thread-local */
	DWARF_COMPUTED, /* by an expression that is not supported */
	DWARF_REGISTER, /* in a register: it has no address */
	DWARF_VALUE,    /* computed by the debugger alone: no address */
	DWARF_LARGE,    /* wider than a register, and in none */
	DWARF_OF_CALL,  /* each call of the function has its own */
};

/* Where a variable is at one instruction.  The value of a struct, union or
 * array is its address. */
struct dwarf_local {
	struct type *type;            /* NULL: DWARF_NO_NAME, DWARF_NO_SCOPE */
	enum dwarf_have value, place; /* are these known? */
	struct argloc value_loc;      /* gives its value */
	struct argloc place_loc;      /* gives its address */
	bool relative;                /* the locations' disp is an address of
					* the file: add the load bias */
};

/*
 * One instruction can be the first one of a function, of a function that was
 * inlined there, of another one inlined in that, and of the line of the call.
 * This says which one is meant; the meaning of names depends on it.
 */
struct dwarf_sense {
	bool entry; /* the function itself */
	int line;   /* this line, which may be that of the call; 0: any */
	const char *inlined; /* the inlined copy of this function; or NULL */
};

/*
 * Find the variable or parameter called `name' at the instruction at addr.
 * Searched are the innermost block, then its outer blocks, then (for an inlined
 * function) the function that contains the copy, then the file.
 */
void dwarf_local(struct dwtypes *dw, struct object *o, uint64_t addr,
    const struct dwarf_sense *sense, const char *name, struct dwarf_local *out);

#define DWARF_RANGES_MOST 4

/* A variable in memory. */
struct dwarf_kept {
	uint64_t addr; /* in the file */
	uint64_t size; /* 0: not known */
	/* One that each call of a function has in its stack frame, in the same
	 * place throughout: */
	bool in_frame;
	uint64_t entry; /* of the function, in the file */
	int64_t offset; /* from what the stack pointer is before the call */
	unsigned nranges;
	struct {
		uint64_t start, end;
	} ranges[DWARF_RANGES_MOST]; /* the function's code */
};

/*
 * Variables called `name' in the function `func' (its name or its linkage name):
 * static ones of it and its blocks, and those in its frame, or, if it has none of
 * the name, those of its file.  It may be inlined everywhere.  Calls each() for
 * them; one may come twice, and there is one for each function of that name.
 * DWARF_HAVE, or why there is none: DWARF_NO_SCOPE if there is no such function.
 */
typedef void (*dwarf_kept_fn)(void *ctx, const struct dwarf_kept *k);
enum dwarf_have dwarf_kept(struct object *o, const char *func, const char *name,
    dwarf_kept_fn each, void *ctx);

/* The reason why a variable cannot be read, as text. */
const char *dwarf_have_text(enum dwarf_have why);

#endif
