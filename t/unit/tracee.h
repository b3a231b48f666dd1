/*
 * What the tests of the supervisor stand on: traced programs, and a loop that
 * does nothing.
 *
 * The traced programs are the test itself, executed again with --fixture NAME.
 * They and the tests wait for each other through pipes (fd READY: "I am
 * there"; fd GO: end of file means "finish") and say how it went by their exit
 * status.  A fixture dies with its test.
 */
#ifndef T_UNIT_TRACEE_H
#define T_UNIT_TRACEE_H

#include <check.h>
#include <errno.h>
#include <elf.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
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

#include "inject/resume.h"
#include "inject/tracepoint.h"
#include "symbols/maps.h"
#include "tracer/ptrace/event.h"
#include "tracer/survive/panic.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/remote.h"
#include "tracer/ptrace/super.h"

/* No test uses all of it. */
#pragma GCC diagnostic ignored "-Wunused-function"

#define READY 100
#define GO    101

/* Tracepoints: what the supervisor asks of a table, for one address. */

struct tptable {
	struct target *target;
	struct tracepoint tp;
	uint64_t stub_trap; /* a trap instruction in the code of a site */
};

__attribute__((weak)) struct tracepoint *
tracepoint_lookup(struct tptable *tab, uint64_t addr)
{
	return tab->tp.addr == addr && tab->tp.state == TP_TRAP ? &tab->tp :
								  NULL;
}

__attribute__((weak)) struct trapset *
tptable_traps(struct tptable *tab)
{
	return NULL;
}

__attribute__((weak)) bool
tracepoint_recent(struct tptable *tab, uint64_t addr)
{
	return tab->tp.addr == addr;
}

__attribute__((weak)) bool
stubs_trap(const struct tptable *tab, uint64_t addr)
{
	return tab->stub_trap == addr;
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

__attribute__((weak)) size_t
tracepoint_undo(const struct tracepoint *tp, uint8_t bytes[TRACEPOINT_SPAN])
{
	if (tp->state != TP_TRAP || bytes[0] != TRAP_INSN)
		return 0;
	bytes[0] = tp->saved;
	return 1;
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

/* No thread is in dtrap's code. */
__attribute__((weak)) enum slot_place
resume_leave_stub(
    struct tptable *tab, struct uregs *regs, struct tracepoint **tp)
{
	return SLOT_OUTSIDE;
}

__attribute__((weak)) enum slot_place
resume_leave_slot(
    struct tptable *tab, struct uregs *regs, struct tracepoint **tp)
{
	return SLOT_OUTSIDE;
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

static void
on_order(int sig, siginfo_t *si, void *uc)
{
	if (si->si_code == SI_QUEUE && si->si_value.sival_int == seen &&
	    si->si_pid == getpid())
		seen++;
}

/* Signals of one number that are pending for this very thread: five come in
 * their order; of one that is queued once, "twice". */
static int
fixture_queued(const char *arg)
{
	struct sigaction sa = { .sa_sigaction = on_order,
		.sa_flags = SA_SIGINFO };
	int sig = strcmp(arg, "twice") == 0 ? SIGUSR1 : SIGRTMIN;
	sigset_t set;

	sigaction(sig, &sa, NULL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < (sig == SIGUSR1 ? 1 : 5); i++)
		pthread_sigqueue(
		    pthread_self(), sig, (union sigval){ .sival_int = i });
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	return sig == SIGUSR1 ? 0 : seen == 5 ? 0 : 1;
}

/* A handler that is called with all but one signal blocked, and what is blocked
 * when it has returned: SIGTRAP is, or not. */
static int
fixture_handler(const char *arg)
{
	sigset_t mask;

	signal(SIGUSR1, on_any);
	sigfillset(&mask);
	sigdelset(&mask, SIGUSR1);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	raise(SIGUSR1);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	return seen != 1 ? 99 : sigismember(&mask, SIGTRAP) ? 1 : 0;
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

/* The leader ends before the others; with "exec" the other one executes a
 * program in the end. */
static void *
outlive(void *arg)
{
	int status = fixture_ready(NULL);

	if (strcmp(arg, "exec") == 0)
		execv(self_path, exec_args);
	_exit(status);
}

static int
fixture_headless(const char *arg)
{
	pthread_t t;

	pthread_create(&t, NULL, outlive, (void *)arg);
	pthread_exit(NULL);
}

/* The leader executes an int3; another thread then executes a program. */
static void *
exec_when_told(void *arg)
{
	await_go();
	return exec_thread(arg);
}

static int
fixture_overtaken(const char *arg)
{
	pthread_t t;

	pthread_create(&t, NULL, exec_when_told, NULL);
	asm volatile("int3");
	pthread_join(t, NULL);
	return 1;
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

/* Under a seccomp filter as tracer/drive/filter.c makes them, on getppid(). */
static int
fixture_filtered(const char *arg)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE | SECCOMP_TAG),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { ARRAY_SIZE(code), code };
	pid_t parent = getppid();

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0) != 0)
		return 77;
	for (int i = 0; i < 3; i++)
		if (getppid() != parent)
			return 1;
	return 0;
}

/* Under a seccomp filter of its own, which allows everything. */
static int
fixture_seccomp(const char *arg)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog prog = { 1, &allow };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) != 0)
		return 1;
	return fixture_ready(arg);
}

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_ON           1
#endif

