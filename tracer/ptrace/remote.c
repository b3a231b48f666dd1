/*
 * Remote calls: system calls in a stopped thread, whose state is unchanged
 * afterwards.
 *
 * The thread executes a `syscall' instruction between two syscall-stops.  A
 * single-step is not used: it raises a forced SIGTRAP, for which the kernel
 * resets a blocked or ignored SIGTRAP.
 *
 *	stop as found
 *	  | event-stop inside clone, execve: on to the end of that call
 *	  | syscall-enter-stop: the call is skipped, to be entered anew; or, in
 *	  |    a process with a filter, exchanged for ours
 *	  v
 *	way back written, registers set, signals blocked
 *	  v
 *	syscall-enter-stop --> syscall-exit-stop: the result
 *	  |
 *	  +- was at the entry of a call: on to that, once more
 *	  +- was a signal-delivery-stop: on to that, once more
 *	  +- anything else: PTRACE_INTERRUPT, so that the thread stops where
 *	     the kernel still looks at a system call to be restarted (it would
 *	     not after a syscall-stop without a signal: the program would see
 *	     -ERESTARTSYS)
 *	mask, registers back
 *
 * The tracer may be killed between any two of these steps, and the thread then
 * runs on from where it is.  So the `syscall' instruction is dtrap's own, and
 * behind it is the way back (wayback.c of the machine): code that restores mask
 * and registers.  It is in the area, except for calls that map and unmap the
 * area: then it is in a cave, usually at the end of the vDSO, for the time of
 * one call, and is zeroed afterwards.  The guardian, which clears it if the
 * tracer dies, must know that no thread is in it.  The order above matters: the
 * registers lead to the way back before the mask changes, and until the mask is
 * restored.
 *
 * A thread in group-stop runs alone: the process stays stopped, and the stop by
 * PTRACE_INTERRUPT is the group-stop again, unless SIGCONT came meanwhile.
 *
 * All signals are blocked during the call, so that only SIGSTOP and SIGKILL are
 * dequeued.  Pending signals stay pending, also a SIGSEGV that was sent.  A
 * fault of an instruction would reset the program's handler then, so the code
 * is put only where it can be executed.  A kernel that does not report
 * dispatched calls (below) may raise SIGSYS: there the signal is blocked only
 * if the program blocks it.  A signal that arrives all the same is queued
 * again, unchanged.
 *
 * A signal in delivery goes back into its queue: the kernel does that itself if
 * the signal is blocked when the thread runs.  It is pending until the stop is
 * made again.  In some cases the stop is made again by another signal of the
 * number instead: if another thread could take the signal meanwhile, if another
 * of the number is pending already, for SIGTRAP, and for a fault, which is
 * recognised by its address.  If the tracer dies then, the faulting instruction
 * runs again, and a signal that was sent is lost.
 *
 * If two signals of one number were sent to this thread, one in delivery and
 * one pending, the thread stops for the second when the first is injected.  The
 * second is then queued again behind the first, or it gets the siginfo of the
 * first, and the next one that of the second (overtaken.c).  If the one in
 * delivery is the SIGTRAP of an int3, the thread goes on with the other one, as
 * if the kernel had queued them in that order.
 *
 * The signal of a watch (thread_at_watch()) is not made again: the thread could
 * not go on by itself if the tracer died while it has another siginfo.
 *
 * dtrap makes no call in a thread whose calls are dispatched to the program
 * (prctl(2)).
 *
 * Known effects if the tracer dies: a pause(), or another call that a signal
 * should end, starts again if the signal came during dtrap's call; and the trap
 * flag is lost.
 */
#include "tracer/ptrace/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/rseq.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dlang/base/fault.h"
#include "dlang/base/log.h"
#include "dlang/base/machine.h"
#include "inject/tracepoint.h"
#include "inject/trapset.h"
#include "tracer/ptrace/filters.h"
#include "tracer/ptrace/super.h"
#include "tracer/ptrace/target_ptrace.h"

#define FAULTS \
	(SIGBIT(SIGSEGV) | SIGBIT(SIGBUS) | SIGBIT(SIGILL) | SIGBIT(SIGFPE))
/* The kernel delivers them before all others (next_signal()). */
#define SYNCHRONOUS (FAULTS | SIGBIT(SIGTRAP) | SIGBIT(SIGSYS))

