/*
 * Hits; see hit.h.
 *
 * A hit that records nothing takes four system calls: the wait that brought the
 * event, get registers, set registers, continue.
 */
#include "tracer/fire/hit.h"

#include <signal.h>

#include "dlang/base/fault.h"
#include "dlang/vm/ecb.h"
#include "inject/resume.h"
#include "inject/tracepoint.h"
#include "inject/trap/area.h"
#include "tracer/fast/fast.h"
#include "tracer/fire/eval.h"
#include "tracer/fire/stray.h"
#include "tracer/fire/trail.h"
#include "tracer/ptrace/proc.h"
#include "tracer/sites/jumps.h"
#include "tracer/sites/site.h"
#include "tracer/sites/sigwatch.h"
#include "tracer/ptrace/datawatch.h"
#include "tracer/ptrace/processor.h"
#include "tracer/fire/deadman.h"
#include "tracer/fire/fire.h"
#include "tracer/base/state.h"
#include "tracer/fire/stores.h"

/* Does a jump to `to' leave the function? A jump to its first instruction
 * counts as leaving: it is a tail call. */
static bool
is_outside(const struct image_site *s, uint64_t to)
{
	for (unsigned i = 0; i < s->nranges; i++)
		if (to > s->ranges[i].start - (i > 0) && to < s->ranges[i].end)
			return false;
	return true;
}

static bool
site_fires(
    struct thread *th, struct tracepoint *tp, const struct site *s, bool looped)
{
	const struct uregs *regs = &th->regs.user;
	struct tptable *tab = th->proc->space->tab;
	uint64_t to;

	switch (s->when) {
	case SITE_ALWAYS: return true;
	case SITE_TAKEN: return resume_branch_goes(tab, tp, regs, &to);
	case SITE_OUTSIDE:
		return resume_branch_goes(tab, tp, regs, &to) &&
		    is_outside(s->image, to);
	case SITE_ENTRY: return !looped;
	case SITE_LOOP:
	case SITE_DOOR: break;
	}
	return false;
}

static void
fire_sites(struct state *st, struct thread *th, struct tracepoint *tp,
    struct tp_user *u, bool looped)
{
	for (struct site *s = u->sites; st->deadman->on && s != NULL;
	     s = s->next)
		deadman_fired(st, s->probe);
	if (!u->choosy) {
		ecb_fire_tracepoint(&st->env, tp->id);
		return;
	}
	uint64_t sp = th->regs.user.r[UREG_SP];
	bool by_door = false;
	for (struct site *s = u->sites; s != NULL; s = s->next) {
		if (!site_fires(th, tp, s, looped))
			continue;
		if (s->doors && trail_is_by_door(th, sp))
			by_door = true;
		else
			ecb_fire_site(&st->env, s->image->ref);
	}
	if (by_door)
		trail_leave(th);
}

/* Does tp have only sites for function entries? */
static bool
is_entry_only(const struct tracepoint *tp)
{
	const struct tp_user *u = tp->user;

	if (tp->was_trap || u == NULL || u->arrivals[0] != NULL)
		return false;
	for (const struct site *s = u->sites; s != NULL; s = s->next)
		if (s->when != SITE_ENTRY)
			return false;
	return true;
}

/* Fire the probes at tp, unless this is the second trap of one execution. */
static void
fire(struct state *st, struct thread *th, struct tracepoint *tp,
    struct uregs *regs)
{
	struct tp_user *u = tp->user;
	uint64_t sp = regs->r[UREG_SP];
	bool looped = trail_is_loop(th, tp->addr, sp);
	struct firing f;

	/* A clause that runs in the thread has asked the vDSO for the time. */
	if (fast_is_away(th) || trail_is_second(th, tp->addr, sp) || u == NULL)
		return;
	if (u->sites != NULL) {
		fast_trapped(st);
		jumps_trapped(st, th->proc->space);
		u->trapped++;
	}
	arrivals_foreach(a, u) if (a->before != NULL) a->before(st, th, tp);
	if (u->sites == NULL || st->stores->store_mem.base == NULL ||
	    !fire_wants_cpu(st, th))
		return;
	eval_begin(&f, st, th, (struct occasion){ 0 });
	processor_hit(st->processor, th, st->env.timestamp);
	fire_sites(st, th, tp, u, looped);
	eval_end(&f);
	fire_after(st);
}

/*
 * An instruction that is one byte long and has no slot is a nop. The trap has
 * left the pc behind it, so the registers need not be set.
 */
