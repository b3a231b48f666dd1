/*
 * Names of language frames: numbers that represent them in a stack, next to
 * program counters.
 *
 * A frame of a language is named when the stack is taken, because its code may
 * be replaced a moment later.  The name is stored here once, and the stack
 * contains its number.  Equal frames are equal words, so equal stacks are one
 * key of an aggregation.
 */
#ifndef SYMBOLS_LANGNAME_H
#define SYMBOLS_LANGNAME_H

#include <stdbool.h>
#include <stdint.h>

/* No program counter of a user process on x86-64 has this bit. */
#define LANG_FRAME (1ULL << 63)

struct lang_name {
	const char *function; /* in the language's notation; never "" */
	const char *file;     /* NULL: not known */
	int line;             /* 0: not known */
	/* True: it belongs to the native frame before it, an interpreter's,
	 * which is printed too.  False: it replaces a native frame. */
	bool note;
	/* The function is a name of symbolise.h, of a native frame whose process
	 * is not here. */
	bool native;
};

/* Longer texts than this are cut. */
#define LANG_NAME_BYTES 512
/* The same for native frames. */
#define LANG_NATIVE_BYTES 2048

/* The word for a name; equal names have equal words.  0 if the name is empty or
 * the table is full; its size is limited, whatever the target does. */
uint64_t langname_word(const struct lang_name *n);

/* The name of a word, or NULL if it is not one of a name. */
const struct lang_name *langname_of(uint64_t word);

/* Forget all names: every word is invalid then. */
void langname_reset(void);

#endif
