/*
 * Notes the actions for signals of a process; see trapaction.h.
 */
#include "tracer/ptrace/trapaction.h"

#include <string.h>

#include "tracer/ptrace/super.h"

/* Reading /proc ten times a second takes less than a thousandth of the
 * time. */
#define LOOK_MS 100

/* The signals that the kernel blocks while the handler of this action runs. */
static uint64_t
handler_blocks(int sig, const uint64_t action[ACTION_WORDS])
{
	uint64_t mask = action[ACTION_MASK] & ~NEVER_BLOCKED;

	if (action[ACTION_HANDLER] == HANDLER_DEFAULT ||
	    action[ACTION_HANDLER] == HANDLER_IGNORE)
		return 0;
	return (action[ACTION_FLAGS] & SA_NODEFER) != 0 ? mask :
							  mask | SIGBIT(sig);
}

void
trapaction_is(struct proc *p, int sig, const uint64_t action[ACTION_WORDS])
{
	p->trap.handler_mask[sig - 1] = handler_blocks(sig, action);
	p->trap.handler_known |= SIGBIT(sig);
}

void
sigtrap_action_set(
    struct thread *th, int sig, const uint64_t action[ACTION_WORDS])
{
	if (sig == SIGTRAP)
		sigtrap_becomes(th->proc, action);
	else
		trapaction_is(th->proc, sig, action);
}

void
sigtrap_becomes(struct proc *p, const uint64_t action[ACTION_WORDS])
{
	struct trapaction *t = &p->trap;

	trapaction_is(p, SIGTRAP, action);
	memcpy(t->action, action, sizeof(t->action));
	t->saved = true;
	if (action[ACTION_HANDLER] == HANDLER_IGNORE)
		t->does = TRAP_IGNORED;
	else
		t->does = action[ACTION_HANDLER] == HANDLER_DEFAULT ?
		    TRAP_DEFAULT :
		    TRAP_CAUGHT;
}

void
trapaction_unsaved(struct proc *p)
{
	p->trap.saved = false;
}

void
trapaction_sent(struct proc *p)
{
	p->trap.sent = true;
}

/* What the status says about SIGTRAP. */
static enum trap_does
does_by(const struct proc_status *st)
{
	if ((st->sig_caught & SIGBIT(SIGTRAP)) != 0)
		return TRAP_CAUGHT;
	return (st->sig_ignored & SIGBIT(SIGTRAP)) != 0 ? TRAP_IGNORED :
							  TRAP_DEFAULT;
}

void
trapaction_refresh(struct proc *p, const struct proc_status *st)
{
	struct trapaction *t = &p->trap;

	if (!proc_guarded(p)) {
		t->does = does_by(st);
		t->saved = false;
	}
	memset(t->handler_mask, 0, sizeof(t->handler_mask));
	t->handler_known = 0;
}

bool
trapaction_look(struct thread *th, uint64_t now)
{
	struct trapaction *t = &th->proc->trap;
	struct proc_status st;

	if (t->looked != 0 && now - t->looked < LOOK_MS)
		return false;
	t->looked = now;
	if (procfs_status(th->tid, &st) < 0)
		return false;
	t->does = does_by(&st);
	return true;
}

void
trapaction_inherit(const struct proc *parent, struct proc *child)
{
	child->trap = parent->trap;
	child->trap.sent = child->trap.ignore_due = false;
	child->trap.looked = 0;
}

void
trapaction_handlers_gone(struct proc *p)
{
	/* The kernel had dtrap's handler, not SIG_IGN, so it has set SIG_DFL:
	 * SIG_IGN must be set again. */
	p->trap.ignore_due |= proc_guarded(p) && p->trap.does == TRAP_IGNORED;
	traphandler_is(p, HANDLER_ABSENT);
}

/* The kernel keeps SIG_IGN; any other action becomes SIG_DFL
 * (flush_signal_handlers() in kernel/signal.c). */
void
sigtrap_flushed(struct proc *p)
{
	const uint64_t left[ACTION_WORDS] = {
		p->trap.does == TRAP_IGNORED ? HANDLER_IGNORE : HANDLER_DEFAULT
	};

	sigtrap_becomes(p, left);
}

void
sigtrap_cleared(struct proc *p)
{
	trapaction_handlers_gone(p);
	sigtrap_flushed(p);
}

bool
trapaction_take_ignore(struct proc *p)
{
	bool due = p->trap.ignore_due;

	p->trap.ignore_due = false;
	return due;
}
