/*
 * Stacks with the frames of languages: Java, Python, JavaScript ... above,
 * below and between native ones.
 *
 * dtrap only reads the process's memory while the thread is stopped; no code
 * runs in the process.  Other threads may run and change that memory, so every
 * value is checked.  A frame that cannot be decoded has an address and no name,
 * and the walk continues.
 */
#ifndef SYMBOLS_LANG_H
#define SYMBOLS_LANG_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "symbols/langname.h"
#include "symbols/unwind.h"

/* The language runtimes in one address space. */
struct langs;

/* The thread whose stack is walked.  Runtimes store ids of their own, innermost
 * pid namespace. */
struct lang_thread {
	pid_t pid; /* in dtrap's namespace */
	pid_t inner_pid, inner_tid;
	uint64_t thread_base; /* the register UREG_THREAD */
};

struct langs *langs_create(struct addrspace *as);
void langs_destroy(struct langs *ls);
/* Objects were mapped or unmapped: forget cached data. */
void langs_flush(struct langs *ls);

/*
 * As unwind(), but a word of `out' with the bit LANG_FRAME names a frame of a
 * language.  It replaces a native frame, or it follows the interpreter's frame
 * that runs the function.  Returns the number of words, at most `max'; it is 0
 * if the pc is 0.  *lost is increased for each name that could not be stored.
 */
size_t langs_unwind(struct langs *ls, struct unwinder *u,
    const struct uregs *regs, const struct reader *mem,
    const struct lang_thread *th, uint64_t *out, size_t max, uint64_t *lost);

#endif
