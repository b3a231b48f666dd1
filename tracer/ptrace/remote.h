/*
 * Remote calls: system calls that the tracer makes in a stopped thread.  The
 * thread's state is the same afterwards.
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
 * Make system call nr with args in a thread that is in ptrace-stop (any kind
 * except EV_EXIT and EV_VFORK).  Afterwards its registers, signal mask and
 * pending system call restart are as before, and it is in a stop with the same
 * meaning.  Signals that arrive meanwhile stay pending.  All of this, except
 * the stop, is also true if the tracer is killed in the middle.
 *
 * It reads /proc and stops the thread about four times, so it is too slow for
 * every hit.
 *
 * 0 with the kernel's result in *result (it may be a negative errno).  -ESRCH:
 * the thread died.  -EPERM: a seccomp filter of the target might refuse the
 * call or kill the thread, so it was not tried.  -EBUSY: the thread cannot run
 * now, also between an exec and its EV_EXEC, when its space is still the old
 * one.  -EFAULT: the program has overwritten the code that was just written.
 * -ENOENT: there is no room for that code.
 */
int remote_syscall(
    struct thread *th, long nr, const uint64_t args[6], int64_t *result);

/*
 * The same with `size' bytes of data that the call reads or writes.  They are
 * copied to the thread's stack and back.  An argument REMOTE_DATA + n becomes
 * the address of byte n there.  -EFAULT or another error if the stack cannot be
 * used.
 */
#define REMOTE_DATA     (UINT64_C(1) << 63)
#define REMOTE_DATA_MAX 128
int remote_syscall_data(struct thread *th, long nr, const uint64_t args[6],
    void *data, size_t size, int64_t *result);

/* At EV_EXEC: make system call nr the thread's next instruction; it need not
 * return.  0 or an error as above. */
int remote_next(struct thread *th, long nr, const uint64_t args[6]);

/*
 * Let a thread continue with these registers and this signal mask, from a stop
 * for a SIGTRAP of dtrap, or from the entry of a system call that must not be
 * made.  If the tracer dies, the thread has both or neither.  The kernel has
 * then forgotten the stop, so no signal is delivered.  0, -ESRCH, -ENOENT,
 * -EBUSY or -EFAULT; after an error other than -ESRCH nothing has changed.
 */
int remote_go_on(struct thread *th, const struct uregs *on, uint64_t mask);

/* The next thread of a process that can make a call now, after `prev' (NULL:
 * the first).  The threads with the least risk come first; NULL after the
 * last. */
struct thread *remote_next_in(struct proc *p, struct thread *prev);

/* remote_syscall() in any thread of the process that can make it; all must be
 * stopped. */
int remote_syscall_in(
    struct proc *p, long nr, const uint64_t args[6], int64_t *result);

/* The same in any thread of the space. */
int remote_syscall_any(
    struct space *sp, long nr, const uint64_t args[6], int64_t *result);

/*
 * What stays in the target if the tracer dies during a call: code at addr,
 * which thread tid must run to its end.  The tracer writes this record before
 * the code, into memory that the guardian shares.
 */
struct remote_left {
	pid_t tid;
	uint64_t addr; /* 0: nothing */
};
void remote_leaves(struct remote_left *where);

/* For the guardian: clear that code when the thread sleeps elsewhere.  False:
 * it does not yet; call again. */
bool remote_clear(const struct remote_left *left);

#endif
