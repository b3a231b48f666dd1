/*
 * Reports system-call stops to subscribers; see syscalls.h.
 *
 *	enter-stop --> the entry is told
 *	exit-stop  --> the return is told, unless the call was interrupted by
 *	               our own PTRACE_INTERRUPT: then it is `held' until
 *	                 - the same call is entered again: nothing happened
 *	                 - a signal is delivered first: it is told then
 */
#include "tracer/fire/syscalls.h"

#include <string.h>
#include <sys/syscall.h>

#include "tracer/ptrace/event.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/processor.h"
#include "tracer/sites/sigwatch.h"
#include "tracer/base/state.h"
#include "tracer/survive/trapcall.h"

#define ERRNO_MAX 4095

void
syscalls_subscribe(struct state *st, unsigned nr, enum syscall_side side,
    syscall_fn fn, void *arg)
{
	ASSERT(nr < SYSCALL_MAX);
	*vec_push(&st->syscalls->of[nr][side]) =
	    (struct syscall_sub){ .fn = fn, .arg = arg };
	super_want_syscalls(st->super, true);
	if (st->started)
		super_ignore_filters(st->super);
}

void
syscalls_unsubscribe(struct state *st, const void *arg)
{
	size_t left = 0;

	for (size_t i = 0; i < (size_t)SYSCALL_MAX * SYSCALL_SIDES; i++) {
		size_t nr = i / SYSCALL_SIDES, side = i % SYSCALL_SIDES, to = 0;
		vec_foreach(s, &st->syscalls->of[nr][side])
			if (s->arg != arg)
				st->syscalls->of[nr][side].at[to++] = *s;
		st->syscalls->of[nr][side].len = to;
		left += to;
	}
	if (left == 0)
		super_want_syscalls(st->super, false);
}

void
syscalls_fini(struct syscalls *sc)
{
	for (size_t nr = 0; nr < SYSCALL_MAX; nr++)
		for (size_t side = 0; side < SYSCALL_SIDES; side++)
			vec_fini(&sc->of[nr][side]);
}

static bool
is_wanted(const struct state *st, int nr, enum syscall_side side)
{
	return nr >= 0 && nr < SYSCALL_MAX &&
	    st->syscalls->of[nr][side].len > 0;
}

static void
tell(struct state *st, const struct syscall_hit *hit)
{
	/* By index, because a subscriber may add subscriptions. */
	for (size_t i = 0; i < st->syscalls->of[hit->nr][hit->side].len; i++) {
		struct syscall_sub s =
		    st->syscalls->of[hit->nr][hit->side].at[i];
		s.fn(st, hit, s.arg);
	}
}

static void
tell_entry(struct state *st, struct thread *th, bool restarted)
{
	const struct syscall_call *c = &th->call;

	if (!is_wanted(st, c->nr, SYSCALL_ENTRY))
		return;
	struct syscall_hit hit = { .thread = th,
		.side = SYSCALL_ENTRY,
		.nr = (unsigned)c->nr,
		.restarted = restarted };
	memcpy(hit.args, c->args, sizeof(hit.args));
	tell(st, &hit);
}

static void
tell_return(struct state *st, struct thread *th)
{
	const struct syscall_call *c = &th->call;

	call_end(th);
	if (!is_wanted(st, c->nr, SYSCALL_RETURN))
		return;
	struct syscall_hit hit = { .thread = th,
		.side = SYSCALL_RETURN,
		.nr = (unsigned)c->nr,
		.result = c->result };
	if (c->result < 0 && c->result >= -ERRNO_MAX)
		hit.error = (int)-c->result;
	memcpy(hit.args, c->args, sizeof(hit.args));
	tell(st, &hit);
}

/* Is this the call that a stop of ours interrupted, entered again? */
static bool
is_held(const struct syscall_call *c, const struct syscall_entry *e)
{
	return c->state == CALL_HELD &&
	    (e->nr == SYS_restart_syscall ||
		(e->nr == c->nr &&
		    memcmp(e->args, c->args, sizeof(e->args)) == 0));
}

