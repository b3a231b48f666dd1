/*
 * entering N: N threads that enter epoll_wait() all the time, which finds
 * nothing at once or after a millisecond.  Says "ready PID"; when its input ends,
 * how often the call returned anything but 0: "wrong N".
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>

#include "trigger.h"

static atomic_int wrong, done;

static void *
enter(void *arg)
{
	struct epoll_event ev;
	int ep = epoll_create1(0);

	for (int ms = 0; !done; ms = !ms)
		wrong += epoll_wait(ep, &ev, 1, ms) != 0;
	return NULL;
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t threads[64];
	char c;

	trigger_init();
	for (int i = 0; i < n && i < 64; i++)
		pthread_create(&threads[i], NULL, enter, NULL);
	printf("ready %d\n", (int)getpid());
	while (read(0, &c, 1) > 0)
		;
	done = 1;
	for (int i = 0; i < n && i < 64; i++)
		pthread_join(threads[i], NULL);
	printf("wrong %d\n", wrong);
	return 0;
}
