/*
 * sigtrap block|ignore|default: work() runs with SIGTRAP blocked, ignored, or
 * as it is; says whether the disposition and the mask are what they were.
 */
#include <pthread.h>
#include <signal.h>

#include "trigger.h"

NOINLINE int
work(int n)
{
	__asm__ volatile("" ::: "memory");
	return n + 1;
}

static void *
run(void *arg)
{
	long sum = 0;

	for (int i = 0; i < 100; i++)
		sum += work(i);
	return (void *)sum;
}

int
main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "default";
	struct sigaction old;
	pthread_t thread;
	sigset_t set, was, pending;
	void *more;
	long sum = 0;

	trigger_init();
	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	if (strcmp(how, "block") == 0) {
		sigaddset(&set, SIGUSR1);
		sigprocmask(SIG_BLOCK, &set, NULL);
	} else if (strcmp(how, "ignore") == 0) {
		signal(SIGTRAP, SIG_IGN);
	}
	for (int i = 0; i < 100; i++)
		sum += work(i);
	if (pthread_create(&thread, NULL, run, NULL) != 0)
		return 2;
	pthread_join(thread, &more);
	sum += (long)more;
	sigprocmask(SIG_SETMASK, NULL, &was);
	sigaction(SIGTRAP, NULL, &old);
	sigpending(&pending);
	printf("sum %ld blocked %d %d handler %s pending %d\n", sum,
	    sigismember(&was, SIGTRAP), sigismember(&was, SIGUSR1),
	    old.sa_handler == SIG_IGN     ? "ignore" :
		old.sa_handler == SIG_DFL ? "default" :
					    "other",
	    sigismember(&pending, SIGTRAP));
	/* The program's own: with SIGTRAP ignored a raise() is nothing. */
	if (strcmp(how, "ignore") == 0) {
		raise(SIGTRAP);
		printf("raised\n");
	}
	return 0;
}
