/*
 * Waits for its input by a poll() with a time, whose system call instruction is
 * its own: poll_once().  "ready PID", then "poll RESULT", and which of the
 * registers that a call leaves alone have changed: "changed MASK".
 */
#include <poll.h>
#include <sys/syscall.h>

#include "trigger.h"

static unsigned long changed;

NOINLINE static long
poll_once(struct pollfd *p, long ms)
{
	long ret;

	asm volatile("movq $0x1b1b, %%rbx\n"
		     "movq $0x1212, %%r12\n"
		     "movq $0x1313, %%r13\n"
		     "movq $0x1414, %%r14\n"
		     "movq $0x1515, %%r15\n"
		     "movq %%r12, %%xmm0\n"
		     "movq %%r13, %%xmm15\n"
		     "stc\n"
		     "syscall\n"
		     "sbbq $0x1b1a, %%rbx\n"
		     "movq %%xmm0, %%rcx\n"
		     "movq %%xmm15, %%r11\n"
		     "xorq %%r12, %%rcx\n"
		     "xorq %%r13, %%r11\n"
		     "xorq $0x1212, %%r12\n"
		     "xorq $0x1313, %%r13\n"
		     "xorq $0x1414, %%r14\n"
		     "xorq $0x1515, %%r15\n"
		     "orq %%r12, %%rbx\n"
		     "orq %%r13, %%rbx\n"
		     "orq %%r14, %%rbx\n"
		     "orq %%r15, %%rbx\n"
		     "orq %%rcx, %%rbx\n"
		     "orq %%r11, %%rbx\n"
		     "movq %%rbx, %1\n"
		     : "=a"(ret), "=m"(changed)
		     : "0"((long)SYS_poll), "D"(p), "S"(1L), "d"(ms)
		     : "rbx", "rcx", "r11", "r12", "r13", "r14", "r15", "xmm0",
		     "xmm15", "memory", "cc");
	return ret;
}

int
main(void)
{
	struct pollfd p = { .fd = 0, .events = POLLIN };

	trigger_init();
	printf("ready %d\n", (int)getpid());
	long ret = poll_once(&p, 600000);
	printf("poll %ld changed %#lx\n", ret, changed);
	return 0;
}
