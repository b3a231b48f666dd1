/*
 * zombie: has a child that has ended and is not waited for; says its pid, and
 * reaps it when a line comes.
 */
#include <sys/wait.h>

#include "trigger.h"

int
main(void)
{
	siginfo_t si;

	trigger_init();
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	if (waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT) != 0)
		return 2;
	printf("zombie %d\n", (int)pid);
	trigger_wait();
	return 0;
}
