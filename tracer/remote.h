/*
 * Run a system call in a stopped thread, leaving no trace of it.
 */
#ifndef TRACER_REMOTE_H
#define TRACER_REMOTE_H

#include <stdint.h>

struct thread;

/*
 * Run system call nr with args in a thread that is in ptrace-stop (any kind
 * but group-stop and EV_EXIT).  Its registers, signal mask and pending system
 * call restart are as before afterwards; signals that arrive meanwhile are
 * queued and not lost.  0 with the kernel's result (negative errno included)
 * in *result; -ESRCH when the thread died; -EPERM when the target is not
 * allowed to (seccomp); -EBUSY when the thread cannot run now.
 */
int remote_syscall(struct thread *th, long nr, const uint64_t args[6],
    int64_t *result);

#endif
