/*
 * Signals that are pending for a thread are taken from the kernel, and made
 * pending again, by system calls in the thread.
 */
#ifndef TRACER_PTRACE_REQUEUE_H
#define TRACER_PTRACE_REQUEUE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proc;
struct thread;

/* Make a system call with data (remote_syscall_data()) in the stopped thread th
 * (NULL: any of p); if that fails, and not `alone', in another thread of the
 * process.  True if its result was 0. */
bool requeue_call(struct proc *p, struct thread *th, bool alone, long nr,
    const uint64_t args[6], void *data, size_t size);

/* Take n signals of this number from the kernel.  Those of the thread go before
 * those of its process.  Returns how many it has taken: fewer if there are fewer,
 * or if no call can be made. */
size_t requeue_take(struct thread *th, int sig, size_t n);

/* May any process send a signal with this siginfo (rt_tgsigqueueinfo(2))?  Only a
 * thread itself may if it looks like one of the kernel, kill() or tgkill(). */
bool requeue_by_any(const siginfo_t *si);

/* Make a signal with this siginfo pending for the thread, behind others of its
 * number.  False: no call could be made. */
bool requeue_send(struct thread *th, siginfo_t *si);

#endif
