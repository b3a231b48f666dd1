/*
 * Targets; see targets.h.
 *
 *   launch:  exec stop -> (rendezvous, RT_CONSISTENT) -> evaltime reached
 *            (evaltime.c)
 *   attach:  seized, all stopped
 *   then     compiled, armed, BEGIN -> running
 *
 * Whatever a target maps later is learnt at the same rendezvous: the run-time
 * linker calls an empty function before and after each change of its list
 * (struct r_debug in <link.h>), and we keep a tracepoint on it.
 */
#include "tracer/drive/targets.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dlang/base/fault.h"
#include "dlang/base/log.h"
#include "inject/resume.h"
#include "inject/tracepoint.h"
#include "inject/trapset.h"
#include "symbols/lang.h"
#include "symbols/linkmap.h"
#include "symbols/unwind.h"
#include "tracer/program/enable.h"
#include "tracer/drive/filter.h"
#include "tracer/drive/follow.h"
#include "tracer/survive/guardian.h"
#include "tracer/survive/leftover.h"
#include "tracer/drive/loop.h"
#include "tracer/drive/mistakes.h"
#include "tracer/fire/moments.h"
#include "tracer/ptrace/proc.h"
#include "tracer/base/progress.h"
#include "tracer/sites/protect.h"
#include "tracer/sites/places.h"
#include "tracer/prov/plock/plock.h"
#include "tracer/prov/profile.h"
#include "tracer/survive/semaphore.h"
#include "tracer/sites/site.h"
#include "tracer/ptrace/setid.h"
#include "tracer/sites/sigwatch.h"
#include "tracer/fire/fire.h"
#include "tracer/base/state.h"
#include "tracer/drive/targets_impl.h"
#include "tracer/survive/trapguard.h"

/* ---- spaces ---- */

static const struct arrival at_linkmap, at_mark;

void
targets_mark(struct state *st, struct space *sp, uint64_t addr, bool linkmap)
{
	const char *why = NULL;
	struct tracepoint *tp = site_tracepoint(st, sp, addr, &why);

	if (tp == NULL) {
		LOG("targets", "no marker at %#lx: %s", addr, why);
		return;
	}
	site_tell(tp, linkmap ? &at_linkmap : &at_mark);
}

static void
space_setup(struct state *st, struct proc *p)
{
	struct space *sp = p->space;
	struct space_info *info = mem_zalloc(sizeof(*info));

	info->st = st;
	sp->user = info;
	if (sp->tab == NULL) /* leftover.c needs it earlier */
		sp->tab = tptable_create(&sp->target);
	sp->as = addrspace_create(p->pid, &sp->mem);
	addrspace_refresh(sp->as, NULL, NULL);
	info->have_lm = linkmap_find(sp->as, &sp->mem, &info->lm) == 0 &&
	    info->lm.brk_addr != 0;
	if (info->have_lm)
		targets_mark(st, sp, info->lm.brk_addr, true);
}

void
targets_fork_table(struct state *st, struct space *from, struct space *sp)
{
	struct space_info *info = mem_zalloc(sizeof(*info));

	*info = *(struct space_info *)from->user;
	sp->user = info;
	sp->tab = tptable_fork(from->tab, &sp->target);
	vec_foreach(p, &sp->procs)
		vec_foreach(th, &(*p)->threads)
			sigtrap_list(*th);
	semaphores_fork(from, sp);
	uint64_t area = trapset_area(tptable_traps(sp->tab));
	if (area != 0)
		protect_fork(st, sp, area);
}

/* Beyond so many, addresses of the oldest are printed as numbers. */
#define PAST_MAX 1024

static void
remember(struct state *st, struct addrspace *as)
{
	if (st->past.len == PAST_MAX) {
		addrspace_put(st->past.at[0]);
		st->past.len--;
		memmove(st->past.at, st->past.at + 1,
		    st->past.len * sizeof(st->past.at[0]));
	}
	*vec_push(&st->past) = as;
}

/* A space is dropped: exec, exit, detach. */
static void
space_end(void *ctx, struct space *sp)
{
	struct space_info *info = sp->user;

	leftover_free(sp->leftover);
	sp->leftover = NULL;
	guardian_drop(sp);
	if (info == NULL) {
		tptable_destroy(sp->tab);
		sp->tab = NULL;
		return;
	}
	sigwatch_end(sp);
	semaphores_drop(sp);
	sites_drop(ctx, sp);
	tptable_destroy(sp->tab);
	sp->tab = NULL;
	unwinder_destroy(sp->unwinder);
	sp->unwinder = NULL;
	langs_destroy(sp->langs);
	sp->langs = NULL;
	if (sp->as != NULL) {
		places_space_end(ctx, sp->as);
		/* It lives on for the names of what was recorded in it. */
		addrspace_detach(sp->as);
		remember(ctx, sp->as);
		sp->as = NULL;
	}
	mem_free(info);
	sp->user = NULL;
}

