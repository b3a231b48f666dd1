/*
 * Subscriptions to system calls.
 *
 * A subscription is for a call number (as in <asm/unistd_64.h>) and a side, the
 * entry or the return.  While there is any, every traced thread is resumed with
 * PTRACE_SYSCALL and stops twice at every call.  Without one, calls stop no
 * thread.
 *
 * Guarantees for a subscriber:
 *
 *  - hit->thread is stopped just before the call is made (SYSCALL_ENTRY), or
 *    just after (SYSCALL_RETURN); thread_regs() and the memory of its space can
 *    be read.  The subscriber must not resume it.
 *  - Entries and returns of a thread alternate, with these exceptions: a call
 *    that does not return (exit, exit_group), or whose thread is killed, has
 *    only an entry; a call that the thread was in when the first subscription
 *    was made has only a return.
 *  - execve returns 0 in the new program: the thread is then the leader, and
 *    EV_EXEC has been handled before.  When it fails it returns as others do.
 *    A process that clone, fork or vfork makes does not return from the call
 *    that made it; its maker does.
 *  - A call that a signal interrupts returns one of the kernel's -ERESTART...
 *    (-512, -513, -514, -516), which the program never sees, and comes again,
 *    with `restarted' set; the last kind comes as restart_syscall.  A call that
 *    is interrupted only because the tracer stopped the thread does not show
 *    that: one entry, one return, under its own number.
 *  - 32-bit calls (int 0x80) and those of the x32 ABI have other numbers and
 *    are not reported.
 *
 * Example: a provider that wants failed execs.
 *
 *	static void
 *	exec_returned(struct state *st, const struct syscall_hit *hit, void *arg)
 *	{
 *		uint64_t word = (uint64_t)hit->error;
 *
 *		if (hit->error != 0)
 *			fire_probe(st, arg, hit->thread, &word, 1);
 *	}
 *
 *	in enable():	syscalls_subscribe(st, SYS_execve, SYSCALL_RETURN,
 *			    exec_returned, probe);
 */
#ifndef TRACER_FIRE_SYSCALLS_H
#define TRACER_FIRE_SYSCALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "dlang/base/vec.h"
#include "tracer/ptrace/syscall_table.h"

struct event;
struct state;
struct syscall_entry;
struct thread;

enum syscall_side { SYSCALL_ENTRY, SYSCALL_RETURN, SYSCALL_SIDES };

struct syscall_hit {
	struct thread *thread;
	enum syscall_side side;
	unsigned nr;
	uint64_t args[6];
	bool restarted; /* made once more after a signal */
	int64_t result; /* SYSCALL_RETURN: rax; -errno when it failed */
	int error;      /* SYSCALL_RETURN: errno, 0 when it succeeded */
};

typedef void (*syscall_fn)(
    struct state *st, const struct syscall_hit *hit, void *arg);

struct syscall_sub {
	syscall_fn fn;
	void *arg;
};

struct syscalls {
	VEC(struct syscall_sub) of[SYSCALL_MAX][SYSCALL_SIDES];
};

/*
 * Call fn(st, hit, arg) at every entry of, or return from, system call nr, in
 * the order of subscription, until the end of the run.  Running threads are
 * affected from their next stop on: enable_apply() stops every thread.
 */
void syscalls_subscribe(struct state *st, unsigned nr, enum syscall_side side,
    syscall_fn fn, void *arg);

/* Remove all subscriptions with this arg.  Do not call it from a subscriber.
 * Without subscriptions calls stop no thread. */
void syscalls_unsubscribe(struct state *st, const void *arg);

/* The loop calls it for EV_SYSCALL_ENTER, EV_SECCOMP and EV_SYSCALL_EXIT, and
 * resumes the thread afterwards. */
void syscalls_event(struct state *st, const struct event *ev);

/* dtrap has made the call in place of the kernel, while the thread was at its
 * instruction, and `result' is what it returned: the entry and the return are told.
 * A hook of the supervisor's; ctx is the state. */
void syscalls_made(void *ctx, struct thread *th, const struct syscall_entry *e,
    int64_t result);

/* The loop calls it before a signal is delivered. */
void syscalls_signal(struct state *st, struct thread *th);

void syscalls_fini(struct syscalls *sc);

#endif