/* Below the red zone of the stack, aligned: nothing lives there. */
#define SCRATCH_BELOW 256
static_assert(
    REMOTE_DATA_MAX <= SCRATCH_BELOW - MACHINE_RED_ZONE, "the red zone's size");

/* What is read of a stack. */
#define STACK_MAX (64UL << 20)

struct remote {
	struct thread *th;
	struct uregs saved;  /* as the tracer has changed them at the stop */
	struct uregs kernel; /* as they were when the thread stopped */
	uint64_t wayback;    /* address of the code */
	uint64_t mask;       /* the thread's */
	uint64_t blocked;    /* the kernel's, on the way */
	uint64_t caught;     /* signals that the program handles */
	siginfo_t si;        /* of the signal in delivery */
	uint64_t maps;       /* the size, if the call is mmap() */
	int sig;             /* its number, or 0 */
	bool watch;          /* it was the signal of a watch */
	bool queued;         /* it is back in its queue */
	bool at_entry; /* found at syscall-enter-stop, or at the filter's */
	bool group;    /* found in group-stop */
	bool in_place; /* the call replaces the one at whose entry the thread
			* is */
	bool told;     /* the kernel reports whether calls are dispatched */
};

/* ---- the way back ---- */

static struct remote_left nowhere, *left = &nowhere;

/* In our own area, or 0: that is not there. */
static uint64_t
own_place(const struct space *sp)
{
	static_assert(WAYBACK_SIZE <= TRAP_SCRATCH, "it has to fit");
	return sp->tab != NULL && tptable_traps(sp->tab) != NULL ?
	    trapset_scratch(tptable_traps(sp->tab)) :
	    0;
}

/* Where it may be put, or 0: in our own area, once that is there, else in a
 * cave.  That is looked for each time: slots use caves too, and the program may
 * have mapped something else there. */
static uint64_t
find_place(struct space *sp)
{
	uint64_t own = own_place(sp);

	if (own != 0)
		return own;
	if (space_find_cave(sp, WAYBACK_SIZE, &sp->wayback) < 0)
		sp->wayback = 0;
	return sp->wayback;
}

static bool
is_own_place(const struct remote *r)
{
	return r->wayback == own_place(r->th->proc->space);
}

/* Is the thread one behind an int3, which it is to run again? */
static bool
is_behind_trap(const struct remote *r)
{
	struct space *sp = r->th->proc->space;
	uint64_t addr = r->kernel.r[UREG_PC] - TRAP_PC_AFTER;
	trap_insn now;

	if (r->sig != SIGTRAP || r->si.si_code != TRAP_CODE)
		return false;
	return (reader_read(&sp->mem, addr, &now, sizeof(now)) == 0 &&
		   now == TRAP_INSN) ||
	    (sp->tab != NULL && tracepoint_recent(sp->tab, addr));
}

/* The registers with which the thread goes on if the tracer dies. */
static void
go_on(const struct remote *r, struct uregs *on)
{
	*on = r->kernel;
	if (r->at_entry)
		regs_redo_syscall(on);
	else
		regs_restart(
		    on, r->sig != 0 && (r->caught & SIGBIT(r->sig)) != 0);
	if (is_behind_trap(r))
		on->r[UREG_PC] -= TRAP_PC_AFTER;
}

/* Write the way back to these registers. */
static int
write_wayback(struct remote *r, const struct uregs *on)
{
	struct target *t = &r->th->proc->space->target;
	uint8_t code[WAYBACK_SIZE];

	wayback_write(code, on, r->mask, r->maps);
	left->tid = r->th->tid;
	left->addr = r->wayback;
	int error = t->ops->write(t, r->wayback, code, sizeof(code));
	fault_kill("remote-written");
	return error;
}

static int
put_wayback(struct remote *r)
{
	struct uregs on;

	go_on(r, &on);
	return write_wayback(r, &on);
}

/* Clear the code; the thread is elsewhere, or has ended. */
static void
clear_wayback(struct remote *r)
{
	static const uint8_t zeros[WAYBACK_SIZE];
	struct target *t = &r->th->proc->space->target;

	t->ops->write(t, r->wayback, zeros, sizeof(zeros));
	fault_kill("remote-cleared");
	left->addr = 0;
}

void
remote_leaves(struct remote_left *where)
{
	left = where;
}

