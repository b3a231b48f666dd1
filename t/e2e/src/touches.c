/*
 * touches PAGES: after a line, writes to each of so many new pages once, in order,
 * and says where they are: "pages 7f0123456000".
 */
#include <sys/mman.h>

#include "trigger.h"

NOINLINE void
touch(volatile char *at)
{
	*at = 1;
}

int
main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;

	trigger_init();
	trigger_wait();
	char *at = mmap(NULL, n * 4096, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED || madvise(at, n * 4096, MADV_NOHUGEPAGE) != 0)
		return 1;
	for (size_t i = 0; i < n; i++)
		touch(at + i * 4096);
	printf("pages %lx\n", (unsigned long)at);
	return 0;
}
