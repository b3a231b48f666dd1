/*
 * The processes that the user named, by -p or -c.  Only drive/targets.c writes
 * this.
 *
 *	none yet --the first begins--> any, pid is its --the last ends--> left 0
 */
#ifndef TRACER_BASE_NAMED_H
#define TRACER_BASE_NAMED_H

#include <stdbool.h>
#include <sys/types.h>

struct named {
	bool any;      /* there has been one */
	unsigned left; /* not gone yet */
	pid_t pid;     /* of the first, also after it is gone; 0: none */
};

#endif
