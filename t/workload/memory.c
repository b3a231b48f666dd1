/*
 * memory KEPT FREED: allocates and says what is true then.  From kept():
 * KEPT blocks of 100 bytes that are never freed; from freed(): FREED blocks of
 * 3000 bytes that are; grown() makes a block of 10 bytes one of 5000, which is
 * kept.
 */
#include "t/workload/workload.h"

static void *volatile sink;

NOINLINE static void
kept(int n)
{
	for (int i = 0; i < n; i++)
		sink = malloc(100);
	sink = NULL;
}

NOINLINE static void
freed(int n)
{
	for (int i = 0; i < n; i++) {
		sink = malloc(3000);
		free(sink);
	}
	sink = NULL;
}

NOINLINE static void
grown(void)
{
	sink = malloc(10);
	sink = realloc(sink, 5000);
	sink = NULL;
}

int
main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	kept(atoi(argv[1]));
	freed(atoi(argv[2]));
	grown();
	return 0;
}
