/*
 * stale: at a line it writes, all over an array on its stack, what looks like the
 * frames of signals that have interrupted code in each executable mapping without a
 * name, and says how many of these there are.  The array is there until the end of
 * its input, and so is the program.
 */
#include <inttypes.h>
#include <stdint.h>

#include "trigger.h"

#define WORDS    2048
#define USER_CS  0x33
#define MAPS_MAX 16

static uint64_t starts[MAPS_MAX];

/* Those without a name. */
static unsigned
look_for_code(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512], rights[8], path[256];
	unsigned n = 0;
	uint64_t start;

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "%" SCNx64 "-%*x %7s %*s %*s %*s %255s",
			&start, rights, path) == 2 &&
		    rights[2] == 'x' && n < MAPS_MAX)
			starts[n++] = start;
	if (f != NULL)
		fclose(f);
	return n;
}

/* The next line comes while the array is there. */
static NOINLINE void
fill(void)
{
	volatile uint64_t words[WORDS];
	unsigned n = look_for_code();
	char line[80];

	/* Each a pc, with the word behind it of either kind of frame. */
	for (unsigned i = 0; n > 0 && i + 3 <= WORDS; i += 3) {
		words[i] = starts[i / 3 % n] + 64;
		words[i + 1] = words[i + 2] = USER_CS;
	}
	printf("filled %u\n", n);
	if (fgets(line, sizeof(line), stdin) != NULL)
		exit(3);
}

int
main(void)
{
	trigger_init();
	trigger_wait();
	fill();
	puts("done wrong 0");
	return 0;
}
