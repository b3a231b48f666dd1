/*
 * hot N WHAT [ROUNDS]: does the same thing N times and says how many nanoseconds
 * it took once, in the fastest of some rounds.  Between them it does nothing for
 * 0.3 s, in which a reader of records can read.
 *
 *	push	a call of a function that begins with a push, which every
 *		tracer can emulate
 *	mov	one that begins with a mov, which some must single-step
 *	pair	one in which entry and return have room for a jump each
 *	sdt	one with a static probe
 *	stack	the call of hot_push() ten frames further down
 *	getppid	that system call
 *	spawn	fork, exec of true, wait
 */
/* Of one byte: a hit by trap need not set the registers. */
#define DTRAP_SDT_NOP "nop"
#include <sys/sdt.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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
	".size hot_mov, . - hot_mov\n"
	".globl hot_pair\n"
	".type hot_pair, @function\n"
	"hot_pair:\n"
	"	push %rbx\n"
	"	mov %rdi, %rbx\n"
	"	lea 1(%rbx), %rax\n"
	"	lea 2(%rbx), %rdx\n"
	"	lea 3(%rbx), %rcx\n"
	"	pop %rbx\n"
	"	ret\n"
	".size hot_pair, . - hot_pair\n");
long hot_push(long), hot_mov(long), hot_pair(long);

static long NOINLINE
hot_sdt(long n)
{
	DTRACE_PROBE1(hot, here, n);
	return n + 1;
}

/* With main() that makes ten and what main() was called by. */
static long NOINLINE
hot_down(long n, int depth)
{
	long r = depth == 0 ? hot_push(n) : hot_down(n, depth - 1);

	__asm__ volatile("" ::: "memory");
	return r;
}

static long
hot_stack(long n)
{
	return hot_down(n, 5);
}

static long
hot_getppid(long n)
{
	return syscall(SYS_getppid) > 0 ? n + 1 : n;
}

static long
hot_spawn(long n)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(127);
	}
	return waitpid(pid, &status, 0) == pid && status == 0 ? n + 1 : n;
}

static const struct {
	const char *name;
	long (*fn)(long);
} things[] = {
	{ "push", hot_push },
	{ "mov", hot_mov },
	{ "pair", hot_pair },
	{ "sdt", hot_sdt },
	{ "stack", hot_stack },
	{ "getppid", hot_getppid },
	{ "spawn", hot_spawn },
};

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The ns that one of n calls took; -1: a wrong result. */
static double
one_round(long (*fn)(long), long n)
{
	double from = now();
	long r = 0;

	for (long i = 0; i < n; i++)
		r = fn(r);
	return r == n ? (now() - from) / (double)n : -1;
}

int
main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1000;
	int rounds = argc > 3 ? atoi(argv[3]) : 1;
	long (*fn)(long) = hot_push;
	double best = 0;

	for (size_t i = 0; i < sizeof(things) / sizeof(things[0]); i++)
		if (argc > 2 && strcmp(argv[2], things[i].name) == 0)
			fn = things[i].fn;
	trigger_init();
	for (int i = 0; i < rounds; i++) {
		double ns = one_round(fn, n);
		if (ns < 0)
			return 1;
		best = i == 0 || ns < best ? ns : best;
		if (i + 1 < rounds)
			usleep(300000);
	}
	printf("%.1f ns per call\n", best);
	return 0;
}
