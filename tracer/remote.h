/*
 * Run a system call in a stopped thread, leaving no trace of it.
 */
#ifndef TRACER_REMOTE_H
#define TRACER_REMOTE_H

#include <stdint.h>

struct space;
struct thread;

/*
 * Run system call nr with args in a thread that is in ptrace-stop (any kind
 * but EV_GROUP_STOP, EV_EXIT and EV_VFORK).  Its registers, signal mask and
 * pending system call restart are as before afterwards, and it is still in a
 * stop of the same meaning; signals that arrive meanwhile stay pending.
 *
 * Asks /proc and stops the thread four times or so: not for every hit.
 *
 * 0 with the kernel's result (negative errno included) in *result; -ESRCH when
 * the thread died; -EPERM when a seccomp filter of the target's own might
 * punish it (the call is not tried then: it could be killed for it); -EBUSY
 * when the thread cannot run now (also between an exec and its EV_EXEC:
 * its space is still the old one); -EFAULT when the program has put other code
 * where the instruction was just seen; -ENOENT when the target has no system call
 * instruction.
 */
int remote_syscall(
    struct thread *th, long nr, const uint64_t args[6], int64_t *result);

/* At EV_EXEC: the thread's next instruction is to be system call nr, which may
 * not return.  0 or as above. */
int remote_next(struct thread *th, long nr, const uint64_t args[6]);

/* The same in any thread of the space that can; all of them stopped. */
int remote_syscall_any(
    struct space *sp, long nr, const uint64_t args[6], int64_t *result);

#endif
