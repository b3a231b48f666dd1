/*
 * New processes, new programs and ends: what an event of a target changes for
 * those who wait for it.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "dlang/base/fault.h"
#include "tracer/base/state.h"
#include "tracer/drive/follow.h"
#include "tracer/drive/awaited.h"
#include "tracer/drive/targets.h"
#include "tracer/drive/targets_impl.h"
#include "tracer/fast/fast.h"
#include "tracer/fire/fire.h"
#include "tracer/fire/moments.h"
#include "tracer/ptrace/proc.h"
#include "tracer/survive/trapguard.h"

/* ---- system calls on the way to the begin (evaltime.c) ---- */

/* Does the call write output? */
static bool
speaks(long nr)
{
	return nr == SYS_write || nr == SYS_writev;
}

static bool
ends(long nr)
{
	return nr == SYS_exit_group || nr == SYS_exit || nr == SYS_kill ||
	    nr == SYS_tgkill || nr == SYS_tkill;
}

void
targets_stay(struct proc *p)
{
	p->again.name = 0;
	p->begins_again = false;
	vec_foreach(th, &p->threads)
		stop_want_calls(*th, WANT_LAUNCH, false);
}

bool
targets_syscall(struct state *st, const struct event *ev)
{
	struct thread *th = ev->thread;
	struct proc *p = th->proc;
	struct syscall_entry e;
	bool entry = ev->kind == EV_SYSCALL_ENTER;

	if (!awaited_is(st, p) || p->again.name == 0)
		return false;
	if (p->begins_again && !entry) { /* no exec came before it */
		again_failed(th, &p->again);
		targets_stay(p);
		awaited_came(st);
		return true;
	}
	if (p->begins_again) {
		again_instead(th, &p->again);
		fault_kill("launch-set");
	} else if (entry && thread_syscall_entry(th, &e) == 0) {
		if (ends(e.nr)) {
			/* What is not there by now is never there. */
			option_set(&st->opts, "zdefs", NULL, false);
			awaited_came(st);
			return true;
		}
		if (speaks(e.nr))
			thread_refuse_call(th);
	}
	thread_resume(th);
	return true;
}

/* ---- programs ---- */

/* It is no longer counted. */
static void
target_ends(struct state *st, struct proc *p)
{
	if (awaited_is(st, p))
		awaited_came(st);
	if (!p->target)
		return;
	p->target = false;
	if (--st->named.left == 0)
		fire_drain(st);
}

static void
exec_happened(struct state *st, const struct event *ev)
{
	struct thread *th = ev->thread;
	struct proc *p = th->proc;

	trapguard_executed(th);
	fast_ends(st, th);
	if (st->draining)
		return; /* targets_release() lets it go */
	if (!follow_executed(st, p)) {
		/* A vfork child has left its parent's memory. */
		moments_tell(st, ev);
		target_ends(st, p);
		targets_let_go(st, p);
		return;
	}
	if (awaited_is(st, p)) {
		/* Before it was where we wait for it: wait anew. */
		targets_space_begin(st, p);
		awaited_executed(st);
		p->exec_stopped = true;
		targets_stay(p);
		return;
	}
	targets_set_up(st, p);
	moments_tell(st, ev);
	thread_resume(th);
}

void
targets_event(struct state *st, const struct event *ev)
{
	switch (ev->kind) {
	case EV_FORK:
	case EV_VFORK:
	case EV_CLONE:
		moments_tell(st, ev);
		if (ev->child != NULL)
			follow_born(st, ev->thread, ev->child);
		thread_resume(ev->thread);
		break;
	case EV_EXEC: exec_happened(st, ev); break;
	default: break;
	}
}

/* ---- ends ---- */

/* "SIGSEGV", "SIGRTMIN+3". */
static void
signal_name(int sig, char *buf, size_t size)
{
	const char *name = sigabbrev_np(sig);

	if (name != NULL)
		snprintf(buf, size, "SIG%s", name);
	else
		snprintf(buf, size, "SIGRTMIN+%d", sig - SIGRTMIN);
}

void
targets_gone(struct state *st, struct proc *p, int status)
{
	char name[32];

	if (!p->target) {
		target_ends(st, p);
		return;
	}
	if (WIFSIGNALED(status)) {
		signal_name(WTERMSIG(status), name, sizeof(name));
		state_notice(st, "pid %d terminated by %s", p->pid, name);
	} else if (WEXITSTATUS(status) != 0) {
		state_notice(st, "pid %d exited with status %d", p->pid,
		    WEXITSTATUS(status));
	} else {
		state_notice(st, "pid %d has exited", p->pid);
	}
	target_ends(st, p);
}
