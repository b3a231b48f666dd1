/*
 * Children of every kind, none of which is followed: each runs through code
 * that is probed in the parent, and must not notice.
 */
#include <errno.h>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>

#include "trigger.h"

extern char **environ;

NOINLINE int
work(int n)
{
	__asm__ volatile("" ::: "memory");
	return n * 3 + 1;
}

static void
reap(const char *how, pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status))
		printf("%s: exit %d\n", how, WEXITSTATUS(status));
	else if (WIFSIGNALED(status))
		printf("%s: signal %d\n", how, WTERMSIG(status));
	else
		printf("%s: status %#x\n", how, (unsigned)status);
}

static int
in_clone(void *arg)
{
	return work(*(int *)arg);
}

int
main(int argc, char **argv)
{
	static char stack[1 << 16] __attribute__((aligned(16)));
	char *const child[] = { argv[0], (char *)"child", NULL };
	int thirteen = 13;
	pid_t pid;

	trigger_init();
	if (argc > 1)
		return work(10) == 31 ? work(11) : 1;
	printf("parent %d\n", work(1));
	fflush(stdout);

	pid = fork();
	if (pid == 0) {
		int sum = 0;

		for (int i = 0; i < 1000; i++)
			sum += work(i);
		_exit(sum == 1499500 ? 12 : 1);
	}
	reap("fork", pid);

	pid = vfork();
	if (pid == 0)
		_exit(work(4)); /* shares our memory: our probes are in it */
	reap("vfork", pid);

	pid = vfork();
	if (pid == 0) {
		execv("/proc/self/exe", child);
		_exit(99);
	}
	reap("vfork and exec", pid);

	if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, child, environ) !=
	    0)
		return 1;
	reap("posix_spawn", pid);

	pid = clone(
	    in_clone, stack + sizeof(stack), CLONE_VM | SIGCHLD, &thirteen);
	reap("clone with our memory", pid);

	printf("system %d\n", WEXITSTATUS(system("exit 7")));

	/* A grandchild, and a child that outlives its own parent's probes. */
	pid = fork();
	if (pid == 0) {
		pid_t grandchild = fork();
		int status = 0;

		if (grandchild == 0)
			_exit(work(5));
		waitpid(grandchild, &status, 0);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 98);
	}
	reap("grandchild", pid);
	printf("parent %d\n", work(2));
	return 0;
}
