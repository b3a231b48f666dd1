/*
 * Memory that looks like what a killed dtrap has left, and that names another
 * process, PID, as the one who puts it back: it began SINCE.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inject/trap/area.h"

#define SIZE 16384

int
main(int argc, char **argv)
{
	struct trap_area *a = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char line[16];

	if (argc < 3 || a == MAP_FAILED)
		return 2;
	*a = (struct trap_area){
		.magic = TRAP_MAGIC,
		.first = sizeof(*a),
		.size = SIZE,
		.keeper = (uint32_t)strtoul(argv[1], NULL, 10),
		.keeper_since = strtoull(argv[2], NULL, 10),
	};
	if (mprotect(a, SIZE, PROT_READ | PROT_EXEC) != 0)
		return 2;
	puts("ready");
	fflush(stdout);
	return fgets(line, sizeof(line), stdin) != NULL;
}
