/*
 * Changes the state of a thread.  stop.h draws the states and all changes.
 */
#include "tracer/ptrace/stop.h"

#include "tracer/ptrace/super.h"

enum thread_state
stop_begin(struct thread *th)
{
	struct stop *s = &th->stop;
	enum thread_state before = s->state;

	/* A stopped thread that is killed stops once more, at EV_EXIT. */
	ASSERT(before != TH_GONE);
	s->state = TH_STOPPED;
	s->sig = 0;
	s->asleep = s->past_event = s->has_info = false;
	return before;
}

static void
enter_call(struct stop *s)
{
	s->call = CALL_INSIDE;
	s->broken_off = s->asked != ASK_NOTHING;
}

/* The thread has made another stop than the one that was requested.  That stop
 * clears a pending PTRACE_INTERRUPT (ptrace_stop() in kernel/signal.c), whose
 * stop will not come. */
static void
outrun(struct stop *s)
{
	if (s->asked == ASK_EVENT)
		s->asked = ASK_STOP;
}

static void
note_event(struct stop *s, enum event_kind kind)
{
	if (kind == EV_EXIT)
		s->life = LIFE_ENDS;
	else if (kind == EV_EXEC)
		s->life = LIFE_RUNS;
	else if (s->life != LIFE_ENDS)
		s->life = kind == EV_VFORK ? LIFE_VFORK : LIFE_RUNS;
}

void
stop_is(struct thread *th, enum event_kind kind)
{
	struct stop *s = &th->stop;

	ASSERT(s->state == TH_STOPPED);
	s->kind = kind;
	if (kind == EV_STOP || kind == EV_GROUP_STOP)
		return;
	outrun(s);
	switch (kind) {
	case EV_TRAP:
	case EV_SIGNAL: return;
	case EV_SYSCALL_ENTER: enter_call(s); return;
	case EV_SYSCALL_EXIT:
		enter_call(s);
		s->call = CALL_OUTSIDE;
		return;
	case EV_EXEC:
		s->asked = ASK_NOTHING;
		s->call = CALL_INSIDE;
		break;
	case EV_SECCOMP: s->call = CALL_INSIDE; break;
	default: break;
	}
	note_event(s, kind);
}

void
stop_answered(struct thread *th)
{
	ASSERT(thread_stopped(th));
	th->stop.asked = ASK_NOTHING;
}

void
stop_becomes(struct thread *th, enum event_kind kind)
{
	ASSERT(thread_stopped(th));
	th->stop.kind = kind;
}

void
stop_signal(struct thread *th, int sig)
{
	th->stop.sig = sig;
}

void
stop_info(struct thread *th, const siginfo_t *si)
{
	th->stop.has_info = si != NULL;
	if (si != NULL)
		th->stop.info = *si;
}

void
stop_end(struct thread *th, bool listens)
{
	ASSERT(thread_stopped(th));
	th->stop.state = listens ? TH_LISTENING : TH_RUNNING;
}

void
stop_wait(struct thread *th)
{
	ASSERT(thread_stopped(th));
	th->stop.state = TH_WAITING;
}

void
stop_stay(struct thread *th)
{
	if (th->stop.state == TH_WAITING)
		th->stop.state = TH_STOPPED;
}

enum thread_state
stop_lend(struct thread *th)
{
	enum thread_state was = th->stop.state;

	ASSERT(thread_stopped(th));
	th->stop.state = TH_RUNNING;
	return was;
}

void
stop_return(struct thread *th, enum thread_state was)
{
	ASSERT(th->stop.state == TH_RUNNING);
	th->stop.state = was;
	th->stop.has_info = false;
}

void
stop_pass_event(struct thread *th)
{
	ASSERT(thread_stopped(th) && !th->stop.past_event);
	th->stop.past_event = true;
}

void
stop_regroup(struct thread *th, bool regroup)
{
	th->stop.regroup = regroup;
}

void
stop_owe_exit(struct thread *th)
{
	struct stop *s = &th->stop;

	ASSERT(thread_stopped(th) && s->past_event);
	s->past_event = false;
	s->kind = EV_SYSCALL_EXIT;
	enter_call(s);
	s->call = CALL_OUTSIDE;
}

void
stop_gone(struct thread *th)
{
	ASSERT(th->stop.state != TH_GONE);
	th->stop.state = TH_GONE;
	th->stop.asleep = false;
	stop_take(th);
}

void
stop_force(
    struct thread *th, enum thread_state state, enum event_kind kind, int sig)
{
	th->stop.state = state;
	th->stop.kind = kind;
	th->stop.sig = sig;
	th->stop.has_info = false;
}

void
stop_ask(struct thread *th, bool event)
{
	if (event)
		th->stop.asked = ASK_EVENT;
	else if (th->stop.asked == ASK_NOTHING)
		th->stop.asked = ASK_STOP;
}

void
stop_lose_calls(struct thread *th)
{
	th->stop.call = CALL_UNKNOWN;
}

void
stop_want_calls(struct thread *th, enum call_want want, bool on)
{
	if (on)
		th->stop.wants |= want;
	else
		th->stop.wants &= ~(unsigned)want;
}

void
stop_hold(struct thread *th, bool held)
{
	th->stop.held = held;
}

void
stop_sleeps(struct thread *th, bool asleep)
{
	ASSERT(!asleep || !thread_stopped(th));
	th->stop.asleep = asleep;
}

void
stop_queue(struct thread *th)
{
	th->stop.queued++;
}

void
stop_unqueue(struct thread *th)
{
	struct stop *s = &th->stop;

	ASSERT(s->queued > 0);
	s->queued--;
	if (s->queued > 0 || !s->executed)
		return;
	/* A signal is for the program before. */
	s->executed = false;
	s->sig = 0;
}

void
stop_executed(struct thread *th)
{
	ASSERT(thread_stopped(th) && th->stop.queued > 0);
	th->stop.executed = true;
}

void
stop_leave_untaken(struct thread *th)
{
	ASSERT(!th->stop.untaken);
	th->stop.untaken = true;
	th->proc->super->untaken++;
}

void
stop_take(struct thread *th)
{
	if (th->stop.untaken)
		th->proc->super->untaken--;
	th->stop.untaken = false;
}
