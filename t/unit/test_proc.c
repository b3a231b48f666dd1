/*
 * tracer: the supervisor against live processes.
 *
 * The traced programs are this one, executed again with --fixture NAME.  They
 * and the tests wait for each other through pipes (fd READY: "I am there"; fd
 * GO: end of file means "finish") and say how it went by their exit status.
 * A fixture dies with its test.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "inject/tracepoint.h"
#include "symbols/maps.h"
#include "tracer/panic.h"
#include "tracer/proc.h"
#include "tracer/remote.h"
#include "tracer/super_impl.h"

#define READY 100
#define GO    101

/* Tracepoints: what the supervisor asks of a table, for one address. */

struct tptable {
	struct target *target;
	struct tracepoint tp;
};

__attribute__((weak)) struct tracepoint *
tracepoint_lookup(struct tptable *tab, uint64_t addr)
{
	return tab->tp.addr == addr && tab->tp.state == TP_TRAP ? &tab->tp :
								  NULL;
}

__attribute__((weak)) bool
tracepoint_recent(struct tptable *tab, uint64_t addr)
{
	return tab->tp.addr == addr;
}

__attribute__((weak)) struct tracepoint *
tracepoint_next(struct tptable *tab, struct tracepoint *prev)
{
	return prev == NULL ? &tab->tp : NULL;
}

__attribute__((weak)) void
tracepoint_overlay(struct tptable *tab, uint64_t addr, void *buf, size_t len)
{
	if (tab->tp.state == TP_TRAP && tab->tp.addr >= addr &&
	    tab->tp.addr < addr + len)
		((uint8_t *)buf)[tab->tp.addr - addr] = tab->tp.saved;
}

__attribute__((weak)) unsigned
tracepoint_restore_all(struct tptable *tab)
{
	if (tab->tp.state == TP_TRAP)
		tab->target->ops->write(
		    tab->target, tab->tp.addr, &tab->tp.saved, 1);
	tab->tp.state = TP_IDLE;
	return 0;
}

/* Fixtures */

static volatile int seen;
static const char *self_path;

static void
say_ready(void)
{
	if (write(READY, "", 1) != 1)
		_exit(90);
}

/* Block until the test closes its end. */
static int
await_go(void)
{
	char c;

	return (int)read(GO, &c, 1);
}

static void
on_usr1(int sig, siginfo_t *si, void *uc)
{
	if (sig == SIGUSR1 && si->si_code == SI_QUEUE &&
	    si->si_value.sival_int == 42 && si->si_pid == getpid())
		seen++;
}

static void
on_any(int sig)
{
	seen++;
}

static int
fixture_exit(const char *arg)
{
	return atoi(arg);
}

/* Signals keep their siginfo. */
static int
fixture_siginfo(const char *arg)
{
	struct sigaction sa = { .sa_sigaction = on_usr1,
		.sa_flags = SA_SIGINFO };

	sigaction(SIGUSR1, &sa, NULL);
	for (int i = 0; i < 3; i++)
		sigqueue(getpid(), SIGUSR1, (union sigval){ .sival_int = 42 });
	return seen == 3 ? 0 : 1;
}

/* Mask and dispositions as the tracer found them at its start. */
static int
fixture_inherited(const char *arg)
{
	struct sigaction pipe_sa, usr1_sa, int_sa;
	sigset_t mask;

	sigaction(SIGPIPE, NULL, &pipe_sa);
	sigaction(SIGUSR1, NULL, &usr1_sa);
	sigaction(SIGINT, NULL, &int_sa);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	return pipe_sa.sa_handler == SIG_IGN && usr1_sa.sa_handler == SIG_DFL &&
		int_sa.sa_handler == SIG_DFL && sigismember(&mask, SIGUSR2) &&
		!sigismember(&mask, SIGTERM) ?
	    0 :
	    1;
}

static int
fixture_stop(const char *arg)
{
	raise(SIGSTOP);
	return 0;
}

static int
fixture_ready(const char *arg)
{
	say_ready();
	return await_go() == 0 ? 0 : 1;
}

static _Atomic unsigned long *spins; /* shared with the test */

static void *
spin(void *arg)
{
	_Atomic unsigned long *n = arg;

	for (;;)
		++*n;
	return NULL;
}

static int
fixture_spin(const char *arg)
{
	pthread_t t;

	spins =
	    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(arg), 0);
	for (int i = 0; i < 8; i++)
		if (pthread_create(&t, NULL, spin, &spins[i]) != 0)
			return 1;
	return fixture_ready(arg);
}

static void *
churn_child(void *arg)
{
	return arg;
}

static void *
churn(void *arg)
{
	pthread_t t;

	for (;;)
		if (pthread_create(&t, NULL, churn_child, NULL) == 0)
			pthread_join(t, NULL);
	return NULL;
}

/* Threads come and go all the time. */
static int
fixture_churn(const char *arg)
{
	pthread_t t;

	for (int i = 0; i < 2; i++)
		if (pthread_create(&t, NULL, churn, NULL) != 0)
			return 1;
	return fixture_ready(arg);
}

static char *const exec_args[] = { (char *)"again", (char *)"--fixture",
	(char *)"exit", (char *)"5", NULL };

/* fork (exits 3), vfork and exec (exits 5), exec (exits 5). */
static int
fixture_family(const char *arg)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(3);
	if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 3)
		return 1;
	pid = vfork();
	if (pid == 0) {
		execv(self_path, exec_args);
		_exit(1);
	}
	if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 5)
		return 2;
	execv(self_path, exec_args);
	return 3;
}

static void *
exec_thread(void *arg)
{
	execv(self_path, exec_args);
	return NULL;
}

/* A thread that is not the leader executes a program. */
static int
fixture_thread_exec(const char *arg)
{
	pthread_t t;

	pthread_create(&t, NULL, churn_child, NULL);
	pthread_join(t, NULL);
	pthread_create(&t, NULL, exec_thread, NULL);
	pthread_join(t, NULL);
	return 1;
}

/* The leader ends before the others. */
static void *
outlive(void *arg)
{
	_exit(fixture_ready(NULL));
}

static int
fixture_headless(const char *arg)
{
	pthread_t t;

	pthread_create(&t, NULL, outlive, NULL);
	pthread_exit(NULL);
}

