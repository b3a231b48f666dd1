/*
 * The lanes of threads, and threads in the middle of a firing; see fast.h.
 *
 *	no lane --first stop, or first firing----> lane, UREG_LANE leads to it
 *	  ^                                                 |
 *	  +------------ its end, exec, detach --------------+
 *
 * The register UREG_LANE of a thread is the address of its lane.  Programs
 * usually have 0 there.  If a program uses the register itself, dtrap does not
 * change it: the thread has a lane, but all its hits are by trap.
 */
#include <signal.h>

#include "dlang/vm/dyn.h"
#include "inject/resume.h"
#include "symbols/maps.h"
#include "tracer/base/state.h"
#include "tracer/consume/consume.h"
#include "tracer/fast/fast_impl.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/super.h"

static void
space_part_end(void *part)
{
	struct fast_space *f = part;

	vec_fini(&f->lanes);
	vec_fini(&f->copied);
	bodies_end(f);
}

static const struct part space_part = { .size = sizeof(struct fast_space),
	.end = space_part_end };

struct fast_space *
fast_of(const struct space *sp)
{
	struct fast_space *f = part_had(&sp->parts, &space_part);

	return f != NULL && f->id != 0 ? f : NULL;
}

struct fast_space *
fast_begin(struct space *sp)
{
	return part_of(&sp->parts, &space_part);
}

/* Instead of the id of a fast_space: no memory is mapped in the thread's
 * space. */
#define NOWHERE UINT64_MAX

/* Part of a thread. */
struct lane_of {
	uint64_t space; /* id of the fast_space; 0: the thread has no lane */
	uint32_t n;     /* index in its lanes */
	bool refused;   /* that space had no free lane */
	bool elsewhere; /* it may have self-> in the tracer's store */
	uint64_t begun; /* id for which fast_begins() has been done */
	bool called;    /* asked to trap at the end of its firing */
	bool by_trap;   /* fast_by_trap() */
	uint64_t room;  /* the lane's stack_len before that, or 0 */
	unsigned moved; /* how often its stack was another one, up to MOVES */
	VEC(siginfo_t) held; /* signals that are kept until then */
};

static void
lane_of_end(void *part)
{
	vec_fini(&((struct lane_of *)part)->held);
}

static const struct part lane_part = { .size = sizeof(struct lane_of),
	.end = lane_of_end };

/*
 * Part of a thread, and of the first thread of a fork's child: the memory to which
 * dtrap has led UREG_LANE of the thread, or of its maker.  What is in there at the
 * first stop is no value of the program's.  Later it may be: the child does not
 * have its maker's memory, and may map its own at that place.
 */
struct led {
	uint64_t addr, size;
};

static const struct part led_part = { .size = sizeof(struct led),
	.inherited = true };

/* The thread's lane in this memory; NULL if it has none. */
static struct lane_use *
use_of(const struct fast_space *f, const struct thread *th)
{
	const struct lane_of *o = part_had(&th->parts, &lane_part);

	return o != NULL && o->space == f->id && !o->refused ?
	    &f->lanes.at[o->n] :
	    NULL;
}

struct fast_space *
fast_there(const struct thread *th)
{
	struct fast_space *f =
	    th->proc != NULL ? fast_of(th->proc->space) : NULL;

	return f != NULL && f->addr != 0 ? f : NULL;
}

/* The thread's lane in the memory of its process, or NULL. */
static struct lane_use *
use_there(const struct thread *th)
{
	const struct fast_space *f = fast_there(th);

	return f != NULL ? use_of(f, th) : NULL;
}

static bool
is_in(const struct fast_space *f, uint64_t addr)
{
	return addr - f->addr < f->size;
}

/* ---- giving ---- */

/* The thread's variables go from one store to the other. */
static void
move_self(struct state *st, const struct thread *th,
    const struct lane_view *from, const struct lane_view *to)
{
	uint32_t lost = dyn_move(&from->self, &to->self, th->birth + 1);

	if (lost > 0)
		st->env.at.lane->drops[DROP_DYNAMIC] += lost;
}

