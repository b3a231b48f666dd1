/*
 * Static probes with every form of argument, and notes that lie; the values are
 * known to the test.
 */
#define NOTE(name, args) NOTE_AT(990b, sema, name, args)
#define NOTE_AT(where, sem, name, args)					\
	.pushsection .note.stapsdt, "", "note";				\
	.balign 4;							\
	.4byte 992f - 991f, 994f - 993f, 3;				\
991:	.asciz "stapsdt";						\
992:	.balign 4;							\
993:	.8byte where, base, sem;					\
	.asciz "forms", name, args;					\
994:	.balign 4;							\
	.popsection

	.section .stapsdt.base, "a"
base:	.space 1

	.section .probes, "aw"
sema:	.2byte 0

	.data
	.balign 8
	.type data, @object
	.size data, 32
data:	.8byte 100, 200, -300, 400

	.text
	.globl main
	.type main, @function
main:
	push	%rbx
	push	%r15
	mov	$0x1122334455668788, %rax
	mov	$-16, %rbx
	lea	data(%rip), %rcx
	mov	$2, %edx
	mov	$0x8899aabbccddeeff, %r8
	mov	%r8, %r9
	mov	%r8, %r15
990:	nop
	NOTE("parts", "8@%rax -4@%eax 4@%r9d 2@%ax -2@%ax 1@%al 1@%ah -1@%ah -8@%rbx -1@%r15b")
990:	nop
	NOTE("constants", "-4@$-1 4@$-1 8@$42 -8@$0x10 $7 -1@$200")
990:	nop
	NOTE("memory", "8@(%rcx) 8@8(%rcx) -4@(%rcx,%rdx,8) 8@8(%rcx,%rdx,8) -8@-8(%rcx,%rdx,8)")
990:	nop
	NOTE("symbols", "8@data(%rip) 8@data+8(%rip) 8@8+data(%rip) -2@data+16(%rip) 8@data-8+16(%rip)")
990:	nop
	NOTE("odd", "8@%xmm0 8f@%rax 8@nosuch(%rip) 3@%rax 8@%fs:0 junk -8@%rbx 8@0(%r8)")
	/* The same place under another name, and the same name elsewhere. */
	NOTE("twin", "8@%rdx")
	inc	%edx
990:	nop
	NOTE("twin", "8@%rdx")
	/* Notes that lie: nothing there, data, a semaphore in the text. */
	NOTE_AT(0, 0, "nowhere", "")
	NOTE_AT(data, sema, "nowhere", "")
	NOTE_AT(0x7fffffffffffffff, sema, "nowhere", "")
990:	nop
	NOTE_AT(990b, main, "liar", "8@%rdx")
	NOTE_AT(990b, 0x123456789, "liar", "8@%rdx")
	/* The semaphore is raised while somebody watches. */
	movzwl	sema(%rip), %eax
	pop	%r15
	pop	%rbx
	ret
	.size	main, . - main

	.section .note.GNU-stack, "", @progbits
