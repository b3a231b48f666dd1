/*
 * What workloads share: programs that do a known amount of a known thing.
 */
#ifndef T_WORKLOAD_H
#define T_WORKLOAD_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

/* A workload that did not do what it says must not look like one that did. */
#define must(e)                                                          \
	do {                                                             \
		if (!(e)) {                                              \
			fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, \
			    __LINE__, #e);                               \
			exit(99);                                        \
		}                                                        \
	} while (0)

#endif