static struct lane_use *
give(struct state *st, struct fast_space *f, struct thread *th)
{
	struct lane_of *o = part_of(&th->parts, &lane_part);

	if (o->space == f->id)
		return use_of(f, th);
	o->space = f->id;
	o->refused = false;
	for (o->n = 0; o->n < f->lanes.len; o->n++) {
		struct lane_use *u = &f->lanes.at[o->n];
		if (u->owner != NULL)
			continue;
		struct lane_owner owner = {
			.thread = th->birth + 1,
			.pid = (uint32_t)th->proc->pid,
			.tid = (uint32_t)th->tid,
			.followed = th->proc->role.followed,
			.self = fast_addr(f, u->v.lane),
			.clock = f->now,
			.text = f->text,
		};
		if (f->now != 0)
			ticks_rate(&st->fast->ticks, &owner.tick_most,
			    &owner.tick_rate);
		u->owner = th;
		o->moved = 0;
		o->room = 0;
		lane_give(&u->v, &owner);
		if (o->elsewhere)
			move_self(st, th, &st->env.at, &u->v);
		o->elsewhere = false;
		return u;
	}
	o->refused = true;
	return NULL;
}

/* Has dtrap set UREG_LANE of the thread, or of its maker, to this? */
static bool
is_ours(const struct fast_space *f, const struct led *led, uint64_t addr)
{
	return (f != NULL && is_in(f, addr)) || addr - led->addr < led->size;
}

/* Set UREG_LANE of a stopped thread to `to' (0: no lane), unless the program
 * uses the register.  False: its registers are not available. */
static bool
lead_to(struct thread *th, uint64_t to, struct lane *lane)
{
	const struct fast_space *f = fast_there(th);
	struct uregs *regs = thread_ends(th) ? NULL : thread_regs(th);
	struct led was, *led = part_of(&th->parts, &led_part);

	if (regs == NULL)
		return false;
	was = *led;
	*led = (struct led){ 0 };
	if (f != NULL)
		*led = (struct led){ f->addr, f->size };
	if (lane != NULL && lane->memory != regs->r[UREG_THREAD])
		lane->memory = regs->r[UREG_THREAD];
	uint64_t now = regs->r[UREG_LANE];
	if (now == to || (now != 0 && !is_ours(f, &was, now)))
		return true;
	regs->r[UREG_LANE] = to;
	thread_regs_dirty(th);
	return true;
}

/* After so many changes of its stack, a thread's lane is for every stack between
 * those on which it was seen: each change costs a trap. */
#define MOVES 32U

/* The thread, which is stopped and has the lane, may hit by jump on the stack on
 * which it is now. */
static void
stands_on(struct thread *th, struct lane *l)
{
	struct lane_of *o = part_of(&th->parts, &lane_part);
	const struct uregs *regs = thread_regs(th);
	uint64_t at = regs != NULL ? regs->r[UREG_SP] : 0, end;
	struct maps maps = { 0 };
	const struct map *m;

	if (at == 0 || o->by_trap || at - l->stack_at < l->stack_len ||
	    maps_read(th->proc->pid, &maps) < 0)
		return;
	m = maps_at(&maps, at);
	if (m != NULL) {
		at = m->start;
		end = m->end;
		/* A stack that has grown is the same. */
		if (l->stack_len != 0 && l->stack_at + l->stack_len != end &&
		    o->moved < MOVES)
			o->moved++;
		if (o->moved >= MOVES) {
			at = MIN(at, l->stack_at);
			end = MAX(end, l->stack_at + l->stack_len);
		}
		l->stack_at = at;
		l->stack_len = end - at;
	}
	maps_fini(&maps);
}

void
fast_by_trap(struct thread *th, bool yes)
{
	struct lane_of *o = part_of(&th->parts, &lane_part);
	struct lane_use *u = use_there(th);

	if (u != NULL && yes != o->by_trap) {
		/* On no stack; then on the same as before. */
		struct lane *l = u->v.lane;
		uint64_t room = yes ? 0 : o->room;
		o->room = l->stack_len;
		l->stack_len = room;
	}
	o->by_trap = yes;
}

