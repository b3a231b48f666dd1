/*
 * noclock N: two threads, one of which may not read the processor's clock; each
 * calls timed() N times.  A signal handler counts SIGSEGVs: "wrong N".
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

static volatile sig_atomic_t wrong;
static int calls;

static void
on_fault(int sig)
{
	wrong++;
	_Exit(3);
}

__attribute__((noinline)) void
timed(int n)
{
	static volatile int sum;

	sum += n;
}

static void *
call(void *forbidden)
{
	if (forbidden != NULL && prctl(PR_SET_TSC, PR_TSC_SIGSEGV) != 0)
		exit(77);
	for (int n = 0; n < calls; n++)
		timed(n);
	return NULL;
}

int
main(int argc, char **argv)
{
	pthread_t t;

	calls = argc > 1 ? atoi(argv[1]) : 1;
	signal(SIGSEGV, on_fault);
	if (pthread_create(&t, NULL, call, &calls) != 0)
		return 1;
	call(NULL);
	pthread_join(t, NULL);
	printf("wrong %d\n", (int)wrong);
	return 0;
}
