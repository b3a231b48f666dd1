/*
 * Processes and threads that begin and end in every way, one after the other,
 * each with the lines that a script over the proc provider should write of it
 * (74-proc.sh).  Whoever makes one waits for its end, so that the order is
 * known.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "trigger.h"

extern char **environ;

#define NOWHERE "/nonexistent/program"
#define SELF    "/proc/self/exe"

enum { EXITED = 1, KILLED = 2 };

static void
said(const char *fmt, int a, int b)
{
	printf(fmt, a, b);
	fflush(stdout);
}

static void
began(pid_t child)
{
	said("create %d by %d\n", child, getpid());
	said("start %d\n", child, 0);
	said("lwp-start %d\n", child, 0);
}

static void
ended(pid_t child, int why)
{
	waitpid(child, NULL, __WALL);
	said("lwp-exit %d\n", child, 0);
	said("exit %d %d\n", child, why);
}

static int
in_clone(void *arg)
{
	return 5;
}

static void *
in_thread(void *arg)
{
	*(pid_t *)arg = gettid();
	return NULL;
}

static void
simple(void)
{
	static char stack[1 << 16] __attribute__((aligned(16)));
	pid_t pid = fork();

	if (pid == 0)
		_exit(3);
	began(pid);
	ended(pid, EXITED);

	pid = vfork();
	if (pid == 0)
		_exit(4);
	began(pid);
	ended(pid, EXITED);

	pid = clone(in_clone, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
	began(pid);
	ended(pid, EXITED);
}

static void
killed(void)
{
	int ready[2];
	char c;
	pid_t pid = pipe(ready) == 0 ? fork() : -1;

	if (pid == 0)
		for (;;) {
			(void)!write(ready[1], "", 1);
			pause();
		}
	/* One that is killed before its first instruction does not start. */
	(void)!read(ready[0], &c, 1);
	kill(pid, SIGKILL);
	began(pid);
	ended(pid, KILLED);

	pid = fork();
	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
		abort();
	}
	began(pid);
	ended(pid, KILLED);
}

static void
thread(void)
{
	pthread_t t;
	pid_t tid;

	pthread_create(&t, NULL, in_thread, &tid);
	pthread_join(t, NULL);
	said("lwp-create %d of %d\n", tid, getpid());
	said("lwp-start %d\n", tid, 0);
	said("lwp-exit %d\n", tid, 0);
}

static void
execs(void)
{
	char *const child[] = { (char *)SELF, (char *)"child", NULL };
	pid_t pid = fork();

	if (pid == 0) {
		execv(NOWHERE, child);
		_exit(errno);
	}
	began(pid);
	said("exec " NOWHERE "\nexec-failure %d %d\n", pid, -ENOENT);
	ended(pid, EXITED);

	posix_spawn(&pid, SELF, NULL, NULL, child, environ);
	began(pid);
	said("exec " SELF "\nexec-success %d exe\n", pid, 0);
	ended(pid, EXITED);
}

int
main(int argc, char **argv)
{
	trigger_init();
	if (argc > 1)
		return 6;
	simple();
	killed();
	thread();
	execs();
	said("lwp-exit %d\nexit %d 1\n", getpid(), getpid());
	return 7;
}
