/*
 * New processes, exec and ends of targets: updates what depends on them.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "tracer/base/state.h"
#include "tracer/drive/follow.h"
#include "tracer/drive/awaited.h"
#include "tracer/drive/targets.h"
#include "tracer/drive/targets_impl.h"
#include "tracer/drive/twice.h"
#include "tracer/fast/fast.h"
#include "tracer/fire/fire.h"
#include "tracer/fire/moments.h"
#include "tracer/ptrace/proc.h"
#include "tracer/survive/trapguard.h"

/* ---- programs ---- */

/* The process no longer counts as a target. */
static void
target_ends(struct state *st, struct proc *p)
{
	if (awaited_is(st, p))
		awaited_came(st);
	if (!p->role.named)
		return;
	role_unnamed(p);
	if (--st->named.left == 0 && !st->named.set)
		fire_drain(st);
}

static void
exec_happened(struct state *st, const struct event *ev)
{
	struct thread *th = ev->thread;
	struct proc *p = th->proc;

	trapguard_executed(th);
	fast_executed(st, th);
	if (st->draining)
		return; /* targets_release() detaches from it */
	if (!follow_executed(st, p)) {
		/* A vfork child no longer uses its parent's memory. */
		moments_tell(st, ev);
		target_ends(st, p);
		targets_let_go(st, p);
		return;
	}
	if (awaited_is(st, p)) {
		/* The process executed another program before it reached the
		 * awaited point: wait in the new program. */
		targets_space_begin(st, p);
		awaited_executed(st);
		role_launch(p, LAUNCH_AT_EXEC);
		twice_not(p);
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

	if (!p->role.named) {
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
