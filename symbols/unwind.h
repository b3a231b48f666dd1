/*
 * Stacks from registers and a reader.
 */
#ifndef SYMBOLS_UNWIND_H
#define SYMBOLS_UNWIND_H

#include <stddef.h>
#include <stdint.h>

#include "dlang/base/reader.h"
#include "dlang/uregs.h"
#include "symbols/addrspace.h"

struct unwinder;

/* Who follows the unwind entries of compilers: our rules (unwind_cfi.c), or
 * libunwind; the other one goes on where the first cannot. */
enum unwinder_kind {
	UNWINDER_RULES,
	UNWINDER_LIBUNWIND,
	UNWINDER_CHECK, /* the rules, and both are compared */
};

/*
 * The choice for all unwinders from now on.  With UNWINDER_CHECK, each frame
 * whose caller the two see differently is reported: differ() gets one line of
 * text, without an end of line, as often as that happens.
 */
void unwind_choose(enum unwinder_kind kind,
    void (*differ)(void *ctx, const char *text), void *ctx);

/* One per address space; keeps unwind tables between calls. */
struct unwinder *unwinder_create(struct addrspace *as);
void unwinder_destroy(struct unwinder *u);
/* Objects came or went: drop what was cached about addresses. */
void unwinder_flush(struct unwinder *u);

/*
 * The return addresses of a stopped thread, innermost first, beginning with
 * regs' pc.  `mem' must give original text bytes (no int3 of ours).  Returns
 * how many of at most `max' were found.  An address of 0 (a call of what is no
 * function) is left out, the frames behind it are not; so the result is at
 * least 1 unless the pc is 0.  A stack that makes no sense ends early and
 * never loops.
 */
size_t unwind(struct unwinder *u, const struct uregs *regs,
    const struct reader *mem, uint64_t *pcs, size_t max);

#endif
