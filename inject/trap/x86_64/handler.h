/*
 * The machine's half of SIGTRAP's handler, for x86-64: handler.c, the only one to
 * include it, says what is asked.
 */
#ifndef INJECT_TRAP_X86_64_HANDLER_H
#define INJECT_TRAP_X86_64_HANDLER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "inject/trap/area.h"

/* SS_AUTODISARM of include/uapi/linux/signal.h. */
#define SS_DISARM (1U << 31)
/* Of what is in the frame behind the registers that FXSAVE knows. */
#define SW_BYTES 464
#define SW_MAGIC 0x46505853

/*
 * The program's own handler is jumped to, as if the kernel had called it: the
 * area may be unmapped while it runs, and backtraces do not show us.
 */
asm(".pushsection .text\n"
    "	.globl trap_handle\n"
    "	.hidden trap_handle\n"
    "	.type trap_handle, @function\n"
    "trap_handle:\n"
    "	pushq %rdi\n"
    "	pushq %rsi\n"
    "	pushq %rdx\n"
    "	call trap_look\n"
    "	popq %rdx\n"
    "	popq %rsi\n"
    "	popq %rdi\n"
    "	testq %rax, %rax\n"
    "	jz 1f\n"
    "	jmp *%rax\n"
    "1:	ret\n"
    "	.size trap_handle, . - trap_handle\n"
    ".popsection\n");

/* These bytes are how unwinders know a signal's frame. */
asm(".pushsection .text\n"
    "	.globl trap_restore\n"
    "	.hidden trap_restore\n"
    "	.type trap_restore, @function\n"
    "	nop\n" /* they look one byte before the return address */
    "trap_restore:\n"
    "	movq $15, %rax\n"
    "	syscall\n"
    "	.size trap_restore, . - trap_restore\n"
    ".popsection\n");

static long
sys(long nr, long a, long b, long c, long d)
{
	register long r10 asm("r10") = d;
	long ret;

	asm volatile("syscall"
		     : "=a"(ret)
		     : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10)
		     : "rcx", "r11", "memory");
	return ret;
}

static long
sys_open(const char *path, int flags)
{
	return sys(SYS_open, (long)path, flags, 0, 0);
}

static void
sys_sleep(int ms)
{
	sys(SYS_poll, 0, 0, ms, 0);
}

static uint64_t *
pc_in(ucontext_t *uc)
{
	return (uint64_t *)&uc->uc_mcontext.gregs[REG_RIP];
}

/* What the kernel would have to undo but for the registers: a shadow stack, an
 * alternate stack that was taken away for the handler. */
static bool
only_registers(const ucontext_t *uc)
{
	uint64_t shadow = 0;

	asm("rdsspq %0" : "+r"(shadow));
	return shadow == 0 &&
	    ((unsigned)uc->uc_stack.ss_flags & SS_DISARM) == 0;
}

/* Vector registers, which the kernel cleared for the handler: from the frame, as
 * struct _fpstate and struct _fpx_sw_bytes of <asm/sigcontext.h> have it. */
static void
restore_vectors(const uint8_t *frame)
{
	uint64_t features;
	uint32_t magic;

	if (frame == NULL)
		return;
	magic = *(const uint32_t *)(const void *)(frame + SW_BYTES);
	features = *(const uint64_t *)(const void *)(frame + SW_BYTES + 8);
	if (magic == SW_MAGIC)
		asm volatile("xrstor64 (%0)"
			     :
			     : "r"(frame), "a"((uint32_t)features),
			     "d"((uint32_t)(features >> 32))
			     : "memory");
	else
		asm volatile("fxrstor64 (%0)" : : "r"(frame) : "memory");
}

/*
 * To the system call instruction at its pc, which changes rcx and r11.  The mask
 * first, on this stack: behind the change of stacks nothing of this one is read.
 */
static void
call_again(const ucontext_t *uc)
{
	restore_vectors((const void *)uc->uc_mcontext.fpregs);
	sys(SYS_rt_sigprocmask, SIG_SETMASK, (long)&uc->uc_sigmask, 0, 8);
	asm volatile("pushq %c1(%0)\n"
		     "	popfq\n"
		     "	movq %c2(%0), %%rcx\n"
		     "	movq %c3(%0), %%r11\n"
		     "	movq %c4(%0), %%rax\n"
		     "	movq %c5(%0), %%rbx\n"
		     "	movq %c6(%0), %%rdx\n"
		     "	movq %c7(%0), %%rsi\n"
		     "	movq %c8(%0), %%rbp\n"
		     "	movq %c9(%0), %%r8\n"
		     "	movq %c10(%0), %%r9\n"
		     "	movq %c11(%0), %%r10\n"
		     "	movq %c12(%0), %%r12\n"
		     "	movq %c13(%0), %%r13\n"
		     "	movq %c14(%0), %%r14\n"
		     "	movq %c15(%0), %%r15\n"
		     "	movq %c16(%0), %%rdi\n"
		     "	movq %%r11, %%rsp\n"
		     "	jmp *%%rcx\n"
		     :
		     : "D"(uc->uc_mcontext.gregs), "i"(REG_EFL * 8),
		     "i"(REG_RIP * 8), "i"(REG_RSP * 8), "i"(REG_RAX * 8),
		     "i"(REG_RBX * 8), "i"(REG_RDX * 8), "i"(REG_RSI * 8),
		     "i"(REG_RBP * 8), "i"(REG_R8 * 8), "i"(REG_R9 * 8),
		     "i"(REG_R10 * 8), "i"(REG_R12 * 8), "i"(REG_R13 * 8),
		     "i"(REG_R14 * 8), "i"(REG_R15 * 8), "i"(REG_RDI * 8)
		     : "memory");
	__builtin_unreachable();
}

static bool
is_broken_call(const ucontext_t *uc)
{
	const greg_t *regs = uc->uc_mcontext.gregs;
	const uint8_t *insn = (const uint8_t *)regs[REG_RIP];

	return regs[REG_RAX] == SYS_restart_syscall && insn[0] == 0x0f &&
	    insn[1] == 0x05 && only_registers(uc);
}

#endif
