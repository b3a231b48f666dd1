/*
 * manyforks COUNT WIDTH: COUNT times, WIDTH children at once call work() and
 * end.  With "wait" instead: says "ready PID", waits for a line, calls work()
 * twice itself and once in a child.
 */
#include <sys/wait.h>

#include "trigger.h"

NOINLINE int
work(int n)
{
	__asm__ volatile("" ::: "memory");
	return n + 1;
}

static int
child(int n)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(work(n) == n + 1 ? 0 : 1);
	return pid;
}

static int
reap(void)
{
	int status = -1;

	return wait(&status) > 0 && status == 0 ? 0 : 1;
}

int
main(int argc, char **argv)
{
	int bad = 0;

	trigger_init();
	if (argc < 3) {
		trigger_wait();
		work(1);
		bad += child(2) < 0;
		bad += reap();
		work(3);
	}
	for (int i = 0; argc >= 3 && i < atoi(argv[1]); i++) {
		for (int k = 0; k < atoi(argv[2]); k++)
			bad += child(k) < 0;
		for (int k = 0; k < atoi(argv[2]); k++)
			bad += reap();
	}
	printf("done %d\n", bad);
	return bad != 0;
}
