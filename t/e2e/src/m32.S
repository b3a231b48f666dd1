/* A 32-bit program without libc: waits for its input to end, then exits 0. */
	.globl _start
	.text
_start:
	mov $4, %eax		/* write(1, "ready\n", 6) */
	mov $1, %ebx
	mov $text, %ecx
	mov $6, %edx
	int $0x80
again:
	mov $3, %eax		/* read(0, buf, 1) */
	xor %ebx, %ebx
	mov $buf, %ecx
	mov $1, %edx
	int $0x80
	test %eax, %eax
	jg again
	mov $1, %eax		/* exit(0) */
	xor %ebx, %ebx
	int $0x80
	.section .rodata
text:	.ascii "ready\n"
	.bss
buf:	.skip 4
	.section .note.GNU-stack, "", @progbits
