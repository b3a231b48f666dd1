/*
 * limited LIBRARY MS: a thread waits in epoll_wait() for MS, again and again, from
 * one place.  Says "ready PID"; then, for each line of input: `begin': it begins,
 * and says "waits TID"; `load': the library is loaded and unloaded, "loaded";
 * `wake': something has come for the thread.  It says "got N" of each call, and
 * the program ends with the first that has got nothing.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sys/epoll.h>

#include "trigger.h"

static int ep, ends[2], ms;

static void *
wait_for_it(void *arg)
{
	struct epoll_event ev = { .events = EPOLLIN };
	char c;
	int n;

	printf("waits %d\n", (int)gettid());
	do {
		n = epoll_wait(ep, &ev, 1, ms);
		if (n > 0 && read(ends[0], &c, 1) != 1)
			_exit(5);
		printf("got %d\n", n);
	} while (n > 0);
	_exit(n == 0 ? 0 : 4);
}

static void
load(const char *lib)
{
	void *h = dlopen(lib, RTLD_NOW | RTLD_LOCAL);

	if (h == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		_exit(2);
	}
	dlclose(h);
	puts("loaded");
}

int
main(int argc, char **argv)
{
	struct epoll_event ev = { .events = EPOLLIN };
	pthread_t thread;
	char line[80];

	trigger_init();
	ms = argc > 2 ? atoi(argv[2]) : 1000;
	ep = epoll_create1(0);
	if (argc < 2 || ep < 0 || pipe(ends) != 0 ||
	    epoll_ctl(ep, EPOLL_CTL_ADD, ends[0], &ev) != 0)
		return 2;
	printf("ready %d\n", (int)getpid());
	while (fgets(line, sizeof(line), stdin) != NULL) {
		if (line[0] == 'b' &&
		    pthread_create(&thread, NULL, wait_for_it, NULL) != 0)
			return 2;
		if (line[0] == 'l')
			load(argv[1]);
		if (line[0] == 'w' && write(ends[1], "", 1) != 1)
			return 2;
	}
	return 3;
}
