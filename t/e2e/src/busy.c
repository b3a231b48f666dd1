/*
 * busy [THREADS]: threads call work() and functions of libc without end, each
 * checking every result.  Says "ready PID"; ends when its input does, and then
 * says "done" and how many results were wrong.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "figures.h"
#include "trigger.h"

static atomic_bool stop;
static atomic_long wrong;

static void
turn(uint64_t n)
{
	char buf[64], copy[64];
	char *p;

	if (work(n) != work_again(n))
		wrong++;
	if (recurse(8) != 21)
		wrong++;
	snprintf(buf, sizeof(buf), "%llu", (unsigned long long)n);
	memcpy(copy, buf, sizeof(copy));
	if (strtoull(copy, NULL, 10) != n || strlen(copy) > 20)
		wrong++;
	p = malloc(n % 500 + 1);
	if (p == NULL)
		wrong++;
	else
		memset(p, 1, n % 500 + 1);
	free(p);
}

static void *
run(void *arg)
{
	uint64_t n = (uintptr_t)arg;

	while (!stop)
		turn(n++);
	return NULL;
}

int
main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 8;
	static pthread_t thread[512];
	char line[80];

	trigger_init();
	turn(1); /* every lazy symbol is bound before we say ready */
	for (long t = 0; t < count && t < 512; t++)
		if (pthread_create(
			&thread[t], NULL, run, (void *)(t * 1000003)) != 0)
			return 2;
	printf("ready %d\n", (int)getpid());
	while (fgets(line, sizeof(line), stdin) != NULL)
		printf("alive wrong %ld\n", (long)wrong);
	stop = true;
	for (long t = 0; t < count && t < 512; t++)
		pthread_join(thread[t], NULL);
	printf("done wrong %ld\n", (long)wrong);
	return wrong != 0;
}