/*
 * Does no frame on the thread's stack return to the way back?  Signal handlers
 * that interrupted it have their frames between the present stack pointer and
 * the one at which the way back ends.  If the stack pointer is above the
 * latter, they have returned.  If the two are on different stacks, with a gap
 * between, nothing is known.
 */
static bool
is_done_with(int mem, uint64_t sp, const struct remote_left *l, uint64_t end)
{
	uint64_t words[512], at = MIN(sp, end) & ~7ULL, top = MAX(sp, end);

	if (top - at > STACK_MAX)
		return false;
	for (; at < top; at += sizeof(words)) {
		size_t len = MIN(sizeof(words), (top - at + 7) & ~7ULL);
		if (pread(mem, words, len, (off_t)at) != (ssize_t)len)
			return false;
		for (size_t i = 0; sp < end && i < len / sizeof(*words); i++)
			if (words[i] - l->addr < WAYBACK_SIZE)
				return false;
	}
	return true;
}

bool
remote_clear(const struct remote_left *l)
{
	static const uint8_t zeros[WAYBACK_SIZE];
	uint8_t code[WAYBACK_SIZE];
	uint64_t pc, sp = 0, end;
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)l->tid);
	int fd = l->addr != 0 ? open(path, O_RDWR | O_CLOEXEC) : -1;
	if (fd < 0)
		return true;
	bool clear =
	    pread(fd, code, sizeof(code), (off_t)l->addr) != sizeof(code) ||
	    !wayback_is(code, &end);
	if (!clear && procfs_pc(l->tid, &pc, &sp) == 0 &&
	    pc - l->addr >= WAYBACK_SIZE && is_done_with(fd, sp, l, end))
		clear = pwrite(fd, zeros, sizeof(zeros), (off_t)l->addr) ==
		    sizeof(zeros);
	close(fd);
	return clear;
}

/*
 * Under system call user dispatch (the kernel's
 * admin-guide/syscall-user-dispatch.rst) a call from outside of a range causes
 * a SIGSYS instead, while a byte in the thread's memory is set.  What the
 * thread does then would be mistaken for the call.  Kernels before 6.4 do not
 * report this: see is_refused().
 */
#ifndef PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG
#define PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG 0x4211
struct ptrace_sud_config {
	uint64_t mode; /* PR_SYS_DISPATCH_* */
	uint64_t selector;
	uint64_t offset;
	uint64_t len;
};
#endif

static int
check_dispatch(struct remote *r)
{
	struct ptrace_sud_config conf;
	uint8_t selector = SYSCALL_DISPATCH_FILTER_BLOCK;

	r->told = ptrace(PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG, r->th->tid,
		      sizeof(conf), &conf) == 0;
	if (!r->told || conf.mode == PR_SYS_DISPATCH_OFF ||
	    r->wayback - conf.offset < conf.len)
		return 0;
	if (conf.selector != 0)
		reader_read(&r->th->proc->space->mem, conf.selector, &selector,
		    sizeof(selector));
	return selector == SYSCALL_DISPATCH_FILTER_ALLOW ? 0 : -EBUSY;
}

/* What step() waits for. */
enum await { AWAIT_SYSCALL, AWAIT_SECCOMP, AWAIT_EVENT, AWAIT_SIGNAL };

static bool
is_awaited(const struct remote *r, enum await what, int status)
{
	int sig = WSTOPSIG(status), event = status >> 16;

	switch (what) {
	case AWAIT_SYSCALL: return event == 0 && sig == (SIGTRAP | 0x80);
	case AWAIT_SECCOMP: return event == PTRACE_EVENT_SECCOMP;
	case AWAIT_EVENT: return event == PTRACE_EVENT_STOP;
	case AWAIT_SIGNAL: return event == 0 && sig == r->sig;
	}
	return false;
}

/* Is it a stop that may come during a call and is passed: of an interrupt, or
 * of dtrap's own filter? */
static bool
is_passed(int status)
{
	int event = status >> 16;

	return event == 0 || event == PTRACE_EVENT_STOP ||
	    event == PTRACE_EVENT_SECCOMP;
}

#ifndef SYS_USER_DISPATCH
#define SYS_USER_DISPATCH 2 /* si_code of SIGSYS; asm-generic/siginfo.h */
#endif

