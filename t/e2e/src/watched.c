/*
 * watched HOW...: waits for a line, then changes variables that are watched, and
 * says what is in them at the end.
 *
 *	threads N	two threads add 1 to `counter', N times each, one after the
 *			other
 *	blocked		with all signals blocked: three times
 *	fork		a child adds 100
 *	exec		executes itself anew, without arguments
 *	read		reads `counter' twice
 *	scoped		calls first() twice, second() and third() once
 *	frames N	calls framed() alone, in itself, and N times in each of two
 *			threads at once; leaves() by longjmp()
 *	for ever	adds until a line comes
 */
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>

#include "trigger.h"

uint64_t counter;
static int small;
uint16_t words[4];
__thread long own;
static long steps;

NOINLINE void
add(uint64_t n)
{
	counter += n;
	__asm__ volatile("");
}

NOINLINE void
set(int n)
{
	small = n;
	__asm__ volatile("" ::"m"(small));
}

NOINLINE uint64_t
get(void)
{
	return *(volatile uint64_t *)&counter;
}

static void *
thread(void *arg)
{
	for (long i = 0; i < steps; i++)
		add(1);
	return NULL;
}

static void
threads(long n)
{
	pthread_t t;

	steps = n;
	for (int i = 0; i < 2; i++) {
		pthread_create(&t, NULL, thread, NULL);
		pthread_join(t, NULL);
	}
}

static void
blocked(void)
{
	sigset_t all, was;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &was);
	for (int i = 0; i < 3; i++)
		add(1);
	sigprocmask(SIG_SETMASK, &was, NULL);
}

static void
forks(void)
{
	pid_t child = fork();

	if (child == 0) {
		add(100);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

/* Variables of one name. */
NOINLINE long
first(long n)
{
	static long calls;

	return calls += n;
}

NOINLINE long
second(long n)
{
	static long calls;

	if (n > 0) {
		static int inside;
		inside += 2;
		__asm__ volatile("" ::"m"(inside));
	}
	return calls += 10 * n;
}

static inline __attribute__((always_inline)) long
third(long n)
{
	static long calls;

	return calls += 100 * n;
}

/* Variables in frames. */
static NOINLINE void
bump(volatile long *p)
{
	*p += 1;
}

NOINLINE long
framed(long n, long depth)
{
	volatile long slot = n;

	if (depth > 0)
		slot += framed(n * 10, depth - 1);
	else
		bump(&slot);
	return slot;
}

static jmp_buf out;

NOINLINE void
leaves(long n)
{
	volatile long slot = n;

	longjmp(out, (int)slot);
}

NOINLINE long
reuses(void)
{
	volatile long many[64];

	for (int i = 0; i < 64; i++)
		many[i] = i;
	return many[5];
}

static void *
frames_thread(void *arg)
{
	long sum = 0;

	for (long i = 0; i < steps; i++)
		sum += framed(1, 1);
	return (void *)sum;
}

static long
frames(long n)
{
	pthread_t t[2];
	void *result;
	long sum = framed(1, 0) + framed(1, 2);

	if (setjmp(out) == 0)
		leaves(5);
	sum += reuses();
	steps = n;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, frames_thread, NULL);
	for (int i = 0; i < 2; i++) {
		pthread_join(t[i], &result);
		sum += (long)result;
	}
	return sum;
}

static void
for_ever(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	printf("adds\n");
	while (poll(&in, 1, 0) == 0)
		for (int i = 0; i < 100; i++)
			add(1);
}

int
main(int argc, char **argv)
{
	trigger_init();
	printf("at %p\n", (void *)&words[1]);
	trigger_wait();
	add(1);
	set(-5);
	words[1] = 7;
	if (argc > 2 && strcmp(argv[1], "threads") == 0)
		threads(atol(argv[2]));
	else if (argc > 1 && strcmp(argv[1], "blocked") == 0)
		blocked();
	else if (argc > 1 && strcmp(argv[1], "fork") == 0)
		forks();
	else if (argc > 1 && strcmp(argv[1], "exec") == 0)
		execl(argv[0], argv[0], NULL);
	else if (argc > 1 && strcmp(argv[1], "read") == 0)
		printf("twice %lu\n", get() + get());
	else if (argc > 1 && strcmp(argv[1], "scoped") == 0)
		printf(
		    "scoped %ld\n", first(1) + first(2) + second(1) + third(1));
	else if (argc > 2 && strcmp(argv[1], "frames") == 0)
		printf("frames %ld\n", frames(atol(argv[2])));
	else if (argc > 1 && strcmp(argv[1], "for") == 0)
		for_ever();
	own = (long)counter;
	printf("end %ld %d %d\n", own, small, words[1]);
	return 0;
}