/* System calls that are interrupted and go on: arg names one. */
static int
fixture_blocked(const char *arg)
{
	struct timespec ts = { 0, 300 * 1000 * 1000 }, left = { 7, 7 };
	struct pollfd pfd = { .fd = GO, .events = POLLIN };
	sigset_t none;
	char c;

	signal(SIGUSR1, on_any);
	say_ready();
	if (strcmp(arg, "read") == 0)
		return read(GO, &c, 1) == 1 && c == 'x' ? 0 : 1;
	if (strcmp(arg, "nanosleep") == 0)
		return nanosleep(&ts, &left) == 0 ? 0 : 1;
	if (strcmp(arg, "poll") == 0) /* a time-out: restart_syscall */
		return poll(&pfd, 1, 60000) == 1 ? 0 : 1;
	sigemptyset(&none); /* sigsuspend, with SIGUSR1 otherwise blocked */
	return sigsuspend(&none) == -1 && errno == EINTR && seen == 1 ? 0 : 1;
}

/* int3 with SIGTRAP in the state that arg says; unchanged afterwards? */
static int
fixture_int3(const char *arg)
{
	struct sigaction sa = { .sa_handler = SIG_DFL }, now;
	bool block = strchr(arg, 'b') != NULL;
	sigset_t mask;

	if (strchr(arg, 'i') != NULL)
		sa.sa_handler = SIG_IGN;
	if (strchr(arg, 'h') != NULL)
		sa.sa_handler = on_any;
	sigaction(SIGTRAP, &sa, NULL);
	sigemptyset(&mask);
	sigaddset(&mask, SIGTRAP);
	sigaddset(&mask, SIGHUP);
	if (strchr(arg, 'f') != NULL)
		sigfillset(&mask);
	if (block)
		sigprocmask(SIG_BLOCK, &mask, NULL);
	fixture_ready(NULL);
	for (int i = 0; i < 3; i++) {
		asm volatile("int3");
		sigaction(SIGTRAP, NULL, &now);
		if (now.sa_handler != sa.sa_handler)
			return 2;
		sigprocmask(SIG_BLOCK, NULL, &mask);
		if (sigismember(&mask, SIGTRAP) != block)
			return 3;
	}
	return seen == 0 ? 0 : 4;
}

/* The parent waits for its vfork child for as long as the test likes. */
static int
fixture_vfork(const char *arg)
{
	int status;
	pid_t pid = vfork();

	if (pid == 0) {
		say_ready();
		await_go();
		_exit(4);
	}
	return waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 4 ? 0 :
									     1;
}

__attribute__((noinline, noclone)) int probed(int i);

__attribute__((noinline, noclone)) int
probed(int i)
{
	asm volatile("");
	return i + 1;
}

/* Call probed() without end. */
static void *
call_probed(void *arg)
{
	for (volatile int i = 0;; i = probed(i))
		;
	return NULL;
}

static int
fixture_probed(const char *arg)
{
	pthread_t t;

	pthread_create(&t, NULL, call_probed, NULL);
	return fixture_ready(arg);
}

static const struct {
	const char *name;
	int (*run)(const char *arg);
} fixtures[] = {
	{ "exit", fixture_exit },
	{ "siginfo", fixture_siginfo },
	{ "inherited", fixture_inherited },
	{ "stop", fixture_stop },
	{ "ready", fixture_ready },
	{ "spin", fixture_spin },
	{ "churn", fixture_churn },
	{ "family", fixture_family },
	{ "thread_exec", fixture_thread_exec },
	{ "headless", fixture_headless },
	{ "blocked", fixture_blocked },
	{ "int3", fixture_int3 },
	{ "vfork", fixture_vfork },
	{ "probed", fixture_probed },
};

static int
fixture_main(const char *name, const char *arg)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < ARRAY_SIZE(fixtures); i++)
		if (strcmp(fixtures[i].name, name) == 0)
			return fixtures[i].run(arg);
	return 99;
}

/* What the tests stand on */

static struct super *su;
static struct proc_error err;
static int ready_fd, go_fd; /* our ends */
static VEC(struct event) seen_events;
static VEC(pid_t) seen_tids;

static void
make_pipes(void)
{
	int ready[2], go[2];

	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(go, O_CLOEXEC), 0);
	dup2(ready[1], READY);
	dup2(go[0], GO);
	ready_fd = ready[0];
	go_fd = go[1];
	close(ready[1]);
	close(go[0]);
}

static void
setup(void)
{
	make_pipes();
	su = super_create();
}

static void
teardown(void)
{
	super_destroy(su);
	vec_fini(&seen_events);
	vec_fini(&seen_tids);
}

static void
await_ready(void)
{
	char c;

	close(READY);
	ck_assert_int_eq(read(ready_fd, &c, 1), 1);
}

static char *const *
fixture_args(const char *name, const char *arg)
{
	static const char *args[5];

	args[0] = self_path;
	args[1] = "--fixture";
	args[2] = name;
	args[3] = arg;
	return (char *const *)args;
}

static struct proc *
launch(const char *name, const char *arg)
{
	struct proc *p = NULL;

	int r = proc_launch(su, fixture_args(name, arg), &p, &err);
	ck_assert_msg(r == 0, "%s", err.text);
	ck_assert_uint_eq(p->threads.len, 1);
	ck_assert(p->exec_stopped && p->launched);
	return p;
}

/* A fixture that runs on its own. */
static pid_t
start(const char *name, const char *arg)
{
	pid_t pid = fork();

	if (pid == 0) {
		execv(self_path, fixture_args(name, arg));
		_exit(98);
	}
	ck_assert_int_gt(pid, 0);
	return pid;
}

static struct proc *
attach(pid_t pid)
{
	struct proc *p = NULL;

	int r = proc_attach(su, pid, &p, &err);
	ck_assert_msg(r == 0, "%s", err.text);
	return p;
}

static void
resume_all(struct proc *p)
{
	for (size_t i = 0; i < p->threads.len; i++)
		thread_resume(p->threads.at[i]);
}