void
targets_init(struct state *st)
{
	static const struct super_hooks hooks = {
		.space_end = space_end,
		.trap_lost = trapguard_lost,
		.trap_check = trapguard_check,
		.trap_delivers = trapguard_delivers,
	};

	super_set_hooks(st->super, &hooks, st);
}

/* One object has come or gone. */
static void
object_changed(void *ctx, struct load *l)
{
	struct space *sp = ctx;
	struct space_info *info = sp->user;

	if (l->seen)
		return;
	sites_unmap(info->st, sp, l->start, l->end);
	semaphores_forget(sp, l->start, l->end);
	load_forget_match(l);
	places_unloaded(info->st, l);
}

/* The objects of a space have changed: look again, arm what matches. */
static void
objects_changed(struct state *st, struct space *sp)
{
	int n = addrspace_refresh(sp->as, object_changed, sp);

	LOG("targets", "objects of %d changed: %d", addrspace_pid(sp->as), n);
	if (n <= 0)
		return;
	if (sp->unwinder != NULL)
		unwinder_flush(sp->unwinder);
	if (sp->langs != NULL)
		langs_flush(sp->langs);
	if (sp->watch != NULL)
		sigwatch_loads(st, sp);
	if (st->matching)
		enable_again(st);
	else
		sites_commit(st, sp);
}

/* ---- launch ---- */

static void
add_target(struct state *st, struct proc *p, bool named)
{
	p->target = named;
	p->family = p->pid;
	if (!named)
		return;
	st->targets++;
	st->had_targets = true;
	if (st->target_pid == 0)
		st->target_pid = p->pid;
}

/* What a look at a process opens at a time, and some more. */
#define DESCRIPTORS 16

/* Without them half of what is asked for would be missing without a word. */
static bool
few_descriptors(char *why, size_t size)
{
	int fds[DESCRIPTORS], n = 0;

	while (n < DESCRIPTORS &&
	    (fds[n] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)) >= 0)
		n++;
	bool few = n < DESCRIPTORS && errno != EBADF;
	if (few)
		snprintf(why, size,
		    "only %d more files can be opened, and a process to be "
		    "traced takes %d: raise the limit (ulimit -n)",
		    n, DESCRIPTORS);
	while (n > 0)
		close(fds[--n]);
	return few;
}

/* execvp() gives a file that the kernel does not know to a shell: not a program
 * of another machine. */
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

	if (few_descriptors(err.text, sizeof(err.text))) {
		state_message(st, "failed to execute %s: %s", cmd, err.text);
		return -EMFILE;
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
	int error = launch(st, argv, &p, &err);
	if (error != 0) {
		/* A signal to all of us may have ended it as well. */
		if (!loop_stopping())
			say_launch_failed(st, cmd, argv, error, err.text);
		targets_free_argv(argv);
		return error;
	}
	add_target(st, p, true);
	space_setup(st, p);
	targets_scout(st, p, argv);
	why = "it ended before it started";
	bool stopped = targets_run_to_evaltime(st, p, &why);
	targets_free_argv(argv);
	if (!stopped) {
		if (!st->draining && !loop_stopping())
			state_message(st, "failed to trace %s: %s", cmd, why);
		return -ECHILD;
	}
	return 0;
}

/* A process that was just attached to has its own text again, and the traps of
 * a dead tracer that were pending are in delivery. */
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
 * A thread in a SIGTRAP handler of ours, or of a dead tracer's, is soon out of it
 * when it has a processor.  Thousands of places are put back by two system calls
 * each, which on a busy machine is a while.  So its process runs for 1, 2, 4, ...
 * up to this many ms: again and again for so long, if a thread was seen in it;
 * once, if only something on a stack leads there, which may be old.
 */
#define IN_HANDLER_MS     512U
#define IN_HANDLER_MAX_MS 20000U

struct run_on {
	unsigned ms, all;
};

/* False: that was the last time. */
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
 * What is left of a dead tracer goes, before anything of ours is there.  A thread
 * that was in its handler, which puts back all that is on the list, is out of it
 * soon: the process runs meanwhile.  It may end, or execute a program.
 */
