/*
 * hot N push|mov: calls a trivial function N times and says how many
 * nanoseconds a call took.  The function begins with a push, which every
 * tracer can emulate, or with a mov, which some must single-step.
 */
#include <time.h>

#include "trigger.h"

__asm__(".globl hot_push\n"
	".type hot_push, @function\n"
	"hot_push:\n"
	"	push %rbx\n"
	"	lea 1(%rdi), %rax\n"
	"	pop %rbx\n"
	"	ret\n"
	".size hot_push, . - hot_push\n"
	".globl hot_mov\n"
	".type hot_mov, @function\n"
	"hot_mov:\n"
	"	mov %rdi, %rdx\n"
	"	lea 1(%rdx), %rax\n"
	"	ret\n"
	".size hot_mov, . - hot_mov\n");
long hot_push(long), hot_mov(long);

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int
main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1000;
	long (*fn)(long) =
	    argc > 2 && strcmp(argv[2], "mov") == 0 ? hot_mov : hot_push;
	double from, to;
	long r = 0;

	trigger_init();
	from = now();
	for (long i = 0; i < n; i++)
		r = fn(r);
	to = now();
	if (r != n)
		return 1;
	printf("%.1f ns per call\n", (to - from) / (double)n);
	return 0;
}
