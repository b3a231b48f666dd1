/*
 * The proc provider's probes about the lives of processes and threads.
 */
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tracer/fire/fire.h"
#include "tracer/fire/syscalls.h"
#include "tracer/prov/proc.h"
#include "tracer/ptrace/proc.h"
#include "tracer/base/state.h"

void
proc_fire(struct state *st, struct probe *p, struct thread *th,
    const uint64_t *words, unsigned nwords)
{
	fire_event(st, p, th, words, nwords, (struct occasion){ 0 });
}

/* ---- beginnings ---- */

static bool
is_new_process(const struct event *ev)
{
	return ev->child->proc != ev->thread->proc;
}

void
proc_on_create(struct state *st, const struct event *ev, void *arg)
{
	if (ev->child == NULL || !is_new_process(ev))
		return;
	uint64_t word = (uint64_t)ev->child->tid;
	proc_fire(st, arg, ev->thread, &word, 1);
}

void
proc_on_lwp_create(struct state *st, const struct event *ev, void *arg)
{
	if (ev->child == NULL || is_new_process(ev))
		return;
	uint64_t word = (uint64_t)ev->child->tid;
	proc_fire(st, arg, ev->thread, &word, 1);
}

void
proc_on_start(struct state *st, const struct event *ev, void *arg)
{
	if (ev->first && ev->thread->tid == ev->thread->proc->pid)
		proc_fire(st, arg, ev->thread, NULL, 0);
}

void
proc_on_lwp_start(struct state *st, const struct event *ev, void *arg)
{
	if (ev->first)
		proc_fire(st, arg, ev->thread, NULL, 0);
}

/* ---- exec ---- */

static void
on_exec(struct state *st, const struct syscall_hit *hit, void *arg)
{
	/* execveat() has a directory as argument before the path. */
	proc_fire(st, arg, hit->thread, &hit->args[hit->nr == SYS_execveat], 1);
}

static void
on_exec_failure(struct state *st, const struct syscall_hit *hit, void *arg)
{
	uint64_t result = (uint64_t)hit->result; /* -errno, as of syscall */

	if (hit->error != 0)
		proc_fire(st, arg, hit->thread, &result, 1);
}

void
proc_on_exec_success(struct state *st, const struct event *ev, void *arg)
{
	proc_fire(st, arg, ev->thread, NULL, 0);
}

void
proc_enable_exec(struct state *st, struct probe *p)
{
	syscalls_subscribe(st, SYS_execve, SYSCALL_ENTRY, on_exec, p);
	syscalls_subscribe(st, SYS_execveat, SYSCALL_ENTRY, on_exec, p);
}

void
proc_enable_exec_failure(struct state *st, struct probe *p)
{
	syscalls_subscribe(st, SYS_execve, SYSCALL_RETURN, on_exec_failure, p);
	syscalls_subscribe(
	    st, SYS_execveat, SYSCALL_RETURN, on_exec_failure, p);
}

/* ---- ends ---- */

/* Is this the last thread of its process? */
static bool
is_last(const struct thread *th)
{
	vec_foreach(other, &th->proc->threads)
		if (*other != th && !thread_ends(*other) &&
		    !thread_gone(*other))
			return false;
	return true;
}

/* Was the end of the thread not reported before?  A process that is killed may
 * not stop any more; then its end is the first event. */
static bool
is_unseen_end(const struct event *ev)
{
	return ev->kind == EV_GONE && !thread_ends(ev->thread) &&
	    ev->thread->proc->threads.len == 0;
}

void
proc_on_lwp_exit(struct state *st, const struct event *ev, void *arg)
{
	if (ev->kind == EV_EXIT || is_unseen_end(ev))
		proc_fire(st, arg, ev->thread, NULL, 0);
}

static uint64_t
reason(int status)
{
	if (WIFEXITED(status))
		return CLD_EXITED;
	return WCOREDUMP(status) ? CLD_DUMPED : CLD_KILLED;
}

/* The end of the process has fired probes. */
static const struct part told_part = { .size = sizeof(bool) };

void
proc_on_exit(struct state *st, const struct event *ev, void *arg)
{
	struct proc *p = ev->thread->proc;
	uint64_t why = reason(ev->status);
	bool ends =
	    ev->kind == EV_EXIT ? is_last(ev->thread) : p->threads.len == 0;

	if (!ends)
		return;
	bool *told = part_of(&p->parts, &told_part);
	if (*told)
		return;
	*told = true;
	proc_fire(st, arg, ev->thread, &why, 1);
}
