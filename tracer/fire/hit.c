/*
 * Hits; see hit.h.
 *
 * Four system calls when nothing is recorded: the wait that brought the event,
 * fetch registers, set registers, continue.
 */
#include "tracer/fire/hit.h"

#include <signal.h>

#include "dlang/base/fault.h"
#include "dlang/vm/ecb.h"
#include "inject/resume.h"
#include "inject/tracepoint.h"
#include "inject/trap/area.h"
#include "symbols/addrspace.h"
#include "tracer/fire/eval.h"
#include "tracer/ptrace/proc.h"
#include "tracer/sites/site.h"
#include "tracer/sites/sigwatch.h"
#include "tracer/ptrace/processor.h"
#include "tracer/fire/deadman.h"
#include "tracer/fire/fire.h"
#include "tracer/base/state.h"

/* Of a thread: what it has just done. */
struct trail {
	/*
	 * Do not fire at skip_addr when sp is still skip_sp: a signal was
	 * delivered while the displaced instruction there was in its slot and
	 * not begun, so the thread will trap a second time for one execution.
	 * skip_addr is 0 when there is nothing to skip.
	 */
	uint64_t skip_addr, skip_sp;
	/* The same for entry probes at loop_addr: a jump of the function itself
	 * leads there, which is no call. */
	uint64_t loop_addr, loop_sp;
	/* With this stack pointer it has jumped into the middle of a function:
	 * when it leaves that, it does not return from it.  0: it has not. */
	uint64_t door_sp;
};

static struct trail *
trail_of(struct thread *th)
{
	static const struct part part = { .size = sizeof(struct trail) };

	return part_of(&th->parts, &part);
}

/* Of a space: tracepoints that goroutines come to a second time, each with its
 * stack pointer. */
struct skip {
	uint64_t addr, sp;
};

struct skips {
	VEC(struct skip) list;
};

static void
skips_end(void *part)
{
	vec_fini(&((struct skips *)part)->list);
}

static const struct part skips_part = { .size = sizeof(struct skips),
	.end = skips_end };

/* Does a jump to `to' leave the function?  To its begin it is a call. */
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

/* It leaves a function that it has come into by a door, and not by the begin. */
static bool
is_by_door(struct thread *th, const struct site *s)
{
	uint64_t sp = s->doors ? trail_of(th)->door_sp : 0;

	return sp != 0 && sp == th->regs.user.r[UREG_SP];
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
	bool by_door = false;
	for (struct site *s = u->sites; s != NULL; s = s->next) {
		if (!site_fires(th, tp, s, looped))
			continue;
		if (is_by_door(th, s))
			by_door = true;
		else
			ecb_fire_site(&st->env, s->image->ref);
	}
	if (by_door)
		trail_of(th)->door_sp = 0;
}

/* Has the thread come here by a loop of the function that begins here? */
static bool
is_loop(struct thread *th, const struct tracepoint *tp)
{
	uint64_t sp = th->regs.user.r[UREG_SP];
	struct trail *t = trail_of(th);
	bool looped = t->loop_addr == tp->addr && t->loop_sp == sp;

	if (sp >= t->loop_sp)
		t->loop_addr = 0;
	return looped;
}

/* Does nothing happen at tp but that entries are seen? */
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

/* Goroutines that were interrupted at a tracepoint and have not come back: more
 * are not remembered. */
#define SKIPS_MOST 64

/* Go's run time has goroutines interrupted by signals, and lets any thread go on
 * with one: the stack pointer tells which it is. */
static void
skip_anywhere(struct space *sp, uint64_t addr, uint64_t stack)
{
	struct skips *s = part_of(&sp->parts, &skips_part);

	if (s->list.len == SKIPS_MOST)
		s->list.at[0] = vec_pop(&s->list);
	*vec_push(&s->list) = (struct skip){ addr, stack };
}

static bool
is_skipped(struct space *sp, uint64_t addr, uint64_t stack)
{
	struct skips *all = part_had(&sp->parts, &skips_part);

	for (size_t i = all != NULL ? all->list.len : 0; i-- > 0;) {
		struct skip *s = &all->list.at[i];
		if (s->addr != addr || s->sp != stack)
			continue;
		*s = vec_pop(&all->list);
		return true;
	}
	return false;
}