static void
entered(struct state *st, struct thread *th)
{
	const struct syscall_call *c = &th->call;
	struct syscall_entry e;

	if (thread_syscall_entry(th, &e) != 0)
		return;
	if (is_held(c, &e)) {
		call_goes_on(th);
		return;
	}
	if (c->state == CALL_HELD)
		tell_return(st, th);
	bool again = call_enter(th, &e);
	tell_entry(st, th, again || e.nr == SYS_restart_syscall);
}

static void
returned(struct state *st, struct thread *th)
{
	const struct syscall_call *c = &th->call;
	struct syscall_entry e;

	/* Most calls have no subscriber. */
	if (call_is_known(c) && !is_wanted(st, c->nr, SYSCALL_ENTRY) &&
	    !is_wanted(st, c->nr, SYSCALL_RETURN)) {
		call_end(th);
		return;
	}
	struct uregs *regs = thread_regs(th);
	if (regs == NULL)
		return;
	if (!call_is_known(c)) {
		if (!thread_syscall_regs(th, &e))
			return;
		call_found(th, &e);
	}
	call_returned(th, (int64_t)regs->r[UREG_RESULT]);
	if (!syscall_restarts(c->result)) {
		tell_return(st, th);
		return;
	}
	if (th->stop.broken_off) {
		call_hold(th);
		return;
	}
	call_comes_again(th, regs->r[UREG_PC], regs->r[UREG_SP]);
	tell_return(st, th);
}

/* The thread was stopped by the seccomp filter instead of at the entry. */
static void
filtered(struct state *st, struct thread *th)
{
	if (!thread_filter_is_ours(th)) {
		thread_refuse_call(th);
		return;
	}
	/* If all system calls stop, the entry has been reported already. */
	if (super_ignores_filters(st->super))
		return;
	stop_want_calls(th, WANT_EXIT, true);
	entered(st, th);
}

void
syscalls_event(struct state *st, const struct event *ev)
{
	stop_want_calls(ev->thread, WANT_EXIT, false);
	if (ev->kind == EV_SYSCALL_EXIT &&
	    (ev->thread->stop.wants & WANT_HIDE) != 0) {
		stop_want_calls(ev->thread, WANT_HIDE, false);
		sigtrap_hide(ev->thread);
	}
	if (ev->kind == EV_SYSCALL_EXIT)
		trapcall_leave(ev->thread);
	if (ev->kind == EV_SECCOMP)
		filtered(st, ev->thread);
	else if (ev->kind == EV_SYSCALL_ENTER)
		entered(st, ev->thread);
	else
		returned(st, ev->thread);
	if (ev->kind != EV_SYSCALL_EXIT) {
		sigwatch_enter(ev->thread);
		trapcall_enter(ev->thread);
	}
	/* A stop that nobody asked for costs the same two wake-ups as a hit. */
	if (!is_wanted(st, ev->thread->call.nr,
		ev->kind == EV_SYSCALL_EXIT ? SYSCALL_RETURN : SYSCALL_ENTRY))
		processor_hit(st->processor, ev->thread, timer_now());
}

void
syscalls_made(
    void *ctx, struct thread *th, const struct syscall_entry *e, int64_t result)
{
	struct state *st = ctx;

	if (th->call.state == CALL_HELD)
		tell_return(st, th);
	tell_entry(st, th, call_enter(th, e));
	call_returned(th, result);
	tell_return(st, th);
}

void
syscalls_signal(struct state *st, struct thread *th)
{
	const struct syscall_call *c = &th->call;
	struct uregs *regs;

	if (c->state != CALL_HELD || (regs = thread_regs(th)) == NULL)
		return;
	call_comes_again(th, regs->r[UREG_PC], regs->r[UREG_SP]);
	tell_return(st, th);
}
