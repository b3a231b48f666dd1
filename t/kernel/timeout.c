/*
 * timeout(1) with limits that are $SLOW times longer, for a machine that is so
 * much slower.  No script: tests close descriptors, which the shell would open.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *
longer(const char *limit, long times)
{
	static char text[2][32];
	static int n;
	char *end;
	long seconds = strtol(limit, &end, 10);

	if (*limit == '\0' || *end != '\0' || n == 2)
		return (char *)limit;
	snprintf(text[n], sizeof(text[n]), "%ld", seconds * times);
	return text[n++];
}

int
main(int argc, char **argv)
{
	const char *slow = getenv("SLOW");
	long times = slow != NULL ? atol(slow) : 1;
	int i = 1;

	/* -k LIMIT and -s SIGNAL stand before the limit. */
	for (; i + 1 < argc && argv[i][0] == '-'; i += 2)
		if (strcmp(argv[i], "-k") == 0)
			argv[i + 1] = longer(argv[i + 1], times);
	if (i < argc)
		argv[i] = longer(argv[i], times);
	execv("/usr/bin/timeout", argv);
	perror("timeout");
	return 125;
}
