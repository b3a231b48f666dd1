/*
 * Watches the calls by which a program changes SIGTRAP's disposition and its
 * signal masks; see sigwatch.h, and sigtrap.c for the reasons.
 *
 *	program text                         known at the marker
 *	number of rt_sigaction ... [call]    act: the new action
 *	number of rt_sigprocmask ... [call]  how, set: the new mask
 *
 * A marker is an int3 at such a call (sigcalls.h), in every object, when the
 * space gets its first int3, and in objects that are loaded later.
 *
 * "Apart" means that a mask contains SIGTRAP without the signals that programs
 * treat like it, or these without SIGTRAP (trapmask_is_apart()).  If the mask
 * of a signal handler, or the mask to which it returns, is apart, dtrap must
 * see its rt_sigreturn().  In a process with several threads, or without
 * dtrap's handler, the thread therefore stops at system calls until it has made
 * that one.  A marker is not possible there: it would be an int3 that is
 * executed while SIGTRAP is blocked, which kills the program if dtrap has been
 * killed (force_sig_info_to_task()).  A thread that leaves its handler by
 * siglongjmp() is no longer stopped after RETURN_CALLS_MAX calls.
 *
 * Some programs change their mask very often.  If no mask of a space was ever
 * apart, and SIGTRAP is hidden in no thread, its markers at rt_sigprocmask are
 * removed after MASK_HITS_MAX hits: sigtrap.c guesses the masks of such a
 * program correctly.
 *
 * A C library blocks all signals while it creates a thread or a process, and
 * restores the mask afterwards.  The kernel must not get SIGTRAP in that mask
 * either, because the thread may execute an int3 then, and dtrap may be killed.
 *
 * Not seen are system calls whose number is not a constant near the call, as in
 * syscall(3), and calls in memory that belongs to no file.
 */
#include "tracer/sites/sigwatch.h"

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include "dlang/base/log.h"
#include "inject/tracepoint.h"
#include "symbols/addrspace.h"
#include "tracer/ptrace/proc.h"
#include "tracer/sites/sigcalls.h"
#include "tracer/sites/site.h"
#include "tracer/base/state.h"
#include "tracer/survive/trapcall.h"
#include "tracer/survive/trapguard.h"

/* About 10 us each: a hundredth of a second in all. */
#define MASK_HITS_MAX 1000

/* A handler may make this many system calls before its return is no longer
 * awaited. */
#define RETURN_CALLS_MAX 1000

struct scanned {
	const struct load *load;
	uint32_t from; /* load->from: an object may be loaded again */
};

struct marker {
	struct tracepoint *tp;
	int nr; /* of the system call that is made there */
};

struct sigwatch {
	VEC(struct marker) markers;
	VEC(struct scanned) scanned;
	unsigned mask_hits;
	bool gaps;    /* a marker could not be made */
	bool apart;   /* SIGTRAP was treated apart once */
	bool dropped; /* the markers on the mask are gone */
};

/* Part of a thread: how many calls of rt_sigreturn() are awaited, and at how
 * many system calls the thread will still be stopped for them. */
struct returns {
	unsigned due, calls;
};

static const struct part returns_part = { .size = sizeof(struct returns),
	.inherited = true };

static void
expect_returns(struct thread *th, struct returns *r, unsigned due)
{
	r->due = due;
	stop_want_calls(th, WANT_RETURN, due > 0);
}

/* ---- marking ---- */

static const struct arrival arrival;

static void
mark(struct state *st, struct space *sp, uint64_t addr, int nr)
{
	const char *why = NULL;
	struct tracepoint *tp = site_tracepoint(st, sp, addr, &why);

	if (tp == NULL) {
		LOG("sigwatch", "no marker at %#lx: %s", addr, why);
		sp->watch->gaps = true;
		sp->sig_watched = false;
		return;
	}
	site_tell(tp, &arrival);
	tp->late = true;
	*vec_push(&sp->watch->markers) = (struct marker){ tp, nr };
}

/* Is the address of the load code that the program does not write? */
static bool
is_code(const struct maps *maps, const struct load *l, uint64_t addr)
{
	const struct map *m = maps_at(maps, addr);

	return m != NULL && m->exec && !m->write && m->start >= l->start &&
	    m->start < l->end;
}

static void
mark_load(struct state *st, struct space *sp, const struct load *l,
    const struct maps *maps)
{
	const struct sigcalls *calls = sigcalls_of(st, l->object);

	vec_foreach(c, &calls->list)
		if (is_code(maps, l, c->addr + l->bias) &&
		    (c->nr != SYS_rt_sigprocmask || !sp->watch->dropped))
			mark(st, sp, c->addr + l->bias, c->nr);
}

