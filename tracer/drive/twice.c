/*
 * See twice.h.
 */
#include "tracer/drive/twice.h"

#include <sys/syscall.h>

#include "dlang/base/fault.h"
#include "tracer/base/state.h"
#include "tracer/drive/awaited.h"
#include "tracer/ptrace/again.h"
#include "tracer/ptrace/proc.h"

struct twice {
	struct again again; /* name 0: it is not planned */
	bool begins;
};

static const struct part twice_part = { .size = sizeof(struct twice) };

bool
twice_plan(struct thread *th, unsigned words)
{
	struct twice *t = part_of(&th->proc->parts, &twice_part);

	if (again_find(th, words, &t->again) != 0)
		return false;
	stop_want_calls(th, WANT_LAUNCH, true);
	return true;
}

bool
twice_is_planned(const struct proc *p)
{
	const struct twice *t = part_had(&p->parts, &twice_part);

	return t != NULL && t->again.name != 0;
}

void
twice_begin(struct thread *th)
{
	struct twice *t = part_of(&th->proc->parts, &twice_part);

	t->begins = true;
	if (th->stop.kind == EV_SYSCALL_ENTER)
		again_instead(th, &t->again);
}

void
twice_not(struct proc *p)
{
	*(struct twice *)part_of(&p->parts, &twice_part) = (struct twice){ 0 };
	vec_foreach(th, &p->threads)
		stop_want_calls(*th, WANT_LAUNCH, false);
}

/* Does the system call write output? */
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

bool
twice_syscall(struct state *st, const struct event *ev)
{
	struct thread *th = ev->thread;
	struct proc *p = th->proc;
	struct twice *t = part_had(&p->parts, &twice_part);
	struct syscall_entry e;
	bool entry = ev->kind == EV_SYSCALL_ENTER;

	if (!awaited_is(st, p) || !twice_is_planned(p))
		return false;
	if (t->begins && !entry) { /* the exec failed */
		again_failed(th, &t->again);
		twice_not(p);
		awaited_came(st);
		return true;
	}
	if (t->begins) {
		again_instead(th, &t->again);
		fault_kill("launch-set");
	} else if (entry && thread_syscall_entry(th, &e) == 0) {
		if (ends(e.nr)) {
			/* The program is about to end: what is not loaded by
			 * now never will be. A description that matches nothing
			 * is then no error. */
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