/* Does this signal mean that the call was not made?  The code was overwritten,
 * or the call was dispatched to the program. */
static bool
is_refused(struct thread *th, int status)
{
	int sig = WSTOPSIG(status);
	siginfo_t si;

	if (status >> 16 != 0 || sig > SIGNALS ||
	    ((FAULTS | SIGBIT(SIGSYS)) & SIGBIT(sig)) == 0 ||
	    thread_siginfo(th, &si) < 0)
		return false;
	return sig == SIGSYS ? si.si_code == SYS_USER_DISPATCH : si.si_code > 0;
}

static int
set_mask(struct remote *r, uint64_t mask)
{
	r->blocked = mask;
	return thread_set_sigmask(r->th, mask) < 0 ? -ESRCH : 0;
}

/* The signal with which the thread is resumed after a passed stop. */
static int
passed_on(struct remote *r, int status)
{
	int sig = WSTOPSIG(status);

	if (status >> 16 != 0 || sig >= 0x80)
		return 0;
	/* SIGSTOP cannot be blocked; it takes effect now.  Other signals are
	 * queued again, because they are blocked by then. */
	if (sig != SIGSTOP)
		set_mask(r, r->blocked | SIGBIT(sig));
	return sig;
}

/* An event-stop: of the process as a group, or not? */
static void
note_group(struct remote *r, bool stopped)
{
	struct thread *th = r->th;

	if (r->group)
		stop_becomes(th, stopped ? EV_GROUP_STOP : EV_STOP);
	else if (stopped)
		stop_regroup(th, true);
}

/*
 * Let the thread run to the awaited stop.  Other stops are passed: that of an
 * earlier PTRACE_INTERRUPT, and the begin of a group-stop, which the thread
 * joins when it is resumed (regroup).  -ESRCH: the thread is dying.
 */
static int
step(struct remote *r, enum await what, int sig)
{
	struct thread *th = r->th;
	int status;

	for (;;) {
		enum __ptrace_request how =
		    what == AWAIT_SYSCALL ? PTRACE_SYSCALL : PTRACE_CONT;
		if (ptrace(how, th->tid, NULL, (void *)(uintptr_t)sig) < 0)
			return -ESRCH;
		enum thread_state was = stop_lend(th);
		fault_kill("remote-go");
		if (event_wait_thread(th, &status) < 0)
			return -ESRCH;
		fault_kill("remote-stop");
		if (!WIFSTOPPED(status) || !is_passed(status)) {
			event_note(th->proc->super, th->tid, status);
			return -ESRCH;
		}
		stop_return(th, was);
		regs_forget(th);
		if (status >> 16 == PTRACE_EVENT_STOP)
			stop_answered(th);
		LOG("remote", "%d: %x", (int)th->tid, (unsigned)status);
		if (status >> 16 == PTRACE_EVENT_STOP)
			note_group(r, WSTOPSIG(status) != SIGTRAP);
		if (is_awaited(r, what, status))
			return 0;
		if (what == AWAIT_SYSCALL && is_refused(th, status))
			return -EFAULT;
		sig = passed_on(r, status);
	}
}

/* Let the thread run from the event-stop inside a system call to the end of the
 * call, and leave it there (past_event; thread_resume() allows for it). */
static int
pass_event(struct remote *r)
{
	struct thread *th = r->th;

	if (th->stop.past_event)
		return 0;
	if (th->stop.kind != EV_FORK && th->stop.kind != EV_CLONE &&
	    th->stop.kind != EV_VFORK_DONE && th->stop.kind != EV_EXEC)
		return 0;
	regs_write_back(th);
	int error = step(r, AWAIT_SYSCALL, 0);
	if (error == 0)
		stop_pass_event(th);
	return error;
}

/* May the signal in delivery go back into its queue? */
static bool
can_queue(const struct remote *r)
{
	const struct proc *p = r->th->proc;
	bool alone = p->space->stops > 0 || p->threads.len == 1;

	/* The call may set the action of SIGTRAP, which discards pending
	 * SIGTRAPs.  SIGSTOP cannot be blocked, and SIGSYS not always. */
	if (r->sig <= 0 || r->sig == SIGTRAP || r->sig == SIGSTOP ||
	    (r->sig == SIGSYS && !r->told))
		return false;
	bool raised = r->si.si_code > 0 && (SYNCHRONOUS & SIGBIT(r->sig)) != 0;
	/* It would be queued behind the others of its number. */
	return alone && !raised && !thread_has_pending(r->th, r->sig);
}

