/*
 * Takes known shares of its time in functions that are at known depths: five
 * tenths in half(), three in third(), two in fifth(), for ever.
 */
#include "../trigger.h"

#define TURNS 20000

static volatile unsigned sink;

/* The same work in each, in its own text. */
#define WORK(n)                                                          \
	do {                                                             \
		unsigned v = sink;                                       \
		for (unsigned i = 0; i < (n)*TURNS; i++)                 \
			__asm__ volatile("imul $7, %0, %0\n\tadd $3, %0" \
					 : "+r"(v));                     \
		sink = v;                                                \
	} while (0)

NOINLINE void
half(void)
{
	WORK(5);
}

NOINLINE void
third(void)
{
	WORK(3);
}

NOINLINE void
fifth(void)
{
	WORK(2);
}

NOINLINE void
deeper(int n)
{
	if (n == 0)
		third();
	else
		deeper(n - 1);
	sink++;
}

NOINLINE void
both(void)
{
	half();
	deeper(5);
	sink++;
}

int
main(void)
{
	trigger_init();
	printf("ready\n");
	for (;;) {
		both();
		fifth();
	}
}
