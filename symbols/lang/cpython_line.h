/*
 * Line numbers of CPython's code objects: from the offset of an instruction to
 * its line.
 */
#ifndef SYMBOLS_LANG_CPYTHON_LINE_H
#define SYMBOLS_LANG_CPYTHON_LINE_H

#include "symbols/lang/lang_impl.h"

/* The three formats of line tables. */
enum pyline_form {
	PYLINE_LNOTAB, /* to 3.9: pairs of steps, bytecode and line */
	PYLINE_RANGES, /* 3.10: ranges of bytecode, each with a line or none */
	PYLINE_LOCATIONS, /* 3.11 and later: locations with columns */
};

/*
 * The line of the instruction at `offset' (bytes) in a code object that begins
 * at line `first'.  The table has `len' bytes at addr.  A negative offset,
 * before the first instruction, means the first line.  *budget is the number of
 * bytes that may be read; it is reduced.  0: the instruction has no line, the
 * table is not valid, or the budget is used up.
 */
int pyline_find(enum pyline_form form, struct lang_walk *w, uint64_t addr,
    uint64_t len, int first, int64_t offset, uint64_t *budget);

#endif
