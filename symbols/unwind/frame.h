/*
 * The room symbols/unwind/: finds the callers of a stopped thread.  It knows
 * the memory and the objects of a process, and no language.  symbols/lang/
 * includes this header; other rooms include unwind.h.
 *
 * unwind.c walks.  A step from a frame to its caller is made by unwind_cfi.c or
 * unwind_libunwind.c (unwind entries), by the machine's unwind_fp.c
 * (conventions, without an entry), or by unwind_go.c (Go's change of stacks).
 * unwind_mem.c reads memory for all of them.
 */
#ifndef SYMBOLS_UNWIND_FRAME_H
#define SYMBOLS_UNWIND_FRAME_H

#include <stdbool.h>

#include "symbols/elf/parts.h"
#include "symbols/unwind.h"

/* One frame: its registers by DWARF number, and which of them are known. */
struct frame {
	uint64_t r[CFI_REGS];
	uint32_t known;
	/* The pc is the next instruction to run (innermost frame, or what a
	 * signal interrupted), not one behind a call. */
	bool exact;
	/* The pc is known to be code, so the maps are not consulted: they may
	 * not yet contain new run-time code. */
	bool sure;
	/* On another stack: the stack pointer may be lower than that of the
	 * inner frame. */
	bool other_stack;
};

enum step {
	STEP_OK,
	STEP_END,  /* this was the outermost frame */
	STEP_FAIL, /* this way of stepping does not know the caller */
};

/* Bytes of the stack that are read by one system call; enough for some hundred
 * frames. */
#define WINDOW_BYTES (16 * 1024)

struct unwinder {
	struct addrspace *as;
	/* A copy of the maps, as they were at maps_time (ns). */
	struct maps maps;
	uint64_t maps_time;
	bool maps_new;              /* read for this stack */
	const struct reader *mem;   /* during unwind() */
	uint64_t thread, goroutine; /* the innermost frame's registers
				     * UREG_THREAD, CFI_GOROUTINE */
	uint64_t window_addr;
	size_t window_len; /* 0: nothing read yet */
	uint8_t window[WINDOW_BYTES];
	struct libunwind *libunwind; /* NULL: not used yet */
	/* With UNWINDER_CHECK: the number of frames for which both found a
	 * caller, and of those for which they differed. */
	uint64_t compared, differ;
};

static inline bool
frame_knows(const struct frame *f, unsigned reg)
{
	return reg < CFI_REGS && (f->known & (1u << reg));
}

static inline void
frame_set(struct frame *f, unsigned reg, uint64_t value)
{
	f->r[reg] = value;
	f->known |= 1u << reg;
}

/* Callbacks for walking a stack. */
struct unwind_visitor {
	void *ctx;
	/* Called first for each step; STEP_FAIL: use the ways of this room.
	 * May be NULL. */
	enum step (*step)(
	    void *ctx, const struct frame *f, struct frame *caller);
	/* Called for each frame, the innermost first, with its caller, or NULL
	 * for the last frame.  Returns false to end the walk.  A frame whose pc
	 * is 0 is left out. */
	bool (*frame)(
	    void *ctx, const struct frame *f, const struct frame *caller);
	/* Bits of the registers that are known to begin with; 0: all. */
	uint32_t known;
	size_t most; /* limit of frames; 0: none.  The caller of the last one is
		      * not searched. */
};

/* Walk a stack as unwind() does, with callbacks. */
void unwind_visit(struct unwinder *u, const struct uregs *regs,
    const struct reader *mem, const struct unwind_visitor *v);

/* Read the thread's stack (or other data), through the window. */
bool unwind_read(struct unwinder *u, uint64_t addr, void *buf, size_t len);

/* Read original bytes of code, from the file if there is one. */
bool unwind_text(struct unwinder *u, uint64_t addr, void *buf, size_t len);

/* Is addr in executable memory? */
bool unwind_is_code(struct unwinder *u, uint64_t addr);

/* Is it run-time code?  Interpreters in such code push return addresses
 * themselves instead of calling, so no call instruction precedes them. */
bool unwind_is_made_code(struct unwinder *u, uint64_t addr);
/* The list of mappings that shows code at addr; NULL: none does. */
const struct maps *unwind_maps_of(struct unwinder *u, uint64_t addr);

/* The frame pointer of f is not known, and its caller is found by no other way:
 * search the stack for it. */
enum step unwind_search_step(
    struct unwinder *u, const struct frame *f, struct frame *caller);

/* Does a call instruction end at addr? */
bool unwind_is_after_call(struct unwinder *u, uint64_t addr);

enum step unwind_cfi_step(
    struct unwinder *u, const struct frame *f, struct frame *caller);

/* For pc in a signal trampoline without rules. */
enum step unwind_sigreturn_step(
    struct unwinder *u, const struct frame *f, struct frame *caller);

/* For pc in a Go function that has changed stacks. */
enum step unwind_go_step(
    struct unwinder *u, const struct frame *f, struct frame *caller);

/*
 * One step by libunwind.  *told is set to whether an unwind entry covers the
 * frame; without one the result is STEP_FAIL, whatever libunwind would guess.
 */
enum step unwind_libunwind_step(struct unwinder *u, const struct frame *f,
    struct frame *caller, bool *told);
/* Call these at the begin of a stack; when objects were mapped or unmapped;
 * when the unwinder is destroyed. */
void unwind_libunwind_begin(struct unwinder *u);
void unwind_libunwind_flush(struct unwinder *u);
void unwind_libunwind_destroy(struct unwinder *u);

/*
 * One step by unwind entries: by our rules or by libunwind.  The one that
 * unwind_choose() put first is asked, and then the other one if the first does
 * not know the caller.  It never guesses.
 */
enum step unwind_step(
    struct unwinder *u, const struct frame *f, struct frame *caller);

enum step unwind_fp_step(
    struct unwinder *u, const struct frame *f, struct frame *caller);

#endif