static void
fires_elsewhere(const struct state *st, struct thread *th)
{
	if (st->fast != NULL)
		((struct lane_of *)part_of(&th->parts, &lane_part))->elsewhere =
		    true;
}

const struct lane_view *
fast_lane(struct state *st, struct thread *th)
{
	struct fast_space *f = fast_there(th);
	struct lane_use *u = NULL;

	if (f != NULL && !thread_gone(th)) {
		u = use_of(f, th);
		if (u == NULL && !thread_ends(th))
			u = give(st, f, th);
	}
	if (u == NULL) {
		fires_elsewhere(st, th);
		return NULL;
	}
	if (lead_to(th, fast_addr(f, u->v.lane), u->v.lane))
		stands_on(th, u->v.lane);
	return lane_is_busy(&u->v) && !thread_ends(th) ? NULL : &u->v;
}

const struct lane_view *
fast_firing(struct thread *th)
{
	struct lane_use *u = use_there(th);

	return u != NULL ? &u->v : NULL;
}

void
fast_begins(struct state *st, struct thread *th)
{
	struct fast_space *f = fast_there(th);

	struct lane_of *o;
	struct lane_use *u;

	if (st->fast == NULL || thread_gone(th) || thread_ends(th))
		return;
	o = part_of(&th->parts, &lane_part);
	if (o->begun == (f != NULL ? f->id : NOWHERE))
		return;
	u = f != NULL ? give(st, f, th) : NULL;
	/* Without a lane UREG_LANE leads to the beginning of the store, which
	 * can be read, and which the stub does not take for a lane. */
	uint64_t none = f != NULL ? fast_addr(f, f->store.base) : 0;
	if (lead_to(th, u != NULL ? fast_addr(f, u->v.lane) : none,
		u != NULL ? u->v.lane : NULL))
		o->begun = f != NULL ? f->id : NOWHERE;
}

/* ---- taking ---- */

static void
take(struct state *st, struct fast_space *f, struct lane_use *u)
{
	st->fast->hits += u->v.lane->hits;
	lane_take(&u->v);
	consume_lanes_end(st->consume, &f->store, (int)u->v.number);
	u->owner = NULL;
}

void
fast_ends(struct state *st, struct thread *th)
{
	struct lane_of *o = part_had(&th->parts, &lane_part);

	if (st->fast == NULL || o == NULL)
		return;
	vec_foreach(f, &st->fast->spaces) {
		struct lane_use *u = use_of(*f, th);
		if (u != NULL)
			take(st, *f, u);
	}
	o->space = 0;
}

void
fast_executed(struct state *st, struct thread *th)
{
	struct led *led = part_had(&th->parts, &led_part);

	fast_ends(st, th);
	if (led != NULL)
		*led = (struct led){ 0 };
}

void
lanes_give_up(struct state *st, struct fast_space *f)
{
	vec_foreach(u, &f->lanes) {
		if (u->owner == NULL)
			continue;
		st->fast->hits += u->v.lane->hits;
		/* It may go on, if it has executed a program. */
		move_self(st, u->owner, &u->v, &st->env.at);
		fires_elsewhere(st, u->owner);
	}
}

void
lanes_let_go(struct state *st, struct proc *p)
{
	struct fast_space *f = fast_of(p->space);
	bool there = f != NULL && f->addr != 0;

	vec_foreach(th, &p->threads) {
		struct lane_use *u = there ? use_of(f, *th) : NULL;
		bool fires = !thread_gone(*th) && fast_fires(*th);
		/* After the detach no tracer would handle the trap. */
		if (u != NULL)
			u->v.lane->call = u->v.lane->ask = 0;
		if (fires)
			continue;
		fast_ends(st, *th);
		if (!thread_gone(*th))
			lead_to(*th, 0, NULL);
	}
}

uint64_t
lanes_hits(const struct state *st)
{
	uint64_t n = 0;

	if (st->fast == NULL)
		return 0;
	vec_foreach(f, &st->fast->spaces)
		vec_foreach(u, &(*f)->lanes)
			if (u->owner != NULL)
				n += u->v.lane->hits;
	return st->fast->hits + n;
}

