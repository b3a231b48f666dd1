/*
 * Between lang.c, which walks and has the table of languages, and symbols/lang/,
 * a file for each language (or kind of runtime), which use lang_mem.c.
 *
 * A walk asks, frame by frame from the innermost:
 *
 *	step	every language in turn: is this code yours (made at run time),
 *		and who called it?  Else the native ways of unwind.c.
 *	frames	every language in turn: what are its frames here?
 */
#ifndef SYMBOLS_LANG_LANG_IMPL_H
#define SYMBOLS_LANG_LANG_IMPL_H

#include <stdbool.h>

#include "symbols/lang.h"
#include "symbols/unwind/frame.h"

struct lang_walk;

struct lang_ops {
	const char *name; /* for the log */
	/*
	 * An object of the space, each once, the executable included: does it
	 * hold this runtime?  What is to be known of it, or NULL.  The memory
	 * of the process may be read (w), now and whenever w is given.
	 */
	void *(*attach)(struct lang_walk *w, const struct load *l);
	void (*detach)(void *self);
	/* A walk begins, or ends.  Either may be NULL. */
	void (*begin)(void *self, struct lang_walk *w);
	/* Frames that belong to no native one may be pushed as the last. */
	void (*end)(void *self, struct lang_walk *w);
	/* The caller of a frame in code of this runtime; STEP_FAIL: it is not.
	 * The caller's stack pointer must be above.  NULL: it never knows better. */
	enum step (*step)(void *self, struct lang_walk *w,
	    const struct frame *f, struct frame *caller);
	/*
	 * Push the language's frames at the native frame f, innermost first.
	 * `caller' is NULL where f is the last that can be told.  True: what
	 * was pushed stands in the place of f; false: f stays, and what was
	 * pushed are notes on it.
	 */
	bool (*frames)(void *self, struct lang_walk *w, const struct frame *f,
	    const struct frame *caller);
};

extern const struct lang_ops lang_cpython;
extern const struct lang_ops lang_hotspot;
extern const struct lang_ops lang_perfmap;
extern const struct lang_ops lang_php;
extern const struct lang_ops lang_ruby;
extern const struct lang_ops lang_v8;

/* Bytes of one line of the walk's cache of memory; lines, and those of them in
 * which an address can be. */
#define LANG_LINE 1024
#ifdef DTRAP_SHRINK
#define LANG_LINES 2
#else
#define LANG_LINES 128
#endif
#define LANG_WAYS 2

struct lang_walk {
	struct addrspace *as;
	const struct reader *mem;
	const struct lang_thread *th;
	struct unwinder *unwinder;
	/* Frames of the language at this native frame, which is put before
	 * them unless they replace it. */
	VEC(uint64_t) pushed;
	uint64_t lost;
	/* Memory that was read in this walk. */
	struct lang_line {
		uint64_t addr; /* UINT64_MAX: none */
		uint64_t used; /* when, in reads */
		uint8_t bytes[LANG_LINE];
	} lines[LANG_LINES];
	uint64_t reads;
};

/* The process's memory, by way of the walk's cache; false: it cannot be read,
 * and what the buffer holds is zeroes. */
bool lang_read(struct lang_walk *w, uint64_t addr, void *buf, size_t len);
/* One word or part of one; 0 where it cannot be read. */
uint64_t lang_u64(struct lang_walk *w, uint64_t addr);
uint32_t lang_u32(struct lang_walk *w, uint64_t addr);
uint16_t lang_u16(struct lang_walk *w, uint64_t addr);
uint8_t lang_u8(struct lang_walk *w, uint64_t addr);
/* `len' bytes of text as a string, cut to size - 1, and at a NUL; "" where they
 * cannot be read.  Returns buf. */
char *lang_text(
    struct lang_walk *w, uint64_t addr, uint64_t len, char *buf, size_t size);

/* Where a symbol of the load is in memory; 0: it has none of that name. */
uint64_t lang_sym(const struct load *l, const char *name);

/* One frame.  An empty function, or a table that is full: no frame. */
void lang_push(struct lang_walk *w, const char *function, const char *file,
    int line, bool note);

#endif
