/*
 * A program with breakpoints of its own and its own handler for them: inline,
 * at a function's first instruction, and int3 in its two encodings.
 */
#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

#include "trigger.h"

static volatile int traps, codes;
static volatile uintptr_t last_pc;

static void
on_trap(int sig, siginfo_t *info, void *uc)
{
	const ucontext_t *ctx = uc;

	traps++;
	codes += info->si_code == SI_KERNEL;
	last_pc = (uintptr_t)ctx->uc_mcontext.gregs[REG_RIP];
}

NOINLINE int
work(int n)
{
	__asm__ volatile("int3" ::: "memory");
	return n + 1;
}

/* Begins with the program's own int3: nothing can be displaced but that. */
__asm__(".globl trapped\n"
	".type trapped, @function\n"
	"trapped:\n"
	"	int3\n"
	"	lea 5(%rdi), %eax\n"
	"	ret\n"
	".size trapped, . - trapped\n"
	".globl after_trap\n"
	"after_trap:\n");
int trapped(int n);

int
main(void)
{
	struct sigaction sa = { .sa_sigaction = on_trap,
		.sa_flags = SA_SIGINFO };
	int sum = 0;

	trigger_init();
	sigaction(SIGTRAP, &sa, NULL);
	for (int i = 0; i < 10; i++)
		sum += work(i);
	printf("work: sum %d traps %d of kernel %d\n", sum, traps, codes);
	sum = trapped(1);
	printf("trapped: %d traps %d pc %d\n", sum, traps,
	    last_pc == (uintptr_t)trapped + 1);
	__asm__ volatile(".byte 0xcd, 0x03" ::: "memory");
	printf("int $3: traps %d\n", traps);
	raise(SIGTRAP);
	printf("raised: traps %d of kernel %d\n", traps, codes);
	return 0;
}
