/*
 * The processes that the user named, by -p or -c.  drive/targets.c
 * counts those that begin, drive/targets_event.c those that end.
 *
 *	none yet --the first begins--> any, pid is its --the last ends--> left 0
 */
#ifndef TRACER_BASE_NAMED_H
#define TRACER_BASE_NAMED_H

#include <stdbool.h>
#include <sys/types.h>

struct named {
	bool any;      /* there was at least one */
	bool set;      /* all of a name, and those that come: the run does not
			* end with the last */
	unsigned left; /* number that have not ended */
	pid_t pid;     /* of the first one, also after its end; 0: none */
};

#endif
