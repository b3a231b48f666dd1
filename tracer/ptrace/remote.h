/*
 * Run a system call in a stopped thread, leaving no trace of it.
 */
#ifndef TRACER_PTRACE_REMOTE_H
#define TRACER_PTRACE_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proc;
struct space;
struct thread;
struct uregs;

/*
 * Run system call nr with args in a thread that is in ptrace-stop (any kind
 * but EV_EXIT and EV_VFORK).  Its registers, signal mask and
 * pending system call restart are as before afterwards, and it is still in a
 * stop of the same meaning; signals that arrive meanwhile stay pending.  All of
 * that is so as well, but for the stop, when we are killed in the middle.
 *
 * Asks /proc and stops the thread four times or so: not for every hit.
 *
 * 0 with the kernel's result (negative errno included) in *result; -ESRCH when
 * the thread died; -EPERM when a seccomp filter of the target's own might
 * punish it (the call is not tried then: it could be killed for it); -EBUSY
 * when the thread cannot run now (also between an exec and its EV_EXEC:
 * its space is still the old one); -EFAULT when the program has put other code
 * where ours was just written; -ENOENT when there is no room for it.
 */
int remote_syscall(
    struct thread *th, long nr, const uint64_t args[6], int64_t *result);

/*
 * The same with data that the call reads or writes: size bytes, which pass
 * through the thread's stack.  An argument REMOTE_DATA + n is the address of
 * byte n of them there.  -EFAULT or another error when the stack cannot be used.
 */
#define REMOTE_DATA     (UINT64_C(1) << 63)
#define REMOTE_DATA_MAX 128
int remote_syscall_data(struct thread *th, long nr, const uint64_t args[6],
    void *data, size_t size, int64_t *result);

/* At EV_EXEC: the thread's next instruction is to be system call nr, which may
 * not return.  0 or as above. */
int remote_next(struct thread *th, long nr, const uint64_t args[6]);

/*
 * A thread in a stop for a SIGTRAP of ours, or at the entry of a system call that
 * is not to be made, goes on from there with these registers and this mask.  If we
 * die it has both or none.  The stop is one that the kernel has forgotten then:
 * nothing is delivered.  0, -ESRCH, -ENOENT, -EBUSY or -EFAULT; nothing has
 * changed if it is not -ESRCH.
 */
int remote_go_on(struct thread *th, const struct uregs *on, uint64_t mask);

/* The threads of a process that can make a call now, those first that risk the
 * least by it; NULL after the last. */
struct thread *remote_next_in(struct proc *p, struct thread *prev);

/* The same in any thread of the process that can; all of them stopped. */
int remote_syscall_in(
    struct proc *p, long nr, const uint64_t args[6], int64_t *result);

/* The same in any thread of the space that can; all of them stopped. */
int remote_syscall_any(
    struct space *sp, long nr, const uint64_t args[6], int64_t *result);

/*
 * What our death in the middle of a call leaves in the target: code at addr,
 * which the thread is to run to its end.  Written there before the code is; for
 * memory that outlives us.
 */
struct remote_left {
	pid_t tid;
	uint64_t addr; /* 0: nothing */
};
void remote_leaves(struct remote_left *where);

/* Afterwards, for who has outlived us: clear it, once the thread sleeps
 * elsewhere.  False: it is not known to; ask again. */
bool remote_clear(const struct remote_left *left);

#endif