static void
begin_space(struct state *st, struct proc *p, struct leftover *left)
{
	const pid_t pid = p->pid;
	struct run_on run = { .ms = 1 };
	bool more = true;

	while (p != NULL && p->space->user == NULL) {
		struct space *sp = p->space;

		/* Whose signal has just been handled runs. */
		space_stop(sp);
		leftover_release(left, p);
		left = sp->leftover;
		bool again = more && leftover_in_use(left) && !loop_stopping();
		/* It is not kept waiting for symbols and the compiler: it runs
		 * until it is stopped once more, for the writing. */
		resume_all(sp);
		space_resume(sp);
		if (!again) {
			space_setup(st, p);
			sites_commit(st, sp);
			return;
		}
		more = let_run(st, &run, leftover_runs(left));
		p = super_proc(st->super, pid);
	}
}

int
targets_attach(struct state *st, pid_t pid, bool named, char *why, size_t size)
{
	struct proc_error err = { 0 };
	struct leftover *left = NULL;
	struct proc *p = super_proc(st->super, pid);

	if (p != NULL) {
		if (named && !p->target)
			add_target(st, p, true);
		return 0;
	}
	if (few_descriptors(why, size))
		return -EMFILE;
	progress(st, "attaching to process %d", (int)pid);
	guardian_start();
	int error = proc_may_attach(pid, &err);
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
		    "%d is a thread of process %d, which is traced whole: "
		    "/tid == %d/ is a predicate for the thread",
		    (int)pid, (int)p->pid, (int)pid);
	pid = p->pid; /* the number may have been a thread's */
	if (left != NULL && finish_dead(p, left) != 0) {
		leftover_free(left);
		snprintf(why, size,
		    "what a dtrap that was killed has left in the text of "
		    "process %d cannot be put back",
		    pid);
		proc_detach(p, NULL, NULL);
		return -EFAULT;
	}
	/* An exec or an end that was under way: before anything is written to
	 * memory that may be the new program's already. */
	loop_pending(st);
	p = super_proc(st->super, pid);
	if (p != NULL && p->space->user == NULL) {
		begin_space(st, p, left);
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

/* The exec of a launched program is in the trace when the trace begins
 * there. */
static void
tell_first_exec(struct state *st, struct proc *p)
{
	enum evaltime when = targets_evaltime(st);

	if (!p->launched || !p->exec_stopped ||
	    (when != EVAL_EXEC && when != EVAL_BOTH))
		return;
	moments_tell(st,
	    &(struct event){ .kind = EV_EXEC,
		.thread = p->threads.at[0],
		.old_tid = p->pid });
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

/* Is a launched process awaited where it is?  It is no longer. */
static bool
has_come(struct state *st, const struct proc *p, bool mark)
{
	if (st->awaited != p || st->awaited_mark != mark)
		return false;
	st->awaited = NULL;
	return true;
}

static bool
come_to_mark(struct state *st, struct thread *th, struct tracepoint *tp)
{
	return has_come(st, th->proc, true);
}

static bool
come_to_linkmap(struct state *st, struct thread *th, struct tracepoint *tp)
{
	struct proc *p = th->proc;
	struct space_info *info = p->space->user;
	enum linkmap_state state;

	if (info != NULL) {
		/* Where the linker's struct could not be found before it ran
		 * (musl keeps only a pointer to it), it can be now. */
		if (info->lm.r_debug == 0)
			linkmap_find(p->space->as, &p->space->mem, &info->lm);
		if (linkmap_state(&info->lm, &p->space->mem, &state) == 0 &&
		    state != LINKMAP_CONSISTENT)
			return false;
		objects_changed(st, p->space);
	}
	return has_come(st, p, false);
}

static const struct arrival at_linkmap = { .keeps = come_to_linkmap };
static const struct arrival at_mark = { .keeps = come_to_mark };

/* ---- children and new programs ---- */

/* Does a thread still execute something in this memory? */
static bool
lives_in(const struct proc *p)
{
	vec_foreach(th, &p->threads)
		if (!thread_gone(*th) && !thread_ends(*th) &&
		    (*th)->stop.kind != EV_EXEC)
			return true;
	return false;
}

/* When nobody's handler is in it any more. */
static void
release_area(struct space *sp)
{
	vec_foreach(p, &sp->procs)
		if ((*p)->guarded && lives_in(*p))
			return;
	trapset_release(tptable_traps(sp->tab));
}

/* What is left of a dead tracer, unless threads that nobody knows any more may
 * need it. */
static void
release_leftover(struct proc *p)
{
	struct space *sp = p->space;

	if (sp->leftover != NULL && !sp->parted && sp->procs.len == 1)
		leftover_release(sp->leftover, p);
}

void
targets_clean(void *ctx, struct proc *p)
{
	struct space *sp = p->space;

	if (sp->tab == NULL)
		return;
	vec_foreach(th, &p->threads) {
		struct uregs *regs = thread_regs(*th);
		if (regs == NULL ||
		    resume_leave_slot(sp->tab, regs, NULL) == SLOT_OUTSIDE)
			continue;
		thread_regs_dirty(*th);
		(*th)->into_slot = false;
	}
	fault_kill("clean-begin");
	/* Also while others share the memory: they are let go in turn (nobody
	 * is let go before the end but in a space of his own), and who has
	 * left may not meet an int3 of ours. */
	unsigned left = tracepoint_restore_all(sp->tab);
	if (left != 0)
		LOG("targets", "%d: %u places were changed by somebody else",
		    p->pid, left);
	fault_kill("clean-restored");
	semaphores_lower(sp);
	if (left == 0)
		trapset_mended(tptable_traps(sp->tab));
	guardian_drop(sp);
	vec_foreach(th, &p->threads)
		thread_settle(*th);
	trapguard_end(p);
	fault_kill("clean-handler");
	tptable_release_slots(sp->tab);
	release_area(sp);
	release_leftover(p);
	fault_kill("clean-end");
}

void
targets_let_go(struct state *st, struct proc *p)
{
	struct thread *th = p->threads.len == 1 ? p->threads.at[0] : NULL;

	LOG("targets", "letting %d go", p->pid);
	if (th != NULL && thread_stopped(th) && th->stop.kind == EV_EXEC &&
	    setid_withheld(p))
		setid_again(th);
	proc_detach(p, p->filtered ? filter_release : targets_clean, st);
}

/* It is no longer counted. */
static void
target_ends(struct state *st, struct proc *p)
{
	if (st->awaited == p)
		st->awaited = NULL;
	if (!p->target)
		return;
	p->target = false;
	if (--st->targets == 0)
		fire_drain(st);
}

void
targets_set_up(struct state *st, struct proc *p)
{
	space_setup(st, p);
	if (st->matching)
		enable_again(st);
	sites_commit(st, p->space);
}

static void
exec_happened(struct state *st, const struct event *ev)
{
	struct thread *th = ev->thread;
	struct proc *p = th->proc;

	trapguard_executed(th);
	if (st->draining)
		return; /* targets_release() lets it go */
	if (!follow_executed(st, p)) {
		/* A vfork child has left its parent's memory. */
		moments_tell(st, ev);
		target_ends(st, p);
		targets_let_go(st, p);
		return;
	}
	if (st->awaited == p) {
		/* Before it was where we wait for it: wait anew. */
		space_setup(st, p);
		st->awaited = NULL;
		st->executed_again = true;
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

/* A program that was launched for a trace that could not begin (an error in
 * the script, say) is not run at all. */
static void
kill_unstarted(struct state *st)
{
	struct proc *p = NULL;

	while (!st->started && (p = super_next(st->super, p)) != NULL)
		if (p->launched)
			kill(p->pid, SIGKILL);
}

/* Everything stands still; what had happened by then is handled, so that no child
 * is left with our int3 in its copy of the memory. */
static void
stop_all(struct state *st)
{
	struct proc *p = NULL;

	while ((p = super_next(st->super, p)) != NULL)
		space_stop(p->space);
	fault_kill("release-begin");
	loop_pending(st);
	fault_kill("release-pending");
}

/* SIGSTOP and its like: it is not known when it goes on. */
static bool
is_halted(const struct proc *p)
{
	vec_foreach(th, &p->threads)
		if ((*th)->stop.kind == EV_GROUP_STOP ||
		    (*th)->stop.state == TH_LISTENING)
			return true;
	return false;
}

/* Is a SIGTRAP of a program's own on its way through our handler, or a thread in a
 * dead tracer's?  The area that it is in could not be unmapped. */
static bool
in_handler(struct state *st, bool *sure)
{
	struct proc *p = NULL;
	bool in = false;

	*sure = false;
	while ((p = super_next(st->super, p)) != NULL) {
		release_leftover(p);
		bool runs =
		    p->guarded && trapset_runs(tptable_traps(p->space->tab));
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
	struct proc *p = NULL;
	bool more = true, sure;

	kill_unstarted(st);
	stop_all(st);
	while (more && in_handler(st, &sure)) {
		for (p = NULL; (p = super_next(st->super, p)) != NULL;)
			space_resume(p->space);
		more = let_run(st, &run, sure);
		stop_all(st);
	}
	while ((p = super_next(st->super, NULL)) != NULL)
		targets_let_go(st, p);
}
