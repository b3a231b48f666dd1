/*
 * tree COUNTS FORM...: makes processes and threads in every way there is; each
 * calls work() a known number of times.  COUNTS is a file that all of them map,
 * so that the calls are counted where they are made: at the end the first
 * process says "FORM CALLS" for each form, and "processes N", as proc:::start
 * should count them.  A form may have a number behind it: "crowd=1000".  With
 * "wait" as the first form it waits for a line first.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../../../include/dtrap-sdt.h"
#include "trigger.h"

#ifndef CLONE_CLEAR_SIGHAND
#define CLONE_CLEAR_SIGHAND 0x100000000ULL
#endif
#define FORMS 32

extern char **environ;

static struct counts {
	long calls[FORMS];
	long processes;
} * counts;
static char program[4096]; /* of a leader that has ended /proc says nothing */
static const char *counts_path;

NOINLINE long
work(long form)
{
	DTRAP_SDT1("0", "tree", "call", form);
	__atomic_add_fetch(&counts->calls[form], 1, __ATOMIC_RELAXED);
	return syscall(SYS_getpgid, 0x70000000 + form);
}

static void
works(long form, int n)
{
	for (int i = 0; i < n; i++)
		work(form);
}

static void
die(const char *what)
{
	perror(what);
	_exit(1);
}

static void
born(int n)
{
	__atomic_add_fetch(&counts->processes, n, __ATOMIC_RELAXED);
}

static pid_t
made(pid_t pid)
{
	if (pid < 0)
		die("no child");
	if (pid > 0)
		born(1);
	return pid;
}

static void
reap(pid_t pid, int want)
{
	int status = -1;

	while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
		;
	if (status != want) {
		printf("child %d ended with %#x\n", (int)pid, (unsigned)status);
		fflush(stdout);
	}
}

/* Execute FILE as a leaf: it makes 3 calls. */
static void
exec_leaf(const char *file, long form)
{
	char text[24];
	char *const argv[] = { (char *)file, (char *)counts_path, text, NULL };

	snprintf(text, sizeof(text), "leaf=%ld", form);
	execv(file, argv);
	die(file);
}

/* ---- forms ---- */

static void
by_fork(long form, int n)
{
	work(form);
	pid_t pid = made(fork());
	if (pid == 0) {
		works(form, n);
		pid = made(fork());
		if (pid == 0) {
			works(form, n);
			_exit(0);
		}
		reap(pid, 0);
		_exit(0);
	}
	reap(pid, 0);
	work(form);
}

static void
by_vfork(long form, int n)
{
	pid_t pid = vfork();

	if (pid == 0) {
		work(form);
		_exit(0);
	}
	reap(made(pid), 0);
	pid = vfork();
	if (pid == 0) {
		work(form);
		exec_leaf(program, form);
	}
	reap(made(pid), 0);
	work(form);
}

static void
by_spawn(long form, int n)
{
	char text[24];
	char *const argv[] = { program, (char *)counts_path, text, NULL };
	pid_t pid[8];

	snprintf(text, sizeof(text), "leaf=%ld", form);
	for (int i = 0; i < 8; i++)
		if (posix_spawn(&pid[i], program, NULL, NULL, argv, environ))
			die("posix_spawn");
	for (int i = 0; i < 8; i++)
		reap(made(pid[i]), 0);
}

static long thread_form;

static void *
busy_thread(void *arg)
{
	for (;;)
		if (arg == NULL)
			pause();
		else
			getppid();
	return NULL;
}

static void *
exec_thread(void *arg)
{
	works(thread_form, 5);
	exec_leaf(program, thread_form);
	return NULL;
}

static void
thread_start(pthread_t *t, void *(*fn)(void *), void *arg)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	if (pthread_create(t, &attr, fn, arg) != 0)
		die("pthread_create");
	pthread_attr_destroy(&attr);
}

/* An exec by a thread that is not the leader: others sleep and run. */
static void
by_thread(long form, int n)
{
	pid_t pid = made(fork());
	pthread_t t;

	if (pid == 0) {
		thread_form = form;
		for (intptr_t i = 0; i < 4; i++)
			thread_start(&t, busy_thread, (void *)(i & 1));
		thread_start(&t, exec_thread, NULL);
		for (;;)
			pause();
	}
	reap(pid, 0);
}

/* The same, when the leader has ended. */
static void *
exec_alone(void *arg)
{
	pthread_join(*(pthread_t *)arg, NULL);
	return exec_thread(NULL);
}

static void
by_orphaned_thread(long form, int n)
{
	static pthread_t leader;
	pid_t pid = made(fork());
	pthread_t t;

	if (pid == 0) {
		thread_form = form;
		leader = pthread_self();
		thread_start(&t, exec_alone, &leader);
		pthread_exit(NULL);
	}
	reap(pid, 0);
}

