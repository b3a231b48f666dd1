/*
 * discards: a thread blocks SIGTRAP, and is sent it by another, which then ignores
 * the signal: what is pending is thrown away by that.  Again and again, until
 * there is input.  "ready", and at the end "done wrong N": how often one was still
 * pending, or had not been.
 */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "figures.h"

static _Atomic int blocker;

static void *
block(void *arg)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	blocker = (int)syscall(SYS_gettid);
	while (pause() < 0)
		;
	return NULL;
}

/* Has the thread one pending? */
static bool
is_pending(void)
{
	char path[64], line[128];
	unsigned long long set = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", blocker);
	FILE *f = fopen(path, "r");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, "SigPnd:", 7) == 0)
			set = strtoull(line + 7, NULL, 16);
	if (f != NULL)
		fclose(f);
	return (set & 1ULL << (SIGTRAP - 1)) != 0;
}

int
main(void)
{
	struct pollfd in = { .fd = 0, .events = POLLIN };
	pthread_t thread;
	long wrong = 0;

	if (pthread_create(&thread, NULL, block, NULL) != 0)
		return 2;
	while (blocker == 0)
		sched_yield();
	puts("ready");
	fflush(stdout);
	for (uint64_t n = 0; poll(&in, 1, 1) == 0; n++) {
		pthread_kill(thread, SIGTRAP);
		wrong += !is_pending() + (work(n) != work_again(n));
		signal(SIGTRAP, SIG_IGN);
		wrong += is_pending();
		signal(SIGTRAP, SIG_DFL);
	}
	printf("done wrong %ld\n", wrong);
	return wrong != 0;
}