static bool
was_scanned(struct sigwatch *w, const struct load *l)
{
	vec_foreach(s, &w->scanned)
		if (s->load == l && s->from == l->from)
			return true;
	*vec_push(&w->scanned) = (struct scanned){ l, l->from };
	return false;
}

void
sigwatch_loads(struct state *st, struct space *sp)
{
	struct load *const *loads;
	struct maps maps = { 0 };
	size_t n = addrspace_loads(sp->as, &loads);

	if (maps_read(addrspace_pid(sp->as), &maps) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		struct load *l = loads[i];
		if (l->seen && !l->is_vdso && !l->writable_text &&
		    !was_scanned(sp->watch, l))
			mark_load(st, sp, l, &maps);
	}
	LOG("sigwatch", "%d: %zu markers", addrspace_pid(sp->as),
	    sp->watch->markers.len);
	maps_fini(&maps);
}

/* ---- begin and end ---- */

void
sigwatch_look(struct state *st, struct space *sp)
{
	if (sp->watch != NULL)
		return;
	sp->watch = mem_zalloc(sizeof(*sp->watch));
	sigwatch_loads(st, sp);
}

void
sigwatch_begin(struct state *st, struct space *sp)
{
	sigwatch_look(st, sp);
	if (sp->masks_watched)
		return;
	sp->sig_watched = !sp->watch->gaps;
	sp->masks_watched = true;
	sigtrap_begin(sp);
}

/* The load of the child that is the copy of one of the parent's. */
static const struct load *
load_copy(
    const struct space *parent, const struct space *child, const struct load *l)
{
	struct load *const *from, *const *to;
	size_t n = addrspace_loads(parent->as, &from);

	if (addrspace_loads(child->as, &to) != n)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (from[i] == l)
			return to[i];
	return NULL;
}

void
sigwatch_fork(struct space *parent, struct space *child)
{
	const struct sigwatch *from = parent->watch;

	if (from == NULL)
		return;
	struct sigwatch *w = mem_zalloc(sizeof(*w));
	vec_foreach(m, &from->markers) {
		struct tracepoint *tp =
		    tracepoint_lookup(child->tab, m->tp->addr);
		if (tp != NULL)
			*vec_push(&w->markers) = (struct marker){ tp, m->nr };
	}
	vec_foreach(s, &from->scanned) {
		const struct load *l = load_copy(parent, child, s->load);
		if (l != NULL)
			*vec_push(&w->scanned) = (struct scanned){ l, s->from };
	}
	w->gaps = from->gaps;
	w->apart = from->apart;
	w->dropped = from->dropped;
	child->watch = w;
	child->sig_watched = parent->sig_watched;
	child->masks_watched = parent->masks_watched;
	child->mask_unseen = parent->mask_unseen;
}

void
sigwatch_end(struct space *sp)
{
	struct sigwatch *w = sp->watch;

	if (w == NULL)
		return;
	vec_fini(&w->markers);
	vec_fini(&w->scanned);
	mem_free(w);
	sp->watch = NULL;
	sp->sig_watched = sp->masks_watched = sp->mask_unseen = false;
}

/* ---- hits ---- */

static bool
sees_action(struct thread *th, struct uregs *regs)
{
	const struct target *t = &th->proc->space->target;
	uint64_t action[ACTION_WORDS], act = regs->r[ureg_call_arg(1)];
	int sig = (int)regs->r[ureg_call_arg(0)];

	if (sig == SIGTRAP && proc_guarded(th->proc))
		return trapcall_hit(th, regs);
	if (act != 0 && sig > 0 && sig <= SIGNALS && sig != SIGKILL &&
	    sig != SIGSTOP && regs->r[ureg_call_arg(3)] == SET_SIZE &&
	    t->ops->read((struct target *)t, act, action, sizeof(action)) == 0)
		sigtrap_action_set(th, sig, action);
	return false;
}

static void
sees_mask(struct thread *th, const struct uregs *regs)
{
	struct target *t = &th->proc->space->target;
	uint64_t set, addr = regs->r[ureg_call_arg(1)];
	int how = (int)regs->r[ureg_call_arg(0)];

	if (addr == 0 || regs->r[ureg_call_arg(3)] != SET_SIZE ||
	    (how != SIG_BLOCK && how != SIG_UNBLOCK && how != SIG_SETMASK) ||
	    t->ops->read(t, addr, &set, sizeof(set)) != 0)
		sigtrap_mask_set(th, SIG_BLOCK, 0);
	else
		sigtrap_mask_set(th, how, set);
}

static void
sees_return(struct thread *th, const struct uregs *regs)
{
	struct target *t = &th->proc->space->target;
	uint64_t set;

	if (t->ops->read(t, sigframe_mask(regs), &set, sizeof(set)) == 0)
		sigtrap_mask_back(th, set);
	else
		sigtrap_mask_set(th, SIG_BLOCK, 0);
}