static void
write_back(struct thread *th, const struct tracepoint *tp)
{
	thread_regs_lead(th, tp->slot != 0);
	if (tp->len == 1 && tp->slot == 0)
		thread_regs_moved(th);
	else
		thread_regs_dirty(th);
}

/*
 * The thread has executed a jump to the first instruction of its function,
 * which is no call. If only entry probes are at that instruction, run it at
 * once: the trap there would fire nothing. Otherwise record that the next trap
 * there is not an entry.
 */
static void
loop_on(struct thread *th, uint64_t to)
{
	struct tptable *tab = th->proc->space->tab;
	struct tracepoint *tp = tracepoint_lookup(tab, to);
	uint64_t fault_addr;

	if (tp == NULL)
		return;
	if (is_entry_only(tp) &&
	    resume_from(tab, tp, &th->regs.user, &fault_addr) == 0) {
		thread_regs_lead(th, tp->slot != 0);
		thread_regs_dirty(th);
		return;
	}
	trail_loop(th, to, th->regs.user.r[UREG_SP]);
}

/* Apply the effect of the instruction at tp, or move the thread to its slot. */
static void
go_on(struct thread *th, struct tracepoint *tp)
{
	struct tptable *tab = th->proc->space->tab;
	const struct tp_user *u = tp->user;
	struct uregs *regs = &th->regs.user;
	uint64_t to, fault_addr;
	bool jumps = u != NULL && (u->loops || u->doors) &&
	    resume_branch_goes(tab, tp, regs, &to);

	if (resume_from(tab, tp, regs, &fault_addr) != 0) {
		/* A call or jump through a bad pointer: raise the fault that
		 * the processor would have raised at the original place. */
		regs->r[UREG_PC] = tp->addr;
		thread_regs_dirty(th);
		thread_fault(th, SIGSEGV, SEGV_MAPERR, fault_addr);
		return;
	}
	write_back(th, tp);
	if (jumps && u->doors)
		trail_come_by_door(th, regs->r[UREG_SP]);
	if (jumps && u->loops)
		loop_on(th, to);
}

/* The program has an int3 of its own where the tracepoint is: deliver the
 * SIGTRAP to it. */
static void
own_trap(struct thread *th, const struct tracepoint *tp)
{
	th->regs.user.r[UREG_PC] = tp->addr + TRAP_PC_AFTER;
	stop_signal(th, SIGTRAP);
	thread_regs_dirty(th);
	sigwatch_delivered(th);
}

/* Continue the thread after the probes have fired, as the arrival hooks say. A
 * hook may free what hangs on the tracepoint. False: keep the thread
 * stopped. */
static bool
go_on_told(struct state *st, struct thread *th, struct tracepoint *tp,
    const struct tp_user u)
{
	struct uregs *regs = &th->regs.user;
	uint64_t after = tp->addr + tp->len;
	bool keep = false, made = false;

	arrivals_foreach(a, &u) if (a->keeps != NULL) keep |=
	    a->keeps(st, th, tp);
	thread_mend_sigtrap(th);
	arrivals_foreach(a, &u) if (a->instead != NULL) made |=
	    a->instead(th, regs);
	if (made) {
		regs->r[UREG_PC] = after;
		thread_regs_dirty(th);
		return !keep;
	}
	go_on(th, tp);
	fault_kill("hit-moved");
	arrivals_foreach(a, &u) if (a->settled != NULL &&
	    a->settled(th->proc->space)) sites_commit(st, th->proc->space);
	return !keep;
}

static bool
at_tracepoint(struct state *st, struct thread *th, struct tracepoint *tp)
{
	static const struct tp_user nobody;
	const struct tp_user *u;

	th->regs.user.r[UREG_PC] = tp->addr;
	fire(st, th, tp, &th->regs.user);
	fault_kill("hit-fired");
	if (tp->was_trap) {
		own_trap(th, tp);
		return true;
	}
	u = tp->user;
	return go_on_told(st, th, tp, u != NULL ? *u : nobody);
}

/* Part of the run: who is told of watched addresses, and of watched data. */
struct told {
	watch_fn code, data;
};

static struct told *
told_of(struct state *st)
{
	static const struct part part = { .size = sizeof(struct told) };

	return part_of(&st->parts, &part);
}

bool
hit_tell_watch(struct state *st, watch_fn fn)
{
	struct told *told = told_of(st);

	if (told->code != NULL)
		return false;
	told->code = fn;
	return true;
}

