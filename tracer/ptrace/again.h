/*
 * Executes a program again that has just been executed.
 * tracer/drive/evaltime.c uses it to trace a launched program from its exec on.
 */
#ifndef TRACER_PTRACE_AGAIN_H
#define TRACER_PTRACE_AGAIN_H

#include <stdint.h>

#include "dlang/uregs.h"

struct thread;

/* The arguments for execve(): addresses in the process. */
struct again {
	uint64_t name, argv, envp; /* name 0: unknown */
	struct uregs call; /* registers of the call that execve() replaces */
};

/*
 * Find the arguments at the exec stop, when the stack still contains all of
 * them.  `words' is the number of arguments, or 0 if it is unknown; then a
 * script is refused, because the kernel has inserted the interpreter's
 * arguments.  0; -ENOENT: the name refers to another file now; -ENOEXEC,
 * -EFAULT.
 */
int again_find(struct thread *th, unsigned words, struct again *out);

/* Replace the system call that the thread is about to make by that execve().
 * If the tracer dies then, the program simply starts again without it. */
void again_instead(struct thread *th, struct again *what);

/* After a failed execve(): let the thread make its original call. */
void again_failed(struct thread *th, const struct again *what);

#endif
