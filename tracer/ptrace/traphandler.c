/*
 * Notes whether dtrap's handler for SIGTRAP is installed; see traphandler.h.
 */
#include "tracer/ptrace/traphandler.h"

#include <string.h>

#include "tracer/ptrace/proc.h"

void
traphandler_sets(struct proc *p)
{
	p->handler.losses++;
}

void
traphandler_set(struct proc *p, const uint64_t action[ACTION_WORDS])
{
	memcpy(p->handler.action, action, sizeof(p->handler.action));
	if (p->handler.state == HANDLER_LOST)
		p->handler.state = HANDLER_IN;
}

void
traphandler_is(struct proc *p, enum handler_state state)
{
	p->handler.state = state;
	if (state == HANDLER_ABSENT)
		p->handler.outdated = false;
}

void
traphandler_outdated(struct proc *p, bool outdated)
{
	p->handler.outdated = outdated;
}

void
traphandler_inherit(const struct proc *parent, struct proc *child)
{
	child->handler.state =
	    proc_guarded(parent) ? HANDLER_IN : HANDLER_ABSENT;
	memcpy(child->handler.action, parent->handler.action,
	    sizeof(child->handler.action));
}
