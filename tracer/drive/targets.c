/*
 * Targets; see targets.h.
 *
 *   launch:  exec stop -> (rendezvous, RT_CONSISTENT) -> evaltime reached
 *            (evaltime.c)
 *   attach:  seized, all stopped
 *   then     compiled, armed, BEGIN -> running
 *   release: all stopped, text restored, let go as found
 */
#include "tracer/drive/targets.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "dlang/base/fault.h"
#include "dlang/base/machine.h"
#include "inject/tracepoint.h"
#include "inject/trapset.h"
#include "tracer/survive/guardian.h"
#include "tracer/survive/leftover.h"
#include "tracer/drive/loop.h"
#include "tracer/drive/mistakes.h"
#include "tracer/fast/fast.h"
#include "tracer/fire/moments.h"
#include "tracer/ptrace/proc.h"
#include "tracer/base/progress.h"
#include "tracer/sites/site.h"
#include "tracer/base/state.h"
#include "tracer/ptrace/super.h"
#include "tracer/drive/targets_impl.h"

/* ---- launch ---- */

static void
add_target(struct state *st, struct proc *p, bool named)
{
	role_begin(p, named);
	if (!named)
		return;
	st->named.left++;
	st->named.any = true;
	if (st->named.pid == 0)
		st->named.pid = p->pid;
}

/* The file descriptors that tracing a process needs at a time, and some
 * more. */
#define DESCRIPTORS 16

/* 0, or -errno with the reason. If there are too few descriptors, symbols would
 * be missing without a message. */
static int
cannot_trace(char *why, size_t size)
{
	int fds[DESCRIPTORS], n = 0;

	if (!MACHINE_TRACES) {
		snprintf(why, size,
		    "cannot trace processes: dtrap was built without code "
		    "for this machine");
		return -ENOTSUP;
	}
	while (n < DESCRIPTORS &&
	    (fds[n] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)) >= 0)
		n++;
	bool few = n < DESCRIPTORS && errno != EBADF;
	if (few)
		snprintf(why, size,
		    "only %d more files can be opened, and tracing a process "
		    "needs %d: raise the limit (ulimit -n)",
		    n, DESCRIPTORS);
	while (n > 0)
		close(fds[--n]);
	return few ? -EMFILE : 0;
}

/* execvp() runs a file with a shell if the kernel does not know its format. A
 * program for another machine must not be run so. */
static int
launch(struct state *st, char *const *argv, struct proc **p,
    struct proc_error *err)
{
	char **env = targets_env(st);
	char *path = targets_find_program(argv[0]);
	char *foreign = path != NULL ? mistakes_machine(path) : NULL;
	int error = proc_launch_file(
	    st->super, foreign != NULL ? path : NULL, argv, env, p, err);

	mem_free(foreign);
	mem_free(path);
	targets_free_argv(env);
	return error;
}

static void
say_launch_failed(struct state *st, const char *cmd, char *const *argv,
    int error, const char *text)
{
	char *hint = st->testing ? NULL : mistakes_command(cmd, argv, error);

	state_message(st, "%s%s%s", text, hint != NULL ? "; " : "",
	    hint != NULL ? hint : "");
	mem_free(hint);
}

int
targets_launch(struct state *st, const char *cmd)
{
	struct proc_error err = { 0 };
	const char *why = "";
	struct proc *p;
	char **argv;

	int error = cannot_trace(err.text, sizeof(err.text));
	if (error != 0) {
		state_message(st, "failed to execute %s: %s", cmd, err.text);
		return error;
	}
	if (targets_split(cmd, &argv, &why) != 0) {
		state_message(st, "failed to execute %s: %s", cmd, why);
		return -EINVAL;
	}
	char *shell = mistakes_shell(cmd);
	if (shell != NULL)
		state_notice(st, "%s", shell);
	mem_free(shell);
	guardian_start();
	error = launch(st, argv, &p, &err);
	if (error != 0) {
		/* A signal to the whole process group may have ended it too. */
		if (!loop_stopping())
			say_launch_failed(st, cmd, argv, error, err.text);
		targets_free_argv(argv);
		return error;
	}
	add_target(st, p, true);
	targets_space_begin(st, p);
	targets_scout(st, p, argv);
	why = "the process ended before the program started";
	bool stopped = targets_run_to_evaltime(st, p, &why);
	targets_free_argv(argv);
	if (!stopped) {
		if (!st->draining && !loop_stopping())
			state_message(st, "failed to trace %s: %s", cmd, why);
		return -ECHILD;
	}
	return 0;
}

