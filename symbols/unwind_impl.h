/*
 * Between the files of the unwinder: unwind.c walks, unwind_cfi.c steps by the
 * rules that the compiler wrote, unwind_fp.c steps by convention where there
 * are none.
 */
#ifndef SYMBOLS_UNWIND_IMPL_H
#define SYMBOLS_UNWIND_IMPL_H

#include <stdbool.h>

#include "symbols/object_impl.h"
#include "symbols/unwind.h"

/* One frame: its registers by DWARF number, and which of them are known. */
struct frame {
	uint64_t r[CFI_REGS];
	uint32_t known;
	/* The pc is the next instruction to run (innermost frame, or what a
	 * signal interrupted), not one behind a call. */
	bool exact;
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
	const struct reader *mem; /* during unwind() */
	uint64_t window_addr;
	size_t window_len; /* 0: nothing read yet */
	uint8_t window[WINDOW_BYTES];
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

/* Stack (or other data) of the thread, by way of the window. */
bool unwind_read(struct unwinder *u, uint64_t addr, void *buf, size_t len);

/* Original bytes of code, from the file where there is one. */
bool unwind_text(struct unwinder *u, uint64_t addr, void *buf, size_t len);

/* Can there be code at addr? */
bool unwind_is_code(struct unwinder *u, uint64_t addr);

enum step unwind_cfi_step(
    struct unwinder *u, const struct frame *f, struct frame *caller);

/* For pc in a signal trampoline without rules. */
enum step unwind_sigreturn_step(
    struct unwinder *u, const struct frame *f, struct frame *caller);

enum step unwind_fp_step(
    struct unwinder *u, const struct frame *f, struct frame *caller);

#endif
