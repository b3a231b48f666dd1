/*
 * The way back: code that a thread executes after a remote system call
 * (remote.c) if the tracer was killed before it could restore the thread's
 * registers.
 *
 *	the remote call
 *	munmap		of memory that the call has mapped: it has no owner now
 *	mask		restored by rt_sigprocmask
 *	registers	restored: those that arguments and system calls change
 *	pc		restored by a jump
 *
 * The stack is not used.  rt_sigreturn would restore everything at once, but it
 * was not chosen: it needs the vector registers in memory (11 KiB on machines
 * with AMX), makes an interrupted sleep return EINTR, and is not possible with
 * a shadow stack.
 *
 * Flags and stack pointer are the program's all the time: system calls preserve
 * them, and the other instructions do not change them.  So a signal may be
 * delivered at any instruction.  A pending signal is delivered after
 * rt_sigprocmask, on the thread's stack, and its handler returns to this code.
 * The code and its data are read-only and position-independent.
 */
#include <assert.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "tracer/ptrace/super.h"

extern const uint8_t wayback_code[], wayback_called[], wayback_data[],
    wayback_end[];

asm(".pushsection .rodata\n"
    "	.balign 16\n"
    "	.globl wayback_code, wayback_called, wayback_data, wayback_end\n"
    "	.hidden wayback_code, wayback_called, wayback_data, wayback_end\n"
    "wayback_code:\n"
    "	syscall\n"
    "	movq wayback_data + 96(%rip), %rcx\n" /* size; no flag is changed */
    "	jrcxz 1f\n"
    "	movq %rcx, %rsi\n"
    "	movq %rax, %rdi\n" /* if rax is an error, munmap fails: no effect */
    "	movl $11, %eax\n"  /* munmap(result, size) */
    "	syscall\n"
    "1:\n"
    "wayback_called:\n"
    "	movl $14, %eax\n" /* rt_sigprocmask(SIG_SETMASK, &mask, NULL, 8) */
    "	movl $2, %edi\n"
    "	leaq wayback_data + 8(%rip), %rsi\n"
    "	movl $0, %edx\n"
    "	movl $8, %r10d\n"
    "	syscall\n"
    "	movq wayback_data + 24(%rip), %rax\n"
    "	movq wayback_data + 32(%rip), %rcx\n"
    "	movq wayback_data + 40(%rip), %rdx\n"
    "	movq wayback_data + 48(%rip), %rsi\n"
    "	movq wayback_data + 56(%rip), %rdi\n"
    "	movq wayback_data + 64(%rip), %r8\n"
    "	movq wayback_data + 72(%rip), %r9\n"
    "	movq wayback_data + 80(%rip), %r10\n"
    "	movq wayback_data + 88(%rip), %r11\n"
    "	jmp *wayback_data + 16(%rip)\n"
    "	.balign 8\n"
    "wayback_data:\n"
    "	.zero 104\n"
    "wayback_end:\n"
    ".popsection\n");

struct data {
	uint64_t sp, mask, pc, regs[9], unmap;
};

static const enum ureg kept[9] = { UREG_RAX, UREG_RCX, UREG_RDX, UREG_RSI,
	UREG_RDI, UREG_R8, UREG_R9, UREG_R10, UREG_R11 };

static size_t
code_size(void)
{
	return (uintptr_t)wayback_data - (uintptr_t)wayback_code;
}

static_assert(sizeof(struct data) == 104, "as the code has it");
static_assert(SYS_rt_sigprocmask == 14, "as the code has it");
static_assert(SYS_munmap == 11, "as the code has it");

void
wayback_write(uint8_t buf[WAYBACK_SIZE], const struct uregs *to, uint64_t mask,
    uint64_t unmap)
{
	size_t code = code_size();
	struct data d = {
		.sp = to->r[UREG_RSP],
		.mask = mask,
		.pc = to->r[UREG_RIP],
		.unmap = unmap,
	};

	ASSERT(code + sizeof(d) <= WAYBACK_SIZE);
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		d.regs[i] = to->r[kept[i]];
	memset(buf, 0, WAYBACK_SIZE);
	memcpy(buf, wayback_code, code);
	memcpy(buf + code, &d, sizeof(d));
}

uint64_t
wayback_behind(uint64_t start)
{
	return start + (uintptr_t)wayback_called - (uintptr_t)wayback_code;
}

bool
wayback_is(const uint8_t buf[WAYBACK_SIZE], uint64_t *sp)
{
	size_t code = code_size();
	struct data d;

	memcpy(&d, buf + code, sizeof(d));
	*sp = d.sp;
	return memcmp(buf, wayback_code, code) == 0;
}
