/*
 * See trapguard.h.  Where the text is that is to be put back is the business of
 * inject/trapset.c.
 */
#include "tracer/trapguard.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include "dlang/base/log.h"
#include "inject/tracepoint.h"
#include "inject/trapset.h"
#include "tracer/guardian.h"
#include "tracer/remote.h"
#include "tracer/super_impl.h"

/* One remote call in so many ms costs little; nor do the first ones. */
#define AGAIN_MS   20
#define AGAIN_FREE 100

static struct trapset *
traps_of(const struct space *sp)
{
	return sp->tab != NULL ? tptable_traps(sp->tab) : NULL;
}

/* What the program itself does with SIGTRAP. */
static void
own_action(const struct proc *p, uint64_t words[ACTION_WORDS])
{
	memset(words, 0, ACTION_WORDS * sizeof(*words));
	if (p->trap_caught)
		memcpy(words, p->trap_action, sizeof(p->trap_action));
}

/* Ours, or its own.  0 or -errno. */
static int
set_action(struct proc *p, struct thread *th, bool own)
{
	uint64_t words[ACTION_WORDS];
	int64_t result = 0;

	own_action(p, words);
	uint64_t addr = trapset_action(traps_of(p->space), words, own);
	const uint64_t args[6] = { SIGTRAP, addr, 0, sizeof(*words) };
	if (addr == 0)
		return -ENOMEM;
	int r = th != NULL ?
	    remote_syscall(th, SYS_rt_sigaction, args, &result) :
	    remote_syscall_in(p, SYS_rt_sigaction, args, &result);
	if (r == 0)
		r = (int)result;
	LOG("trap", "%d: %s action: %d", (int)p->pid, own ? "its own" : "our",
	    r);
	return r;
}

static void
begin_proc(struct proc *p)
{
	if (p->guarded || p->guard_tried)
		return;
	p->guard_tried = true;
	for (size_t i = 0;
	     p->trap_caught && !p->trap_saved && i < p->threads.len; i++)
		sigtrap_save(p->threads.at[i]);
	if (p->trap_ignored || (p->trap_caught && !p->trap_saved))
		return;
	p->guarded = set_action(p, NULL, false) == 0;
	vec_foreach(th, &p->threads)
		sigtrap_hide(*th);
}

void
trapguard_begin(struct space *sp, uint64_t near)
{
	struct trapset *ts = traps_of(sp);
	bool first = trapset_area(ts) == 0;

	if (trapset_map(ts, near) != 0)
		return;
	/* A program can see the handler until the watch of its signals begins,
	 * which is with the first probe.  The marker of the run-time linker
	 * comes before: it is left to the guardian, but in a program that is
	 * just starting, which looks at nothing yet and comes by there. */
	if (sp->probed || sp->starting)
		vec_foreach(p, &sp->procs)
			begin_proc(*p);
	if (first)
		guardian_add(sp, trapset_area(ts));
}

bool
trapguard_inherit(struct proc *p, uint64_t start, uint64_t size)
{
	struct target *t = &p->space->target;
	uint64_t own[ACTION_WORDS] = { 0 },
		 addr = start + offsetof(struct trap_area, action);
	const uint64_t args[6] = { SIGTRAP, addr, 0, sizeof(*own) };
	struct trap_area head;
	int64_t result;

	if (!p->trap_caught)
		return true;
	if (!p->trap_saved || t->ops->read(t, start, &head, sizeof(head)) != 0)
		return false;
	if (p->trap_action[ACTION_HANDLER] - start >= size)
		return true;
	own[ACTION_HANDLER] = head.old_handler;
	own[ACTION_FLAGS] = head.old_flags;
	if (head.old_handler > 1) { /* ours has these of it */
		own[ACTION_RESTORER] = head.action[ACTION_RESTORER];
		own[ACTION_MASK] = head.action[ACTION_MASK];
	}
	if (t->ops->write(t, addr, own, sizeof(own)) != 0 ||
	    remote_syscall_in(p, SYS_rt_sigaction, args, &result) != 0 ||
	    result != 0)
		return false;
	sigtrap_becomes(p, own);
	return true;
}

void
trapguard_started(struct space *sp)
{
	if (!sp->starting)
		return;
	sp->starting = false;
	if (sp->probed)
		return;
	vec_foreach(p, &sp->procs) {
		trapguard_end(*p);
		(*p)->guard_tried = false;
	}
}

/* A change that the watch has not seen is the program's. */
static bool
is_ours(struct proc *p)
{
	uint64_t words[ACTION_WORDS];

	if (p->space->sig_watched)
		return true;
	vec_foreach(th, &p->threads)
		if (sigtrap_read(*th, words) == 0)
			return words[ACTION_HANDLER] -
			    trapset_area(traps_of(p->space)) <
			    trap_code_size;
	return false;
}

void
trapguard_end(struct proc *p)
{
	if (!p->guarded)
		return;
	if (!is_ours(p) || set_action(p, NULL, true) == 0)
		p->guarded = false;
}

void
trapguard_lost(struct thread *th)
{
	struct proc *p = th->proc;
	uint64_t now = sigtrap_now_ms();

	if (!p->trap_caught && p->guard_losses++ >= AGAIN_FREE &&
	    now - p->guard_again < AGAIN_MS)
		return;
	p->guard_again = now;
	set_action(p, th, false);
}
