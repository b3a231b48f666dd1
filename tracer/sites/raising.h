/*
 * The jumps that are about to be written in a space, and the threads in the way of
 * each.
 *
 * At that moment no thread may be at an instruction that a jump replaces, except the
 * first, or come back there: by a hit that is not handled yet, out of a slot, from a
 * signal's handler, or out of the code of another site.  The same goes for goroutines
 * on whose stacks no thread is.
 */
#ifndef TRACER_SITES_RAISING_H
#define TRACER_SITES_RAISING_H

#include "dlang/base/vec.h"
#include "tracer/sites/groups.h"

struct space;
struct tracepoint;

struct covered {
	struct group group;
	bool busy; /* a thread is in it, or may return into it */
	bool own;  /* a thread is in code for one of it, and goes on in it */
};

struct raising {
	VEC(struct place) places;       /* `of' is a tracepoint */
	VEC(struct covered) list;       /* in order of their begin */
	VEC(struct tracepoint *) ready; /* their code is made */
	size_t read;                    /* bytes of stacks */
	VEC(uint64_t) tops;             /* stack pointers of threads */
	bool go;                        /* there are goroutines */
	bool failed; /* not every thread could be looked at */
};

/* Mark those in whose way a thread is.  All threads must be stopped. */
void raising_look(struct raising *r, struct space *sp);
void raising_end(struct raising *r);

#endif
