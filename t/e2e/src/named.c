/*
 * Calls named() as its input says: a line is how often, a number for each call,
 * and a name, which is the rest of the line.  It answers each line.
 */
#include "trigger.h"

static volatile long sum;

NOINLINE void
named(const char *name, long value)
{
	sum += value + name[0];
}

int
main(void)
{
	char line[1024], *name;

	trigger_init();
	puts("ready");
	while (fgets(line, sizeof(line), stdin) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		long count = strtol(line, &name, 10);
		long value = strtol(name, &name, 10);
		for (long i = 0; i < count; i++)
			named(name + 1, value);
		puts("done");
	}
	return 0;
}