/* The next event, recorded; true until there are no tracees left. */
static bool
next(struct event *ev)
{
	int r = event_poll(su, ev, true);

	if (r == -ECHILD)
		return false;
	ck_assert_int_eq(r, 1);
	*vec_push(&seen_events) = *ev;
	*vec_push(&seen_tids) = ev->thread->tid;
	return true;
}

/* As a loop that does nothing: until all has ended, or `kind' has come, whose
 * thread stays stopped. */
static bool
run_until(enum event_kind kind, struct event *ev)
{
	while (next(ev)) {
		if (ev->kind == kind)
			return true;
		if (ev->kind == EV_TRAP)
			ev->thread->sig = SIGTRAP;
		thread_resume(ev->thread);
	}
	return false;
}

static void
run_to_end(int exit_status)
{
	struct event ev = { 0 };
	int status = -1;

	while (next(&ev)) {
		if (ev.kind == EV_GONE && ev.thread->proc->target &&
		    ev.thread->proc->threads.len == 0)
			status = ev.thread->proc->exit_status;
		thread_resume(ev.thread);
	}
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == exit_status,
	    "status %x", (unsigned)status);
}

/* A process that we let go ends well. */
static void
finishes(pid_t pid)
{
	int status = -1;

	close(go_fd);
	ck_assert_int_eq(waitpid(pid, &status, __WALL), pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0,
	    "status %x", (unsigned)status);
}

static struct proc_status
status_of(pid_t pid)
{
	struct proc_status st = { 0 };

	ck_assert_int_eq(procfs_status(pid, &st), 0);
	return st;
}

/* Until a thread sleeps in the kernel: there is no pipe that says so. */
static void
await_state(pid_t tid, const char *states)
{
	while (strchr(states, procfs_state(tid)) == NULL)
		sched_yield();
}

/* Launching */

START_TEST(launch_runs_to_completion)
{
	struct proc *p = launch("exit", "7");

	ck_assert_int_eq(p->threads.at[0]->state, TH_STOPPED);
	thread_resume(p->threads.at[0]);
	ck_assert(!p->exec_stopped);
	run_to_end(7);
	ck_assert_uint_eq(seen_events.len, 2);
	ck_assert_int_eq(seen_events.at[0].kind, EV_EXIT);
	ck_assert_int_eq(seen_events.at[0].status, 7 << 8);
	ck_assert_int_eq(seen_events.at[1].kind, EV_GONE);
}
END_TEST

START_TEST(launch_says_why_it_failed)
{
	static const char *const none[] = { "no-such-program-here", NULL };
	static const char *const dir[] = { "/", NULL };
	struct proc *p;

	ck_assert_int_eq(
	    proc_launch(su, (char *const *)none, &p, &err), -ENOENT);
	ck_assert_str_eq(err.text,
	    "failed to execute no-such-program-here: "
	    "No such file or directory");
	ck_assert_int_eq(
	    proc_launch(su, (char *const *)dir, &p, &err), -EACCES);
	ck_assert_ptr_null(super_next(su, NULL));
}
END_TEST

START_TEST(launch_runs_scripts)
{
	char path[] = "/tmp/dtrap-test-XXXXXX";
	int fd = mkstemp(path);
	const char *const args[] = { path, NULL };
	struct proc *p;

	ck_assert_int_eq(write(fd, "exit 6\n", 7), 7);
	fchmod(fd, 0700);
	close(fd);
	int r = proc_launch(su, (char *const *)args, &p, &err);
	ck_assert_msg(r == 0, "%s", err.text);
	thread_resume(p->threads.at[0]);
	run_to_end(6);
	unlink(path);
}
END_TEST

START_TEST(launch_hands_on_the_signals_of_the_start)
{
	sigset_t mask;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGUSR1, SIG_DFL);
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	super_destroy(su);
	su = super_create();

	signal(SIGPIPE, SIG_DFL);
	signal(SIGUSR1, SIG_IGN);
	signal(SIGINT, on_any);
	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	struct proc *p = launch("inherited", "");
	thread_resume(p->threads.at[0]);
	run_to_end(0);
}
END_TEST

START_TEST(launched_program_is_let_go)
{
	struct proc *p = launch("ready", "");
	pid_t pid = p->pid;

	proc_detach(p, NULL, NULL);
	await_ready();
	ck_assert_int_eq(status_of(pid).tracer, 0);
	finishes(pid);
}
END_TEST

/* Signals and job control */

START_TEST(signals_keep_their_siginfo)
{
	struct proc *p = launch("siginfo", "");
	struct event ev;
	siginfo_t si;
	int n = 0;

	thread_resume(p->threads.at[0]);
	while (run_until(EV_SIGNAL, &ev)) {
		ck_assert_int_eq(ev.sig, SIGUSR1);
		ck_assert_int_eq(thread_siginfo(ev.thread, &si), 0);
		ck_assert_int_eq(si.si_value.sival_int, 42);
		thread_resume(ev.thread);
		n++;
	}
	ck_assert_int_eq(n, 3);
	ck_assert_int_eq(seen_events.at[seen_events.len - 1].status, 0);
}
END_TEST

START_TEST(stop_and_continue_work_as_without_us)
{
	struct proc *p = launch("stop", "");
	pid_t pid = p->pid;
	struct event ev;

	thread_resume(p->threads.at[0]);
	ck_assert(run_until(EV_SIGNAL, &ev));
	ck_assert_int_eq(ev.sig, SIGSTOP);
	thread_resume(ev.thread);
	ck_assert(run_until(EV_GROUP_STOP, &ev));
	ck_assert_int_eq(ev.sig, SIGSTOP);
	thread_resume(ev.thread);

	/* Stopping the space twice does not start it, and says nothing. */
	for (int i = 0; i < 2; i++) {
		space_stop(p->space);
		ck_assert_ptr_nonnull(thread_regs(p->threads.at[0]));
		space_resume(p->space);
	}
	ck_assert_int_eq(event_poll(su, &ev, false), 0);
	ck_assert(p->threads.at[0]->listening);

	kill(pid, SIGCONT);
	ck_assert(run_until(EV_SIGNAL, &ev));
	ck_assert_int_eq(ev.sig, SIGCONT);
	thread_resume(ev.thread);
	run_to_end(0);
}
END_TEST

