/*
 * Line numbers of CPython's code objects: from the offset of an instruction to
 * a line, by the table of the version.
 */
#ifndef SYMBOLS_LANG_CPYTHON_LINE_H
#define SYMBOLS_LANG_CPYTHON_LINE_H

#include "symbols/lang/lang_impl.h"

/* The three forms that tables have had. */
enum pyline_form {
	PYLINE_LNOTAB, /* to 3.9: pairs of steps, bytecode and line */
	PYLINE_RANGES, /* 3.10: ranges of bytecode, each with a line or none */
	PYLINE_LOCATIONS, /* 3.11 and later: locations with columns */
};

/*
 * The line of the instruction at `offset' (bytes) of a code object that begins
 * in line `first', by the table of `len' bytes at addr.  An offset below 0 is
 * before the first instruction: the first line.  0: there is none, or the
 * table makes no sense, or `*budget', bytes that may still be looked at and
 * are then less, is at its end.
 */
int pyline_find(enum pyline_form form, struct lang_walk *w, uint64_t addr,
    uint64_t len, int first, int64_t offset, uint64_t *budget);

#endif