/*
 * A stopped thread in a restartable sequence (rseq(2)) has left its processor,
 * and the kernel will send it to the abort handler when it continues there.  If
 * it continues elsewhere first, the kernel considers the sequence finished, and
 * the rest would run unprotected.  So dtrap sends the thread to the abort
 * handler.
 */
static void
abort_sequence(struct remote *r)
{
	struct space *sp = r->th->proc->space;
	struct __ptrace_rseq_configuration conf;
	uint64_t *pc = &r->kernel.r[UREG_PC], at;
	struct rseq_cs cs;

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, r->th->tid, sizeof(conf),
		&conf) < 0 ||
	    conf.rseq_abi_pointer == 0 ||
	    reader_read(&sp->mem,
		conf.rseq_abi_pointer + offsetof(struct rseq, rseq_cs), &at,
		sizeof(at)) < 0 ||
	    at == 0 || reader_read(&sp->mem, at, &cs, sizeof(cs)) < 0 ||
	    *pc - cs.start_ip >= cs.post_commit_offset)
		return;
	if (r->saved.r[UREG_PC] == *pc)
		r->saved.r[UREG_PC] = cs.abort_ip;
	*pc = cs.abort_ip;
}

/*
 * At the entry of a call a filter has yet to check it.  The number that means
 * "no call" may be refused by the filter, or it may kill for it; dtrap's call
 * is one that it allows, so it replaces the thread's call.  Not if the thread's
 * call is, or may be, a 32-bit one: the kernel would take the number for a
 * 32-bit call.
 */
static bool
is_looked_at(struct thread *th, const struct proc_status *st)
{
	struct syscall_entry e;

	return th->stop.kind == EV_SYSCALL_ENTER && st->seccomp != 0 &&
	    thread_syscall_entry(th, &e) == 0 && e.nr >= 0 && e.sure;
}

static int
begin(struct remote *r, const struct proc_status *st)
{
	struct thread *th = r->th;

	r->at_entry =
	    th->stop.kind == EV_SYSCALL_ENTER || th->stop.kind == EV_SECCOMP;
	r->in_place = is_looked_at(th, st);
	r->caught = st->sig_caught;
	r->group = th->stop.kind == EV_GROUP_STOP;
	if (th->stop.kind == EV_TRAP || th->stop.kind == EV_SIGNAL) {
		int error = thread_siginfo(th, &r->si);
		if (error < 0)
			return error;
		r->watch = th->stop.kind == EV_TRAP && thread_at_watch(th);
		if (!r->watch)
			r->sig =
			    th->stop.kind == EV_TRAP ? SIGTRAP : r->si.si_signo;
	}
	int error = pass_event(r);
	if (error < 0)
		return error;
	struct uregs *regs = thread_regs(th);
	if (regs == NULL || regs_fetch(th->tid, &r->kernel) < 0 ||
	    thread_sigmask(th, &r->mask) < 0)
		return -ESRCH;
	/* In sigsuspend and similar calls there are two masks, and setting one
	 * loses the other.  That matters only if a signal is in delivery. */
	if (r->sig != 0 && r->sig != SIGTRAP && st->sig_blocked != r->mask)
		return -EBUSY;
	r->saved = *regs;
	abort_sequence(r);
	r->queued = can_queue(r);
	return put_wayback(r);
}

/* Make the call. */
static int
run(struct remote *r, long nr, const uint64_t args[6], struct uregs *regs)
{
	struct thread *th = r->th;
	int error = 0, sig = r->queued ? r->sig : 0;

	*regs = r->kernel;
	if (r->in_place)
		regs_exchange_syscall(regs, r->wayback, nr, args);
	else
		regs_set_syscall(regs, r->wayback, nr, args);
	if (r->sig == SIGTRAP)
		thread_mark_done(th, regs->r[UREG_PC]);
	if (regs_store(th->tid, regs) < 0)
		return -ESRCH;
	/* The way back leads to the int3 again, so this stop's signal is taken
	 * from the kernel. */
	if (is_behind_trap(r))
		thread_take_stop(th);
	fault_kill("remote-regs");
	if (set_mask(r, r->told ? ~0ULL : ~SIGBIT(SIGSYS) | r->mask) < 0)
		return -ESRCH;
	fault_kill("remote-mask");
	/* The end of the skipped call. */
	if (r->at_entry && !r->in_place)
		error = step(r, AWAIT_SYSCALL, 0);
	if (error == 0 && !r->in_place)
		error = step(r, AWAIT_SYSCALL, sig);
	if (error == 0)
		error = step(r, AWAIT_SYSCALL, 0);
	return error == 0 ? regs_fetch(th->tid, regs) : error;
}

