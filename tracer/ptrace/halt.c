/*
 * Stopping threads, waiting until they are stopped, and resuming them all.
 */
#include <sched.h>
#include <time.h>

#include "dlang/base/fault.h"
#include "inject/tracepoint.h"
#include "tracer/ptrace/datawatch.h"
#include "tracer/ptrace/super.h"

/* How long space_await() waits for a thread in an uninterruptible sleep, ns. */
#define PATIENCE_NS 20000000
/* The same for a thread that is creating a thread or a process. */
#define BIRTH_NS 1000000000

/* Stopping and resuming */

bool
thread_asleep(const struct thread *th)
{
	/*
	 * A thread in the kernel, with our interrupt pending, stops before it
	 * returns to the program.  In state `D' only the event that it waits
	 * for wakes it: the exec or end of its vfork child, the end of the
	 * other threads in an exec, an answer of a file server.
	 */
	switch (procfs_state(th->tid)) {
	case 'D':
	case 'Z':
	case 'X':
	case '\0': return true;
	default: return false;
	}
}

bool
thread_is_ghost(const struct thread *th)
{
	struct proc_status st;

	return thread_runs(th) && procfs_status(th->tid, &st) == 0 &&
	    st.tracer != getpid();
}

/*
 * Is the thread asleep while it creates a thread or a process?  It may sleep in
 * state `D' for tens of milliseconds, if processes are being moved between
 * control groups.  dtrap waits for that: the new thread would not be in the
 * tables yet, or the new process would have a copy of the memory with our
 * int3s.  False for vfork, which sleeps until its child executes a program or
 * ends.
 */
static bool
gives_birth(struct thread *th)
{
	struct uregs regs = { 0 };
	uint64_t args[6];
	int64_t nr;

	if (procfs_state(th->tid) != 'D' ||
	    procfs_syscall(th->tid, &nr, args) < 0 || !regs_call_clones(nr))
		return false;
	regs_set_syscall(&regs, 0, (long)nr, args);
	regs_set_syscall_nr(&regs, (long)nr);
	return (regs_clone_flags(&regs, &th->proc->space->mem) & CLONE_VFORK) ==
	    0;
}

/*
 * Must space_await() go on waiting for this thread?  Short sleeps in state `D'
 * are common (a page is read from disk, a lock in the kernel is held).  A
 * thread that sleeps longer than PATIENCE_NS is marked asleep, and is not
 * waited for.
 */
static bool
is_missing(struct thread *th, long napped)
{
	bool patient = napped < PATIENCE_NS;

	if (thread_stopped(th) || thread_gone(th) || th->stop.asleep)
		return false;
	if (thread_runs(th) && th->stop.asked == ASK_NOTHING)
		thread_interrupt(th);
	/* Mark it asleep if it has executed its last instruction, or sleeps for
	 * too long. */
	else if (th->stop.life != LIFE_RUNS || !patient)
		stop_sleeps(th,
		    thread_ends(th) ||
			(thread_asleep(th) &&
			    (napped >= BIRTH_NS || !gives_birth(th))));
	if (!th->stop.asleep && !patient && thread_is_ghost(th)) {
		event_lost(th);
		return false;
	}
	return !th->stop.asleep;
}

void
space_await(struct space *sp)
{
	struct super *su = sp->super;
	struct timespec nap = { 0, 20000 };
	long napped = 0;

	for (;;) {
		bool missing = false;
		space_foreach_thread(th, sp)
		{
			if (thread_runs(th) && th->stop.asked != ASK_NOTHING)
				event_take_of(th);
		}
		while (event_take(su))
			;
		space_foreach_thread(th, sp) missing |= is_missing(th, napped);
		if (!missing)
			return;
		/* A blocking wait might never return, because each of these
		 * threads may be in a long sleep. */
		nanosleep(&nap, NULL);
		napped += nap.tv_nsec;
		nap.tv_nsec = MIN(nap.tv_nsec * 2, 1000000);
	}
}

void
space_stop(struct space *sp)
{
	if (sp->stops++ > 0)
		return;
	space_foreach_thread(th, sp)
	{
		stop_sleeps(th, false);
		if (!thread_runs(th))
			continue;
		space_stands(sp);
		thread_interrupt(th);
	}
	fault_kill("stop-interrupt");
	space_await(sp);
	fault_kill("stop-all");
}

void
space_hold(struct space *sp)
{
	if (sp->stops++ == 0)
		space_stands(sp);
}

void
space_unhold(struct space *sp)
{
	ASSERT(sp->stops > 0);
	sp->stops--;
}

void
space_resume(struct space *sp)
{
	ASSERT(sp->stops > 0);
	if (--sp->stops > 0)
		return;
	space_foreach_thread(th, sp)
	{
		stop_sleeps(th, false);
		if (th->stop.state == TH_WAITING) {
			stop_stay(th);
			thread_resume(th);
		}
	}
	space_runs(sp);
}

void
thread_deliver(struct thread *th)
{
	int status;

	if (!thread_stopped(th)) /* it was killed */
		return;
	thread_interrupt(th);
	thread_run(th);
	if (event_wait_thread(th, &status) == 0)
		event_note(th->proc->super, th->tid, status);
}

bool
text_is_trapped(struct tptable *tab, uint64_t addr)
{
	return tab != NULL &&
	    (tracepoint_lookup(tab, addr) != NULL || stubs_trap(tab, addr) ||
		tracepoint_recent(tab, addr));
}

bool
thread_expects_trap(
    const struct thread *th, struct tptable *tab, const struct uregs *regs)
{
	uint64_t pc = regs->r[UREG_PC];

	return text_is_trapped(tab, pc - TRAP_PC_AFTER) ||
	    pc == th->regs.watch || datawatch_had(th);
}

void
thread_take_trap(struct thread *th)
{
	struct tptable *tab = th->proc->space->tab;
	int status;

	/* The stop of another PTRACE_INTERRUPT may come first, so try again. */
	for (int i = 0; i < 3; i++) {
		if (!thread_stopped(th) || tab == NULL ||
		    (th->stop.kind != EV_STOP &&
			th->stop.kind != EV_GROUP_STOP))
			return;
		struct uregs *regs = thread_regs(th);
		if (regs == NULL || !thread_expects_trap(th, tab, regs) ||
		    !thread_trap_pending(th) || thread_run_to_trap(th) < 0 ||
		    event_wait_thread(th, &status) < 0)
			return;
		event_note(th->proc->super, th->tid, status);
	}
}

int
thread_cpu(struct thread *th)
{
	uint64_t cpu;

	return procfs_stat(th->tid, 39, &cpu) == 0 ? (int)cpu : -1;
}
