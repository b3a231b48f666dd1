/*
 * The door for system-call stops: who wants to know of which system call.
 *
 * An interest is a number (as in <asm/unistd_64.h>) and a side, the entry or
 * the return.  While there is any, every thread that is traced is resumed with
 * PTRACE_SYSCALL and stops twice a call, whatever the call; without one nothing
 * is stopped and nothing costs.
 *
 * What a subscriber may rely on:
 *
 *  - hit->thread is stopped just before the call is made (SYSCALL_ENTRY), or
 *    just after (SYSCALL_RETURN); thread_regs() and the memory of its space can
 *    be had.  The subscriber does not resume it.
 *  - Entries and returns of a thread alternate, with these exceptions: calls
 *    that do not return (exit, exit_group), or whose thread is killed, have an
 *    entry alone; a call that the thread was in when the
 *    first interest came has a return alone.
 *  - execve returns 0 in the new program: the thread is then the leader, and
 *    EV_EXEC has been handled before.  When it fails it returns as others do.
 *    A process that clone, fork or vfork makes does not return from the call
 *    that made it; its maker does.
 *  - A call that a signal interrupts returns one of the kernel's -ERESTART...
 *    (-512, -513, -514, -516), which the program never sees, and comes again,
 *    with `restarted' set; the last kind comes as restart_syscall.  A call that
 *    is interrupted only because the tracer stopped the thread does not show
 *    that: one entry, one return, under its own number.
 *  - 32-bit calls (int 0x80) and those of the x32 ABI have other numbers: no
 *    subscriber is told of them.
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
 * the order of subscription, until the end of the run.  Threads that run take
 * notice at their next stop: enable_apply() stops every one of them.
 */
void syscalls_subscribe(struct state *st, unsigned nr, enum syscall_side side,
    syscall_fn fn, void *arg);

/* Call nobody with this arg any more; not from a subscriber.  When nobody is
 * left, calls stop no thread. */
void syscalls_unsubscribe(struct state *st, const void *arg);

/* For the loop: EV_SYSCALL_ENTER, EV_SECCOMP or EV_SYSCALL_EXIT.  The caller
 * resumes. */
void syscalls_event(struct state *st, const struct event *ev);

/* For the loop: a signal is about to be delivered. */
void syscalls_signal(struct state *st, struct thread *th);

void syscalls_fini(struct syscalls *sc);

#endif