/* Another pending SIGTRAP will be merged with the injected one of the int3, so
 * its siginfo is used.  False: there is none, or the stop was for a SIGTRAP that
 * was sent, which that one overtakes. */
static bool
prefer_pending(struct remote *r)
{
	siginfo_t si;

	if (r->sig != SIGTRAP || r->si.si_code != TRAP_CODE)
		return false;
	for (unsigned i = 0; thread_pending(r->th, false, i, &si); i++)
		if (si.si_signo == SIGTRAP) {
			r->si = si;
			return true;
		}
	return false;
}

/*
 * Continue the thread to the stop for the signal that was in delivery.
 *
 * A signal that is injected again is delivered next if an instruction may raise
 * it (SYNCHRONOUS).  So the thread's own mask and registers are restored
 * before: if dtrap is killed, the program gets its signal at the right
 * instruction.
 *
 * If the thread was behind an int3 of ours, that signal is not pending yet, so
 * the thread must not continue there.  Its pc is set into the way back, which
 * leads to the int3, and which dtrap's handler knows.  In a cave, which is used
 * before there is an area, the pc is set to the int3 itself.
 */
static int
redeliver(struct remote *r)
{
	struct thread *th = r->th;

	if (r->queued) {
		set_mask(r, ~SIGBIT(r->sig));
		return step(r, AWAIT_SIGNAL, 0);
	}
	bool merged = prefer_pending(r);
	bool first = (SYNCHRONOUS & SIGBIT(r->sig)) != 0;
	set_mask(r, (first ? r->mask : ~0ULL) & ~SIGBIT(r->sig));
	struct uregs place = r->kernel;
	if (is_behind_trap(r) && is_own_place(r))
		place.r[UREG_PC] = wayback_behind(r->wayback);
	else if (is_behind_trap(r))
		place.r[UREG_PC] -= TRAP_PC_AFTER;
	if (first && regs_store(th->tid, &place) < 0)
		return -ESRCH;
	fault_kill("remote-inject");
	unsigned before = signals_to_repeat(th, r->sig);
	int error = step(r, AWAIT_SIGNAL, r->sig);
	for (; error == 0 && before > 0 && signal_repeat(th); before--)
		error = step(r, AWAIT_SIGNAL, 0);
	if (error == 0 && !merged)
		signal_overtaken(th);
	if (error == 0)
		thread_set_siginfo(th, &r->si);
	return error;
}

/*
 * Enter the call that was about to be made, from the thread's own instruction:
 * its mask is restored by then, and no way back leads there.  If a tracepoint
 * is on that instruction now, dtrap's `syscall' instruction is used, which the
 * program does not notice, because the pc is set at the stop.
 */
static int
enter_again(struct remote *r)
{
	struct thread *th = r->th;
	struct uregs redo;
	trap_insn now = 0;

	go_on(r, &redo);
	reader_read(&th->proc->space->mem, redo.r[UREG_PC], &now, sizeof(now));
	if (now == TRAP_INSN)
		redo.r[UREG_PC] = r->wayback;
	if (set_mask(r, r->mask) < 0 || regs_store(th->tid, &redo) < 0)
		return -ESRCH;
	fault_kill("remote-redo");
	return step(
	    r, th->stop.kind == EV_SECCOMP ? AWAIT_SECCOMP : AWAIT_SYSCALL, 0);
}

