/*
 * The wait for tracees, as one system call that a signal handler can call off.
 *
 *	wait_begin:	is the flag set?	a handler that runs before this
 *						is seen here
 *			syscall			one that runs in between finds
 *						rip in the window and moves it
 *	wait_end:				one that runs inside: EINTR
 *
 * so that no signal is slept through, without a signal mask to change (two
 * more system calls) or a pipe to poll.
 */
#include "tracer/super_impl.h"

#include <errno.h>
#include <sys/syscall.h>
#include <ucontext.h>

long wait_asm(pid_t pid, int *status, int options, const volatile int *flag);
extern const char wait_begin[], wait_end[];

static_assert(SYS_wait4 == 61 && EINTR == 4, "numbers used below");

/* wait_asm(edi pid, rsi status, edx options, rcx flag): rax as the kernel
 * returns it. */
asm(".pushsection .text\n"
    "	.type wait_asm, @function\n"
    "	.globl wait_asm, wait_begin, wait_end\n"
    "	.hidden wait_asm, wait_begin, wait_end\n"
    "wait_asm:\n"
    "	xorl %r10d, %r10d\n" /* no rusage */
    "	movl $61, %eax\n"
    "wait_begin:\n"
    "	cmpl $0, (%rcx)\n"
    "	jne 1f\n"
    "	syscall\n"
    "wait_end:\n"
    "	ret\n"
    "1:	movq $-4, %rax\n"
    "	ret\n"
    "	.size wait_asm, . - wait_asm\n"
    ".popsection\n");

long
wait_call(pid_t pid, int *status, int options, const volatile int *flag)
{
	return wait_asm(pid, status, options, flag);
}

void
wait_skip(void *ucontext)
{
	ucontext_t *uc = ucontext;
	greg_t *rip = &uc->uc_mcontext.gregs[REG_RIP];

	if (*rip < (greg_t)wait_begin || *rip >= (greg_t)wait_end)
		return;
	*rip = (greg_t)wait_end;
	uc->uc_mcontext.gregs[REG_RAX] = -EINTR;
}
