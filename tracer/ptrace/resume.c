/*
 * Continuing a stopped thread, and detaching it.
 */
#include <string.h>
#include <sys/wait.h>

#include "dlang/base/fault.h"
#include "dlang/base/log.h"
#include "inject/resume.h"
#include "inject/trap/area.h"
#include "tracer/ptrace/super.h"

static const volatile int never;

/*
 * The stop was read with WNOWAIT.  If dtrap is killed before the thread runs,
 * the kernel delivers its SIGTRAP to dtrap's handler in the target.  TRAP_DONE
 * tells the handler that the registers are already those after the hit
 * (inject/trap/handler.c).  If the pc is in a slot, the handler knows without
 * it.
 */
void
thread_mark_done(struct thread *th, uint64_t pc)
{
	siginfo_t si = { .si_signo = SIGTRAP, .si_code = TRAP_DONE };

	if (!th->stop.untaken || th->stop.kind != EV_TRAP ||
	    !proc_guarded(th->proc))
		return;
	si.si_value.sival_ptr = (void *)(uintptr_t)pc;
	thread_set_siginfo(th, &si);
}

/* Write changed registers back to the kernel. */
static void
write_back(struct thread *th)
{
	const struct registers *r = &th->regs;
	uint64_t pc = r->user.r[UREG_PC];

	if (r->state == REGS_CHANGED && th->stop.sig == 0 &&
	    pc != r->kernel_pc && !r->into_slot)
		thread_mark_done(th, pc);
	regs_write_back(th);
}

void
thread_take_stop(struct thread *th)
{
	int status;

	if (th->stop.untaken)
		wait_call(th->tid, &status, __WALL | WNOHANG, &never);
	stop_take(th);
}

/* The registers are written first: if dtrap is killed, the thread continues
 * with them.  Afterwards the stop is an ordinary EV_STOP. */
void
thread_settle(struct thread *th)
{
	if (!thread_stopped(th))
		return;
	write_back(th);
	if (!th->stop.untaken || th->stop.kind != EV_TRAP || th->stop.sig != 0)
		return;
	thread_take_stop(th);
	stop_becomes(th, EV_STOP);
}

static bool
leave(struct tptable *tab, struct uregs *regs)
{
	struct tracepoint *tp;
	enum slot_place place = resume_leave_stub(tab, regs, &tp);

	if (place == SLOT_OUTSIDE)
		place = resume_leave_slot(tab, regs, NULL);
	return place != SLOT_OUTSIDE && place != SLOT_FIRING;
}

void
proc_leave_code(struct proc *p)
{
	vec_foreach(th, &p->threads) {
		struct uregs *regs =
		    thread_stopped(*th) ? thread_regs(*th) : NULL;
		if (regs == NULL || !leave(p->space->tab, regs))
			continue;
		thread_regs_dirty(*th);
		thread_regs_lead(*th, false);
	}
}

/*
 * The kernel would deliver the SIGTRAP of the stop with another signal's siginfo as
 * one that our parent has sent.  So the stop is taken first: if dtrap is killed
 * then, the thread goes on without a signal.
 *
 * thread_mend_sigtrap() may have left the thread at the event-stop of a call.  The
 * kernel delivers no signal from there (ptrace(2), PTRACE_EVENT_STOP), so the first
 * one is sent, too: the thread stops for it before it executes an instruction.
 */
void
thread_signals_instead(struct thread *th, const siginfo_t *si, size_t n)
{
	size_t sent = th->stop.kind == EV_TRAP ? 1 : 0;

	thread_settle(th);
	if (sent == 1) {
		stop_becomes(th, EV_SIGNAL);
		thread_set_siginfo(th, si);
		stop_signal(th, si->si_signo);
	}
	fault_kill("signal-instead");
	signals_again(th, si + sent, n - sent);
}

void
thread_fault(struct thread *th, int sig, int code, uint64_t addr)
{
	siginfo_t si = { .si_signo = sig, .si_code = code };

	if (!thread_at_hand(th))
		return;
	si.si_addr = (void *)(uintptr_t)addr;
	thread_signals_instead(th, &si, 1);
}

int
thread_release(struct thread *th)
{
	thread_watch(th, 0);
	sigtrap_end(th);
	thread_restart_call(th);
	thread_put_off_call(th);
	write_back(th);
	stop_take(th);
	int r = tid_release(th->tid, th->stop.sig);
	LOG("proc", "%d: detached with signal %d: %d", (int)th->tid,
	    th->stop.sig, r);
	return r;
}

static bool
wants_syscalls(const struct thread *th)
{
	const struct super *su = th->proc->super;

	return th->stop.wants != 0 || th->restart.due != 0 ||
	    (su->want_syscalls && (!th->proc->filtered || su->unfiltered));
}

/* remote_syscall() has let the thread run past the end of its system call.  If
 * syscall-stops are wanted, queue the EV_SYSCALL_EXIT that was not reported. */
static bool
owes_syscall_exit(struct thread *th)
{
	if (!th->stop.past_event || !wants_syscalls(th))
		return false;
	stop_owe_exit(th);
	event_push(th->proc->super,
	    &(struct event){ .kind = EV_SYSCALL_EXIT, .thread = th });
	return true;
}

void
thread_run(struct thread *th)
{
	int sig = th->stop.sig;
	bool calls = wants_syscalls(th);
	enum go how = calls ? GO_CALLS : GO_FREE;
	if (th->stop.kind == EV_GROUP_STOP) {
		how = GO_LISTEN;
		sig = 0;
	} else if (!calls) {
		stop_lose_calls(th);
		call_lose(th);
	} else if (th->stop.call == CALL_UNKNOWN && th->stop.kind == EV_STOP) {
		call_adopt(th);
	}
	thread_restart_call(th);
	if (th->restart.due != 0 && how == GO_FREE)
		how = GO_CALLS;
	write_back(th);
	fault_kill("resume-set");
	stop_take(th);
	stop_signal(th, 0);
	trapmask_runs(th);
	stop_end(th, how == GO_LISTEN);
	if (th->proc->role.launch == LAUNCH_AT_EXEC)
		role_launch(th->proc, LAUNCH_RUNS);
	if (th->stop.regroup) {
		/* The stop for this interrupt will be reported as a
		 * group-stop. */
		stop_regroup(th, false);
		tid_interrupt(th->tid);
	}
	int r = tid_go(th->tid, how, sig);
	fault_kill("resume-continue");
	if (r < 0)
		LOG("proc", "%d: resume: %s", (int)th->tid, strerror(-r));
}

void
thread_resume(struct thread *th)
{
	if (!thread_stopped(th) || th->stop.queued > 0 || th->stop.held)
		return;
	if (th->proc->space->stops > 0) {
		stop_wait(th);
		return;
	}
	if (!owes_syscall_exit(th))
		thread_run(th);
}

int
thread_run_to_trap(struct thread *th)
{
	write_back(th);
	int r = tid_go(th->tid, GO_FREE, 0);
	if (r == 0)
		stop_end(th, false);
	return r;
}