START_TEST(detach_leaves_a_stopped_process_stopped)
{
	struct proc *p = launch("stop", "");
	pid_t pid = p->pid;
	struct event ev;
	int status;

	thread_resume(p->threads.at[0]);
	ck_assert(run_until(EV_GROUP_STOP, &ev));
	if (_i == 1)
		thread_resume(ev.thread);
	proc_detach(p, NULL, NULL);
	ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
	ck_assert(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
	await_state(pid, "T");
	kill(pid, SIGCONT);
	finishes(pid);
}
END_TEST

START_TEST(attach_leaves_a_stopped_process_stopped)
{
	pid_t pid = start("stop", "");
	struct event ev;
	int status;

	ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
	struct proc *p = attach(pid);
	ck_assert_int_eq(p->threads.at[0]->stop, EV_GROUP_STOP);
	resume_all(p);
	ck_assert_int_eq(event_poll(su, &ev, false), 0);
	ck_assert(p->threads.at[0]->listening);
	proc_detach(p, NULL, NULL);
	await_state(pid, "T");
	ck_assert_int_eq(status_of(pid).tracer, 0);
	kill(pid, SIGCONT);
	finishes(pid);
}
END_TEST

START_TEST(detach_delivers_a_pending_signal)
{
	pid_t pid = start("blocked", "sigsuspend");

	await_ready();
	await_state(pid, "S");
	struct proc *p = attach(pid);
	resume_all(p);
	kill(pid, SIGUSR1);
	await_state(pid, "t");
	proc_detach(p, NULL, NULL); /* the event is still in the kernel */
	finishes(pid);
}
END_TEST

/* Attaching */

static void
await_spinning(void)
{
	unsigned long before[8];

	for (int i = 0; i < 8; i++)
		before[i] = spins[i];
	for (int i = 0; i < 8; i++)
		while (spins[i] == before[i])
			sched_yield();
}

START_TEST(attach_stop_resume_detach_many_threads)
{
	int fd = memfd_create("spins", 0);
	char arg[16];

	ck_assert_int_eq(ftruncate(fd, 4096), 0);
	spins = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	snprintf(arg, sizeof(arg), "%d", fd);
	pid_t pid = start("spin", arg);
	await_ready();
	struct proc *p = attach(pid);
	ck_assert_uint_eq(p->threads.len, 9);
	ck_assert_str_ne(p->comm, "");
	vec_foreach(th, &p->threads)
		ck_assert_int_eq((*th)->state, TH_STOPPED);
	unsigned long before = spins[3];
	ck_assert_uint_eq(spins[3], before);
	resume_all(p);
	for (int i = 0; i < 20; i++) {
		space_stop(p->space);
		space_stop(p->space);
		vec_foreach(th, &p->threads)
			ck_assert_ptr_nonnull(thread_regs(*th));
		space_resume(p->space);
		vec_foreach(th, &p->threads)
			ck_assert_int_eq((*th)->state, TH_STOPPED);
		space_resume(p->space);
		vec_foreach(th, &p->threads)
			ck_assert_int_eq((*th)->state, TH_RUNNING);
	}
	await_spinning();
	proc_detach(p, NULL, NULL);
	ck_assert_int_eq(status_of(pid).tracer, 0);
	await_spinning();
	finishes(pid);
}
END_TEST

START_TEST(attach_while_threads_come_and_go)
{
	pid_t pid = start("churn", "");
	struct event ev;

	await_ready();
	for (int i = 0; i < 10; i++) {
		struct proc *p = attach(pid);
		vec_foreach(th, &p->threads)
			ck_assert_int_ne((*th)->state, TH_RUNNING);
		resume_all(p);
		for (int n = 0; n < 60; n++) {
			ck_assert_int_eq(event_poll(su, &ev, true), 1);
			if (ev.kind == EV_CLONE)
				ck_assert_ptr_eq(ev.child->proc, p);
			if (n % 20 == 10) {
				space_stop(p->space);
				space_resume(p->space);
			}
			thread_resume(ev.thread);
		}
		proc_detach(p, NULL, NULL);
		ck_assert_int_eq(status_of(pid).tracer, 0);
	}
	finishes(pid);
}
END_TEST

START_TEST(attach_without_a_leader)
{
	pid_t pid = start("headless", "");

	await_ready();
	await_state(pid, "Z");
	struct proc *p = attach(pid);
	ck_assert_uint_eq(p->threads.len, 1);
	ck_assert_int_ne(p->threads.at[0]->tid, pid);
	int64_t r;
	const uint64_t args[6] = { 0 };
	ck_assert_int_eq(
	    remote_syscall(p->threads.at[0], SYS_getpid, args, &r), 0);
	ck_assert_int_eq(r, pid);
	resume_all(p);
	proc_detach(p, NULL, NULL);
	finishes(pid);
}
END_TEST

START_TEST(attach_by_thread_means_its_process)
{
	int fd = memfd_create("spins", 0);
	char arg[16];
	struct pids tasks = { 0 };

	ck_assert_int_eq(ftruncate(fd, 4096), 0);
	snprintf(arg, sizeof(arg), "%d", fd);
	pid_t pid = start("spin", arg);
	await_ready();
	ck_assert_int_eq(procfs_tasks(pid, &tasks), 0);
	struct proc *p = attach(tasks.list.at[4]);
	vec_fini(&tasks.list);
	ck_assert_int_eq(p->pid, pid);
	ck_assert_int_eq(proc_attach(su, pid, &p, &err), -EBUSY);
	proc_detach(super_proc(su, pid), NULL, NULL);
	finishes(pid);
}
END_TEST

START_TEST(attach_says_why_it_failed)
{
	struct proc *p;

	ck_assert_int_eq(proc_attach(su, 0, &p, &err), -ESRCH);
	ck_assert_int_eq(proc_attach(su, 0x3ffffff, &p, &err), -ESRCH);
	ck_assert_int_eq(proc_attach(su, getpid(), &p, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.text, "itself"));
	if (procfs_state(2) != '\0' && !status_of(2).has_memory) {
		ck_assert_int_eq(proc_attach(su, 2, &p, &err), -EPERM);
		ck_assert_ptr_nonnull(strstr(err.text, "kernel thread"));
	}

	pid_t zombie = start("exit", "0");
	await_state(zombie, "Z");
	ck_assert_int_eq(proc_attach(su, zombie, &p, &err), -ESRCH);
	ck_assert_ptr_nonnull(strstr(err.text, "zombie"));
	waitpid(zombie, NULL, 0);

	/* Traced by somebody else. */
	pid_t pid = start("ready", "");
	await_ready();
	int done[2], traced[2];
	ck_assert_int_eq(pipe(done), 0);
	ck_assert_int_eq(pipe(traced), 0);
	pid_t other = fork();
	if (other == 0) {
		char c;
		close(done[1]);
		long r = ptrace(PTRACE_SEIZE, pid, 0, 0);
		if (write(traced[1], r == 0 ? "y" : "n", 1) != 1)
			_exit(1);
		_exit(read(done[0], &c, 1) == 0 ? 0 : 1);
	}
	char c = 0;
	ck_assert_int_eq(read(traced[0], &c, 1), 1);
	ck_assert_int_eq(c, 'y');
	ck_assert_int_eq(proc_attach(su, pid, &p, &err), -EBUSY);
	char want[32];
	snprintf(want, sizeof(want), "(pid %d)", (int)other);
	ck_assert_ptr_nonnull(strstr(err.text, want));
	close(done[1]);
	waitpid(other, NULL, 0);
	ck_assert_ptr_null(super_next(su, NULL));
	finishes(pid);
}
END_TEST

START_TEST(attach_needs_the_same_user)
{
	if (getuid() != 0)
		return;
	pid_t pid = start("ready", "");
	await_ready();
	pid_t other = fork();
	if (other == 0) {
		struct proc *p;
		if (setgid(65534) != 0 || setuid(65534) != 0)
			_exit(2);
		int r = proc_attach(su, pid, &p, &err);
		_exit(r == -EPERM && strstr(err.text, "belongs to user 0") ? 0 :
									     1);
	}
	int status;
	waitpid(other, &status, 0);
	ck_assert_int_eq(status, 0);
	finishes(pid);
}
END_TEST

START_TEST(a_process_that_is_killed_is_gone)
{
	pid_t pid = start("ready", "");
	struct event ev;

	await_ready();
	struct proc *p = attach(pid);
	struct thread *th = p->threads.at[0];
	ck_assert_ptr_nonnull(thread_regs(th));
	kill(pid, SIGKILL);
	thread_resume(th);
	while (next(&ev))
		thread_resume(ev.thread);
	ck_assert_uint_ge(seen_events.len, 1);
	struct event *last = &seen_events.at[seen_events.len - 1];
	ck_assert_int_eq(last->kind, EV_GONE);
	ck_assert_int_eq(last->status, SIGKILL);
}
END_TEST

/* Families */

static void
expect(size_t *i, enum event_kind kind, pid_t tid)
{
	/* SIGCHLD and syscalls come between. */
	while (*i < seen_events.len &&
	    !(seen_events.at[*i].kind == kind &&
		(tid == 0 || seen_tids.at[*i] == tid)))
		++*i;
	ck_assert_msg(
	    *i < seen_events.len, "no event %d of %d", (int)kind, (int)tid);
	++*i;
}

START_TEST(children_are_followed_in_order)
{
	struct proc *p = launch("family", "");
	struct space *space = p->space;
	pid_t pid = p->pid, forked = 0, vforked = 0;
	struct event ev;

	thread_resume(p->threads.at[0]);
	while (next(&ev)) {
		struct proc *child = ev.child != NULL ? ev.child->proc : NULL;
		if (ev.kind == EV_FORK) {
			forked = child->pid;
			ck_assert_ptr_ne(child->space, space);
			ck_assert_int_ge(child->space->mem_fd, 0);
			ck_assert_int_eq(child->parent, pid);
		} else if (ev.kind == EV_VFORK) {
			vforked = child->pid;
			ck_assert_ptr_eq(child->space, space);
			ck_assert_uint_eq(space->refs, 2);
			ck_assert(child->vfork_child);
		} else if (ev.kind == EV_EXEC) {
			ck_assert_ptr_ne(ev.thread->proc->space, space);
			ck_assert(!ev.thread->proc->vfork_child);
			if (ev.thread->tid == vforked)
				ck_assert_uint_eq(space->refs, 1);
		}
		thread_resume(ev.thread);
	}
	size_t i = 0;
	expect(&i, EV_FORK, pid);
	expect(&i, EV_STOP, forked);
	expect(&i, EV_EXIT, forked);
	expect(&i, EV_GONE, forked);
	expect(&i, EV_VFORK, pid);
	expect(&i, EV_STOP, vforked);
	expect(&i, EV_EXEC, vforked);
	expect(&i, EV_EXIT, vforked);
	expect(&i, EV_EXEC, pid);
	expect(&i, EV_EXIT, pid);
	ck_assert_int_eq(seen_events.at[i - 1].status, 5 << 8);
	expect(&i, EV_GONE, pid);
	ck_assert_uint_eq(i, seen_events.len);
}
END_TEST

START_TEST(exec_by_another_thread_leaves_the_leader)
{
	struct proc *p = launch("thread_exec", "");
	pid_t pid = p->pid, caller = 0;
	struct event ev;

	thread_resume(p->threads.at[0]);
	while (next(&ev)) {
		if (ev.kind == EV_CLONE)
			caller = ev.child->tid;
		if (ev.kind == EV_EXEC) {
			ck_assert_int_eq(ev.thread->tid, pid);
			ck_assert_int_eq(ev.old_tid, caller);
			ck_assert_uint_eq(p->threads.len, 1);
			ck_assert_ptr_eq(p->threads.at[0], ev.thread);
			ck_assert_ptr_null(super_thread(su, caller));
		}
		thread_resume(ev.thread);
	}
	ck_assert_int_eq(seen_events.at[seen_events.len - 1].status, 5 << 8);
}
END_TEST

START_TEST(vfork_parent_is_let_go_when_it_wakes)
{
	pid_t pid = start("vfork", "");

	await_ready();
	await_state(pid, "D");
	struct proc *p = attach(pid);
	ck_assert(p->threads.at[0]->asleep);
	resume_all(p);
	space_stop(p->space);
	ck_assert_ptr_null(thread_regs(p->threads.at[0]));
	uint64_t pc = 0;
	ck_assert_int_eq(
	    p->space->target.ops->thread_pc(&p->space->target, 0, &pc), 0);
	ck_assert_uint_ne(pc, 0);
	space_resume(p->space);
	if (_i == 0) {
		proc_detach(p, NULL, NULL);
		close(go_fd);
		struct event ev;
		while (su->leaving.len > 0)
			event_poll(su, &ev, false), event_take(su);
		int status;
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_int_eq(status, 0);
		return;
	}
	close(go_fd);
	run_to_end(0);
}
END_TEST

/* System calls in the target */

static void
check_getpid(struct thread *th)
{
	const uint64_t args[6] = { 0 };
	int64_t result = 0;
	struct uregs before = *thread_regs(th);

	int r = remote_syscall(th, SYS_getpid, args, &result);
	ck_assert_int_eq(r, 0);
	ck_assert_int_eq(result, th->proc->pid);
	ck_assert_int_eq(th->state, TH_STOPPED);
	struct uregs after;
	ck_assert_int_eq(regs_fetch(th->tid, &after), 0);
	ck_assert_int_eq(memcmp(&before, &after, sizeof(after)), 0);
	ck_assert_int_eq(memcmp(&before, thread_regs(th), sizeof(after)), 0);
}

static const char *const calls[] = { "read", "nanosleep", "poll",
	"sigsuspend" };

START_TEST(remote_syscall_in_a_blocked_thread)
{
	const char *call = calls[_i];
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	if (strcmp(call, "sigsuspend") == 0)
		sigprocmask(SIG_BLOCK, &mask, NULL);
	pid_t pid = start("blocked", call);
	await_ready();
	await_state(pid, "S");
	struct proc *p = attach(pid);
	struct thread *th = p->threads.at[0];
	resume_all(p);
	for (int i = 0; i < 5; i++) {
		space_stop(p->space);
		if (th->state == TH_STOPPED && th->stop == EV_STOP) {
			check_getpid(th);
			check_getpid(th);
		}
		space_resume(p->space);
	}
	if (strcmp(call, "sigsuspend") == 0) {
		await_state(pid, "S");
		kill(pid, SIGUSR1);
	} else {
		ck_assert_int_eq(write(go_fd, "x", 1), 1);
	}
	run_to_end(0);
}
END_TEST

START_TEST(remote_syscall_keeps_a_signal_in_delivery)
{
	struct proc *p = launch("siginfo", "");
	struct event ev;
	siginfo_t before, after;
	int n = 0;

	thread_resume(p->threads.at[0]);
	while (run_until(EV_SIGNAL, &ev)) {
		memset(&before, 0, sizeof(before));
		memset(&after, 0, sizeof(after));
		thread_siginfo(ev.thread, &before);
		check_getpid(ev.thread);
		ck_assert_int_eq(thread_siginfo(ev.thread, &after), 0);
		ck_assert_int_eq(memcmp(&before, &after, sizeof(after)), 0);
		thread_resume(ev.thread);
		n++;
	}
	ck_assert_int_eq(n, 3);
	ck_assert_int_eq(seen_events.at[seen_events.len - 1].status, 0);
}
END_TEST

START_TEST(remote_syscall_at_syscall_and_event_stops)
{
	struct proc *p = launch("family", "");
	struct event ev;
	unsigned enters = 0, exits = 0;

	p->threads.at[0]->want_syscalls = true;
	thread_resume(p->threads.at[0]);
	while (next(&ev)) {
		enters += ev.kind == EV_SYSCALL_ENTER;
		exits += ev.kind == EV_SYSCALL_EXIT;
		switch (ev.kind) {
		case EV_FORK:
		case EV_CLONE:
		case EV_EXEC:
		case EV_VFORK_DONE:
		case EV_STOP:
		case EV_SIGNAL:
		case EV_SYSCALL_ENTER:
		case EV_SYSCALL_EXIT: {
			int64_t r;
			const uint64_t args[6] = { 0 };
			ck_assert_int_eq(
			    remote_syscall(ev.thread, SYS_getpid, args, &r), 0);
			ck_assert_int_eq(r, ev.thread->proc->pid);
			check_getpid(ev.thread);
			break;
		}
		case EV_VFORK:
		case EV_EXIT: {
			int64_t r;
			const uint64_t args[6] = { 0 };
			ck_assert_int_eq(
			    remote_syscall(ev.thread, SYS_getpid, args, &r),
			    -EBUSY);
			break;
		}
		default: break;
		}
		if (ev.kind != EV_GONE)
			thread_resume(ev.thread);
	}
	ck_assert_int_eq(seen_events.at[seen_events.len - 1].status, 5 << 8);
	/* Each call that was entered has come back but exit_group, and the
	 * first execve was entered before we asked. */
	ck_assert_uint_gt(enters, 10);
	ck_assert_uint_eq(enters, exits);
}
END_TEST

START_TEST(remote_syscall_during_a_group_stop)
{
	struct proc *p = launch("ready", "");
	struct thread *th = p->threads.at[0];
	pid_t pid = p->pid;
	struct event ev;

	kill(pid, SIGSTOP); /* arrives in the middle of the call */
	int64_t r;
	const uint64_t args[6] = { 0 };
	ck_assert_int_eq(remote_syscall(th, SYS_getpid, args, &r), 0);
	ck_assert_int_eq(r, pid);
	thread_resume(th);
	ck_assert(run_until(EV_GROUP_STOP, &ev));
	thread_resume(ev.thread);
	kill(pid, SIGCONT);
	close(go_fd);
	run_to_end(0);
}
END_TEST

/* Memory of the target */

START_TEST(map_near_finds_room_in_reach)
{
	struct proc *p = launch("ready", "");
	struct target *t = &p->space->target;
	uint64_t pc = thread_regs(p->threads.at[0])->r[UREG_RIP];
	uint64_t addr[16];
	char text[32] = "";

	for (size_t i = 0; i < ARRAY_SIZE(addr); i++) {
		ck_assert_int_eq(
		    t->ops->map_near(t, pc, 4096 << (i % 4), &addr[i]), 0);
		ck_assert_int_lt(llabs((int64_t)(addr[i] - pc)), 1LL << 31);
		ck_assert_int_eq(t->ops->write(t, addr[i], "slot", 5), 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(addr); i++) {
		ck_assert_int_eq(
		    reader_read(&p->space->mem, addr[i], text, 5), 0);
		ck_assert_str_eq(text, "slot");
		ck_assert_int_eq(t->ops->unmap(t, addr[i], 4096 << (i % 4)), 0);
		ck_assert_int_eq(t->ops->read(t, addr[i], text, 5), -EFAULT);
	}
	/* Nothing is put where the heap will grow. */
	uint64_t brk = 0;
	ck_assert_int_eq(procfs_stat(p->pid, 47, &brk), 0);
	for (size_t i = 0; i < ARRAY_SIZE(addr); i++)
		ck_assert(addr[i] < brk || addr[i] - brk >= 1 << 30);
	ck_assert_int_eq(
	    t->ops->map_near(t, pc, 1ULL << 40, &addr[0]), -ENOMEM);

	thread_resume(p->threads.at[0]);
	close(go_fd);
	run_to_end(0);
}
END_TEST

START_TEST(map_near_can_be_made_to_fail)
{
	struct proc *p = launch("ready", "");
	struct target *t = &p->space->target;
	uint64_t pc = thread_regs(p->threads.at[0])->r[UREG_RIP], addr;

	setenv("DTRAP_FAIL", "slot:1,map:2", 1);
	ck_assert_int_eq(t->ops->map_near(t, pc, 4096, &addr), 0);
	ck_assert_int_eq(t->ops->map_near(t, pc, 4096, &addr), -ENOMEM);
	ck_assert_int_eq(t->ops->map_near(t, pc, 4096, &addr), 0);
}
END_TEST

START_TEST(caves_are_zeros_in_text)
{
	struct proc *p = launch("ready", "");
	struct target *t = &p->space->target;
	uint64_t pc = thread_regs(p->threads.at[0])->r[UREG_RIP], addr;
	struct maps maps = { 0 };
	unsigned cookie = 0, n = 0;
	size_t size;
	uint8_t bytes[4096];

	ck_assert_int_eq(maps_read(p->pid, &maps), 0);
	while (t->ops->cave(t, pc, &cookie, &addr, &size) == 0) {
		const struct map *m = maps_at(&maps, addr);
		ck_assert(m != NULL && m->exec && addr + size == m->end);
		ck_assert_uint_le(size, sizeof(bytes));
		ck_assert_int_eq(t->ops->read(t, addr, bytes, size), 0);
		for (size_t i = 0; i < size; i++)
			ck_assert_uint_eq(bytes[i], 0);
		n++;
	}
	ck_assert_uint_gt(n, 0); /* the run-time linker's, at least */
	maps_fini(&maps);
}
END_TEST

/* SIGTRAP */

static const char *const trap_states[] = { "", "b", "bf", "h", "bh", "bfh", "i",
	"bi" };

START_TEST(sigtrap_is_as_before_after_a_hit)
{
	struct event ev;
	int hits = 0;

	pid_t pid = start("int3", trap_states[_i]);
	await_ready();
	struct proc *p = attach(pid);
	resume_all(p);
	close(go_fd);
	while (run_until(EV_TRAP, &ev)) {
		hits++;
		thread_mend_sigtrap(ev.thread);
		thread_resume(ev.thread);
	}
	ck_assert_int_eq(hits, 3);
	struct event *last = &seen_events.at[seen_events.len - 1];
	ck_assert_msg(last->status == 0, "%s: status %x", trap_states[_i],
	    (unsigned)last->status);
}
END_TEST

START_TEST(sigtrap_of_the_program_is_delivered)
{
	struct event ev;
	int n = 0;

	struct proc *p = launch("int3", "h");
	close(go_fd);
	thread_resume(p->threads.at[0]);
	while (run_until(EV_TRAP, &ev)) {
		siginfo_t si;
		ck_assert_int_eq(thread_siginfo(ev.thread, &si), 0);
		ck_assert_int_eq(si.si_code, SI_KERNEL);
		if (_i == 1)
			check_getpid(ev.thread);
		ev.thread->sig = SIGTRAP;
		thread_resume(ev.thread);
		n++;
	}
	ck_assert_int_eq(n, 3);
	/* The handler has run. */
	ck_assert_int_eq(seen_events.at[seen_events.len - 1].status, 4 << 8);
}
END_TEST

/* Tracepoints left behind */

/* Put an int3 on probed(), which is where it is here, but for the bias. */
static void
arm(struct proc *p, struct tptable *tab)
{
	static const uint8_t int3 = 0xcc;
	struct maps own = { 0 }, its = { 0 };
	uint64_t addr = (uint64_t)(uintptr_t)&probed;

	ck_assert_int_eq(maps_read(getpid(), &own), 0);
	ck_assert_int_eq(maps_read(p->pid, &its), 0);
	const struct map *m = maps_at(&own, addr);
	vec_foreach(i, &its.list)
		if (i->inode == m->inode && i->offset == m->offset)
			addr = addr - m->start + i->start;
	maps_fini(&own);
	maps_fini(&its);

	*tab = (struct tptable){ .target = &p->space->target,
		.tp = { .addr = addr, .state = TP_TRAP } };
	space_stop(p->space);
	struct target *t = &p->space->target;
	ck_assert_int_eq(t->ops->read(t, addr, &tab->tp.saved, 1), 0);
	ck_assert_uint_ne(tab->tp.saved, int3);
	ck_assert_int_eq(t->ops->write(t, addr, &int3, 1), 0);
	p->space->tab = tab;
	uint8_t byte;
	reader_read(&p->space->mem, addr, &byte, 1);
	ck_assert_uint_eq(byte, int3);
	reader_read(&p->space->text, addr, &byte, 1);
	ck_assert_uint_eq(byte, tab->tp.saved);
	space_resume(p->space);
}

static void
restore(void *ctx, struct proc *p)
{
	tracepoint_restore_all(p->space->tab);
}

START_TEST(detach_undoes_a_hit_that_was_not_handled)
{
	struct tptable tab;
	pid_t pid = start("probed", "");

	await_ready();
	struct proc *p = attach(pid);
	struct thread *th = p->threads.at[1];
	pid_t tid = th->tid;
	resume_all(p);
	arm(p, &tab);
	await_state(tid, "t"); /* it has hit the int3 */
	proc_detach(p, restore, NULL);
	ck_assert_int_eq(status_of(tid).tracer, 0);
	finishes(pid);
}
END_TEST

START_TEST(panic_lets_targets_live)
{
	pid_t pid = start("probed", "");

	await_ready();
	pid_t tracer = fork();
	if (tracer == 0) {
		struct tptable tab;
		struct event ev;
		freopen("/dev/null", "w", stderr);
		struct proc *p = attach(pid);
		panic_guard(su);
		resume_all(p);
		arm(p, &tab);
		if (_i > 0)
			event_poll(su, &ev, true); /* a hit in our hands */
		if (_i == 2)
			raise(SIGSEGV);
		base_panic("test");
	}
	int status;
	ck_assert_int_eq(waitpid(tracer, &status, 0), tracer);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), _i == 2 ? SIGSEGV : SIGABRT);
	ck_assert_int_eq(status_of(pid).tracer, 0);
	finishes(pid);
}
END_TEST