/* A script or another program beside this one: COUNTS.script, COUNTS.other. */
static void
by_file(long form, const char *what)
{
	char path[256];

	snprintf(path, sizeof(path), "%s.%s", counts_path, what);
	pid_t pid = made(fork());
	if (pid == 0)
		exec_leaf(path, form);
	reap(pid, 0);
}

static void
by_script(long form, int n)
{
	by_file(form, "script");
}

static void
by_other(long form, int n)
{
	by_file(form, "other");
}

/* It executes itself over and over. */
static void
again(long form, int n)
{
	char text[24];
	char *const argv[] = { program, (char *)counts_path, text, NULL };

	work(form);
	if (n == 0)
		_exit(0);
	snprintf(text, sizeof(text), "again=%d", n - 1);
	execv("/proc/self/exe", argv);
	die("again");
}

static void
by_again(long form, int n)
{
	pid_t pid = made(fork());

	if (pid == 0)
		again(form, n);
	reap(pid, 0);
}

static int
in_clone(void *arg)
{
	works((long)(intptr_t)arg, 3);
	return 0;
}

static void
clone_and_reap(long form, int flags)
{
	static char stack[1 << 16] __attribute__((aligned(16)));

	reap(made(clone(in_clone, stack + sizeof(stack), flags,
		 (void *)(intptr_t)form)),
	    0);
}

/* With our memory, but no thread of ours; with and without a signal at its
 * end; with what else may be shared. */
static void
by_clone(long form, int n)
{
	clone_and_reap(form, CLONE_VM | SIGCHLD);
	clone_and_reap(form, CLONE_VM);
	clone_and_reap(form, CLONE_VM | SIGUSR2);
	clone_and_reap(form, CLONE_VM | CLONE_SIGHAND);
	clone_and_reap(form, CLONE_VM | CLONE_VFORK | SIGCHLD);
	clone_and_reap(form, CLONE_FILES | CLONE_FS | SIGCHLD);
	clone_and_reap(form, CLONE_FILES | CLONE_FS);
	clone_and_reap(form, CLONE_VFORK | CLONE_IO | CLONE_SYSVSEM);
	work(form);
}

/* A child makes a sibling. */
static void
by_sibling(long form, int n)
{
	pid_t pid = made(fork());

	if (pid == 0) {
		long sibling =
		    syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0L, 0L, 0L, 0L);
		works(form, 2);
		if (sibling > 0)
			born(1);
		_exit(0);
	}
	reap(pid, 0);
	reap(-1, 0);
}

static void
by_clone3(long form, int n)
{
	static const uint64_t flags[] = { 0, CLONE_VFORK, CLONE_PIDFD,
		CLONE_FILES | CLONE_FS, CLONE_CLEAR_SIGHAND };
	int fd = -1;

	for (int i = 0; i < 10; i++) {
		struct {
			uint64_t flags, pidfd, child_tid, parent_tid;
			uint64_t exit_signal, stack, stack_size, tls;
		} args = { .flags = flags[i / 2],
			.pidfd = (uintptr_t)&fd,
			.exit_signal = i % 2 == 0 ? SIGCHLD : 0 };
		pid_t pid =
		    made((pid_t)syscall(SYS_clone3, &args, sizeof(args)));
		if (pid == 0) {
			works(form, 2);
			_exit(0);
		}
		reap(pid, 0);
	}
}

/* Wait until nobody holds the other end. */
static void
await_end(int fds[2])
{
	char c;

	close(fds[1]);
	while (read(fds[0], &c, 1) > 0)
		;
	close(fds[0]);
}

static void
by_daemon(long form, int n)
{
	int fds[2];

	if (pipe(fds) != 0)
		die("pipe");
	pid_t pid = made(fork());
	if (pid == 0) {
		pid_t parent = getpid();
		setsid();
		if (made(fork()) > 0)
			_exit(0);
		while (getppid() == parent)
			sched_yield();
		works(form, 10);
		_exit(0);
	}
	reap(pid, 0);
	await_end(fds);
}

static void *
forking_thread(void *arg)
{
	long form = (long)(intptr_t)arg;
	pid_t pid[10];

	for (int i = 0; i < 10; i++) {
		pid[i] = made(i % 3 == 2 ? vfork() : fork());
		if (pid[i] == 0) {
			works(form, 3);
			_exit(0);
		}
		work(form);
	}
	for (int i = 0; i < 10; i++)
		reap(pid[i], 0);
	return NULL;
}

static void
by_threads(long form, int n)
{
	pthread_t t[64];

	n = n < 64 ? n : 64;
	for (int i = 0; i < n; i++)
		thread_start(&t[i], forking_thread, (void *)(intptr_t)form);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
}

