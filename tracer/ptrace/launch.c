/*
 * Launches processes, and attaches to running ones.
 *
 * Afterwards every thread of the process is stopped; or nothing is attached,
 * and an error message says why.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dlang/base/fault.h"
#include "tracer/ptrace/event.h"
#include "tracer/ptrace/setid.h"
#include "tracer/ptrace/super.h"

/* Launch */

/* Signals as they were when the tracer started; those that were caught are
 * reset by exec. */
static void
child_signals(const struct super *su)
{
	for (int sig = 1; sig <= 64; sig++) {
		bool ignored = (su->start_ignored & SIGBIT(sig)) != 0;
		signal(sig, ignored ? SIG_IGN : SIG_DFL);
	}
	sigprocmask(SIG_SETMASK, &su->start_mask, NULL);
}

/* The child: wait until it is traced, then become the program. */
NORETURN static void
child_main(const struct super *su, const char *path, char *const argv[],
    char **env, int go, int failed)
{
	char c;
	ssize_t n;

	while ((n = read(go, &c, 1)) < 0 && errno == EINTR)
		;
	if (n != 1) /* the tracer gave up */
		_exit(127);
	child_signals(su);
	if (env != NULL)
		environ = env; /* PATH is taken from there too */
	if (path != NULL)
		execv(path, argv);
	else
		execvp(argv[0], argv);
	int error = errno;
	while (write(failed, &error, sizeof(error)) < 0 && errno == EINTR)
		;
	_exit(127);
}

/* Resume the child until it has executed its program (0) or has ended. */
static int
await_exec(struct super *su, struct thread *th)
{
	int status;

	for (;;) {
		if (event_wait_thread(th, &status) < 0)
			return -ESRCH;
		event_note(su, th->tid, status);
		event_purge(su, th->proc); /* no caller expects these */
		if (thread_gone(th))
			return -ESRCH;
		if (!thread_stopped(th))
			continue;
		if (th->stop.kind == EV_EXEC)
			return 0;
		thread_resume(th);
	}
}

/* Kill a child of the tracer, and wait for its end. */
static void
child_kill(pid_t pid)
{
	kill(pid, SIGKILL);
	event_reap(pid);
}

static int
exec_failed(const char *name, int failed, struct proc_error *err)
{
	int error = 0;

	if (read(failed, &error, sizeof(error)) != sizeof(error))
		return proc_refuse(err, -ESRCH,
		    "failed to execute %s: the process ended before the "
		    "program started",
		    name);
	return proc_refuse(
	    err, -error, "failed to execute %s: %s", name, strerror(error));
}

static int
launch_traced(struct super *su, pid_t pid, const char *name, int failed, int go,
    struct proc **out, struct proc_error *err)
{
	static const volatile int never;

	fault_kill("launch-fork");
	int r = thread_seize(pid, &never);
	fault_kill("launch-seize");
	if (r < 0) {
		access_explain(pid, r, err);
		child_kill(pid);
		return r;
	}
	struct proc *p = proc_add(su, pid, NULL);
	struct thread *th = thread_add(p, pid, TH_RUNNING);
	role_launch(p, LAUNCH_RUNS);
	if (write(go, "", 1) != 1 || await_exec(su, th) < 0) {
		r = exec_failed(name, failed, err);
		if (!thread_gone(th))
			child_kill(pid);
		proc_drop(p);
		return r;
	}
	fault_kill("launch-exec");
	struct uregs *regs = thread_regs(th);
	if (procfs_wrong_elf(pid) || (regs != NULL && regs_compat(regs))) {
		proc_drop(p);
		child_kill(pid);
		return proc_refuse(err, -ENOEXEC,
		    "failed to trace %s: 32-bit "
		    "program; only 64-bit programs are supported",
		    name);
	}
	if (setid_withheld(p)) {
		proc_drop(p);
		child_kill(pid);
		return proc_refuse(err, -EPERM,
		    "failed to trace %s: it is a set-id program, which loses "
		    "its privileges when it is traced: run as root",
		    name);
	}
	proc_new_space(p);
	proc_refresh(p);
	sigtrap_flushed(p);
	role_launch(p, LAUNCH_AT_EXEC);
	*out = p;
	return 0;
}

