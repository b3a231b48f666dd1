/*
 * shared: two processes in one address space (clone() with CLONE_VM, without
 * CLONE_VFORK) call work() without end.  Says "ready PID CHILD"; for each line
 * says "alive" and whether the other process is; ends with its input.
 */
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "trigger.h"

static volatile int stop, turns[2];

NOINLINE int
work(int n)
{
	__asm__ volatile("" ::: "memory");
	return n + 1;
}

static int
run(void *arg)
{
	int me = *(int *)arg;

	while (!stop)
		turns[me] = work(turns[me]) & 0xffffff;
	return 5;
}

/* Has the process got anywhere since we were asked? */
static const char *
moves(pid_t pid, int which)
{
	int from = turns[which];

	while (turns[which] == from)
		if (waitpid(pid, NULL, WNOHANG) != 0)
			return "dead";
	return "moves";
}

int
main(void)
{
	static char stack[1 << 16] __attribute__((aligned(16)));
	static char again[1 << 16] __attribute__((aligned(16)));
	int which[2] = { 0, 1 }, status = -1;
	char line[80];
	pid_t pid[2];

	trigger_init();
	pid[0] =
	    clone(run, stack + sizeof(stack), CLONE_VM | SIGCHLD, &which[0]);
	pid[1] =
	    clone(run, again + sizeof(again), CLONE_VM | SIGCHLD, &which[1]);
	printf("ready %d %d\n", (int)getpid(), (int)pid[0]);
	while (fgets(line, sizeof(line), stdin) != NULL)
		printf("alive %s %s %d\n", moves(pid[0], 0), moves(pid[1], 1),
		    work(1));
	stop = 1;
	for (int i = 0; i < 2; i++)
		waitpid(pid[i], &status, 0);
	printf("done %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	return 0;
}
