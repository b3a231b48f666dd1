/*
 * What every trigger program does first: allow any tracer of the same user
 * (where the Yama module would allow only ancestors), and write line by line
 * so that a test can wait for a line.
 */
#ifndef T_E2E_TRIGGER_H
#define T_E2E_TRIGGER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static inline void
trigger_init(void)
{
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	setvbuf(stdout, NULL, _IOLBF, 0);
}

/* Tell the test that we are ready, and wait until it writes a line. */
static inline void
trigger_wait(void)
{
	char line[80];

	printf("ready %d\n", (int)getpid());
	if (fgets(line, sizeof(line), stdin) == NULL)
		exit(3);
}

#endif
