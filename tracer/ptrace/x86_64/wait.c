/*
 * System calls that sleep, and that a signal handler can end: the wait for
 * traced threads, and PTRACE_SEIZE, which sleeps while its target is in execve.
 * The handler sets the flag and calls wait_skip().
 *
 *	wait_begin:	is the flag set?	if the handler has run before this,
 *						this test sees the flag
 *			syscall			if it runs between test and syscall,
 *						wait_skip() moves rip behind it
 *	wait_end:				if it runs during the call, that
 *						returns EINTR; if the kernel would
 *						restart it, rip is on the syscall,
 *						and wait_skip() moves it
 *
 * So no signal is missed.  Blocking signals would take two more system calls,
 * and a pipe would have to be polled.
 */
#include "tracer/ptrace/super.h"

#include <errno.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>

long wait_asm(long arg0, long arg1, long arg2, long arg3,
    const volatile int *flag, long nr);

extern const char wait_begin[], wait_end[];

static_assert(EINTR == 4, "number used below");

/* rax as the kernel returns it.  A fifth argument is NULL. */
asm(".pushsection .text\n"
    "	.type wait_asm, @function\n"
    "	.globl wait_asm, wait_begin, wait_end\n"
    "	.hidden wait_asm, wait_begin, wait_end\n"
    "wait_asm:\n"
    "	movq %rcx, %r10\n"
    "	movq %r9, %rax\n"
    "	movq %r8, %r11\n"
    "	xorl %r8d, %r8d\n"
    "wait_begin:\n"
    "	cmpl $0, (%r11)\n"
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
	return wait_asm(pid, (long)status, options, 0, flag, SYS_wait4);
}

/* Convert the result of waitid() to a status of wait4(). */
static int
status_of(const siginfo_t *si)
{
	switch (si->si_code) {
	case CLD_EXITED: return (si->si_status & 0xff) << 8;
	case CLD_KILLED: return si->si_status & 0x7f;
	case CLD_DUMPED: return (si->si_status & 0x7f) | 0x80;
	default: return si->si_status << 8 | 0x7f;
	}
}

long
wait_peek(pid_t pid, int *status, int options, const volatile int *flag)
{
	siginfo_t si;

	si.si_pid = 0;
	long r = wait_asm(pid < 0 ? P_ALL : P_PID, pid, (long)&si,
	    options | WSTOPPED | WEXITED | WNOWAIT, flag, SYS_waitid);
	if (r < 0 || si.si_pid == 0)
		return r;
	*status = status_of(&si);
	return si.si_pid;
}

int
wait_seize(pid_t tid, unsigned options, const volatile int *flag)
{
	return (int)wait_asm(PTRACE_SEIZE, tid, 0, options, flag, SYS_ptrace);
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