/* Waiting */

static void
on_interrupt(int sig, siginfo_t *si, void *uc)
{
	event_interrupt(uc);
}

extern const char wait_begin[], wait_end[];

START_TEST(a_signal_ends_the_wait)
{
	struct sigaction sa = { .sa_sigaction = on_interrupt,
		.sa_flags = SA_SIGINFO | SA_RESTART };
	struct proc *p = launch("ready", "");
	struct event ev;

	sigaction(SIGUSR1, &sa, NULL);
	thread_resume(p->threads.at[0]);
	for (int i = 0; i < 2; i++) {
		raise(SIGUSR1); /* before the wait */
		ck_assert_int_eq(event_poll(su, &ev, true), -EINTR);
		ck_assert_int_eq(ev.kind, EV_NONE);
	}
	/* While it blocks: another process waits until it sleeps. */
	pid_t self = getpid(), other = fork();
	if (other == 0) {
		await_state(self, "S");
		kill(self, SIGUSR1);
		_exit(0);
	}
	ck_assert_int_eq(event_poll(su, &ev, true), -EINTR);
	/* Its end is no event of ours, and not lost. */
	int status = -1;
	while (event_plain_child(su, other, &status) == 0 &&
	    waitpid(other, &status, WNOHANG) == 0)
		sched_yield();
	ck_assert_int_eq(status, 0);
	close(go_fd);
	run_to_end(0);

	/* Between looking and waiting. */
	ucontext_t uc;
	memset(&uc, 0, sizeof(uc));
	greg_t *gregs = uc.uc_mcontext.gregs;
	for (const char *pc = wait_begin - 1; pc <= wait_end; pc++) {
		bool inside = pc >= wait_begin && pc < wait_end;
		gregs[REG_RIP] = (greg_t)pc;
		gregs[REG_RAX] = 61;
		wait_skip(&uc);
		ck_assert_int_eq(
		    gregs[REG_RIP], (greg_t)(inside ? wait_end : pc));
		ck_assert_int_eq(gregs[REG_RAX], inside ? -EINTR : 61);
	}
}
END_TEST