/* Return to a stop of the same kind as before the call. */
static int
finish(struct remote *r)
{
	struct thread *th = r->th;
	int error;

	if (r->sig != 0) {
		error = redeliver(r);
	} else if (r->at_entry) {
		error = enter_again(r);
	} else {
		ptrace(PTRACE_INTERRUPT, th->tid, NULL, NULL);
		error = step(r, AWAIT_EVENT, 0);
	}
	if (error < 0)
		return error;
	fault_kill("remote-finish");
	if (set_mask(r, r->mask) < 0)
		return -ESRCH;
	fault_kill("remote-unmask");
	if (regs_store(th->tid, &r->kernel) < 0)
		return -ESRCH;
	fault_kill("remote-back");
	bool same = memcmp(&r->saved, &r->kernel, sizeof(r->kernel)) == 0;
	regs_become(th, &r->saved, r->kernel.r[UREG_PC],
	    same ? REGS_KNOWN : REGS_CHANGED);
	return 0;
}

/* The call was not made: the thread is stopped for the signal of a fault.  That
 * stop takes the place of the one before; it gets the siginfo of the signal
 * that was in delivery. */
static void
take_back(struct remote *r)
{
	struct thread *th = r->th;

	regs_store(th->tid, &r->saved);
	if (r->queued)
		redeliver(r);
	else if (r->sig != 0)
		thread_set_siginfo(th, &r->si);
	set_mask(r, r->mask);
	regs_become(th, &r->saved, r->saved.r[UREG_PC], REGS_UNKNOWN);
	th->proc->space->wayback = 0;
	if (r->group) { /* the thread has left its group-stop */
		stop_becomes(th, EV_STOP);
		stop_regroup(th, true);
	}
}

static bool
can_run(const struct thread *th)
{
	return thread_at_hand(th) && !thread_ends(th) &&
	    th->stop.kind != EV_EXIT &&
	    (th->stop.kind != EV_VFORK || th->stop.past_event);
}

/*
 * Mark memory that the call has mapped as dtrap's, by the head of an area with
 * an empty list, until other data of dtrap marks it, because the tracer may be
 * killed before.  It must be done here: until now the way back would unmap the
 * memory.
 */
static void
mark_memory(const struct remote *r, const struct uregs *regs)
{
	struct target *t = &r->th->proc->space->target;
	const struct trap_area head = { .magic = TRAP_MAGIC,
		.size = r->maps,
		.first = sizeof(head),
		.mended = 1 };

	if (r->maps >= sizeof(head) && (uint64_t)regs_result(regs) < -4095ULL)
		t->ops->write(
		    t, (uint64_t)regs_result(regs), &head, sizeof(head));
	fault_kill("remote-mapped");
}

int
remote_syscall(
    struct thread *th, long nr, const uint64_t args[6], int64_t *result)
{
	struct remote r = { .th = th, .maps = nr == SYS_mmap ? args[1] : 0 };
	struct proc_status st;
	struct uregs regs;

	if (thread_gone(th))
		return -ESRCH;
	if (!can_run(th))
		return -EBUSY;
	if (fault_due(FAULT_REMOTE))
		return -EIO;
	if (procfs_status(th->tid, &st) < 0)
		return -ESRCH;
	int error = filters_allow(th, &st);
	if (error < 0)
		return error;
	r.wayback = find_place(th->proc->space);
	if (r.wayback == 0)
		return -ENOENT;
	error = check_dispatch(&r);
	if (error < 0)
		return error;
	error = begin(&r, &st);
	if (error < 0)
		return error;
	error = run(&r, nr, args, &regs);
	if (error == 0 && r.maps != 0)
		mark_memory(&r, &regs);
	if (error == 0)
		error = finish(&r);
	else if (error == -EFAULT)
		take_back(&r);
	clear_wayback(&r);
	if (r.watch)
		regs_at_watch(th);
	if (error < 0)
		return error;
	*result = regs_result(&regs);
	LOG("remote", "%d: system call %ld: %lld", (int)th->tid, nr,
	    (long long)*result);
	return 0;
}

int
remote_syscall_data(struct thread *th, long nr, const uint64_t args[6],
    void *data, size_t size, int64_t *result)
{
	struct target *t = &th->proc->space->target;
	struct uregs *regs = thread_regs(th);
	uint8_t kept[REMOTE_DATA_MAX];
	uint64_t with[6];

	ASSERT(size <= sizeof(kept));
	if (regs == NULL)
		return -ESRCH;
	uint64_t addr = (regs->r[UREG_SP] - SCRATCH_BELOW) & ~15ULL;
	for (int i = 0; i < 6; i++)
		with[i] = args[i] - REMOTE_DATA < size ?
		    addr + (args[i] - REMOTE_DATA) :
		    args[i];
	int r = t->ops->read(t, addr, kept, size);
	if (r == 0)
		r = t->ops->write(t, addr, data, size);
	if (r < 0)
		return r;
	r = remote_syscall(th, nr, with, result);
	if (r == 0)
		r = t->ops->read(t, addr, data, size);
	t->ops->write(t, addr, kept, size);
	return r;
}