static volatile char selector;
static volatile int dispatched;

static void
on_dispatch(int sig, siginfo_t *si, void *uc)
{
	selector = 0;
	dispatched += si->si_syscall == SYS_getppid;
}

/* Three system calls that come to us as signals; two that do not. */
static int
fixture_dispatched(const char *arg)
{
	struct sigaction sa = { .sa_sigaction = on_dispatch,
		.sa_flags = SA_SIGINFO };
	int right = 0;

	sigaction(SIGSYS, &sa, NULL);
	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0,
		&selector) != 0)
		return 77;
	for (int i = 0; i < 5; i++) {
		selector = i % 2 == 0;
		long r = syscall(SYS_getppid);
		right += i % 2 == 0 ? r == SYS_getppid : r == getppid();
	}
	return right == 5 && dispatched == 3 ? 0 : 1;
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

/* As many timers as arg says have each sent this thread a SIGTRAP, which it
 * blocks; then there is an int3.  Are all pending afterwards, in order? */
static int
fixture_timers(const char *arg)
{
	struct sigevent ev = { .sigev_signo = SIGTRAP,
		.sigev_notify = SIGEV_THREAD_ID };
	const struct timespec at_once = { 0 };
	const int n = atoi(arg);
	sigset_t mask;
	siginfo_t si;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTRAP);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	ev._sigev_un._tid = gettid();
	for (int i = 0; i < n; i++) {
		struct itimerspec when = { .it_value.tv_nsec = 1 };
		int id;

		ev.sigev_value.sival_int = i;
		if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &ev, &id) != 0)
			return 2;
		syscall(SYS_timer_settime, id, 0, &when, NULL);
		do
			syscall(SYS_timer_gettime, id, &when);
		while (when.it_value.tv_sec != 0 || when.it_value.tv_nsec != 0);
	}
	fixture_ready(NULL);
	asm volatile("int3");
	for (int i = 0; i < n; i++)
		if (sigtimedwait(&mask, &si, &at_once) != SIGTRAP ||
		    si.si_code != SI_TIMER || si.si_value.sival_int != i)
			return 10 + i;
	return sigtimedwait(&mask, &si, &at_once) < 0 ? 0 : 3;
}

/* The parent waits for its vfork child for as long as the test likes.  "exec":
 * the child then executes "ready". */
static int
fixture_vfork(const char *arg)
{
	static char *const ready[] = { (char *)"again", (char *)"--fixture",
		(char *)"ready", (char *)"", NULL };
	const bool exec = strcmp(arg, "exec") == 0;
	int status;
	pid_t pid = vfork();

	if (pid == 0) {
		say_ready();
		await_go();
		if (exec)
			execv(self_path, ready);
		_exit(4);
	}
	return waitpid(pid, &status, 0) == pid &&
		WEXITSTATUS(status) == (exec ? 0 : 4) ?
	    0 :
	    1;
}

__attribute__((noinline)) int probed(int i);

__attribute__((noinline)) int
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
	{ "queued", fixture_queued },
	{ "handler", fixture_handler },
	{ "inherited", fixture_inherited },
	{ "stop", fixture_stop },
	{ "ready", fixture_ready },
	{ "spin", fixture_spin },
	{ "churn", fixture_churn },
	{ "family", fixture_family },
	{ "thread_exec", fixture_thread_exec },
	{ "headless", fixture_headless },
	{ "overtaken", fixture_overtaken },
	{ "blocked", fixture_blocked },
	{ "seccomp", fixture_seccomp },
	{ "filtered", fixture_filtered },
	{ "dispatched", fixture_dispatched },
	{ "int3", fixture_int3 },
	{ "timers", fixture_timers },
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

	int r =
	    proc_launch_file(su, NULL, fixture_args(name, arg), NULL, &p, &err);
	ck_assert_msg(r == 0, "%s", err.text);
	ck_assert_uint_eq(p->threads.len, 1);
	ck_assert(p->role.launch == LAUNCH_AT_EXEC);
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
	vec_foreach(in, &p->space->procs)
		vec_foreach(th, &(*in)->threads)
			thread_resume(*th);
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
			stop_signal(ev->thread, SIGTRAP);
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
		if (ev.kind == EV_GONE && ev.thread->proc->parent == 0 &&
		    ev.thread->proc->threads.len == 0)
			status = ev.thread->proc->exit_status;
		thread_resume(ev.thread);
	}
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == exit_status,
	    "status %x", (unsigned)status);
}

/* A process that we let go ends well.  Threads of it that were about to end
 * then are ours until they have: it is no zombie before we asked for them. */
static void
finishes(pid_t pid)
{
	int status = -1;

	close(go_fd);
	while (!event_plain_child(su, pid, &status)) {
		pid_t got = waitpid(-1, &status, __WALL);
		ck_assert_int_gt(got, 0);
		event_note(su, got, status);
	}
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

/* To be called first in main(): the fixture's run, if it is one. */
static void
tracee_main(int argc, char **argv)
{
	static char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	self_path = n > 0 ? path : argv[0];
	if (argc >= 4 && strcmp(argv[1], "--fixture") == 0)
		_exit(fixture_main(argv[2], argv[3]));
}

static int
run_suite(Suite *s)
{
	SRunner *sr = srunner_create(s);

	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}

#endif
