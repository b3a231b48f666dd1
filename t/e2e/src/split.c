/*
 * Functions that compilers have split, that loop to their own begin, and that
 * end in jumps.  Prints "NAME ENTRIES RETURNS" for each, as it called them, and
 * the values that split() returned.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define KEEP __attribute__((noinline, noclone, noipa))

typedef int fn(int);
typedef int self_fn(int, void *);

static jmp_buf env;
static volatile int sink;

/* The compiler puts what leads here elsewhere. */
__attribute__((cold)) KEEP int
seldom(int n)
{
	sink += n;
	return n;
}

/* Comes back from its cold part, and leaves by it. */
KEEP int
split(int n)
{
	if (n < 0) {
		if (seldom(n) < -10)
			return seldom(n) * 2;
		sink++;
		n = seldom(-n);
	}
	sink += n;
	return sink > 1 << 30 ? sink : n + 1;
}

/* Never comes back from its cold part. */
KEEP int
leap(int n)
{
	if (n < 0) {
		seldom(n);
		longjmp(env, 1);
	}
	sink += n;
	return n;
}

KEEP int
one(int n)
{
	return sink + n;
}

KEEP int
through_reg(fn *f, int n)
{
	sink++;
	return f(n);
}

struct ops {
	fn *first, *second;
};

KEEP int
through_mem(const struct ops *ops, int n)
{
	sink++;
	return n < 0 ? n : ops->second(n);
}

/* Calls itself by a pointer, in its own place. */
KEEP int
again(int n, void *f)
{
	sink++;
	return n == 0 ? sink : ((self_fn *)f)(n - 1, f);
}

/* A jump table, with nothing on the stack. */
KEEP int
table(int n)
{
	switch (n) {
	case 0: sink += 17; break;
	case 1: sink ^= 4711; break;
	case 2: sink -= 3; break;
	case 3: sink *= 5; break;
	case 4: sink |= 64; break;
	case 5: sink &= 1023; break;
	case 6: sink = ~sink; break;
	case 7: sink <<= 1; break;
	}
	return n;
}

/*
 * spin() begins with its loop, by a conditional jump and another; wind() takes
 * its frame down before it calls itself, which is a call.  odd() has a byte in
 * it that is no instruction.  front() goes on in the middle of whole().
 */
int spin(int n);
int wind(int n);
void odd(void);
int whole(int n);
int front(int n);
asm(".text\n"
    ".globl	spin, wind\n"
    ".type	spin, @function\n"
    ".type	wind, @function\n"
    "spin:\n"
    "	.cfi_startproc\n"
    "	subl	$1, %edi\n"
    "	testl	$1, %edi\n"
    "	jne	spin\n"
    "	testl	%edi, %edi\n"
    "	jle	1f\n"
    "	jmp	spin\n"
    "1:	movl	$7, %eax\n"
    "	ret\n"
    "	.cfi_endproc\n"
    "	.size	spin, . - spin\n"
    "wind:\n"
    "	.cfi_startproc\n"
    "	pushq	%rbx\n"
    "	.cfi_def_cfa_offset 16\n"
    "	movl	%edi, %ebx\n"
    "	leal	-1(%rbx), %edi\n"
    "	testl	%ebx, %ebx\n"
    "	popq	%rbx\n"
    "	.cfi_def_cfa_offset 8\n"
    "	jg	wind\n"
    "	ret\n"
    "	.cfi_endproc\n"
    "	.size	wind, . - wind\n"
    ".globl	odd\n"
    ".type	odd, @function\n"
    "odd:\n"
    "	jmp	1f\n"
    "	.byte	0x06\n"
    "1:	ret\n"
    "	.size	odd, . - odd\n"
    ".globl	front, whole\n"
    ".type	front, @function\n"
    ".type	whole, @function\n"
    "front:\n"
    "	movl	$1, %eax\n"
    "	jmp	1f\n"
    "	.size	front, . - front\n"
    "whole:\n"
    "	xorl	%eax, %eax\n"
    "1:	addl	%edi, %eax\n"
    "	ret\n"
    "	.size	whole, . - whole\n");

int
main(void)
{
	const struct ops ops = { NULL, one };
	static const int with[] = { 1, -2, 3, -40, 5, -60 };
	volatile int escaped = 0;

	printf("values");
	for (int i = 0; i < 6; i++)
		printf(" %d", split(with[i]));
	printf("\n");
	for (volatile int i = 0; i < 8; i++)
		if (setjmp(env) == 0)
			leap(i % 4 == 3 ? -i : i);
		else
			escaped++;
	for (int i = 0; i < 5; i++) {
		through_reg(one, i);
		through_mem(&ops, i % 2 ? i : -i);
	}
	for (int i = 0; i < 3; i++)
		again(4, again);
	for (int i = 0; i < 16; i++)
		table(i);
	for (int i = 0; i < 4; i++)
		spin(10);
	wind(6);
	odd();
	for (int i = 0; i < 5; i++)
		sink += i % 2 ? whole(i) : front(i) + whole(front(i));
	printf("split 6 6\nleap 8 %d\none 8 8\nthrough_reg 5 5\n", 8 - escaped);
	printf(
	    "through_mem 5 5\nagain 15 15\ntable 16 16\nspin 4 4\nwind 7 7\n");
	printf("whole 5 5\nfront 6 6\n");
	return 0;
}