int
main(int argc, char **argv)
{
	static char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	self_path = n > 0 ? path : argv[0];
	if (argc >= 4 && strcmp(argv[1], "--fixture") == 0)
		_exit(fixture_main(argv[2], argv[3]));

	Suite *s = suite_create("proc");
	TCase *tc = tcase_create("proc");
	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, launch_runs_to_completion);
	tcase_add_test(tc, launch_says_why_it_failed);
	tcase_add_test(tc, launch_runs_scripts);
	tcase_add_test(tc, launch_hands_on_the_signals_of_the_start);
	tcase_add_test(tc, launched_program_is_let_go);
	tcase_add_test(tc, signals_keep_their_siginfo);
	tcase_add_test(tc, stop_and_continue_work_as_without_us);
	tcase_add_loop_test(tc, detach_leaves_a_stopped_process_stopped, 0, 2);
	tcase_add_test(tc, attach_leaves_a_stopped_process_stopped);
	tcase_add_test(tc, detach_delivers_a_pending_signal);
	tcase_add_test(tc, attach_stop_resume_detach_many_threads);
	tcase_add_test(tc, attach_while_threads_come_and_go);
	tcase_add_test(tc, attach_without_a_leader);
	tcase_add_test(tc, attach_by_thread_means_its_process);
	tcase_add_test(tc, attach_says_why_it_failed);
	tcase_add_test(tc, attach_needs_the_same_user);
	tcase_add_test(tc, a_process_that_is_killed_is_gone);
	tcase_add_test(tc, children_are_followed_in_order);
	tcase_add_test(tc, exec_by_another_thread_leaves_the_leader);
	tcase_add_loop_test(tc, vfork_parent_is_let_go_when_it_wakes, 0, 2);
	tcase_add_loop_test(
	    tc, remote_syscall_in_a_blocked_thread, 0, (int)ARRAY_SIZE(calls));
	tcase_add_test(tc, remote_syscall_keeps_a_signal_in_delivery);
	tcase_add_test(tc, remote_syscall_at_syscall_and_event_stops);
	tcase_add_test(tc, remote_syscall_during_a_group_stop);
	tcase_add_test(tc, map_near_finds_room_in_reach);
	tcase_add_test(tc, map_near_can_be_made_to_fail);
	tcase_add_test(tc, caves_are_zeros_in_text);
	tcase_add_loop_test(tc, sigtrap_is_as_before_after_a_hit, 0,
	    (int)ARRAY_SIZE(trap_states));
	tcase_add_loop_test(tc, sigtrap_of_the_program_is_delivered, 0, 2);
	tcase_add_test(tc, detach_undoes_a_hit_that_was_not_handled);
	tcase_add_loop_test(tc, panic_lets_targets_live, 0, 3);
	tcase_add_test(tc, a_signal_ends_the_wait);
	suite_add_tcase(s, tc);

	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
