/*
 * lanes CALLS: uses the register gs, by which option fastpath finds a thread's lane,
 * in every way there is, and calls a function CALLS times after each change: by
 * arch_prctl(2) and by wrgsbase; with a block of its own, which nobody else may
 * write to, with an address that is no memory, and with none; in a signal's handler,
 * whose change survives the return; restored from what it was before, in this thread
 * and in another one; in a child of a fork, also where the maker's lanes were and
 * where the maker is gone; in a program that is executed.  Says how many calls there
 * were, and whether anything was wrong.
 */
#include <asm/prctl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "trigger.h"

#define HAS_FSGSBASE 2 /* of AT_HWCAP2 */
#define OWN          8192

static long calls, all, wrong;
static unsigned char *own;
static uint64_t first; /* gs of the first thread before it changed it */
static int barrier_open;

NOINLINE long
counted(long n)
{
	__asm__ volatile("" ::: "memory");
	return n + 1;
}

static void
set(uint64_t addr, int by_instruction)
{
	if (by_instruction)
		__asm__ volatile("wrgsbase %0" ::"r"(addr));
	else
		syscall(SYS_arch_prctl, ARCH_SET_GS, addr);
}

static uint64_t
get(void)
{
	uint64_t addr = 0;

	syscall(SYS_arch_prctl, ARCH_GET_GS, &addr);
	return addr;
}

static long
call(long n)
{
	for (long i = 0; i < n; i++)
		wrong += counted(i) != i + 1;
	return n;
}

/* gs is ours: nobody else changes it, or what it leads to. */
static void
with_own(uint64_t addr)
{
	all += call(calls);
	wrong += get() != addr;
	for (int i = 0; i < OWN; i++)
		wrong += own[i] != 0x5a;
}

static void
on_signal(int sig)
{
	set((uintptr_t)own, 0);
	call(calls);
}

static void
own_block(int by_instruction)
{
	uint64_t was = get();

	set((uintptr_t)own, by_instruction);
	with_own((uintptr_t)own);
	set(was, by_instruction);
	all += call(calls);
}

/* Each read through gs faults. */
static void
no_block(int by_instruction)
{
	uint64_t bad = (uintptr_t)mmap(
	    NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	set(bad, by_instruction);
	with_own(bad);
	set(0, by_instruction);
	all += call(calls);
	munmap((void *)bad, 4096);
}

/* The first thread's, at the same time as the first thread. */
static void *
other(void *arg)
{
	long n = 0;

	all += call(10);
	set(first, 0);
	__atomic_store_n(&barrier_open, 1, __ATOMIC_SEQ_CST);
	n += call(calls);
	set(first, 0);
	n += call(calls);
	return (void *)n;
}

static void
restored(void)
{
	pthread_t t;
	void *n = NULL;

	first = get();
	pthread_create(&t, NULL, other, NULL);
	while (!__atomic_load_n(&barrier_open, __ATOMIC_SEQ_CST))
		;
	for (int i = 0; i < 4; i++)
		all += call(calls);
	pthread_join(t, &n);
	all += (long)n;
}

static void
handled(void)
{
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	all += calls;
	with_own((uintptr_t)own);
	set(first, 0);
}

/* The status of the child has what was wrong. */
static void
child(char **argv, int own_gs, int executes)
{
	int status = 0;

	if (own_gs)
		set((uintptr_t)own, 0);
	pid_t pid = fork();
	if (pid == 0) {
		call(calls);
		wrong += own_gs && get() != (uintptr_t)own;
		if (executes)
			execl(argv[0], argv[0], argv[1], "child", (char *)NULL);
		_exit(wrong != 0);
	}
	all += call(calls);
	wrong += waitpid(pid, &status, 0) != pid || status != 0;
	all += executes ? 2 * calls : calls;
	set(first, 0);
}

/* In a child of a fork: gs leads to memory of its own that is where its maker's
 * lanes are, which the child does not have. */
static void
same_place(void)
{
	void *at = (void *)(first & ~UINT64_C(4095));

	own = mmap(at, OWN, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS |
		(at != NULL ? MAP_FIXED_NOREPLACE : 0),
	    -1, 0);
	if (own == MAP_FAILED) {
		wrong++;
		return;
	}
	memset(own, 0x5a, OWN);
	set((uintptr_t)own, 0);
	with_own((uintptr_t)own);
}

static void
copied(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		same_place();
		_exit(wrong != 0);
	}
	wrong += waitpid(pid, &status, 0) != pid || status != 0;
	all += calls;
}

/* A child whose maker is gone when it begins. */
static void
orphan(void)
{
	int ends[2];
	char c = 1;

	wrong += pipe(ends) != 0;
	pid_t pid = fork();
	if (pid == 0) {
		if (fork() == 0) {
			call(calls);
			c = wrong != 0;
			_exit(write(ends[1], &c, 1) != 1);
		}
		kill(getpid(), SIGKILL);
	}
	close(ends[1]);
	waitpid(pid, NULL, 0);
	wrong += read(ends[0], &c, 1) != 1 || c != 0;
	close(ends[0]);
	all += calls;
}

int
main(int argc, char **argv)
{
	calls = atol(argv[1]);
	if (argc > 2) { /* executed by ourselves */
		call(calls);
		return wrong != 0;
	}
	trigger_init();
	own = malloc(OWN);
	memset(own, 0x5a, OWN);
	all += call(calls);
	restored();
	own_block(0);
	handled();
	for (int i = 0; i < 4; i++)
		child(argv, i & 1, i & 2);
	copied();
	orphan();
	no_block(0);
	if (getauxval(AT_HWCAP2) & HAS_FSGSBASE) {
		own_block(1);
		no_block(1);
	}
	all += call(calls);
	printf("calls %ld wrong %ld\n", all, wrong);
	return 0;
}
