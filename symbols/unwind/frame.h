/*
 * The room symbols/unwind/: from the registers of a stopped thread to its callers.
 * symbols/lang/ includes this header; everybody else unwind.h.  The room knows
 * the memory and the objects of a process, and no language.
 *
 * Between the files of the unwinder: unwind.c walks, unwind_cfi.c steps by the
 * rules that the compiler wrote, the machine's unwind_fp.c by convention where
 * there are none, unwind_go.c where a goroutine's stack was left; unwind_mem.c
 * reads for all of them.
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
	/* Who found it knows that its pc is code: the maps are not asked, which
	 * may not have code yet that was made a moment ago. */
	bool sure;
	/* The stack pointer may be lower than that of the frame inside. */
	bool other_stack;
};

enum step {
	STEP_OK,
	STEP_END,  /* this was the outermost frame */
	STEP_FAIL, /* this way of stepping cannot tell */
};

/* Bytes of the stack read in one go: some hundred frames, and what fits is
 * one system call. */
#define WINDOW_BYTES (16 * 1024)

struct unwinder {
	struct addrspace *as;
	/* The maps once more, as they were at maps_time (ns). */
	struct maps maps;
	uint64_t maps_time;
	bool maps_new;              /* read for this stack */
	const struct reader *mem;   /* during unwind() */
	uint64_t thread, goroutine; /* the innermost frame's registers
				     * UREG_THREAD, CFI_GOROUTINE */
	uint64_t window_addr;
	size_t window_len; /* 0: nothing read yet */
	uint8_t window[WINDOW_BYTES];
	struct libunwind *libunwind; /* NULL: not asked yet */
	/* With UNWINDER_CHECK: callers that both told, and those of them that
	 * were not the same. */
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

/* Who looks on while a stack is walked. */
struct unwind_visitor {
	void *ctx;
	/* Asked before the ways of this room; STEP_FAIL: it cannot tell.
	 * NULL: never can. */
	enum step (*step)(
	    void *ctx, const struct frame *f, struct frame *caller);
	/* One frame, innermost first, and its caller, or NULL for the last.
	 * False: that was enough.  A frame whose pc is 0 is left out. */
	bool (*frame)(
	    void *ctx, const struct frame *f, const struct frame *caller);
	size_t most; /* frames; 0: as many as there are.  The caller of the
		      * last one is not looked for. */
};

/* Walk a stack as unwind() does, for a visitor. */
void unwind_visit(struct unwinder *u, const struct uregs *regs,
    const struct reader *mem, const struct unwind_visitor *v);

/* Stack (or other data) of the thread, by way of the window. */
bool unwind_read(struct unwinder *u, uint64_t addr, void *buf, size_t len);

/* Original bytes of code, from the file where there is one. */
bool unwind_text(struct unwinder *u, uint64_t addr, void *buf, size_t len);

/* Can there be code at addr? */
bool unwind_is_code(struct unwinder *u, uint64_t addr);

/* Is it code that was made at run time?  Interpreters among it push the
 * addresses to which they want to come back, and call nothing. */
bool unwind_is_made_code(struct unwinder *u, uint64_t addr);

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
 * One step by libunwind, where an unwind entry tells it how: *told says whether
 * there is one.  STEP_FAIL without, whatever libunwind would guess.
 */
enum step unwind_libunwind_step(struct unwinder *u, const struct frame *f,
    struct frame *caller, bool *told);
/* Another stack begins; objects came or went; the unwinder goes. */
void unwind_libunwind_begin(struct unwinder *u);
void unwind_libunwind_flush(struct unwinder *u);
void unwind_libunwind_destroy(struct unwinder *u);

/*
 * The door that our rules and libunwind stand behind: the caller by what is
 * known, not guessed, from the one that unwind_choose() puts first, or from the
 * other where that one cannot tell.
 */
enum step unwind_step(
    struct unwinder *u, const struct frame *f, struct frame *caller);

enum step unwind_fp_step(
    struct unwinder *u, const struct frame *f, struct frame *caller);

#endif