void
hit_tell_data(struct state *st, watch_fn fn)
{
	told_of(st)->data = fn;
}

/* The thread has reached the address that thread_watch() set, or has accessed
 * data that is watched: the signal for that does not change how SIGTRAP is
 * treated. */
static void
at_watch(struct state *st, struct thread *th)
{
	const struct told *told = told_of(st);

	if (told->data != NULL)
		told->data(st, th);
	if (told->code != NULL)
		told->code(st, th);
	thread_mend_sigtrap(th);
}

/* The trap is in the code that a jump leads to. Either the clauses need the
 * tracer, or dtrap asked the thread to trap after they ran. */
static bool
at_stub(struct state *st, struct thread *th, struct tracepoint *tp)
{
	bool over = fast_was_called(th);

	if (tp->state == TP_TRAP && !over)
		return at_tracepoint(st, th, tp);
	th->regs.user.r[UREG_PC] = tp->addr;
	thread_regs_dirty(th);
	thread_mend_sigtrap(th);
	if (!fast_keeps_signals(th)) {
		if (tp->state == TP_TRAP)
			go_on(th, tp);
		return true;
	}
	/* The signal handlers of the program must not see a pc in the stub: the
	 * thread goes back to the tracepoint, which does not fire a second
	 * time. */
	jumps_let(st, th->proc->space, tp, tp->addr);
	fast_let_signals(th);
	if (tp->state == TP_TRAP)
		trail_skip(th, tp->addr, th->regs.user.r[UREG_SP]);
	sigwatch_delivered(th);
	return true;
}

/* One of the tracepoint's sites, by its reference in the image. */
static struct site *
site_of(const struct tracepoint *tp, uint32_t ref)
{
	const struct tp_user *u = tp->user;
	struct site *s = u != NULL ? u->sites : NULL;

	while (s != NULL && s->image->ref != ref)
		s = s->next;
	return s;
}

/* In the middle of a firing in the thread, a predicate was true: carry out the
 * actions, with the registers of the site. */
static void
fire_rest(struct state *st, struct thread *th, const struct tracepoint *tp,
    const struct fast_rest *asked)
{
	struct uregs *regs = thread_regs(th), own = *regs;
	struct site *s = site_of(tp, asked->site_ref);
	struct firing f;

	if (s == NULL || st->stores->store_mem.base == NULL)
		return;
	if (st->deadman->on)
		deadman_fired(st, s->probe);
	*regs = asked->regs;
	eval_begin(&f, st, th, (struct occasion){ .within = true });
	if (asked->timestamp != 0)
		st->env.timestamp = asked->timestamp;
	processor_hit(st->processor, th, st->env.timestamp);
	ecb_fire_rest(&st->env, asked->site_ref, asked->ecb_ref);
	eval_end(&f);
	*regs = own;
	fast_rested(st);
	fire_after(st);
}

bool
hit_asks(struct state *st, struct thread *th)
{
	struct fast_rest asked;

	struct space *sp = th->proc->space;
	struct uregs *regs =
	    fast_is_on(st) && sp->tab != NULL ? thread_regs(th) : NULL;
	struct tracepoint *tp = regs == NULL ?
	    NULL :
	    resume_stub_asks(sp->tab, regs->r[UREG_PC] - TRAP_PC_AFTER);

	if (tp == NULL)
		return false;
	if (fast_asks_rest(th, &asked))
		fire_rest(st, th, tp, &asked);
	else if (!fast_answer(th))
		jumps_asked(sp, tp);
	thread_mend_sigtrap(th);
	return true;
}

bool
hit_trap(struct state *st, struct thread *th)
{
	struct tptable *tab = th->proc->space->tab;
	struct uregs *regs = thread_regs(th);

	if (regs == NULL)
		return true; /* it was killed: event.c will report its end */
	fault_kill("hit-regs");
	uint64_t addr = regs->r[UREG_PC] - TRAP_PC_AFTER;
	if (thread_at_watch(th)) {
		at_watch(st, th);
		return true;
	}
	struct tracepoint *tp =
	    tab != NULL ? tracepoint_lookup(tab, addr) : NULL;
	if (tp == NULL && tab != NULL && resume_stub_trap(tab, addr, &tp))
		return at_stub(st, th, tp);
	if (tp != NULL && !stray_is(th, tp))
		return at_tracepoint(st, th, tp);
	stray_pass_on(st, th, addr, tp);
	return true;
}