static bool
is_in_go(const struct space *sp, uint64_t addr)
{
	const struct load *l =
	    sp->as != NULL ? addrspace_load_at(sp->as, addr) : NULL;

	return l != NULL && object_is_go(l->object);
}

/* Is this the second trap of one execution?  Until it comes, the handler of the
 * signal that came first may meet tracepoints, further down the stack. */
static bool
is_second(
    struct thread *th, const struct tracepoint *tp, const struct uregs *regs)
{
	uint64_t sp = regs->r[UREG_SP];
	struct trail *t = trail_of(th);
	bool second = t->skip_addr == tp->addr && t->skip_sp == sp;

	if (sp >= t->skip_sp)
		t->skip_addr = 0;
	return second || is_skipped(th->proc->space, tp->addr, sp);
}

/* The probes at tp, unless this is the second trap of one execution. */
static void
fire(struct state *st, struct thread *th, struct tracepoint *tp,
    struct uregs *regs)
{
	struct tp_user *u = tp->user;
	bool looped = is_loop(th, tp);
	struct firing f;

	if (is_second(th, tp, regs))
		return;
	if (u == NULL)
		return;
	arrivals_foreach(a, u) if (a->before != NULL) a->before(st, th, tp);
	if (u->sites == NULL || st->store_mem.base == NULL ||
	    !fire_wants_cpu(st, th))
		return;
	eval_begin(&f, st, th, (struct occasion){ 0 });
	processor_hit(st->processor, th, st->env.timestamp);
	fire_sites(st, th, tp, u, looped);
	eval_end(&f);
	fire_after(st);
}

/*
 * A SIGTRAP that somebody sent, in a thread whose pc happens to be one behind a
 * tracepoint.  With a longer instruction there that is inside of it, where no
 * thread ever stops; with one of one byte it is the next instruction, and only
 * the signal's origin tells.  An int3 says SI_KERNEL; a single step of the
 * program's own, TRAP_TRACE.  While SIGTRAP is blocked nothing but an int3
 * brings it.
 */
static bool
is_stray(struct thread *th, const struct tracepoint *tp)
{
	siginfo_t si;
	bool reset;

	if (tp->len != 1 || thread_siginfo(th, &si) < 0 ||
	    si.si_code == TRAP_CODE || si.si_code == TRAP_BRKPT)
		return false;
	return sigtrap_tells(th, &reset) ? !reset : !sigtrap_blocked(th);
}

/* A SIGTRAP that a tracer had dealt with when it was killed, or that its debug
 * register has raised: nobody wants it any more. */
static bool
is_inherited(struct thread *th)
{
	siginfo_t si;

	return th->proc->space->inherited && thread_siginfo(th, &si) == 0 &&
	    (si.si_code == TRAP_DONE || si.si_code == TRAP_HWBKPT);
}

/*
 * What is a byte long and has no slot is a nop.  Its trap has left the pc where
 * the nop would have: there is nothing to write back.
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
 * A jump of a function to its own begin, which is no call, has been made.  The
 * trap that the thread would go to is spared where nobody wants it; else it is
 * told from a call by what is noted here.
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
	trail_of(th)->loop_addr = to;
	trail_of(th)->loop_sp = th->regs.user.r[UREG_SP];
}

/* The effect of the instruction at tp, or its slot. */
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
		/* A call or jump through a bad pointer: the fault that the
		 * processor would have raised at the original place. */
		regs->r[UREG_PC] = tp->addr;
		thread_fault(th, SIGSEGV, SEGV_MAPERR, fault_addr);
		jumps = false;
	}
	write_back(th, tp);
	if (jumps && u->doors)
		trail_of(th)->door_sp = regs->r[UREG_SP];
	if (jumps && u->loops)
		loop_on(th, to);
}

