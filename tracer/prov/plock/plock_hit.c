/*
 * The plockstat provider at a hit: what the thread is doing, from its registers
 * and its memory.
 */

#include "dlang/base/machine.h"
#include "inject/tracepoint.h"
#include "tracer/ptrace/event.h"
#include "tracer/fire/moments.h"
#include "tracer/base/probe.h"
#include "tracer/ptrace/proc.h"
#include "tracer/prov/plock/plock_impl.h"
#include "tracer/prov/plock/plock_mem.h"
#include "tracer/sites/site.h"
#include "tracer/base/provider.h"
#include "tracer/fire/stack.h"
#include "tracer/ptrace/processor.h"
#include "tracer/fire/fire.h"
#include "tracer/fire/hit.h"
#include "tracer/base/state.h"

/* Frames between a futex call and the program's own code, at most. */
#define FRAMES_MOST 12

static const struct part thread_part = { .size = sizeof(struct plock_thread) };

static struct plock_thread *
plock_thread(struct thread *th)
{
	return part_of(&th->parts, &thread_part);
}

/* NULL if the thread has not been seen in a lock function. */
static struct plock_thread *
plock_thread_seen(const struct thread *th)
{
	return part_had(&th->parts, &thread_part);
}

static size_t
index_of(const struct plock_row *row)
{
	return (size_t)(row - plock_rows);
}

static void
fire(struct state *st, struct thread *th, const struct plock_fires *fires)
{
	const struct plock_space *ps = plock_of(th->proc->space);

	if (fires->n == 0 || !fire_wants_proc(st, th->proc))
		return;
	const struct plock_func *f = &ps->funcs[index_of(fires->row)];
	for (unsigned i = 0; i < fires->n; i++) {
		struct probe *p = f->probes[fires->at[i].event];
		if (p != NULL)
			fire_probe(st, p, th, fires->at[i].args, 3);
	}
	processor_hit(st->processor, th, st->env.timestamp);
}

/* ---- entry and return ---- */

static void
at_entry(struct state *st, struct thread *th, size_t row)
{
	struct plock_space *ps = plock_of(th->proc->space);
	const struct uregs *regs = thread_regs(th);
	struct plock_entry en = {
		.row = &plock_rows[row],
		.sp = regs->r[UREG_SP],
		.args = { regs->r[ureg_arg(0)], regs->r[ureg_arg(1)],
		    regs->r[ureg_arg(2)], regs->r[ureg_arg(3)] },
		.returns = (ps->funcs[row].armed & PLOCK_AT_RETURN) != 0,
	};
	struct plock_fires fires;
	const struct reader *mem = &th->proc->space->mem;

	if (en.row->verb == PLOCK_UNLOCK && !en.row->spin)
		en.flag = plock_is_recursive(mem, ps->musl, en.args[0]);
	else if (en.row->verb == PLOCK_RWUNLOCK)
		en.flag = plock_is_writer(mem, ps->musl, en.args[0]);
	plock_enter(&plock_thread(th)->calls, ps->lib, &en, &fires);
	fire(st, th, &fires);
}

static void
returns(struct state *st, struct thread *th, struct plock_call *call,
    uint64_t result)
{
	struct plock_space *ps = plock_of(th->proc->space);
	const struct reader *mem = &th->proc->space->mem;
	struct plock_fires fires;
	bool flag = false;

	if ((call->row->verb == PLOCK_LOCK ||
		call->row->verb == PLOCK_TRYLOCK) &&
	    !call->row->spin)
		flag = plock_is_recursive(mem, ps->musl, call->object);
	/* pthread_create() has written it there. */
	if (call->row->verb == PLOCK_CREATE && (int)result == 0)
		reader_read(
		    mem, call->object, &call->object, sizeof(call->object));
	plock_return(
	    &plock_thread(th)->calls, ps->lib, call, result, flag, &fires);
	thread_watch(th, 0);
	fire(st, th, &fires);
}

static void
at_return(struct state *st, struct thread *th)
{
	const struct uregs *regs = thread_regs(th);
	uint64_t sp = regs->r[UREG_SP], ra = 0;

	struct plock_thread *pt = plock_thread_seen(th);

	if (pt == NULL ||
	    reader_read(&th->proc->space->mem, sp, &ra, sizeof(ra)) != 0)
		return;
	struct plock_call *call = plock_returning(&pt->calls, sp, ra);
	if (call != NULL)
		returns(st, th, call, regs->r[UREG_RESULT]);
}

