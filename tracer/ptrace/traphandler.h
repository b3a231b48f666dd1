/*
 * Is dtrap's handler for SIGTRAP (inject/trap/) installed in a process, in place
 * of the program's action?  tracer/survive/trapguard.c installs and removes it,
 * and says so here.  Only traphandler.c writes struct traphandler.
 *
 *	HANDLER_ABSENT --installed--------------------------> HANDLER_IN
 *	HANDLER_IN     --removed by an int3-----------------> HANDLER_LOST
 *	HANDLER_LOST   --traphandler_set(): installed again-> HANDLER_IN
 *	any            --its own action, exec---------------> HANDLER_ABSENT
 */
#ifndef TRACER_PTRACE_TRAPHANDLER_H
#define TRACER_PTRACE_TRAPHANDLER_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/ptrace/trapaction.h"

struct proc;

enum handler_state {
	HANDLER_ABSENT,
	HANDLER_IN,
	HANDLER_LOST, /* an int3 has removed it, and it is not installed again
		       * yet */
};

struct traphandler {
	enum handler_state state;
	bool outdated;   /* the program's action was reset by SA_RESETHAND; the
			* handler still performs the one before, whose handler
			* may be about to run */
	unsigned losses; /* how often an int3 may have removed it */
	uint64_t action[ACTION_WORDS]; /* the action in the kernel */
};

/* The kernel's action is about to be set.  After that /proc does not show any
 * more whether an int3 had removed the handler. */
void traphandler_sets(struct proc *p);
/* It was set to this action. */
void traphandler_set(struct proc *p, const uint64_t action[ACTION_WORDS]);
void traphandler_is(struct proc *p, enum handler_state state);
/* Does the handler perform an action that the program has no more? */
void traphandler_outdated(struct proc *p, bool outdated);
/* A process was created by fork. */
void traphandler_inherit(const struct proc *parent, struct proc *child);

#endif
