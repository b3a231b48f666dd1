/*
 * Names of frames that are no native code's: what stands for one in a stack
 * beside program counters.
 *
 * A frame of an interpreted or compiled language is named when the stack is
 * taken, as its code may be another's a moment later.  The name is kept here
 * once, and the stack holds a number for it, so that equal frames of two
 * stacks are equal words: as the key of an aggregation they are one.
 */
#ifndef SYMBOLS_LANGNAME_H
#define SYMBOLS_LANGNAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No program counter of a user process on x86-64 has this bit. */
#define LANG_FRAME (1ULL << 63)

struct lang_name {
	const char *function; /* as the language says it; never "" */
	const char *file;     /* NULL: not known */
	int line;             /* 0: not known */
	/* It is about the native frame before it, an interpreter's, which
	 * stays; else it stands in the place of one. */
	bool note;
};

/* Longer texts than this are cut. */
#define LANG_NAME_BYTES 512

/* The word for a name, equal for equal names; 0 when the table is full (it has
 * a bound, whatever the target does) or the name is empty. */
uint64_t langname_word(const struct lang_name *n);

/* The name behind a word, or NULL when it is none. */
const struct lang_name *langname_of(uint64_t word);

/* Forget all: every word is invalid then. */
void langname_reset(void);

#endif