static void
at_watch(struct state *st, struct thread *th)
{
	const struct uregs *regs = thread_regs(th);
	/* The return instruction has popped the return address. */
	uint64_t sp = regs->r[UREG_SP] - MACHINE_CALL_BYTES;
	struct plock_thread *pt = plock_thread_seen(th);
	struct plock_call *call = pt == NULL ?
	    NULL :
	    plock_returning(&pt->calls, sp, regs->r[UREG_PC]);

	/* A signal handler may come by while the call is not over. */
	if (call != NULL)
		returns(st, th, call, regs->r[UREG_RESULT]);
}

/* ---- waiting ---- */

/* Is the call about this word? */
static bool
is_for(const struct plock_space *ps, const struct plock_call *c,
    const struct plock_futex *fx)
{
	switch (c->row->verb) {
	case PLOCK_LOCK: return fx->addr == c->object + ps->lib->mutex_word;
	case PLOCK_CONDWAIT: return fx->addr == c->mutex + ps->lib->mutex_word;
	case PLOCK_RDLOCK:
	case PLOCK_WRLOCK: return fx->addr - c->object < PLOCK_RWLOCK_SIZE;
	case PLOCK_SEMWAIT: return fx->addr - c->object < 8;
	default: return false;
	}
}

/* Add a call whose entry was not seen. */
static struct plock_call *
make_call(struct state *st, struct thread *th, const struct plock_futex *fx)
{
	const struct plock_space *ps = plock_of(th->proc->space);
	uint64_t pcs[FRAMES_MOST], object;
	struct plock_found f;

	size_t n = stack_user(th, pcs, ARRAY_SIZE(pcs));
	if (!plock_find(ps, PLOCK_BLOCKING, pcs, n, &f))
		return NULL;
	enum plock_verb verb = plock_rows[f.row].verb;
	if (!plock_object_of(ps->musl, verb, fx, &object))
		return NULL;
	return plock_found(&plock_thread(th)->calls, &plock_rows[f.row],
	    thread_regs(th)->r[UREG_SP], pcs[f.caller], object);
}

/* The lock function that a thread at a futex call is in; NULL if it is none. */
static struct plock_call *
current_call(struct state *st, struct thread *th, const struct plock_futex *fx)
{
	const struct plock_space *ps = plock_of(th->proc->space);
	uint64_t sp = thread_regs(th)->r[UREG_SP];
	struct plock_thread *pt = plock_thread_seen(th);
	struct plock_call *c = pt != NULL ? plock_in(&pt->calls, sp) : NULL;

	if (c != NULL && c->entered && (c->returns || !ps->unwinds))
		return is_for(ps, c, fx) ? c : NULL;
	/* The thread was woken, did not get the lock, and waits again. */
	if (c != NULL && !c->entered && c->blocked && c->sp == sp &&
	    th->regs.watch != 0 && is_for(ps, c, fx))
		return c;
	return ps->unwinds ? make_call(st, th, fx) : NULL;
}

static uint64_t
return_address(struct thread *th, const struct plock_call *c)
{
	uint64_t ra = c->ra;

	if (ra == 0 &&
	    reader_read(&th->proc->space->mem, c->sp, &ra, sizeof(ra)) != 0)
		return 0;
	return ra;
}

/* Watch for the return of the call, unless the function has tracepoints at its
 * returns. */
static void
await(struct state *st, struct thread *th, const struct plock_call *c)
{
	struct plock_space *ps = plock_of(th->proc->space);

	if ((ps->funcs[index_of(c->row)].armed & PLOCK_AT_RETURN) != 0)
		return;
	if (thread_watch(th, return_address(th, c)) != 0)
		plock_unwatched(st, th->proc->space);
}

static void
at_wait(struct state *st, struct thread *th, enum plock_wait how)
{
	struct plock_futex fx;
	struct plock_fires fires;

	if (!plock_futex(thread_regs(th), how, &fx) ||
	    !plock_sleeps(&th->proc->space->mem, &fx))
		return;
	struct plock_call *c = current_call(st, th, &fx);
	if (c == NULL)
		return;
	plock_blocks(c, &fires);
	if (fires.n == 0)
		return;
	await(st, th, c);
	fire(st, th, &fires);
}

