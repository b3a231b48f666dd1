/*
 * From a trampoline to agent_hit() and back, with every register as it was.
 *
 * The trampoline has stepped over the red zone (lea -128(%rsp), %rsp), pushed
 * the address to go back to in the target (the rip that D sees), the struct
 * agent, and the tracepoint id, and then called here:
 *
 *	rsp + 24	rip
 *	rsp + 16	struct agent *
 *	rsp + 8		tracepoint id
 *	rsp		return address, into the trampoline
 *
 * The trampoline takes the three words down again with one lea, which leaves
 * the flags alone.
 *
 * The frame built here is a struct agent_hit (agent.h), 29 words; the order of
 * the registers is enum ureg's.  General registers only: the agent is compiled
 * with -mgeneral-regs-only, so vector state is not touched.
 */
	.set	HIT_REGS, 27
	.set	HIT_SIZE, (HIT_REGS + 2) * 8
	/* above the frame: rax, flags, then the trampoline's four words */
	.set	UP, HIT_SIZE + 16

	.text
	.globl	agent_entry
	.hidden	agent_entry
	.type	agent_entry, @function
agent_entry:
	pushfq
	pushq	%rax
	leaq	-HIT_SIZE(%rsp), %rsp
	movq	%r15, 0*8(%rsp)
	movq	%r14, 1*8(%rsp)
	movq	%r13, 2*8(%rsp)
	movq	%r12, 3*8(%rsp)
	movq	%rbp, 4*8(%rsp)
	movq	%rbx, 5*8(%rsp)
	movq	%r11, 6*8(%rsp)
	movq	%r10, 7*8(%rsp)
	movq	%r9, 8*8(%rsp)
	movq	%r8, 9*8(%rsp)
	movq	%rcx, 11*8(%rsp)
	movq	%rdx, 12*8(%rsp)
	movq	%rsi, 13*8(%rsp)
	movq	%rdi, 14*8(%rsp)
	movq	HIT_SIZE(%rsp), %rax
	movq	%rax, 10*8(%rsp)		/* rax */
	movq	HIT_SIZE+8(%rsp), %rax
	movq	%rax, 18*8(%rsp)		/* rflags */
	movq	UP+24(%rsp), %rax
	movq	%rax, 16*8(%rsp)		/* rip */
	leaq	UP+32+128(%rsp), %rax
	movq	%rax, 19*8(%rsp)		/* rsp at the tracepoint */
	movq	UP+8(%rsp), %rax
	movq	%rax, HIT_REGS*8(%rsp)		/* tracepoint id */
	movq	UP+16(%rsp), %rax
	movq	%rax, (HIT_REGS+1)*8(%rsp)	/* struct agent */
	xorl	%eax, %eax
	movq	%rax, 15*8(%rsp)		/* orig_rax */
	movq	%rax, 17*8(%rsp)		/* cs */
	movq	%rax, 20*8(%rsp)		/* ss, bases, segments */
	movq	%rax, 21*8(%rsp)
	movq	%rax, 22*8(%rsp)
	movq	%rax, 23*8(%rsp)
	movq	%rax, 24*8(%rsp)
	movq	%rax, 25*8(%rsp)
	movq	%rax, 26*8(%rsp)

	movq	%rsp, %rdi
	movq	%rsp, %rbx			/* kept by the callee */
	andq	$-16, %rsp
	cld
	call	agent_hit
	movq	%rbx, %rsp

	movq	1*8(%rsp), %r14
	movq	2*8(%rsp), %r13
	movq	3*8(%rsp), %r12
	movq	4*8(%rsp), %rbp
	movq	5*8(%rsp), %rbx
	movq	6*8(%rsp), %r11
	movq	7*8(%rsp), %r10
	movq	8*8(%rsp), %r9
	movq	9*8(%rsp), %r8
	movq	11*8(%rsp), %rcx
	movq	12*8(%rsp), %rdx
	movq	13*8(%rsp), %rsi
	movq	14*8(%rsp), %rdi
	movq	0*8(%rsp), %r15
	leaq	HIT_SIZE(%rsp), %rsp
	popq	%rax
	popfq
	ret
	.size	agent_entry, . - agent_entry

	.section .note.GNU-stack, "", @progbits
