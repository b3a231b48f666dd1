/*
 * The interface of a language.  lang.c walks the stack and has the table of
 * languages; each language (or runtime) has its file, which reads memory by
 * lang_mem.c.
 *
 * A walk asks, frame by frame from the innermost:
 *
 *	step	every language in turn: is this run-time code of the language,
 *		and which frame called it?  If none knows, unwind.c steps.
 *	frames	every language in turn: which of its frames are here?
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
	 * Called once for each object of the address space.  If the object
	 * contains this runtime, returns the language's data for it, else NULL.
	 * A function that gets w may read the process's memory.
	 */
	void *(*attach)(struct lang_walk *w, const struct load *l);
	void (*detach)(void *self);
	/* A walk begins, or ends.  Either may be NULL. */
	void (*begin)(void *self, struct lang_walk *w);
	/* May push frames that belong to no native frame, as the outermost. */
	void (*end)(void *self, struct lang_walk *w);
	/* Find the caller of a frame in run-time code of this language.
	 * STEP_FAIL: it is not such code.  The caller's stack pointer must be
	 * higher.  NULL: the language has no such code. */
	enum step (*step)(void *self, struct lang_walk *w,
	    const struct frame *f, struct frame *caller);
	/*
	 * Push the language's frames at the native frame f, the innermost
	 * first.  `caller' is NULL if f is the outermost known frame.  True:
	 * the pushed frames replace f.  False: f stays, and the pushed frames
	 * belong to it.
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

/* The walk's memory cache: bytes of a line, number of lines, and the number of
 * lines that may hold a given address. */
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
	/* Frames of the language at the current native frame, which precedes
	 * them unless they replace it. */
	VEC(uint64_t) pushed;
	uint64_t lost;
	/* Memory that was read in this walk. */
	struct lang_line {
		uint64_t addr; /* UINT64_MAX: none */
		uint64_t used; /* value of `reads' at its last use */
		uint8_t bytes[LANG_LINE];
	} lines[LANG_LINES];
	uint64_t reads;
};

/* Read the process's memory through the walk's cache.  False: it cannot be
 * read; buf is zeroed. */
bool lang_read(struct lang_walk *w, uint64_t addr, void *buf, size_t len);
/* Read one number; 0 if it cannot be read. */
uint64_t lang_u64(struct lang_walk *w, uint64_t addr);
uint32_t lang_u32(struct lang_walk *w, uint64_t addr);
uint16_t lang_u16(struct lang_walk *w, uint64_t addr);
uint8_t lang_u8(struct lang_walk *w, uint64_t addr);
/* Read `len' bytes of text as a string, cut to size - 1 bytes and at a NUL; ""
 * if they cannot be read.  Returns buf. */
char *lang_text(
    struct lang_walk *w, uint64_t addr, uint64_t len, char *buf, size_t size);

/* The address of a symbol of the load in memory; 0: there is none of that
 * name. */
uint64_t lang_sym(const struct load *l, const char *name);

/* Push one frame.  If the function's name is empty, or the table of names is
 * full, none is pushed.  `note' is as in struct lang_name. */
void lang_push(struct lang_walk *w, const char *function, const char *file,
    int line, bool note);

#endif
