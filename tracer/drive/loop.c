/*
 * The event loop; see loop.h.
 *
 * Events come from event_poll(), which blocks in one wait system call. Timers
 * and the user's signals interrupt it (event_interrupt()) and set a flag. The
 * loop checks the flags between two events, so that no timer or signal is lost
 * or delayed by many events.
 */
#include "tracer/drive/loop.h"

#include <errno.h>
#include <signal.h>

#include "dlang/base/fault.h"
#include "tracer/ptrace/core.h"
#include "tracer/ptrace/event.h"
#include "tracer/fire/hit.h"
#include "tracer/fire/moments.h"
#include "tracer/ptrace/proc.h"
#include "tracer/sites/protect.h"
#include "tracer/prov/profile.h"
#include "tracer/fast/fast.h"
#include "tracer/fire/deadman.h"
#include "tracer/fire/fire.h"
#include "tracer/fire/records.h"
#include "tracer/base/state.h"
#include "tracer/fire/syscalls.h"
#include "tracer/drive/targets.h"
#include "tracer/drive/twice.h"
#include "tracer/survive/trapguard.h"

/* Period of the timer of on_calls(), which sets the time of each call
 * itself. */
#define CALLS_NS 1000000000

static volatile sig_atomic_t alarm_due;
static volatile sig_atomic_t stop_signals;
static volatile sig_atomic_t urged;
/* When the loop noticed the first signal; 0: not yet. */
static _Atomic uint64_t heard_at;
static pid_t first_sender; /* 0: the kernel, because of a key of the terminal */

/* Signals of loop_hear(). */
static struct heard {
	int sig;
	volatile sig_atomic_t due;
	void (*fn)(struct state *st);
} heard[LOOP_HEARD];
static size_t nheard;

static const int stops[] = { SIGINT, SIGTERM, SIGHUP };

/* Signals within this time of the first count as the same request to end, ns.
 * In this time dtrap waits for a reader of its output even after a second
 * request. */
#define ONCE_NS 1000000000

static void
on_alarm(int sig, siginfo_t *si, void *uc)
{
	alarm_due = 1;
	event_interrupt(uc);
}

static void on_stop(int sig, siginfo_t *si, void *uc);

/* With SA_RESTART our writes and reads continue; event_poll() returns anyway,
 * by event_interrupt(). */
static void catch (
    int sig, void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction sa = { .sa_sigaction = handler,
		.sa_flags = SA_SIGINFO | flags };

	sigemptyset(&sa.sa_mask);
	sigaction(sig, &sa, NULL);
}

/* Is it the first request again? timeout(1) sends its signal to the process and
 * then to its group. */
static bool
is_said_twice(pid_t sender)
{
	return stop_signals > 0 && sender != 0 && sender == first_sender &&
	    (heard_at == 0 || timer_now() < heard_at + ONCE_NS);
}

/*
 *	asked --SIGINT, or the third--> urged --a second after `heard'--> impatient
 *
 * The first signal ends the trace gently.  After a second SIGINT, or a third
 * signal of any kind, dtrap does not wait for a reader that does not read.
 */
static void
on_stop(int sig, siginfo_t *si, void *uc)
{
	static volatile sig_atomic_t interrupts;
	pid_t sender = si->si_code <= 0 ? si->si_pid : 0;

	if (is_said_twice(sender))
		return;
	if (stop_signals == 0)
		first_sender = sender;
	stop_signals++;
	interrupts += sig == SIGINT;
	if (interrupts > 1 || stop_signals > 2)
		urged = 1;
	if (sig == SIGINT)
		catch (SIGINT, on_stop, 0);
	for (size_t i = 0; stop_signals == 2 && i < ARRAY_SIZE(stops); i++) {
		struct sigaction now;
		sigaction(stops[i], NULL, &now);
		if (now.sa_handler != SIG_IGN)
			catch (stops[i], on_stop, 0);
	}
	event_interrupt(uc);
}

static void
on_heard(int sig, siginfo_t *si, void *uc)
{
	for (size_t i = 0; i < nheard; i++)
		if (heard[i].sig == sig)
			heard[i].due = 1;
	event_interrupt(uc);
}

void
loop_hear(int sig, void (*fn)(struct state *st))
{
	ASSERT(nheard < ARRAY_SIZE(heard));
	heard[nheard].sig = sig;
	heard[nheard].fn = fn;
	nheard++;
	catch (sig, on_heard, SA_RESTART);
}

void
loop_hear_no_more(void)
{
	for (size_t i = 0; i < nheard; i++)
		signal(heard[i].sig, SIG_DFL);
	nheard = 0;
}

static bool
heard_is_due(void)
{
	for (size_t i = 0; i < nheard; i++)
		if (heard[i].due)
			return true;
	return false;
}

