/*
 * Programs that get other rights than their user's from their file: the
 * set-user-ID and set-group-ID bits, and capabilities.  The kernel withholds
 * them where a tracer without CAP_SYS_PTRACE looks on.
 */
#ifndef TRACER_PTRACE_SETID_H
#define TRACER_PTRACE_SETID_H

#include <stdbool.h>

struct proc;
struct thread;

/* Has the process, stopped in its exec, been denied the rights of its file
 * because we trace it? */
bool setid_withheld(const struct proc *p);

/*
 * Such a process shall execute its program once more as soon as it is let go,
 * and get the rights then.  To be released at once.  0; or a negative errno,
 * and it runs without them.
 */
int setid_again(struct thread *th);

#endif