static void
at_pause(struct state *st, struct thread *th, size_t row)
{
	const struct uregs *regs = thread_regs(th);
	uint64_t sp = regs->r[UREG_SP], object = regs->r[ureg_arg(0)], ra = 0;
	struct plock_calls *calls = &plock_thread(th)->calls;
	struct plock_call *c = plock_in(calls, sp);
	struct plock_fires fires;

	/* pthread_spin_lock() does not change its argument and has pushed
	 * nothing: the return address is at sp. */
	if (reader_read(&th->proc->space->mem, sp, &ra, sizeof(ra)) != 0)
		return;
	if (c == NULL || c->sp != sp || c->row != &plock_rows[row] ||
	    c->object != object)
		c = plock_found(calls, &plock_rows[row], sp, ra, object);
	plock_spins(c, &fires);
	if (c->spins == 1)
		await(st, th, c);
	fire(st, th, &fires);
}

static void
before(struct state *st, struct thread *th, struct tracepoint *tp)
{
	const struct plock_space *ps = plock_of(th->proc->space);
	const struct plock_mark *m =
	    ps != NULL ? hash_get(&ps->marks, tp->addr) : NULL;

	if (m == NULL)
		return;
	if (m->kinds & PLOCK_AT_ENTRY)
		at_entry(st, th, m->row);
	if (m->kinds & PLOCK_AT_WAIT)
		at_wait(st, th, m->how);
	if (m->kinds & PLOCK_AT_PAUSE)
		at_pause(st, th, m->row);
	if (m->kinds & PLOCK_AT_RETURN)
		at_return(st, th);
}

const struct arrival plock_arrival = { .before = before };

/* ---- threads ---- */

/* The thread is being created by pthread_create(). */
static void
on_clone(struct state *st, const struct event *ev, void *arg)
{
	struct plock_thread *pt = plock_thread_seen(ev->thread);
	struct plock_call *c = NULL;

	if (pt == NULL || ev->child == NULL || pt->calls.n == 0)
		return;
	c = &pt->calls.at[pt->calls.n - 1];
	if (c->row->verb != PLOCK_CREATE)
		return;
	pt = plock_thread(ev->child);
	pt->starts = true;
	pt->row = c->row;
	pt->start = c->args[0];
	pt->arg = c->args[1];
}

static void
fire_thread(struct state *st, struct thread *th, const struct plock_row *row,
    enum plock_event event, uint64_t a, uint64_t b)
{
	const struct uregs *regs = thread_regs(th);
	struct plock_fires fires = { .row = row, .n = 1 };

	if (regs == NULL || plock_of(th->proc->space) == NULL)
		return;
	/* pthread_self(): in both libraries it is the value of this
	 * register. */
	fires.at[0] =
	    (struct plock_fire){ event, { regs->r[UREG_THREAD], a, b } };
	fire(st, th, &fires);
}

static void
on_stop(struct state *st, const struct event *ev, void *arg)
{
	struct plock_thread *pt = plock_thread_seen(ev->thread);

	if (!ev->first || pt == NULL || !pt->starts)
		return;
	pt->starts = false;
	fire_thread(
	    st, ev->thread, pt->row, PLOCK_THREAD_START, pt->start, pt->arg);
}

static void
on_exit(struct state *st, const struct event *ev, void *arg)
{
	for (size_t i = 0; i < plock_nrows; i++)
		if (plock_rows[i].verb == PLOCK_CREATE)
			fire_thread(st, ev->thread, &plock_rows[i],
			    PLOCK_THREAD_EXIT, 0, 0);
}

/* After an exec, no call of the old program is in progress. */
static void
on_exec(struct state *st, const struct event *ev, void *arg)
{
	struct plock_thread *pt = plock_thread_seen(ev->thread);

	if (pt != NULL)
		*pt = (struct plock_thread){ 0 };
	thread_watch_lost(ev->thread);
}

void
plock_subscribe(struct state *st)
{
	if (!hit_tell_watch(st, at_watch))
		return;
	moments_subscribe(st, EV_CLONE, on_clone, NULL);
	moments_subscribe(st, EV_STOP, on_stop, NULL);
	moments_subscribe(st, EV_EXIT, on_exit, NULL);
	moments_subscribe(st, EV_EXEC, on_exec, NULL);
}