/* A trap of no tracepoint that there is now. */
static void
pass_on(struct state *st, struct thread *th, uint64_t addr, bool stray)
{
	struct tptable *tab = th->proc->space->tab;

	if (!stray && tab != NULL && tracepoint_recent(tab, addr)) {
		/* It was under way when its tracepoint went. */
		th->regs.user.r[UREG_PC] = addr;
		thread_regs_dirty(th);
		thread_mend_sigtrap(th);
		return;
	}
	if (is_inherited(th))
		return;
	stop_signal(th, SIGTRAP); /* the program's own */
	hit_signal(st, th);
}

/* The program's own int3, in whose place is ours: it gets its SIGTRAP. */
static void
own_trap(struct thread *th, const struct tracepoint *tp)
{
	th->regs.user.r[UREG_PC] = tp->addr + TRAP_PC_AFTER;
	stop_signal(th, SIGTRAP);
	thread_regs_dirty(th);
	sigwatch_delivered(th);
}

/* What to do when the probes have fired, by those who were told.  They may free
 * what hangs on the tracepoint. */
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

bool
hit_trap(struct state *st, struct thread *th)
{
	struct tptable *tab = th->proc->space->tab;
	struct uregs *regs = thread_regs(th);

	if (regs == NULL)
		return true; /* killed: its end will be reported */
	fault_kill("hit-regs");
	if (thread_at_watch(th)) {
		st->at_watch(st, th);
		thread_mend_sigtrap(th);
		return true;
	}
	uint64_t addr = regs->r[UREG_PC] - TRAP_PC_AFTER;
	struct tracepoint *tp =
	    tab != NULL ? tracepoint_lookup(tab, addr) : NULL;
	bool stray = tp != NULL && is_stray(th, tp);
	if (tp != NULL && !stray)
		return at_tracepoint(st, th, tp);
	pass_on(st, th, addr, stray);
	return true;
}

/* The address in a signal that says which instruction is to blame. */
static void
mend_si_addr(struct thread *th, struct tptable *tab)
{
	siginfo_t si;

	if ((th->stop.sig != SIGILL && th->stop.sig != SIGFPE &&
		th->stop.sig != SIGTRAP) ||
	    thread_siginfo(th, &si) < 0 || si.si_code <= 0 ||
	    si.si_code == TRAP_CODE)
		return;
	uint64_t addr = (uintptr_t)si.si_addr;
	uint64_t text = resume_text_pc(tab, addr);
	if (text == addr)
		return;
	si.si_addr = (void *)(uintptr_t)text;
	thread_set_siginfo(th, &si);
}

/* What has fired at addr will trap once more. */
static void
note_skip(struct thread *th, uint64_t addr, uint64_t sp)
{
	if (is_in_go(th->proc->space, addr)) {
		skip_anywhere(th->proc->space, addr, sp);
		return;
	}
	trail_of(th)->skip_addr = addr;
	trail_of(th)->skip_sp = sp;
}

static void
tell_undone(
    struct thread *th, const struct tracepoint *tp, const struct uregs *regs)
{
	if (tp->user != NULL)
		arrivals_foreach(a, (struct tp_user *)tp->user) if (a->undone !=
		    NULL) a->undone(th, regs);
}

/* Out of a slot, before anybody sees it. */
static void
leave_slot(struct thread *th, struct tptable *tab, struct uregs *regs)
{
	struct tracepoint *tp;

	switch (resume_leave_slot(tab, regs, &tp)) {
	case SLOT_OUTSIDE: return;
	case SLOT_BEFORE:
		if (tp != NULL && tp->state == TP_TRAP) {
			note_skip(th, tp->addr, regs->r[UREG_SP]);
			tell_undone(th, tp, regs);
		}
		break;
	case SLOT_AFTER: break;
	}
	thread_regs_dirty(th);
	mend_si_addr(th, tab);
}

void
hit_signal(struct state *st, struct thread *th)
{
	struct tptable *tab = th->proc->space->tab;
	struct uregs *regs;

	/* Registers only when there can be a slot to leave. */
	if (tab == NULL || (regs = thread_regs(th)) == NULL)
		return;
	leave_slot(th, tab, regs);
	sigwatch_delivered(th);
}
