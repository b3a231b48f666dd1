/*
 * guarded nodump|traced|ready: a process that may not be traced, and why; says
 * "ready PID" and waits for its input to end.
 */
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "trigger.h"

NOINLINE int
work(int n)
{
	__asm__ volatile("" ::: "memory");
	return n + 1;
}

int
main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "ready";
	pid_t pid = getpid();
	char line[80];
	int status;

	trigger_init();
	if (strcmp(how, "nodump") == 0)
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (strcmp(how, "traced") == 0) {
		pid = fork();
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0);
			ptrace(PTRACE_TRACEME, 0, NULL, NULL);
			raise(19);
			for (;;)
				pause();
		}
		waitpid(pid, &status, WUNTRACED);
	}
	printf("ready %d\n", (int)pid);
	while (fgets(line, sizeof(line), stdin) != NULL)
		work(1);
	if (pid != getpid())
		kill(pid, 9);
	return 0;
}
