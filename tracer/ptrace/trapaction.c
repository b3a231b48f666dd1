/*
 * What is known of a process's actions on signals, and what SIGTRAP's is.
 */
#include <string.h>

#include "tracer/ptrace/super.h"

/* What the handler blocks besides, of an action. */
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
	p->handler_mask[sig - 1] = handler_blocks(sig, action);
	p->handler_known |= SIGBIT(sig);
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
	trapaction_is(p, SIGTRAP, action);
	memcpy(p->trap_action, action, sizeof(p->trap_action));
	p->trap_saved = true;
	p->trap_ignored = action[ACTION_HANDLER] == HANDLER_IGNORE;
	p->trap_caught =
	    !p->trap_ignored && action[ACTION_HANDLER] != HANDLER_DEFAULT;
}

/* Of an action the kernel keeps nothing but that it ignores the signal
 * (flush_signal_handlers()). */
void
sigtrap_flushed(struct proc *p)
{
	const uint64_t left[ACTION_WORDS] = {
		p->trap_ignored ? HANDLER_IGNORE : HANDLER_DEFAULT
	};

	sigtrap_becomes(p, left);
}

void
sigtrap_cleared(struct proc *p)
{
	/* Ours was in the place of an action that ignores it. */
	p->ignore_due = p->guarded && p->trap_ignored;
	p->guarded = false;
	sigtrap_flushed(p);
}
