/*
 * A large private anonymous mapping that may be read and executed, as JIT
 * compilers reserve: GIB of them, of which a few pages are there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((noinline)) static int
work(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

int
main(int argc, char **argv)
{
	size_t size = (argc > 1 ? strtoul(argv[1], NULL, 0) : 64) << 30;
	volatile char *at = mmap(NULL, size, PROT_READ | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char line[16];
	int n = 0;

	if (at == MAP_FAILED) {
		perror("mmap");
		return 77;
	}
	/* Read, they are the zero page, all of them. */
	for (size_t i = 0; i < 64; i++)
		(void)at[i * (size / 64)];
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) != NULL)
		n = work(n);
	printf("lines %d\n", n);
	return 0;
}