/* The kernel is about to make the thread's rt_sigprocmask(): note the new mask.
 * SIGTRAP is shown for the call, and hidden again after it. */
static void
kernel_sets_mask(struct thread *th, const struct uregs *regs)
{
	sigtrap_show(th);
	sees_mask(th, regs);
	sigtrap_hide_after(th);
}

static void
enter_return(struct thread *th, int64_t nr)
{
	struct returns *r = part_of(&th->parts, &returns_part);
	const struct uregs *regs;

	if (--r->calls == 0)
		expect_returns(th, r, 0);
	if (nr != SYS_rt_sigreturn || (regs = thread_regs(th)) == NULL)
		return;
	if (r->due > 0)
		expect_returns(th, r, r->due - 1);
	sees_return(th, regs);
}

void
sigwatch_enter(struct thread *th)
{
	struct sigwatch *w = th->proc->space->watch;
	struct syscall_entry call;

	if ((th->stop.wants & WANT_RETURN) == 0)
		return;
	if (thread_syscall_entry(th, &call) != 0)
		call.nr = -1;
	enter_return(th, call.nr);
	if (w != NULL)
		w->apart |= sigtrap_apart(th);
}

/* A marker computes the new mask from the known one: compare that at the next
 * hit. */
static bool
look_at_mask(struct state *st, struct thread *th, struct tracepoint *tp)
{
	trapmask_doubt(th);
	return false;
}

static bool
sees_mask_call(struct thread *th, struct uregs *regs)
{
	if (trapcall_mask(th, regs))
		return true;
	kernel_sets_mask(th, regs);
	return false;
}

/* The thread is at a marker, about to make the call with these registers:
 * record what the call changes, or make it in the thread's place. */
static bool
see_call(struct thread *th, struct uregs *regs)
{
	struct sigwatch *w = th->proc->space->watch;
	bool made = false;

	switch (regs->r[UREG_CALL]) {
	case SYS_rt_sigaction: made = sees_action(th, regs); break;
	case SYS_rt_sigprocmask:
		if (w != NULL)
			w->mask_hits++;
		made = sees_mask_call(th, regs);
		break;
	default: return false;
	}
	if (w != NULL)
		w->apart |= sigtrap_apart(th);
	return made;
}

static void
see_undone(struct thread *th, const struct uregs *regs)
{
	if (regs->r[UREG_CALL] == SYS_rt_sigprocmask)
		sigtrap_mask_undo(th);
}

/* Remove the marker from tp. */
static void
unmark(struct space *sp, struct tracepoint *tp)
{
	struct tp_user *u = tp->user;

	site_tell_no_more(tp, &arrival);
	if (tp->refs == 1) {
		mem_free(u);
		tp->user = NULL;
	}
	tracepoint_put(sp->tab, tp);
}

static bool
hides(const struct space *sp)
{
	vec_foreach(p, &sp->procs)
		vec_foreach(th, &(*p)->threads)
			if (trapmask_is_hidden(*th))
				return true;
	return false;
}

/* Remove markers that are hit too often. */
static bool
settle(struct space *sp)
{
	struct sigwatch *w = sp->watch;
	size_t kept = 0;

	if (w == NULL || w->apart || w->dropped ||
	    w->mask_hits < MASK_HITS_MAX || hides(sp))
		return false;
	LOG("sigwatch", "%d: the mask is not watched any more",
	    addrspace_pid(sp->as));
	w->dropped = sp->mask_unseen = true;
	for (size_t i = 0; i < w->markers.len; i++) {
		struct marker m = w->markers.at[i];
		if (m.nr == SYS_rt_sigprocmask)
			unmark(sp, m.tp);
		else
			w->markers.at[kept++] = m;
	}
	w->markers.len = kept;
	return true;
}

static void
see_gap(struct space *sp)
{
	sp->sig_watched = false;
}

void
sigwatch_check(struct thread *th)
{
	if (!trapguard_check(th))
		see_gap(th->proc->space);
}

static const struct arrival arrival = {
	.keeps = look_at_mask,
	.instead = see_call,
	.settled = settle,
	.undone = see_undone,
	.failed = see_gap,
};

/* ---- handlers ---- */

void
sigwatch_delivered(struct thread *th)
{
	struct proc *p = th->proc;

	if (p->space->watch == NULL || !sigtrap_delivered(th))
		return;
	p->space->watch->apart = true;
	/* With one thread and dtrap's handler, the next hit shows whether
	 * SIGTRAP was blocked; with several threads it may not
	 * (sigtrap_tells()). */
	if (proc_guarded(p) && p->threads.len == 1)
		return;
	struct returns *r = part_of(&th->parts, &returns_part);
	if (r->due < UINT8_MAX)
		expect_returns(th, r, r->due + 1);
	r->calls = RETURN_CALLS_MAX;
}
