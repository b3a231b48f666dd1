/* A till whose cash goes away, to be traced. */
#include <stdio.h>

static long cash;

__attribute__((noinline)) static void
sell(long cents)
{
	cash += cents;
}

__attribute__((noinline)) static void
tidy(void)
{
	cash = 0;
}

int
main(void)
{
	for (int i = 1; i <= 5; i++) {
		sell(i * 100);
		if (i == 3)
			tidy();
	}
	printf("%ld cents\n", cash);
	return 0;
}