/* Killed while others of its kind go on. */
static void
by_killed(long form, int n)
{
	for (int i = 0; i < n; i++) {
		int fds[2];
		char c;
		if (pipe(fds) != 0)
			die("pipe");
		pid_t victim = made(fork()), other;
		if (victim == 0) {
			works(form, 20);
			if (write(fds[1], "x", 1) != 1)
				_exit(1);
			for (;;)
				getppid();
		}
		other = made(fork());
		if (other == 0) {
			works(form, 20);
			_exit(0);
		}
		if (read(fds[0], &c, 1) != 1)
			die("read");
		kill(victim, SIGKILL);
		reap(victim, SIGKILL);
		reap(other, 0);
		close(fds[0]);
		close(fds[1]);
	}
}

/* N processes alive at once. */
static void
crowd(long form, int n)
{
	int ready[2], go[2];
	char c;

	if (pipe(ready) != 0 || pipe(go) != 0)
		die("pipe");
	for (int i = 0; i < n; i++) {
		if (made(fork()) > 0)
			continue;
		close(go[1]);
		work(form);
		if (write(ready[1], "x", 1) != 1 || read(go[0], &c, 1) != 0)
			_exit(1);
		work(form);
		_exit(0);
	}
	for (int i = 0; i < n; i++)
		if (read(ready[0], &c, 1) != 1)
			die("read");
	close(go[1]);
	for (int i = 0; i < n; i++)
		reap(-1, 0);
	close(go[0]);
	close(ready[0]);
	close(ready[1]);
}

static pthread_barrier_t all_there;

static void *
one_of_many(void *arg)
{
	long form = (long)(intptr_t)arg;

	work(form);
	pthread_barrier_wait(&all_there);
	work(form);
	return NULL;
}

/* N threads alive at once. */
static void
threads(long form, int n)
{
	pthread_t *t = calloc((size_t)n, sizeof(*t));

	pthread_barrier_init(&all_there, NULL, (unsigned)n);
	for (int i = 0; i < n; i++)
		thread_start(&t[i], one_of_many, (void *)(intptr_t)form);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	free(t);
}

static void
leaf(long form, int n)
{
	works(n, 3);
	_exit(0);
}

static void
wait_first(long form, int n)
{
	trigger_wait();
}

/* The row is the form's number. */
static const struct {
	const char *name;
	void (*make)(long form, int n);
	int n;
} forms[FORMS] = {
	{ "fork", by_fork, 100 },
	{ "vfork", by_vfork, 0 },
	{ "spawn", by_spawn, 0 },
	{ "thread", by_thread, 0 },
	{ "orphan", by_orphaned_thread, 0 },
	{ "script", by_script, 0 },
	{ "other", by_other, 0 },
	{ "self", by_again, 10 },
	{ "clone", by_clone, 0 },
	{ "sibling", by_sibling, 0 },
	{ "clone3", by_clone3, 0 },
	{ "daemon", by_daemon, 0 },
	{ "threads", by_threads, 8 },
	{ "killed", by_killed, 5 },
	{ "crowd", crowd, 100 },
	{ "many", threads, 100 },
	{ "leaf", leaf, 0 },
	{ "again", NULL, 0 },
	{ "wait", wait_first, 0 },
};

static long
form_of(const char *name)
{
	size_t len = strcspn(name, "=");

	for (long i = 0; i < FORMS && forms[i].name != NULL; i++)
		if (strncmp(forms[i].name, name, len) == 0 &&
		    forms[i].name[len] == '\0')
			return i;
	fprintf(stderr, "no form %s\n", name);
	exit(2);
}

int
main(int argc, char **argv)
{
	long self = form_of("self");

	trigger_init();
	/* As the interpreter of a script it has the script's name before. */
	const char *dot = argc > 3 ? strrchr(argv[1], '.') : NULL;
	if (dot != NULL && strcmp(dot, ".script") == 0) {
		argc--;
		argv++;
	}
	if (argc < 3)
		return 2;
	if (readlink("/proc/self/exe", program, sizeof(program) - 1) < 0)
		die("/proc/self/exe");
	signal(SIGUSR2, SIG_IGN);
	counts_path = argv[1];
	int fd = open(counts_path, O_RDWR);
	counts = mmap(
	    NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || counts == MAP_FAILED)
		die(counts_path);
	close(fd);
	for (int i = 2; i < argc; i++) {
		const char *number = strchr(argv[i], '=');
		long form = form_of(argv[i]);
		int n = number != NULL ? atoi(number + 1) : forms[form].n;
		if (forms[form].make == NULL)
			again(self, n);
		else
			forms[form].make(form, n);
	}
	for (long i = 0; i < FORMS && forms[i].name != NULL; i++)
		if (counts->calls[i] != 0)
			printf("%s %ld\n", forms[i].name, counts->calls[i]);
	printf("processes %ld\n", counts->processes);
	return 0;
}
