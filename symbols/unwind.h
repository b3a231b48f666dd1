/*
 * Walks the stack of a stopped thread, from its registers and its memory.
 */
#ifndef SYMBOLS_UNWIND_H
#define SYMBOLS_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlang/base/reader.h"
#include "dlang/uregs.h"
#include "symbols/addrspace.h"

struct unwinder;

/* Which of two unwinders is asked first about a frame with an unwind entry: our
 * rules (unwind_cfi.c) or libunwind.  If the first cannot find the caller, the
 * other is asked. */
enum unwinder_kind {
	UNWINDER_RULES,
	UNWINDER_LIBUNWIND,
	UNWINDER_CHECK, /* the rules, and both are compared */
};

/*
 * Choose the first for all stacks from now on.  With UNWINDER_CHECK, differ()
 * is called for each frame for which the two find different callers, with one
 * line of text, without a newline.
 */
void unwind_choose(enum unwinder_kind kind,
    void (*differ)(void *ctx, const char *text), void *ctx);

/* One for each address space; it caches unwind rules. */
struct unwinder *unwinder_create(struct addrspace *as);
void unwinder_destroy(struct unwinder *u);
/* Objects were mapped or unmapped: forget cached data. */
void unwinder_flush(struct unwinder *u);

/*
 * Find the return addresses of a stopped thread, the innermost first, beginning
 * with the pc in regs.  `mem' must return original text bytes, without dtrap's
 * int3s.  Returns their number, at most `max'.  A frame whose pc is 0 (a call
 * through a NULL pointer) is left out, the frames behind it are not.  On a
 * damaged stack the walk ends early; it never loops.
 */
size_t unwind(struct unwinder *u, const struct uregs *regs,
    const struct reader *mem, uint64_t *pcs, size_t max);

/*
 * The same, but only of what is certain: every step was made by an unwind entry, and
 * the last one says that its frame is the thread's first.  0 if that is not so, or
 * if there are more than `max'.
 */
size_t unwind_whole(struct unwinder *u, const struct uregs *regs,
    const struct reader *mem, uint64_t *pcs, size_t max);

/*
 * As unwind(), and *whole says whether every step was made by an unwind entry, and the
 * last one says that its frame is the thread's first.
 */
size_t unwind_tell(struct unwinder *u, const struct uregs *regs,
    const struct reader *mem, uint64_t *pcs, size_t max, bool *whole);

/*
 * The same of a thread that sleeps in the kernel, of which only pc and stack pointer
 * are known.  A frame pointer is searched for on the stack; *cut is set to whether one
 * was needed and not found, so that the outer frames are missing.
 */
size_t unwind_asleep(struct unwinder *u, uint64_t pc, uint64_t sp,
    const struct reader *mem, uint64_t *pcs, size_t max, bool *cut);

#endif
