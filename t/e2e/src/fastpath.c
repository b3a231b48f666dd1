/*
 * fastpath THREADS CALLS [SIGNALS]: threads call entered(), left() and whole(), each
 * CALLS times, and what jumps into the middle of whole(), while a timer sends SIGNALS
 * signals a second whose handler calls handled(), and jumps out of itself now and then.
 * Every so often a bad pointer is read, and the handler of that compares the place; a
 * child is forked that calls copied(), and one is executed.  Says how often each
 * function was called and whether anything was wrong.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "trigger.h"

static atomic_long wrong, handlers, faults;
static long calls;
static __thread sigjmp_buf back;
static __thread volatile sig_atomic_t may_jump;

NOINLINE long
entered(long n, long m)
{
	__asm__ volatile("" ::: "memory");
	return 3 * n + m;
}

/* Returns, or leaves for another function by a jump that is not always taken. */
long left(long n);
__asm__(".text\n"
	".globl left, other\n"
	".type left, @function\n"
	".type other, @function\n"
	"left:\n"
	"	test $3, %dil\n"
	"	je other\n"
	"	mov %rdi, %rax\n" /* room for both jumps */
	"	lea 1(%rax), %rax\n"
	"	ret\n"
	".size left, . - left\n"
	"other:\n"
	"	lea 2(%rdi), %rax\n"
	"	ret\n"
	".size other, . - other\n");

/* One function, and another one that jumps into it. */
long whole(long n), part(long n);
__asm__(".text\n"
	".globl whole, part\n"
	".type whole, @function\n"
	".type part, @function\n"
	"whole:\n"
	"	mov $1, %eax\n"
	"1:	lea 1(%rax,%rdi), %rax\n"
	"	ret\n"
	".size whole, . - whole\n"
	"part:\n"
	"	mov $2, %eax\n"
	"	jmp 1b\n"
	".size part, . - part\n");

NOINLINE long
handled(long n)
{
	__asm__ volatile("" ::: "memory");
	return n ^ 5;
}

NOINLINE long
copied(long n)
{
	__asm__ volatile("" ::: "memory");
	return n + 1;
}

NOINLINE long
loaded(volatile long *p)
{
	long n = *p;

	__asm__ volatile("" ::: "memory");
	return n;
}

static void
on_time(int sig)
{
	long n = handlers++;

	if (handled(n) != (n ^ 5))
		wrong++;
	if (may_jump && n % 3 == 0) {
		may_jump = 0;
		siglongjmp(back, 1);
	}
}

static void
on_fault(int sig, siginfo_t *si, void *uc)
{
	uint64_t pc = (uint64_t)((ucontext_t *)uc)->uc_mcontext.gregs[REG_RIP];

	faults++;
	if (si->si_addr != (void *)8 || pc - (uintptr_t)loaded > 16)
		wrong++;
	siglongjmp(back, 1);
}

static void
one(long n)
{
	if (entered(n, 1) != 3 * n + 1 || left(n) != n + (n & 3 ? 1 : 2) ||
	    whole(n) != n + 2 || (n % 100 == 5 && part(n) != n + 3))
		wrong++;
}

static void *
run(void *arg)
{
	volatile long n = 0;

	for (; n < calls; n++) {
		one(n);
		if (n % 1000 != 7)
			continue;
		if (sigsetjmp(back, 1) == 0)
			loaded((long *)8);
		/* Out of the handler, from wherever it finds this. */
		if (sigsetjmp(back, 1) == 0) {
			may_jump = 1;
			for (volatile int i = 0; i < 1000; i++)
				;
			may_jump = 0;
		}
	}
	return NULL;
}

static void
children(char *self)
{
	for (int i = 0; i < 2; i++) {
		pid_t pid = fork();
		int status = 0;
		if (pid == 0) {
			for (long n = 0; n < 1000; n++)
				if (copied(n) != n + 1)
					_exit(1);
			if (i == 1)
				execl(self, self, "0", "0", (char *)NULL);
			_exit(0);
		}
		if (waitpid(pid, &status, 0) != pid || status != 0)
			wrong++;
	}
}

int
main(int argc, char **argv)
{
	long nthreads = atol(argv[1]);
	pthread_t threads[16];
	struct sigaction sa = { .sa_sigaction = on_fault,
		.sa_flags = SA_SIGINFO | SA_NODEFER };

	trigger_init();
	calls = atol(argv[2]);
	sigaction(SIGSEGV, &sa, NULL);
	signal(SIGPROF, on_time);
	if (argc > 3) {
		long us = 1000000 / atol(argv[3]);
		setitimer(ITIMER_PROF,
		    &(struct itimerval){ { 0, us }, { 0, us } }, NULL);
	}
	for (long i = 0; i < nthreads; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (long i = 0; i < nthreads; i++)
		pthread_join(threads[i], NULL);
	setitimer(ITIMER_PROF, &(struct itimerval){ { 0, 0 }, { 0, 0 } }, NULL);
	if (nthreads > 0)
		children(argv[0]);
	if (nthreads > 0)
		printf(
		    "entered %ld\nleft %ld\nwhole %ld\nhandled %ld\nloaded %ld\n"
		    "copied 2000\nwrong %ld\n",
		    nthreads * calls, nthreads * calls, nthreads * calls,
		    (long)handlers, (long)faults, (long)wrong);
	return 0;
}