int
proc_launch_file(struct super *su, const char *path, char *const argv[],
    char **env, struct proc **out, struct proc_error *err)
{
	int go[2] = { -1, -1 }, failed[2] = { -1, -1 }, r;
	sigset_t all, before;

	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(failed, O_CLOEXEC) < 0) {
		r = proc_refuse(err, -errno, "failed to execute %s: pipe: %s",
		    argv[0], strerror(errno));
		goto close_pipes;
	}
	/* Block all signals: no handler of the tracer may run in the child. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	pid_t pid = fork();
	if (pid == 0) {
		close(go[1]);
		child_main(su, path, argv, env, go[0], failed[1]);
	}
	r = pid < 0 ? -errno : 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(failed[1]);
	failed[1] = -1;
	if (r < 0)
		proc_refuse(err, r, "failed to execute %s: fork: %s", argv[0],
		    strerror(-r));
	else
		r = launch_traced(su, pid, argv[0], failed[0], go[1], out, err);
close_pipes:
	for (int i = 0; i < 2; i++) {
		if (go[i] >= 0)
			close(go[i]);
		if (failed[i] >= 0)
			close(failed[i]);
	}
	return r;
}

/* Attach */

/*
 * PTRACE_SEIZE sleeps while a thread of the process is in execve.  That execve
 * waits for the end of the other threads, and those that are seized already
 * wait for dtrap to continue them.  To avoid this deadlock, a timer interrupts
 * PTRACE_SEIZE.
 */
#define ALARM    (SIGRTMAX - 1)
#define ALARM_NS 5000000

static volatile sig_atomic_t alarmed;

struct alarm {
	timer_t timer;
	struct sigaction before;
	bool on;
};

static void
on_alarm(int sig, siginfo_t *si, void *uc)
{
	alarmed = 1;
	wait_skip(uc);
}

static void
alarm_init(struct alarm *a)
{
	struct sigaction sa = { .sa_sigaction = on_alarm,
		.sa_flags = SA_SIGINFO | SA_RESTART };
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = ALARM };
	const struct itimerspec every = { { 0, ALARM_NS }, { 0, ALARM_NS } };

	alarmed = 0;
	sigemptyset(&sa.sa_mask);
	sigaction(ALARM, &sa, &a->before);
	a->on = timer_create(CLOCK_MONOTONIC, &ev, &a->timer) == 0;
	if (a->on)
		timer_settime(a->timer, 0, &every, NULL);
}

