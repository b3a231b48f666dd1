/*
 * One function called in every way that a stack can come to be: each scenario
 * ends in here(), whose every instruction is stopped at.  Built in many ways by
 * the tests; the arguments are the scenarios to run, none means all.
 */
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef __clang__
#define NI __attribute__((noinline))
#else
#define NI __attribute__((noinline, noclone))
#endif
#define KEEP __asm__ volatile("" ::: "memory")

volatile int sink;
void *volatile nothing;
static char *other; /* a stack */

#define OTHER 65536

NI int
leaf(int a, int b)
{
	KEEP;
	return a * b + sink;
}

NI int
here(int n)
{
	char text[40];
	int a = leaf(n, 1), b = leaf(a, 2), c = leaf(b, 3);

	memset(text, n, sizeof(text));
	return leaf(a, b) + leaf(c, text[n & 7]);
}

NI int
plain(void)
{
	int s = here(1);

	KEEP;
	return s + 1;
}

NI int
deep(int n)
{
	int s = n == 0 ? plain() : deep(n - 1);

	KEEP;
	return s + 1;
}

NI int
recursion(void)
{
	return deep(40) + 1;
}

/* Returns by way of others: these have no frame when they are left. */
NI int
tail3(int n)
{
	sink = n;
	return here(n + 3);
}

NI int
tail2(int n)
{
	sink = n;
	return tail3(n * 2);
}

NI int
tail(void)
{
	int s = tail2(3);

	KEEP;
	return s + 1;
}

NI int
compare(const void *a, const void *b)
{
	int s = here(*(const int *)a);

	KEEP;
	sink += s;
	return *(const int *)a - *(const int *)b;
}

NI int
sorted(void)
{
	int v[] = { 2, 1 };

	qsort(v, 2, sizeof(v[0]), compare);
	return v[0];
}

NI int
variable(void)
{
	int n = 1000 + (sink & 1);
	char *p = alloca(n), q[n];

	memset(p, 1, n);
	memset(q, 2, n);
	return plain() + p[n / 2] + q[n / 3];
}

/* The frame is not where the call left it. */
NI int
aligned(void)
{
	char a[128] __attribute__((aligned(128)));
	int n = 100 + (sink & 1);
	char *p = alloca(n);

	memset(a, 3, sizeof(a));
	memset(p, 4, n);
	return plain() + a[5] + p[n / 2];
}

NI int
large(void)
{
	char a[300000];

	memset(a, 2, sizeof(a));
	return plain() + a[1234];
}

NI void
handler(int sig)
{
	sink += here(sig);
}

static void
handle(int sig, int flags, void (*f)(int))
{
	struct sigaction sa = { .sa_handler = f, .sa_flags = flags };
	stack_t ss = { .ss_sp = other, .ss_size = OTHER };

	sigaltstack(&ss, NULL);
	sigaction(sig, &sa, NULL);
}

NI int
raised(void)
{
	handle(SIGUSR1, 0, handler);
	raise(SIGUSR1);
	return sink;
}

NI int
altstack(void)
{
	handle(SIGUSR1, SA_ONSTACK, handler);
	raise(SIGUSR1);
	return sink;
}

NI void
raiser(int sig)
{
	raise(SIGUSR1);
	sink++;
}

NI int
nested(void)
{
	handle(SIGUSR1, 0, handler);
	handle(SIGUSR2, SA_ONSTACK, raiser);
	raise(SIGUSR2);
	return sink;
}

static sigjmp_buf back;

NI void
jumper(int sig)
{
	sink += here(sig);
	siglongjmp(back, 1);
}

/* At its first instruction the interrupted function has no frame yet. */
__asm__(".text\n.globl first_faults\n.type first_faults, @function\n"
	"first_faults:\n.cfi_startproc\n"
	"	movl $1, 0\n	ret\n"
	".cfi_endproc\n.size first_faults, . - first_faults\n");
void first_faults(void);

NI int
faulted(void)
{
	handle(SIGSEGV, 0, jumper);
	if (sigsetjmp(back, 1) == 0)
		first_faults();
	KEEP;
	return sink;
}

/* A call of what is no function: the handler's stack goes by way of 0. */
NI int
nowhere(void)
{
	handle(SIGSEGV, SA_ONSTACK, jumper);
	if (sigsetjmp(back, 1) == 0)
		((void (*)(void))nothing)();
	KEEP;
	return sink;
}

static jmp_buf again;

NI void
thrower(int n)
{
	if (n == 0)
		longjmp(again, 1);
	thrower(n - 1);
	sink++;
}

NI int
jumped(void)
{
	if (setjmp(again) == 0)
		thrower(5);
	return plain() + 1;
}

#ifndef NO_UCONTEXT /* musl has none */
static ucontext_t outside, inside;

NI void
routine(void)
{
	sink += plain();
	swapcontext(&inside, &outside);
	sink += here(6);
}

NI int
coroutine(void)
{
	getcontext(&inside);
	inside.uc_stack.ss_sp = other;
	inside.uc_stack.ss_size = OTHER;
	inside.uc_link = &outside;
	makecontext(&inside, routine, 0);
	swapcontext(&outside, &inside);
	sink += here(5);
	swapcontext(&outside, &inside);
	return sink;
}
#endif

NI void *
threaded(void *arg)
{
	sink += plain();
	KEEP;
	return arg;
}

NI int
thread(void)
{
	pthread_t t;

	pthread_create(&t, NULL, threaded, NULL);
	pthread_join(t, NULL);
	return sink;
}

NI void
cleaner(void *arg)
{
	sink += here(7);
}

NI void *
cancelled(void *arg)
{
	pthread_cleanup_push(cleaner, NULL);
	pthread_cancel(pthread_self());
	pthread_testcancel();
	pthread_cleanup_pop(0);
	return arg;
}

NI int
cancel(void)
{
	pthread_t t;

	pthread_create(&t, NULL, cancelled, NULL);
	pthread_join(t, NULL);
	return sink;
}

NI void
last(void)
{
	sink += here(8);
}

NI int
ending(void)
{
	return atexit(last);
}

static const struct {
	const char *name;
	int (*run)(void);
} scenarios[] = { { "plain", plain }, { "recursion", recursion },
	{ "tail", tail }, { "sorted", sorted }, { "variable", variable },
	{ "aligned", aligned }, { "large", large }, { "raised", raised },
	{ "altstack", altstack }, { "nested", nested }, { "faulted", faulted },
	{ "nowhere", nowhere }, { "jumped", jumped },
#ifndef NO_UCONTEXT
	{ "coroutine", coroutine },
#endif
	{ "thread", thread }, { "cancel", cancel }, { "ending", ending } };

#define COUNT (sizeof(scenarios) / sizeof(scenarios[0]))

int
main(int argc, char **argv)
{
	other = malloc(OTHER);
	for (size_t i = 0; i < COUNT; i++)
		for (int a = argc == 1 ? 0 : 1; a < argc; a++)
			if (a == 0 || strcmp(argv[a], scenarios[i].name) == 0)
				sink += scenarios[i].run();
	return sink == 1;
}