bool
loop_stopping(void)
{
	return stop_signals > 0;
}

static void
hear(void)
{
	if (stop_signals > 0 && heard_at == 0)
		heard_at = timer_now();
}

bool
loop_impatient(void)
{
	hear();
	return urged && timer_now() >= heard_at + ONCE_NS;
}

void
loop_hurry(void)
{
	urged = 1;
	heard_at = 1;
}

void
loop_signals(struct state *st)
{
	struct sigaction old;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	catch (SIGALRM, on_alarm, SA_RESTART);
	for (size_t i = 0; i < ARRAY_SIZE(stops); i++) {
		sigaddset(&set, stops[i]);
		/* nohup(1) and shells for background jobs ignore these signals
		 * on purpose. */
		sigaction(stops[i], NULL, &old);
		if (old.sa_handler != SIG_IGN)
			catch (stops[i], on_stop, SA_RESTART);
	}
	/* Without these signals the write fails, with an errno. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	/* The parent may have blocked them. */
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* ---- one event ---- */

static void
on_trap(struct state *st, struct event *ev)
{
	if (hit_asks(st, ev->thread)) {
		if (profile_waits(ev->thread))
			fast_call(ev->thread);
		thread_resume(ev->thread);
		return;
	}
	syscalls_signal(st, ev->thread);
	bool go = hit_trap(st, ev->thread);

	profile_stopped(st, ev->thread);
	if (go && ev->thread->stop.sig != 0) {
		ev->kind = EV_SIGNAL; /* sent to the program, or a fault */
		ev->sig = ev->thread->stop.sig;
		moments_tell(st, ev);
		core_prepare(ev->thread);
		trapguard_pass(ev->thread);
	}
	if (go)
		thread_resume(ev->thread);
}

static void
on_signal(struct state *st, struct event *ev)
{
	if (hit_finds_no_lane(ev->thread) || fast_mends(ev->thread)) {
		thread_resume(ev->thread);
		return;
	}
	if (fast_fires(ev->thread)) {
		fast_hold_signal(ev->thread);
		thread_resume(ev->thread);
		return;
	}
	syscalls_signal(st, ev->thread);
	hit_signal(st, ev->thread);
	fault_kill("signal-seen");
	moments_tell(st, ev);
	core_prepare(ev->thread);
	sigtrap_learn(ev->thread);
	thread_resume(ev->thread);
}

static void
on_syscall(struct state *st, struct event *ev)
{
	if (twice_syscall(st, ev))
		return;
	syscalls_event(st, ev);
	fault_kill("syscall-seen");
	thread_resume(ev->thread);
}

static void
on_stopped(struct state *st, struct event *ev)
{
	moments_tell(st, ev);
	thread_resume(ev->thread);
}

static void
on_exit_stop(struct state *st, struct event *ev)
{
	if (ev->thread->proc != NULL)
		targets_exits(st, ev->thread->proc);
	on_stopped(st, ev);
}

static void
on_resume(struct state *st, struct event *ev)
{
	thread_resume(ev->thread);
}

static void
on_gone(struct state *st, struct event *ev)
{
	struct proc *p = ev->thread->proc;

	moments_tell(st, ev);
	fast_ends(st, ev->thread);
	if (p != NULL && p->threads.len == 0)
		targets_gone(st, p, ev->status);
}

static void (*const handlers[])(struct state *, struct event *) = {
	[EV_TRAP] = on_trap,
	[EV_SIGNAL] = on_signal,
	[EV_GROUP_STOP] = on_stopped,
	[EV_STOP] = on_stopped,
	[EV_SYSCALL_ENTER] = on_syscall,
	[EV_SYSCALL_EXIT] = on_syscall,
	[EV_SECCOMP] = on_syscall,
	[EV_FORK] = NULL, /* targets_event() */
	[EV_VFORK] = NULL,
	[EV_VFORK_DONE] = on_resume,
	[EV_CLONE] = NULL,
	[EV_EXEC] = NULL,
	[EV_EXIT] = on_exit_stop,
	[EV_GONE] = on_gone,
};

/* The profile provider samples a thread at any of its stops if a sample is due,
 * as the stop that was requested may not come. At a tracepoint the hit is
 * handled first. */
static void
settle_samples(struct state *st, struct event *ev)
{
	struct thread *th = ev->thread;

	if (!profile_waits(th) || ev->kind == EV_TRAP || ev->kind == EV_GONE)
		return;
	if (ev->kind != EV_EXEC && fast_fires(th)) {
		fast_call(th);
		return;
	}
	/* The memory in which it was to be sampled is gone. */
	if (ev->kind == EV_EXEC)
		profile_thread_end(th);
	else
		profile_stopped(st, th);
}

static void
dispatch(struct state *st, struct event *ev)
{
	if (ev->kind != EV_GONE && ev->kind != EV_EXEC && ev->kind != EV_EXIT)
		fast_begins(st, ev->thread);
	settle_samples(st, ev);
	if (handlers[ev->kind] != NULL)
		handlers[ev->kind](st, ev);
	else
		targets_event(st, ev);
}

/* ---- the loop ---- */

static void
handle(struct state *st, struct event *ev)
{
	if (!st->deadman->on) {
		dispatch(st, ev);
		return;
	}
	deadman_begin(st);
	dispatch(st, ev);
	deadman_end(st, ev);
	if (st->deadman->due)
		deadman_judge(st);
}

static void on_calls(struct state *st, void *arg, uint64_t late);

/* Part of the run: the time to which the timer of on_calls() is set. */
static uint64_t *
calls_due(struct state *st)
{
	static const struct part part = { .size = sizeof(uint64_t) };

	return part_of(&st->parts, &part);
}

static void
await_calls(struct state *st)
{
	uint64_t due = super_calls_due(st->super);

	*calls_due(st) = due;
	timer_set_next(
	    &st->timers, on_calls, NULL, due != 0 ? due : UINT64_MAX);
}

/* System calls with a time limit that were restarted end when they would have
 * ended without dtrap. */
static void
on_calls(struct state *st, void *arg, uint64_t late)
{
	super_end_calls(st->super);
	await_calls(st);
}

static void
look_at_calls(struct state *st)
{
	if (super_calls_due(st->super) == *calls_due(st))
		return;
	await_calls(st);
	timers_run(&st->timers, st);
}

static void
look_at_flags(struct state *st)
{
	records_read(st);
	if (alarm_due) {
		alarm_due = 0;
		timers_run(&st->timers, st);
	}
	for (size_t i = 0; i < nheard; i++)
		if (heard[i].due) {
			heard[i].due = 0;
			heard[i].fn(st);
		}
	protect_look(st);
	hear();
	if (stop_signals > 0)
		fire_drain(st);
}

static void (*waits_by)(void *ctx, const sigset_t *mask);
static void *waits_ctx;

void
loop_wait_by(void (*wait)(void *ctx, const sigset_t *mask), void *ctx)
{
	waits_by = wait;
	waits_ctx = ctx;
}

/* There is no tracee to wait for: sleep until a signal arrives, without missing
 * one. */
static void
wait_for_signal(void)
{
	sigset_t block, old;

	sigemptyset(&block);
	sigaddset(&block, SIGALRM);
	sigaddset(&block, SIGINT);
	sigaddset(&block, SIGTERM);
	sigaddset(&block, SIGHUP);
	for (size_t i = 0; i < nheard; i++)
		sigaddset(&block, heard[i].sig);
	sigprocmask(SIG_BLOCK, &block, &old);
	if (!alarm_due && stop_signals == 0 && !heard_is_due()) {
		if (waits_by != NULL)
			waits_by(waits_ctx, &old);
		else
			sigsuspend(&old);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
}

/* The thread of an event is valid until the next thing is done with the
 * supervisor: a timer may detach it, or take in its end and free it.  So an
 * event is handled before the flags are looked at.  What the kernel has recorded
 * is older than the event. */
static void
handle_first(struct state *st, struct event *ev)
{
	records_read(st);
	handle(st, ev);
	look_at_calls(st);
}

void
loop_while(struct state *st, bool (*more)(struct state *, void *), void *arg)
{
	struct event ev;

	timers_run(&st->timers, st);
	while (!st->draining && (more == NULL || more(st, arg))) {
		unsigned waits = event_waits(st->super);
		int r = event_poll(st->super, &ev, true);
		if (st->deadman->on)
			deadman_woken(st, r == 1 ? &ev : NULL,
			    event_waits(st->super) != waits);
		if (r == 1)
			handle_first(st, &ev);
		look_at_flags(st);
		/* A timer that is due again already would interrupt the next
		 * wait as well, and so on: poll without blocking. */
		if (r == -EINTR && event_poll(st->super, &ev, false) == 1)
			handle_first(st, &ev);
		if (r == -ECHILD && !st->draining)
			wait_for_signal(); /* the next poll returns at once */
	}
}

void
loop_run(struct state *st)
{
	timer_add(&st->timers, CALLS_NS, on_calls, NULL);
	await_calls(st);
	super_time_calls(st->super, true);
	loop_while(st, NULL, NULL);
	super_time_calls(st->super, false);
}

void
loop_pending(struct state *st)
{
	struct event ev;

	while (event_poll(st->super, &ev, false) == 1) {
		records_read(st);
		dispatch(st, &ev);
	}
}
