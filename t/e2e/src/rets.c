/*
 * Ways out of a function: plain returns, a tail call, a conditional tail
 * call, longjmp, and recursion.  Counts its own calls and returns.
 */
#include <setjmp.h>

#include "trigger.h"

static jmp_buf env;
volatile int sink;

NOINLINE int
last(int n)
{
	sink = n;
	return n + 1;
}

/* gcc -O2 turns these calls into jumps. */
NOINLINE int
tail(int n)
{
	sink = n;
	return last(n * 2);
}

NOINLINE int
maybe_tail(int n)
{
	if (__builtin_expect(n > 10, 0))
		return last(n);
	return n;
}

/* Leaves by a conditional jump: counted as a return when it is taken. */
int cond_leave(int n);
__asm__(".globl cond_leave\n"
	".type cond_leave, @function\n"
	"cond_leave:\n"
	"	cmp $10, %edi\n"
	"	jg last\n"
	"	mov %edi, %eax\n"
	"	ret\n"
	".size cond_leave, . - cond_leave\n");

NOINLINE int
deep(int n)
{
	int r = n == 0 ? 0 : deep(n - 1) + 1;

	sink = r;
	return r;
}

NOINLINE int
escapes(int n)
{
	sink = n;
	if (n > 1)
		longjmp(env, n);
	return n;
}

int
main(void)
{
	volatile int caught = 0;
	volatile int sum = 0;

	trigger_init();
	for (int i = 0; i < 20; i++)
		sum += maybe_tail(i) + cond_leave(i);
	for (int i = 0; i < 5; i++)
		sum += tail(i);
	sum += deep(50);
	for (volatile int i = 0; i < 4; i++)
		if (setjmp(env) == 0)
			sum += escapes(i);
		else
			caught++;
	printf("sum %d caught %d\n", sum, caught);
	/* last(): 9 from each of the first two for 11..19, 5 from tail() */
	printf("last 23 tail 5 maybe_tail 20 cond_leave 20 deep 51 "
	       "escapes 4 back 2\n");
	return 0;
}
