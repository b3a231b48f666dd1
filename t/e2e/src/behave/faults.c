/* Faults that programs recover from, and SIGTRAP as their own. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "behave.h"

static sigjmp_buf env;
static volatile int count, code;
static void *volatile where;
static volatile long strange;

static void
on_fault(int sig, siginfo_t *si, void *uc)
{
	work(sig);
	code = si->si_code;
	where = si->si_addr;
	count++;
	siglongjmp(env, 1);
}

NOINLINE int
load(int *p)
{
	return *(volatile int *)p + 1;
}

NOINLINE int
divide(int a, int b)
{
	int q, r;

	__asm__ volatile("cltd; idivl %3"
			 : "=a"(q), "=&d"(r)
			 : "0"(a), "r"(b)
			 : "cc");
	return q;
}

NOINLINE void
undefined(void)
{
	__asm__ volatile("ud2");
}

NOINLINE int
call(int (*fn)(int))
{
	return fn(1) + 1;
}

static int
segv(void)
{
	catch_signal(SIGSEGV, on_fault, 0);
	for (volatile int i = 0; i < 100; i++)
		if (sigsetjmp(env, 1) == 0)
			load((int *)0x10);
	printf("load: %d at %p code %d\n", count, where, code);
	count = 0;
	for (volatile int i = 0; i < 50; i++)
		if (sigsetjmp(env, 1) == 0)
			call((int (*)(int))0x20);
	printf("call: %d at %p code %d\n", count, where, code);
	return 0;
}

static int
other_faults(void)
{
	char path[] = "/tmp/behave.XXXXXX";

	catch_signal(SIGFPE, on_fault, 0);
	catch_signal(SIGILL, on_fault, 0);
	catch_signal(SIGBUS, on_fault, 0);
	for (volatile int i = 0; i < 50; i++)
		if (sigsetjmp(env, 1) == 0)
			divide(i, 0);
	printf("divide: %d code %d inside %d\n", count, code,
	    in_file_text((uint64_t)where));
	count = 0;
	for (volatile int i = 0; i < 50; i++)
		if (sigsetjmp(env, 1) == 0)
			undefined();
	printf("undefined: %d code %d at it %d\n", count, code,
	    (char *)where - (char *)undefined < 16);
	count = 0;
	int fd = mkstemp(path);
	unlink(path);
	int *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	for (volatile int i = 0; i < 50; i++)
		if (sigsetjmp(env, 1) == 0)
			load(page);
	printf("bus: %d code %d at it %d\n", count, code, where == page);
	return 0;
}

/* A stack that overflows, caught on another. */
static volatile bool for_ever = true;

NOINLINE int
overflow(int n)
{
	volatile char room[4096];

	room[0] = (char)n;
	return for_ever ? overflow(n + 1) + room[0] : 0;
}

static void *
overflow_thread(void *arg)
{
	static char alt[65536];
	stack_t st = { .ss_sp = alt, .ss_size = sizeof(alt) };

	sigaltstack(&st, NULL);
	for (volatile int i = 0; i < 5; i++)
		if (sigsetjmp(env, 1) == 0)
			overflow(0);
	return NULL;
}

static int
overflows(void)
{
	pthread_attr_t attr;
	pthread_t t;

	catch_signal(SIGSEGV, on_fault, SA_ONSTACK);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256 << 10);
	pthread_create(&t, &attr, overflow_thread, NULL);
	pthread_join(t, NULL);
	printf("overflowed %d\n", count);
	return 0;
}

/* SIGTRAP */

NOINLINE int
own_trap(int n)
{
	__asm__ volatile("int3; nop" ::: "memory");
	return work(n);
}

static void
on_trap(int sig, siginfo_t *si, void *uc)
{
	count = work(count);
	code = si->si_code;
	if (!in_file_text(
		(uint64_t)((ucontext_t *)uc)->uc_mcontext.gregs[REG_RIP]))
		strange++;
}

/* On a ud2-like trap the handler moves the pc past the instruction. */
static void
on_skip(int sig, siginfo_t *si, void *uc)
{
	greg_t *regs = ((ucontext_t *)uc)->uc_mcontext.gregs;

	count = work(count);
	regs[REG_RIP] += 2; /* over the ud2 behind the int3 */
	regs[REG_RAX] = 42;
}

NOINLINE long
skipped(void)
{
	long r = 1;

	__asm__ volatile("int3; ud2" : "+a"(r)::"memory");
	return r;
}

static int
own_traps(void)
{
	long sum = 0;

	catch_signal(SIGTRAP, on_trap, 0);
	for (int i = 0; i < 100; i++)
		own_trap(i);
	printf("int3: %d code %d strange %ld\n", count, code, strange);
	count = 0;
	for (int i = 0; i < 50; i++) {
		union sigval v = { .sival_int = i };
		raise(SIGTRAP);
		sigqueue(getpid(), SIGTRAP, v);
		work(i);
	}
	printf("sent: %d code %d strange %ld\n", count, code, strange);
	count = 0;
	catch_signal(SIGTRAP, on_skip, 0);
	for (int i = 0; i < 100; i++)
		sum += skipped();
	printf("skipped: %d sum %ld\n", count, sum);
	return 0;
}

/* Single steps of a program by itself: TF in its own flags. */
static void
on_step(int sig, siginfo_t *si, void *uc)
{
	count++;
	code = si->si_code;
}

NOINLINE long
stepped(long n)
{
	__asm__ volatile("pushf; orl $0x100, (%%rsp); popf\n\t"
			 "add $1, %0; add $1, %0; add $1, %0\n\t"
			 "pushf; andl $~0x100, (%%rsp); popf"
			 : "+r"(n)::"cc", "memory");
	return n;
}

static int
own_steps(void)
{
	catch_signal(SIGTRAP, on_step, 0);
	long n = stepped(1);
	printf("stepped to %ld in %d, code %d\n", n, count, code);
	n = 0;
	for (int i = 0; i < 50; i++)
		n = work((int)stepped(n));
	printf("and to %ld in %d\n", n, count);
	return 0;
}

static int
trap_blocked(void)
{
	struct sigaction sa;
	sigset_t set, now;
	siginfo_t si;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	hot(100);
	raise(SIGTRAP);
	hot(100);
	sigpending(&now);
	printf("pending %d\n", sigismember(&now, SIGTRAP));
	int sig = sigwaitinfo(&set, &si);
	printf("waited %d code %d\n", sig == SIGTRAP, si.si_code);
	hot(100);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	signal(SIGTRAP, SIG_IGN);
	hot(100);
	raise(SIGTRAP);
	sigaction(SIGTRAP, NULL, &sa);
	sigprocmask(SIG_SETMASK, NULL, &now);
	printf("ignored %d blocked %d\n", sa.sa_handler == SIG_IGN,
	    sigismember(&now, SIGTRAP));
	signal(SIGTRAP, SIG_DFL);
	hot(100);
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		hot(10);
		raise(SIGTRAP);
		_exit(0);
	}
	say_end("raised", pid);
	pid = fork();
	if (pid == 0)
		_exit(own_trap(1));
	say_end("int3", pid);
	return 0;
}

const struct behaviour behave_faults[] = {
	{ "segv", segv },
	{ "faults", other_faults },
	{ "overflow", overflows },
	{ "own-traps", own_traps },
	{ "own-steps", own_steps },
	{ "trap-blocked", trap_blocked },
	{ 0 },
};
