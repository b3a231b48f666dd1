/*
 * Programs whose file gives them other rights than their user has: set-user-ID
 * and set-group-ID bits, and capabilities.  The kernel does not grant these
 * rights under a tracer without CAP_SYS_PTRACE.
 */
#ifndef TRACER_PTRACE_SETID_H
#define TRACER_PTRACE_SETID_H

#include <stdbool.h>

struct proc;
struct thread;

/* The process is stopped in its exec: did the kernel deny it the rights of its
 * file because it is traced? */
bool setid_withheld(const struct proc *p);

/*
 * Let such a process execute its program again as soon as it is detached, so
 * that it gets the rights.  The caller must detach it at once.  0; or a
 * negative errno, and it runs without the rights.
 */
int setid_again(struct thread *th);

#endif
