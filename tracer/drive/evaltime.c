/*
 * Runs a launched program to the point at which the trace begins; see
 * targets_impl.h.
 *
 * Probe descriptions and types can be looked up only when the libraries are
 * mapped, but the trace should begin at the exec.  So a launched program is
 * executed twice, unless option evaltime says where the trace begins:
 *
 *   exec stop --scouted--> rendezvous, or its last system call
 *                             compiled, enabled
 *   exec stop <------------ its next system call is made that execve() again
 *       BEGIN -> running
 *
 * The first time the program has no visible effect: what the run-time linker
 * writes is suppressed, and no constructor of a library runs.  If dtrap is
 * killed, the program continues from where it is, or is executed again, without
 * a tracer.
 */
#include "tracer/drive/targets.h"

#include <string.h>

#include "inject/tracepoint.h"
#include "symbols/addrspace.h"
#include "tracer/drive/awaited.h"
#include "tracer/drive/loop.h"
#include "tracer/ptrace/proc.h"
#include "tracer/base/progress.h"
#include "tracer/sites/protect.h"
#include "tracer/sites/site.h"
#include "tracer/base/state.h"
#include "tracer/drive/targets_impl.h"
#include "tracer/drive/twice.h"

enum evaltime
targets_evaltime(const struct state *st)
{
	static const char *const names[] = { "exec", "preinit", "postinit",
		"main" };
	const char *text = st->opts.text[OPT_EVALTIME];

	for (size_t i = 0; text != NULL && i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i], text) == 0)
			return (enum evaltime)i;
	return EVAL_BOTH;
}

static bool
is_launching(struct state *st, void *arg)
{
	return awaited_is(st, arg);
}

/* Run a launched process up to our marker, or to its rendezvous. False if it
 * ended before that. */
static bool
run_until_stopped(struct state *st, struct proc *p, bool mark)
{
	pid_t pid = p->pid;

	/* With these values its output is real: it is not suppressed. */
	if (targets_evaltime(st) == EVAL_POSTINIT ||
	    targets_evaltime(st) == EVAL_MAIN)
		progress_pause(st);
	else
		progress(st, "process %d is starting", (int)p->pid);
	awaited_begin(st, p, mark);
	vec_foreach(th, &p->threads)
		thread_resume(*th);
	loop_while(st, is_launching, p);
	return super_proc(st->super, pid) != NULL && !st->draining &&
	    awaited_now(st).proc == NULL;
}

/* The address where postinit or main begins. */
static uint64_t
start_addr(const struct space *sp, enum evaltime when)
{
	struct load *exec = addrspace_exec(sp->as);
	const struct sym *s = NULL;

	if (exec == NULL)
		return 0;
	if (when == EVAL_MAIN)
		s = object_sym(exec->object, "main");
	return exec->bias + (s != NULL ? s->addr : object_entry(exec->object));
}

/* Is there a marker at addr? Without one the program would run to its end. */
static bool
is_marked(const struct space *sp, uint64_t addr, const char **why)
{
	if (tracepoint_lookup(sp->tab, addr) != NULL)
		return true;
	*why = "no breakpoint can be put where it is to stop first";
	return false;
}

/* Run from the exec stop to the point that evaltime names, or to another
 * exec. */
static bool
run_program(struct state *st, struct proc *p, const char **why)
{
	enum evaltime when = targets_evaltime(st);
	struct space_info *info = p->space->info;

	if (when == EVAL_EXEC)
		return true;
	sites_commit(st, p->space);
	/* No int3 may be written into its text, so it cannot be stopped later:
	 * probes are looked up here. */
	if (!protect_allows(st, p->space)) {
		protect_say(st, p->space);
		return true;
	}
	if (info->have_lm &&
	    (!is_marked(p->space, info->lm.brk_addr, why) ||
		!run_until_stopped(st, p, false)))
		return false;
	if (when == EVAL_PREINIT || when == EVAL_BOTH ||
	    awaited_now(st).state == AWAITED_ANEW)
		return true;

	uint64_t addr = start_addr(p->space, when);
	if (addr == 0)
		return true;
	targets_mark(st, p->space, addr, false);
	sites_commit(st, p->space);
	return is_marked(p->space, addr, why) && run_until_stopped(st, p, true);
}

/* ---- twice ---- */

void
targets_scout(struct state *st, struct proc *p, char *const argv[])
{
	struct thread *th = p->threads.at[0];
	unsigned words = 0;

	while (argv[words] != NULL)
		words++;
	if (targets_evaltime(st) != EVAL_BOTH || !twice_plan(th, words))
		twice_not(p);
}

static void
begin_again(struct state *st, struct proc *p)
{
	struct thread *th = p->threads.at[0];
	pid_t pid = p->pid;

	twice_begin(th);
	run_until_stopped(st, p, true);
	p = super_proc(st->super, pid);
	if (p != NULL)
		twice_not(p);
}

static struct proc *
next_to_begin(struct state *st)
{
	struct proc *p = NULL;

	while ((p = super_next(st->super, p)) != NULL)
		if (twice_is_planned(p))
			break;
	return p;
}

bool
targets_begin_again(struct state *st)
{
	struct proc *p;
	bool any = false;

	while (!st->draining && (p = next_to_begin(st)) != NULL) {
		if (p->role.launch == LAUNCH_AT_EXEC) {
			twice_not(p);
			continue;
		}
		begin_again(st, p);
		any = true;
	}
	return any;
}

bool
targets_run_to_evaltime(struct state *st, struct proc *p, const char **why)
{
	awaited_retry(st);
	do {
		if (!run_program(st, p, why))
			return false;
	} while (awaited_retry(st));
	return true;
}