int
remote_next(struct thread *th, long nr, const uint64_t args[6])
{
	struct remote r = { .th = th };

	if (th->stop.kind != EV_EXEC || !can_run(th))
		return -EBUSY;
	r.wayback = find_place(th->proc->space);
	if (r.wayback == 0)
		return -ENOENT;
	/* The kernel sets the result of the call that it is in. */
	int error = pass_event(&r);
	struct uregs *regs = error == 0 ? thread_regs(th) : NULL;
	if (regs == NULL || thread_sigmask(th, &r.mask) < 0)
		return -ESRCH;
	/* If the call fails, the program goes on unchanged. */
	r.kernel = *regs;
	error = put_wayback(&r);
	if (error < 0)
		return error;
	regs_set_syscall(regs, r.wayback, nr, args);
	thread_regs_dirty(th);
	return 0;
}

/*
 * First the thread's registers are changed so that it would execute the way
 * back, which sets both mask and registers.  The system call of the way back is
 * one that the program was about to make itself, so a seccomp filter allows it.
 */
int
remote_go_on(struct thread *th, const struct uregs *on, uint64_t mask)
{
	static const uint64_t asks_nothing[6] = { [3] = SET_SIZE };
	struct remote r = { .th = th, .mask = mask };
	struct uregs regs = *on;

	if (!can_run(th))
		return -EBUSY;
	r.wayback = find_place(th->proc->space);
	if (r.wayback == 0)
		return -ENOENT;
	int error = check_dispatch(&r);
	if (error == 0)
		error = write_wayback(&r, on);
	if (error < 0)
		return error;
	regs_set_syscall(&regs, r.wayback, SYS_rt_sigprocmask, asks_nothing);
	thread_mark_done(th, r.wayback);
	if (regs_store(th->tid, &regs) < 0)
		error = -ESRCH;
	thread_take_stop(th);
	fault_kill("go-on-regs");
	if (error == 0)
		error = set_mask(&r, mask);
	fault_kill("go-on-mask");
	if (error == 0 && regs_store(th->tid, on) < 0)
		error = -ESRCH;
	fault_kill("go-on-back");
	clear_wayback(&r);
	regs_become(
	    th, on, on->r[UREG_PC], error == 0 ? REGS_KNOWN : REGS_UNKNOWN);
	return error;
}

static int
trouble(const struct thread *th)
{
	switch (th->stop.kind) {
	case EV_SIGNAL:
	case EV_TRAP: return 2;
	case EV_SYSCALL_ENTER:
	case EV_SECCOMP: return 1;
	default: return 0;
	}
}

struct thread *
remote_next_in(struct proc *p, struct thread *prev)
{
	bool past = prev == NULL;
	int pass = prev != NULL ? trouble(prev) : 0;

	/* Threads in a simple stop come first: the head of the file says what
	 * the others may lose if the tracer dies. */
	for (; pass < 3; pass++, past = true)
		for (size_t i = 0; i < p->threads.len; i++) {
			struct thread *th = p->threads.at[i];
			if (past && can_run(th) && trouble(th) == pass)
				return th;
			past = past || th == prev;
		}
	return NULL;
}

int
remote_syscall_in(
    struct proc *p, long nr, const uint64_t args[6], int64_t *result)
{
	struct thread *th = NULL;
	int error = -EBUSY;

	while ((th = remote_next_in(p, th)) != NULL) {
		int r = remote_syscall(th, nr, args, result);
		if (r == 0)
			return 0;
		error = r;
	}
	return error;
}

int
remote_syscall_any(
    struct space *sp, long nr, const uint64_t args[6], int64_t *result)
{
	int error = -EBUSY;

	for (size_t i = 0; i < sp->procs.len; i++) {
		int r = remote_syscall_in(sp->procs.at[i], nr, args, result);
		if (r == 0)
			return 0;
		error = r;
	}
	return error;
}
