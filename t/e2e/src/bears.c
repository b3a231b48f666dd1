/*
 * A thread, which is not the first, has a child, whose copy of probed code is
 * looked at and not run: "ready PID"; a line; "text as before" or "text differs"
 * of the child, who waits for it until LIMIT.
 */
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>

#include "trigger.h"

#define LIMIT 60 /* seconds */

NOINLINE int
work(int n)
{
	__asm__ volatile("" ::: "memory");
	return n * 3 + 1;
}

static unsigned char before[8];

static int
is_as_before(void)
{
	return memcmp((const void *)work, before, sizeof(before)) == 0;
}

static void *
bear(void *arg)
{
	const struct timespec nap = { 0, 1000000 };
	struct timespec end, now;
	int status;

	trigger_wait();
	pid_t pid = fork();
	if (pid != 0) {
		waitpid(pid, &status, 0);
		return NULL;
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	do {
		nanosleep(&nap, NULL);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (!is_as_before() && now.tv_sec - end.tv_sec < LIMIT);
	printf("text %s\n", is_as_before() ? "as before" : "differs");
	exit(0);
}

int
main(void)
{
	pthread_t t;

	trigger_init();
	memcpy(before, (const void *)work, sizeof(before));
	if (work(1) != 4 || pthread_create(&t, NULL, bear, NULL) != 0)
		return 1;
	pthread_join(t, NULL);
	return 0;
}