/* After attaching: restore the text that a dead tracer changed, and discard the
 * pending traps that it caused. */
static int
finish_dead(struct proc *p, struct leftover *left)
{
	int r = leftover_mend(left, p->space);

	vec_foreach(in, &p->space->procs)
		vec_foreach(th, &(*in)->threads)
			thread_take_trap(*th);
	return r;
}

/*
 * A thread in dtrap's SIGTRAP handler, or a dead tracer's, leaves it soon if it
 * has a processor. Restoring thousands of places takes two system calls each,
 * which on a busy machine takes a while. So the process runs for 1, 2, 4, ...
 * up to IN_HANDLER_MS ms at a time: up to IN_HANDLER_MAX_MS in all if a thread
 * was seen in the handler; once if only a word on a stack points there, which
 * may be old.
 */
#define IN_HANDLER_MS     512U
#define IN_HANDLER_MAX_MS 20000U

struct run_on {
	unsigned ms, all;
};

/* Let the process run once more. False if it has had all its time. */
static bool
let_run(struct state *st, struct run_on *r, bool sure)
{
	const struct timespec nap = { 0, r->ms * 1000000L };

	nanosleep(&nap, NULL);
	loop_pending(st);
	r->all += r->ms;
	r->ms = MIN(2 * r->ms, IN_HANDLER_MS);
	return r->all < (sure ? IN_HANDLER_MAX_MS : 2 * IN_HANDLER_MS - 1);
}

static void
resume_all(struct space *sp)
{
	vec_foreach(in, &sp->procs)
		vec_foreach(th, &(*in)->threads)
			thread_resume(*th);
}

/*
 * Remove what a dead tracer left before anything of ours is written. A thread
 * may be in its handler, which restores everything on the list; the process
 * runs until the thread has left it. The process may end or execute another
 * program meanwhile. False: the thread does not leave it, or dtrap is to end; it
 * may yet restore one byte of what dtrap would write.
 */
static bool
begin_space(struct state *st, struct proc *p, struct leftover *left)
{
	const pid_t pid = p->pid;
	struct run_on run = { .ms = 1 };
	bool more = true;

	while (p != NULL && p->space->info == NULL) {
		struct space *sp = p->space;

		/* A thread whose signal was handled is running. */
		space_stop(sp);
		leftover_release(left, p);
		left = sp->leftover;
		bool in_use = leftover_in_use(left);
		bool again = in_use && more && !loop_stopping();
		/* The process does not wait for symbols and the compiler: it
		 * runs until it is stopped again for the writing. */
		resume_all(sp);
		space_resume(sp);
		if (!again) {
			if (in_use && (loop_stopping() || leftover_runs(left)))
				return false;
			targets_space_begin(st, p);
			sites_commit(st, sp);
			return true;
		}
		more = let_run(st, &run, leftover_runs(left));
		p = super_proc(st->super, pid);
	}
	return true;
}

int
targets_attach(struct state *st, pid_t pid, bool named, char *why, size_t size)
{
	struct proc_error err = { 0 };
	struct leftover *left = NULL;
	struct proc *p = super_proc(st->super, pid);

	if (p != NULL) {
		if (named && !p->role.named)
			add_target(st, p, true);
		return 0;
	}
	int error = cannot_trace(why, size);
	if (error != 0)
		return error;
	progress(st, "attaching to process %d", (int)pid);
	guardian_start();
	error = proc_may_attach(pid, &err);
	if (error == 0)
		error = leftover_find(
		    pid, loop_stopping, &left, err.text, sizeof(err.text));
	if (error == 0)
		error = proc_attach(st->super, pid, &p, &err);
	if (error != 0) {
		leftover_free(left);
		snprintf(why, size, "%s", err.text);
		return error;
	}
	add_target(st, p, named);
	if (named && p->pid != pid)
		state_notice(st,
		    "%d is a thread of process %d, of which all threads are "
		    "traced; the predicate /tid == %d/ selects this one",
		    (int)pid, (int)p->pid, (int)pid);
	pid = p->pid; /* the user may have named a thread */
	if (left != NULL && finish_dead(p, left) != 0) {
		leftover_free(left);
		snprintf(why, size,
		    "cannot restore the code of process %d, in which a "
		    "killed dtrap left breakpoints",
		    pid);
		proc_detach(p, NULL, NULL);
		return -EFAULT;
	}
	/* Handle an exec or an end that had begun, before anything is written
	 * to memory that may be the new program's already. */
	loop_pending(st);
	p = super_proc(st->super, pid);
	if (p != NULL && p->space->info == NULL) {
		if (!begin_space(st, p, left)) {
			snprintf(why, size,
			    "a thread of process %d is still in the handler "
			    "of a killed dtrap",
			    pid);
			proc_detach(p, NULL, NULL);
			return -EBUSY;
		}
	} else {
		leftover_free(left);
		if (p != NULL)
			resume_all(p->space);
	}
	p = super_proc(st->super, pid);
	if (p == NULL) {
		snprintf(why, size,
		    "process %d ended while it was being "
		    "attached",
		    pid);
		return -ESRCH;
	}
	return 0;
}

