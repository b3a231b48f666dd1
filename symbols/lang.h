/*
 * Stacks with the frames of languages: Java, Python, JavaScript ... above,
 * below and between native ones.
 *
 * Nothing of this is asked of the process: its memory is read while the thread
 * is stopped.  Other threads may run meanwhile and change what is read, so
 * whatever is found is checked, and what makes no sense is a frame that has an
 * address and no name; the rest of the stack goes on.
 */
#ifndef SYMBOLS_LANG_H
#define SYMBOLS_LANG_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "symbols/langname.h"
#include "symbols/unwind.h"

/* What is known of the languages in one address space. */
struct langs;

/* The thread whose stack it is.  Runtimes write down ids as they see them: in
 * the innermost namespace. */
struct lang_thread {
	pid_t pid; /* as we see it */
	pid_t inner_pid, inner_tid;
	uint64_t thread_base; /* what its own memory is found by */
};

struct langs *langs_create(struct addrspace *as);
void langs_destroy(struct langs *ls);
/* Objects came or went. */
void langs_flush(struct langs *ls);

/*
 * As unwind(), innermost first, but a word of `out' may be a name's
 * (LANG_FRAME): in the place of a native frame, or behind the interpreter's
 * frame that it is a note on.  The number of words, at most `max'; 0 where the
 * pc is.
 * `*lost' is increased for each name that found no room.
 */
size_t langs_unwind(struct langs *ls, struct unwinder *u,
    const struct uregs *regs, const struct reader *mem,
    const struct lang_thread *th, uint64_t *out, size_t max, uint64_t *lost);

#endif
