/*
 * Notes the actions for signals of a process: which signals each handler
 * blocks, and the whole action for SIGTRAP.
 */
#include <string.h>

#include "tracer/ptrace/super.h"

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

/* The kernel keeps SIG_IGN; any other action becomes SIG_DFL
 * (flush_signal_handlers() in kernel/signal.c). */
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
	/* The kernel had dtrap's handler, not SIG_IGN, so it has set SIG_DFL:
	 * SIG_IGN must be set again. */
	p->ignore_due = p->guarded && p->trap_ignored;
	p->guarded = false;
	sigtrap_flushed(p);
}
