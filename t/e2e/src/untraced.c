/*
 * untraced CALLS FORM...: makes what no tracer hears of, by CLONE_UNTRACED, and
 * calls a function CALLS times while that calls the same function as often.  The
 * forms: thread, with thread-local storage of its own; bare, with its maker's;
 * process, one in the same memory, with its maker's; copy, one in a copy of the
 * memory.  Then it calls the function
 * CALLS times more.  Says how many calls of its own there were, and whether anything
 * was wrong.
 */
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "trigger.h"

#define STACK (256 * 1024)

static long calls, all, wrong;
static int begun, ended;
static uint64_t storage[64];

NOINLINE long
counted(long n)
{
	__asm__ volatile("" ::: "memory");
	return n + 1;
}

static long
call(void)
{
	long bad = 0;

	for (long i = 0; i < calls; i++)
		bad += counted(i) != i + 1;
	return bad;
}

/* Here the C library may not be used. */
static int
child(void *arg)
{
	__atomic_store_n(&begun, 1, __ATOMIC_SEQ_CST);
	long bad = call();
	__atomic_fetch_add(&wrong, bad, __ATOMIC_SEQ_CST);
	__atomic_store_n(&ended, 1, __ATOMIC_SEQ_CST);
	for (;;)
		__asm__ volatile("syscall" ::"a"(SYS_exit), "D"(bad != 0)
				 : "rcx", "r11", "memory");
	return 0;
}

static void
make(const char *form)
{
	int flags = CLONE_FS | CLONE_FILES | CLONE_UNTRACED;
	char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int is_copy = strcmp(form, "copy") == 0;
	int is_process = is_copy || strcmp(form, "process") == 0;

	begun = ended = 0;
	if (strcmp(form, "thread") == 0) {
		flags |= CLONE_SETTLS;
		storage[0] = (uintptr_t)storage;
	}
	flags |= is_copy ? 0 : CLONE_VM;
	flags |=
	    is_process ? SIGCHLD : CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
	pid_t pid = clone(child, stack + STACK, flags, NULL, NULL, storage);
	if (pid < 0) {
		wrong++;
		return;
	}
	while (!is_copy && !__atomic_load_n(&begun, __ATOMIC_SEQ_CST))
		;
	wrong += call();
	if (is_process) {
		int status = 0;
		wrong += waitpid(pid, &status, 0) != pid || status != 0;
	}
	while (!is_copy && !__atomic_load_n(&ended, __ATOMIC_SEQ_CST))
		;
	wrong += call();
	all += 2 * calls;
}

int
main(int argc, char **argv)
{
	trigger_init();
	calls = atol(argv[1]);
	wrong += call();
	all += calls;
	for (int i = 2; i < argc; i++)
		make(argv[i]);
	printf("calls %ld wrong %ld\n", all, wrong);
	return 0;
}
