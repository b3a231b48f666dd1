/*
 * cold N FUNCTIONS THREADS: each thread calls the first FUNCTIONS of 10,000
 * functions, in an order that is random and the same in each round, N calls in
 * all.  Says how many nanoseconds of the processor one call took.
 *
 * Many functions do not fit in the processor's caches, nor do their probes.
 */
#include <pthread.h>
#include <stdint.h>
#include <time.h>

#include "trigger.h"

#define FUNCTIONS   10000
#define THREADS_MAX 64

/* As long as small functions of a program; the addresses in a table. */
asm(".altmacro\n"
    ".macro site n\n"
    "	.pushsection .text\n"
    "	.p2align 6, 0x90\n"
    "	.type cold_\\n, @function\n"
    "cold_\\n:\n"
    "	push %rbx\n"
    "	mov %rdi, %rbx\n"
    "	lea 1(%rbx), %rax\n"
    "	pop %rbx\n"
    "	ret\n"
    "	.size cold_\\n, . - cold_\\n\n"
    "	.popsection\n"
    "	.quad cold_\\n\n"
    ".endm\n"
    ".pushsection .data.rel.local, \"aw\"\n"
    "cold_table:\n"
    ".set number, 0\n"
    ".rept 10000\n"
    "	site %number\n"
    "	.set number, number + 1\n"
    ".endr\n"
    ".popsection\n");

typedef long (*cold_fn)(long);
extern cold_fn cold_table[FUNCTIONS] __attribute__((visibility("hidden")));

static long calls, functions;

static void
shuffle(void)
{
	uint64_t x = 88172645463325252ULL;

	for (size_t i = FUNCTIONS - 1; i > 0; i--) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		cold_fn f = cold_table[i];
		cold_table[i] = cold_table[x % (i + 1)];
		cold_table[x % (i + 1)] = f;
	}
}

static void *
run(void *arg)
{
	long r = 0;

	(void)arg;
	for (long at = 0; r < calls; at = at + 1 == functions ? 0 : at + 1)
		r = cold_table[at](r);
	return NULL;
}

static double
used(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int
main(int argc, char **argv)
{
	pthread_t threads[THREADS_MAX];
	long n = argc > 1 ? atol(argv[1]) : 100000;
	int k = argc > 3 ? atoi(argv[3]) : 1;

	functions = argc > 2 ? atol(argv[2]) : FUNCTIONS;
	if (k < 1 || k > THREADS_MAX || functions < 1 || functions > FUNCTIONS)
		return 2;
	calls = n / k;
	shuffle();
	trigger_init();
	run(NULL); /* so that caches are as warm as they get */
	double from = used();
	for (int i = 0; i < k; i++)
		if (pthread_create(&threads[i], NULL, run, NULL) != 0)
			return 3;
	for (int i = 0; i < k; i++)
		pthread_join(threads[i], NULL);
	printf("%.1f ns per call\n", (used() - from) / (double)(calls * k));
	return 0;
}