static void
alarm_fini(struct alarm *a)
{
	const struct timespec none = { 0, 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, ALARM);
	if (a->on)
		timer_delete(a->timer);
	/* The default action must not happen for a signal that is still
	 * pending. */
	sigprocmask(SIG_BLOCK, &set, NULL);
	while (sigtimedwait(&set, NULL, &none) > 0)
		;
	sigaction(ALARM, &a->before, NULL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static int
seize_patiently(struct proc *p, pid_t tid)
{
	int r;

	while (
	    (r = thread_seize(tid, (const volatile int *)&alarmed)) == -EINTR) {
		alarmed = 0;
		while (event_take(p->super))
			;
		/* Let ending threads end.  Their events stay queued. */
		vec_foreach(th, &p->threads)
			if (thread_stopped(*th) && thread_ends(*th))
				thread_run_to_trap(*th);
	}
	return r;
}

/*
 * Seize one thread.  1: it was seized; 0: it has ended or is already traced; or
 * a negative errno.  When dtrap looks why the kernel has refused, the tid may
 * already belong to another thread (an exec gives it the leader's tid).  So the
 * error is only returned if the kernel refuses for some time.
 */
static int
seize_one(struct super *su, struct proc *p, pid_t tid)
{
	const struct timespec nap = { 0, 1000000 };
	struct proc_status st;
	int r = 0;

	for (int i = 0; i < 20; i++) {
		r = event_reclaim(su, tid) ? 0 : seize_patiently(p, tid);
		if (r == 0) {
			fault_kill("attach-seize");
			/* TH_LISTENING: if the thread is in a group-stop, that
			 * is not reported as a new one. */
			thread_add(p, tid, TH_LISTENING);
			return 1;
		}
		if (r == -ESRCH || procfs_status(tid, &st) < 0 ||
		    st.state == 'Z' || st.state == 'X')
			return 0; /* it has ended */
		/* A thread that a traced thread has created is traced from its
		 * beginning; the event of its creator adds it.  A thread that
		 * is to be detached, and sleeps in execve, is detached at its
		 * event. */
		if (st.tracer == getpid()) {
			while (event_take(su))
				;
			r = 0;
		} else if (st.tracer != 0) {
			break;
		}
		if (super_thread(su, tid) != NULL)
			return 0;
		nanosleep(&nap, NULL);
	}
	return r;
}

/* Seize all threads of the task list that are not traced yet.  Returns how many
 * were seized, or a negative errno. */
static int
seize_pass(struct super *su, struct proc *p)
{
	struct pids tasks = { 0 };
	int news = 0, r = procfs_tasks(p->pid, &tasks);

	for (size_t i = 0; r >= 0 && i < tasks.list.len; i++) {
		struct thread *th = super_thread(su, tasks.list.at[i]);
		if (th != NULL && !thread_is_ghost(th))
			continue;
		if (th != NULL)
			event_lost(th);
		r = seize_one(su, p, tasks.list.at[i]);
		news += r > 0;
	}
	vec_fini(&tasks.list);
	return r < 0 ? r : news;
}

/* Is it a 32-bit program?  The executable file shows that; if it may not be
 * read, the registers do. */
static bool
is_compat(struct proc *p)
{
	if (procfs_wrong_elf(p->pid))
		return true;
	vec_foreach(th, &p->threads) {
		struct uregs *regs = thread_regs(*th);
		if (regs != NULL && (*th)->stop.kind == EV_STOP)
			return regs_compat(regs);
	}
	return false;
}

static bool
is_alive(struct proc *p)
{
	vec_foreach(th, &p->threads)
		if (!thread_gone(*th) && !thread_ends(*th))
			return true;
	return false;
}

/*
 * Seize and stop every thread.  While threads are created and end, one pass
 * over the task list may miss some: if a thread ends, the kernel may end the
 * list there.  So the last pass is made when all known threads are stopped.
 */
static int
seize_all(struct super *su, struct proc *p)
{
	struct space *sp = p->space;
	int r;

	while ((r = seize_pass(su, p)) > 0)
		;
	space_hold(sp);
	while (r == 0) {
		space_await(sp);
		fault_kill("attach-stop");
		if ((r = seize_pass(su, p)) == 0)
			break;
		r = MIN(r, 0);
	}
	space_unhold(sp);
	vec_foreach(th, &p->threads)
		stop_stay(*th);
	return r == 0 && p->threads.len == 0 ? -ESRCH : r;
}

/* Detach from a process in which dtrap has changed nothing. */
static void
unseize(struct proc *p)
{
	if (p->threads.len > 0)
		proc_detach(p, NULL, NULL);
	else
		proc_drop(p);
}

/* Seize and stop a process.  -ESRCH if all threads that were seized have
 * ended. */
static int
attach_once(struct super *su, pid_t pid, struct space *sp, struct proc **out)
{
	struct proc *p = proc_add(su, pid, sp);
	struct alarm alarm;

	alarm_init(&alarm);
	int r = seize_all(su, p);
	alarm_fini(&alarm);
	if (r == 0 && !is_alive(p))
		r = -ESRCH;
	if (r < 0)
		unseize(p);
	else
		*out = p;
	return r;
}

/* Open the memory of an attached process by a live thread: the leader may have
 * ended, or the process may have executed another program. */
static void
open_memory(struct proc *p)
{
	vec_foreach(th, &p->threads)
		if (thread_stopped(*th) && !thread_ends(*th) &&
		    space_open(p->space, (*th)->tid) == 0)
			break;
}

/* Read the name of an attached process, its signal masks and its action for
 * SIGTRAP. */
static void
learn(struct proc *p)
{
	proc_refresh(p);
	vec_foreach(th, &p->threads)
		trapmask_read(*th);
	sigtrap_save_caught(p);
}

/* Has a process that shared the memory executed a program before it was seized?
 * If it did so afterwards, that is an event, at which it gets its own space. */
static bool
has_left(const struct proc *p, pid_t live)
{
	vec_foreach(th, &p->threads)
		if ((*th)->stop.kind == EV_EXEC)
			return false;
	return event_same_memory(live, p->pid) == 0;
}

/*
 * Attach to the other processes that share the memory, for example to the
 * parent of a vfork child that has not executed a program yet.  They would
 * execute our int3s.  They are added to the same space.
 */
static int
attach_sharers(struct super *su, struct proc *p, struct proc_error *err)
{
	struct pids all = { 0 };
	struct proc *other;
	pid_t live = 0; /* a leader that has ended has no memory */
	int r = 0;

	for (size_t i = 0; live == 0 && i < p->threads.len; i++) {
		struct thread *th = p->threads.at[i];
		if (!thread_gone(th) && !thread_ends(th) &&
		    procfs_state(th->tid) != 'Z')
			live = th->tid;
	}
	if (live != 0)
		procfs_pids(&all);
	for (size_t i = 0; r == 0 && i < all.list.len; i++) {
		pid_t pid = all.list.at[i];
		if (super_proc(su, pid) != NULL ||
		    event_same_memory(live, pid) != 1)
			continue;
		r = attach_once(su, pid, p->space, &other);
		if (r == 0 && has_left(other, live))
			unseize(other);
		else if (r == 0)
			learn(other);
		else if (r == -ESRCH)
			r = 0;
		else
			proc_refuse(err, r,
			    "process %d shares its memory with process %d, "
			    "which cannot be traced: %s",
			    (int)p->pid, (int)pid, strerror(-r));
	}
	vec_fini(&all.list);
	return r;
}

/* Detach from all processes of the space. */
static void
unseize_space(struct space *sp)
{
	for (size_t n = sp->procs.len; n > 0; n--)
		unseize(sp->procs.at[n - 1]);
}

/* The process to which the thread pid belongs. */
static pid_t
process_of(pid_t pid)
{
	struct proc_status st;

	return procfs_status(pid, &st) == 0 && st.tgid > 0 ? st.tgid : pid;
}

int
proc_may_attach(pid_t pid, struct proc_error *err)
{
	return access_check(process_of(pid), err);
}

int
proc_attach(
    struct super *su, pid_t pid, struct proc **out, struct proc_error *err)
{
	const struct timespec nap = { 0, 1000000 };
	struct proc *p = NULL;

	pid = process_of(pid);
	/* Threads of a process that was detached recently may not be detached
	 * yet. */
	while (su->leaving.list.len > 0 && event_take(su))
		;
	if (super_proc(su, pid) != NULL)
		return proc_refuse(err, -EBUSY,
		    "process %d is being traced by this tracer already",
		    (int)pid);
	int r = access_check(pid, err);
	if (r < 0)
		return r;
	/* An exec by a thread that is not seized yet ends all that are; the
	 * process goes on, so try again. */
	for (int i = 0; i < 20; i++) {
		r = attach_once(su, pid, NULL, &p);
		if (r != -ESRCH || access_check(pid, err) < 0)
			break;
		nanosleep(&nap, NULL);
	}
	if (r < 0) {
		access_explain(pid, r, err);
		return r;
	}
	if (is_compat(p)) {
		unseize(p);
		return proc_refuse(err, -ENOEXEC,
		    "process %d is a 32-bit program; "
		    "only 64-bit programs are supported",
		    (int)pid);
	}
	open_memory(p);
	learn(p);
	r = attach_sharers(su, p, err);
	if (r < 0) {
		unseize_space(p->space);
		return r;
	}
	fault_kill("attach-end");
	*out = p;
	return 0;
}
