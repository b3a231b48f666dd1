/*
 * A program that has just been executed, executed once more.
 */
#ifndef TRACER_PTRACE_AGAIN_H
#define TRACER_PTRACE_AGAIN_H

#include <stdint.h>

#include "dlang/uregs.h"

struct thread;

/* What execve() is to be given: addresses in the process. */
struct again {
	uint64_t name, argv, envp; /* name 0: it is not known */
	struct uregs call; /* the one in the place of which it is made */
};

/*
 * At the exec stop, when the stack holds all that the call was given.  `words'
 * is the number of its arguments if it is known, else 0: then a script, which
 * its interpreter has in their midst, is refused.  0; -ENOENT if the name leads
 * to another file by now; -ENOEXEC, -EFAULT.
 */
int again_find(struct thread *th, unsigned words, struct again *out);

/* The system call that the thread is about to make shall be that execve().
 * Should the tracer die, the program begins anew without it. */
void again_instead(struct thread *th, struct again *what);

/* Behind it, when it has failed: the call shall be made that was to be. */
void again_failed(struct thread *th, const struct again *what);

#endif
