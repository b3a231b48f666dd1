/*
 * Functions with room for a jump and without.  Says "ready", waits for the end of
 * its input, and calls them.
 */
#include "trigger.h"

/* One after the other: no padding is behind any of them. */
__asm__(".text\n"
	".globl roomy, tiny, both, leaves\n"
	".type roomy, @function\n"
	".type tiny, @function\n"
	".type both, @function\n"
	".type leaves, @function\n"
	"roomy:\n"
	"	lea 1(%rdi,%rdi), %rax\n" /* 5 bytes */
	"	ret\n"
	".size roomy, . - roomy\n"
	"tiny:\n"
	"	ret\n"
	".size tiny, . - tiny\n"
	"both:\n"
	"	test %edi, %edi\n"
	"	jne 1f\n"
	"	mov $7, %eax\n" /* 5 bytes */
	"	ret\n"
	"1:	ret\n" /* is jumped to */
	".size both, . - both\n"
	"leaves:\n"
	"	cmp $3, %edi\n"
	"	je roomy\n"
	"	mov $4, %eax\n"          /* 5 bytes */
	"	lea (%rax,%rax), %rax\n" /* and 5 with the next */
	"	ret\n"
	".size leaves, . - leaves\n"
	"	call *%rax\n" /* of no function */
	".balign 16, 0x90\n");

long roomy(long n);
void tiny(void);
int both(int n);
long leaves(long n);

int
main(void)
{
	trigger_init();
	printf("ready\n");
	while (getchar() != EOF)
		;
	tiny();
	printf("%ld\n", roomy(3));
	printf("%d\n", both(0));
	both(1);
	printf("%ld\n", leaves(1) + leaves(3));
	return 0;
}