/* If the trace begins at the exec of a launched program, this exec is
 * reported. */
static void
tell_first_exec(struct state *st, struct proc *p)
{
	enum evaltime when = targets_evaltime(st);

	if (p->role.launch != LAUNCH_AT_EXEC ||
	    (when != EVAL_EXEC && when != EVAL_BOTH))
		return;
	moments_tell(
	    st, &(struct event){ .kind = EV_EXEC, .thread = p->threads.at[0] });
}

void
targets_run(struct state *st)
{
	struct proc *p = NULL;

	while ((p = super_next(st->super, p)) != NULL) {
		tell_first_exec(st, p);
		vec_foreach(th, &p->threads)
			if (thread_stopped(*th) && !(*th)->stop.queued)
				thread_resume(*th);
	}
}

/* ---- ends ---- */

/* A program that was launched for a trace that could not begin (an error in
 * the script, say) is not run at all. */
static void
kill_unstarted(struct state *st)
{
	struct proc *p = NULL;

	while (!st->started && (p = super_next(st->super, p)) != NULL)
		if (p->role.launch != LAUNCH_NOT)
			kill(p->pid, SIGKILL);
}

/* The spaces that stop_all() has stopped.  A process of one of them may execute a
 * program meanwhile: it is then in another space, which is not stopped. */
struct stopped {
	VEC(struct space *) list;
};

/* Stop all processes, and handle the events up to then, so that no child keeps
 * our int3s in its copy of the memory. */
static void
stop_all(struct state *st, struct stopped *s)
{
	struct proc *p = NULL;

	while ((p = super_next(st->super, p)) != NULL) {
		space_keep(p->space);
		*vec_push(&s->list) = p->space;
		space_stop(p->space);
	}
	fault_kill("release-begin");
	loop_pending(st);
	fault_kill("release-pending");
}

/* Forget the spaces that were stopped, and with `run' let them run. */
static void
stopped_end(struct stopped *s, bool run)
{
	vec_foreach(sp, &s->list) {
		if (run)
			space_resume(*sp);
		space_leave(*sp, NULL);
	}
	vec_fini(&s->list);
}

/* Is the process stopped by a signal such as SIGSTOP? Nobody knows when it will
 * continue. */
static bool
is_halted(const struct proc *p)
{
	vec_foreach(th, &p->threads)
		if ((*th)->stop.kind == EV_GROUP_STOP ||
		    (*th)->stop.state == TH_LISTENING)
			return true;
	return false;
}

/* Is a program's own SIGTRAP being handled by our handler, or is a thread in a
 * dead tracer's handler? Then the area could not be unmapped. */
static bool
in_handler(struct state *st, bool *sure)
{
	struct proc *p = NULL;
	bool in = false;

	*sure = false;
	while ((p = super_next(st->super, p)) != NULL) {
		targets_release_leftover(p);
		bool fires = !is_halted(p) && fast_in_use(p);
		in |= fires;
		*sure |= fires;
		struct trapset *ts =
		    proc_guarded(p) ? tptable_traps(p->space->tab) : NULL;
		bool runs = ts != NULL &&
		    (trapset_runs(ts) ||
			leftover_leads_to(
			    p->space, p->pid, trapset_nested(ts)));
		in |= runs || leftover_in_use(p->space->leftover);
		*sure |= !is_halted(p) &&
		    (runs || leftover_runs(p->space->leftover));
	}
	return in;
}

void
targets_release(struct state *st)
{
	struct run_on run = { .ms = 1 };
	struct stopped stopped = { 0 };
	struct proc *p = NULL;
	bool more = true, sure;

	kill_unstarted(st);
	stop_all(st, &stopped);
	while (more && in_handler(st, &sure)) {
		stopped_end(&stopped, true);
		more = let_run(st, &run, sure);
		stop_all(st, &stopped);
	}
	stopped_end(&stopped, false);
	while ((p = super_next(st->super, NULL)) != NULL)
		targets_let_go(st, p);
}