/* ---- hits that do not fire ---- */

bool
fast_skip(struct thread *th, uint64_t addr, uint64_t stack)
{
	struct lane_use *u = use_there(th);

	if (u == NULL)
		return false;
	u->v.lane->skip_at = addr;
	u->v.lane->skip_sp = stack;
	return true;
}

/* The stub of a site decides in the same way. */
bool
fast_skips(struct thread *th, uint64_t addr, uint64_t stack)
{
	struct lane_use *u = use_there(th);
	struct lane *l = u != NULL ? u->v.lane : NULL;

	if (l == NULL || l->skip_sp == 0 || stack < l->skip_sp)
		return false;
	bool skips = l->skip_sp == stack && l->skip_at == addr;
	l->skip_sp = 0;
	return skips;
}

/* ---- in the middle of a firing ---- */

/* The thread is in the VM, or it is in the part of a stub or in a body, in which the
 * lane is busy. */
bool
fast_fires(struct thread *th)
{
	struct fast_space *f = fast_there(th);
	struct uregs *regs;
	struct tracepoint *tp;

	if (f == NULL || !thread_stopped(th) || thread_ends(th) ||
	    (regs = thread_regs(th)) == NULL)
		return false;
	if (is_in(f, regs->r[UREG_SP]) || is_in(f, regs->r[UREG_PC]))
		return true;
	struct uregs r = *regs;
	return resume_leave_stub(th->proc->space->tab, &r, &tp) == SLOT_FIRING;
}

bool
fast_is_away(struct thread *th)
{
	const struct fast_space *f = fast_there(th);
	const struct uregs *regs = f != NULL ? thread_regs(th) : NULL;

	return regs != NULL && is_in(f, regs->r[UREG_SP]);
}

void
fast_call(struct thread *th)
{
	struct lane_use *u = use_there(th);
	struct lane_of *o = part_of(&th->parts, &lane_part);

	if (u == NULL)
		return;
	__atomic_store_n(&u->v.lane->call, 1, __ATOMIC_RELEASE);
	o->called = true;
}

bool
fast_was_called(struct thread *th)
{
	struct lane_of *o = part_had(&th->parts, &lane_part);

	if (o == NULL || !o->called)
		return false;
	struct lane_use *u = use_there(th);
	if (u != NULL)
		u->v.lane->call = 0;
	o->called = false;
	return true;
}

void
fast_hold_signal(struct thread *th)
{
	struct lane_of *o = part_of(&th->parts, &lane_part);
	siginfo_t si;

	if (thread_siginfo(th, &si) == 0)
		*vec_push(&o->held) = si;
	stop_signal(th, 0);
	fast_call(th);
}

bool
fast_keeps_signals(struct thread *th)
{
	struct lane_of *o = part_had(&th->parts, &lane_part);

	return o != NULL && o->held.len > 0;
}

void
fast_let_signals(struct thread *th)
{
	struct lane_of *o = part_of(&th->parts, &lane_part);

	thread_signals_instead(th, o->held.at, o->held.len);
	vec_clear(&o->held);
}

/* A thread that cannot be stopped, in a page fault of a displaced instruction, say:
 * it goes on to the checks of its code or of other code. */
static bool
is_on_its_way(struct thread *th)
{
	struct tptable *tab = th->proc->space->tab;
	uint64_t pc, sp;

	return !thread_stopped(th) && !thread_ends(th) && tab != NULL &&
	    (thread_pc(th, &pc, &sp) < 0 || resume_stub_at(tab, pc) != NULL ||
		resume_stub_shared(tab, pc));
}

bool
fast_in_use(struct proc *p)
{
	bool in = false;

	vec_foreach(th, &p->threads) {
		if (thread_gone(*th))
			continue;
		in |= is_on_its_way(*th);
		if (!fast_fires(*th))
			continue;
		fast_call(*th);
		in = true;
	}
	return in;
}
