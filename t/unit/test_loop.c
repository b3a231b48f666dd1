/*
 * tracer/drive/loop: what is done at each event, in which order, and what the
 * user's signals do to the loop.  Events come from a list, and all that the loop
 * calls is a double that notes the call, so the file itself is included below.
 */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dlang/base/fault.h"
#include "dlang/base/str.h"
#include "t/unit/suite.h"
#include "tracer/base/state.h"
#include "tracer/drive/loop.h"
#include "tracer/drive/targets.h"
#include "tracer/drive/twice.h"
#include "tracer/fast/fast.h"
#include "tracer/fire/deadman.h"
#include "tracer/fire/fire.h"
#include "tracer/fire/hit.h"
#include "tracer/fire/moments.h"
#include "tracer/fire/syscalls.h"
#include "tracer/prov/profile.h"
#include "tracer/ptrace/core.h"
#include "tracer/ptrace/event.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/super.h"
#include "tracer/sites/protect.h"
#include "tracer/survive/trapguard.h"

static struct str calls; /* their names, a space after each */
static struct state run;
static struct super super;
static struct deadman deadman;
static struct proc proc;
static struct thread thread, *threads[] = { &thread };

static void
call(const char *name)
{
	str_add(&calls, name);
	str_addc(&calls, ' ');
}

/* What is asked of the thread, and the answers. */
static bool trap_goes, asks, fires, no_lane, mends, profile_owes,
    was_target_call;
static int trap_signal; /* the program's own, found at a trap */
static enum event_kind told;
static int told_sig, gone_status;

static bool
double_trap(struct thread *th)
{
	call("trap");
	th->stop.sig = trap_signal;
	return trap_goes;
}

static void
double_tell(const struct event *ev)
{
	call("tell");
	told = ev->kind;
	told_sig = ev->sig;
}

static void
double_gone(int status)
{
	call("gone");
	gone_status = status;
}

static bool
double_target_call(void)
{
	call("target-call");
	return was_target_call;
}

/* The thread of an event is alive from the time the event is returned until the
 * timers have run, if they end it. */
static bool alive, ends_by_timer;

/* The next events: kinds, or one of these. */
#define NOBODY (-1) /* there is no tracee */
#define SIGNAL (-2) /* a signal has interrupted the wait */
static int script[8];
static unsigned n_script, at_script, waits_now;
static int at_wait; /* a signal that is sent in the wait */

static int
double_poll(struct event *ev, bool wait)
{
	call(wait ? "wait" : "poll");
	if (wait && at_wait != 0) {
		int sig = at_wait;
		at_wait = 0;
		raise(sig);
	}
	if (at_script == n_script) {
		if (wait)
			run.draining = true; /* the script is at its end */
		return 0;
	}
	int next = script[at_script++];
	if (next == NOBODY)
		return -ECHILD;
	if (next == SIGNAL)
		return -EINTR;
	*ev =
	    (struct event){ .kind = (enum event_kind)next, .thread = &thread };
	ev->sig = SIGUSR1;
	ev->status = 0x55;
	waits_now += wait;
	alive = true;
	return 1;
}

static uint64_t now_ns, calls_end;
static uint64_t next_timer, period_timer;
static timer_fn timer;
static bool time_calls;

static void
double_next_time(timer_fn fn, uint64_t next)
{
	call("timer");
	timer = fn;
	next_timer = next;
}

static void
double_woken(const struct event *ev, bool waited)
{
	call(ev == NULL ? "woken-by-none" : waited ? "woken" : "not-waited");
}

static volatile sig_atomic_t waits_ended; /* of event_poll() */

static void
double_timers(void)
{
	call("timers");
	if (ends_by_timer)
		alive = false;
}

static void
double_resume(void)
{
	call(alive || !ends_by_timer ? "resume" : "resume-freed");
}

/* Signals that the loop looks for wait until it sleeps, and no others. */
static int
double_suspend(const sigset_t *old)
{
	static const int waiting[] = { SIGALRM, SIGINT, SIGTERM, SIGHUP };
	sigset_t now;

	sigprocmask(SIG_BLOCK, NULL, &now);
	for (int sig = 1; sig < 32; sig++) {
		bool waits = false;
		for (size_t i = 0; i < ARRAY_SIZE(waiting); i++)
			waits |= sig == waiting[i];
		ck_assert_int_eq(sigismember(&now, sig), waits);
	}
	call(sigismember(old, SIGINT) ? "suspended-blocked" : "suspended");
	run.draining = true;
	return -1;
}

#define event_poll(su, ev, wait)      double_poll(ev, wait)
#define event_waits(su)               waits_now
#define event_interrupt(uc)           ((void)(uc), (void)waits_ended++)
#define hit_trap(st, th)              double_trap(th)
#define hit_signal(st, th)            call("signal")
#define hit_finds_no_lane(th)         no_lane
#define hit_asks(st, th)              asks
#define fast_mends(th)                mends
#define syscalls_signal(st, th)       call("calls-signal")
#define syscalls_event(st, ev)        call("calls-event")
#define profile_waits(th)             ((void)(th), profile_owes)
#define profile_stopped(st, th)       call("sample")
#define profile_thread_end(th)        call("sample-lost")
#define moments_tell(st, ev)          double_tell(ev)
#define core_prepare(th)              call("core")
#define trapguard_pass(th)            call("pass")
#define sigtrap_learn(th)             call("learn")
#define thread_resume(th)             double_resume()
#define fast_fires(th)                fires
#define fast_hold_signal(th)          call("hold")
#define fast_call(th)                 call("ask")
#define fast_begins(st, th)           call("lane")
#define fast_ends(st, th)             call("lane-ends")
#define twice_syscall(st, ev)         double_target_call()
#define targets_event(st, ev)         call("target-event")
#define targets_exits(st, p)          call("look")
#define targets_gone(st, p, status)   double_gone(status)
#define deadman_begin(st)             call("begin")
#define deadman_end(st, ev)           call("end")
#define deadman_judge(st)             call("judge")
#define deadman_woken(st, ev, waited) double_woken(ev, waited)
#define protect_look(st)              ((void)(st))
#define fire_drain(s)                 (call("drain"), (s)->draining = true)
#define timers_run(ts, st)            double_timers()
#define timer_now()                   now_ns
#define timer_add(ts, ns, fn, arg)    ((void)(period_timer = (ns)))
#define timer_set_next(ts, fn, a, at) double_next_time(fn, at)
#define super_calls_due(su)           calls_end
#define super_end_calls(su)           call("end-calls")
#define super_time_calls(su, on)      ((void)(time_calls = (on), call("time-calls")))
#define sigsuspend(old)               double_suspend(old)
#include "tracer/drive/loop.c"

static void
setup(void)
{
	run.super = &super;
	run.deadman = &deadman;
	thread.proc = &proc;
	proc.threads.at = threads;
	proc.threads.len = 1;
	trap_goes = true;
	now_ns = 100 * UINT64_C(1000000000);
	signal(SIGHUP, SIG_DFL); /* whoever runs the test may ignore it */
}

static void
teardown(void)
{
	parts_end(&run.parts);
	str_fini(&calls);
}

static void
expect(const char *want)
{
	ck_assert_str_eq(str_c(&calls), want);
	str_clear(&calls);
}

static void
dispatched(enum event_kind kind, const char *want)
{
	struct event ev = {
		.kind = kind, .thread = &thread, .sig = SIGUSR1, .status = 0x55
	};

	handle(&run, &ev);
	expect(want);
}

/* ---- events ---- */

START_TEST(a_hit_goes_on)
{
	dispatched(EV_TRAP, "lane calls-signal trap sample resume ");
	trap_goes = false;
	dispatched(EV_TRAP, "lane calls-signal trap sample ");
}
END_TEST

/* In the middle of a firing: nothing else happens to the thread there. */
START_TEST(a_clause_that_asks_goes_on)
{
	asks = true;
	dispatched(EV_TRAP, "lane resume ");
	profile_owes = true;
	dispatched(EV_TRAP, "lane ask resume ");
	asks = profile_owes = false;
	fires = mends = true;
	dispatched(EV_SIGNAL, "lane resume ");
	mends = false;
	dispatched(EV_SIGNAL, "lane hold resume ");
}
END_TEST

START_TEST(a_signal_at_a_trap_is_one_of_the_program)
{
	trap_signal = SIGSEGV;
	dispatched(
	    EV_TRAP, "lane calls-signal trap sample tell core pass resume ");
	ck_assert_int_eq(told, EV_SIGNAL);
	ck_assert_int_eq(told_sig, SIGSEGV);
	trap_goes = false;
	dispatched(EV_TRAP, "lane calls-signal trap sample ");
}
END_TEST

START_TEST(a_signal_is_told_and_delivered)
{
	dispatched(
	    EV_SIGNAL, "lane calls-signal signal tell core learn resume ");
	ck_assert_int_eq(told, EV_SIGNAL);
}
END_TEST

START_TEST(a_signal_within_a_firing_is_kept)
{
	fires = true;
	dispatched(EV_SIGNAL, "lane hold resume ");
	fires = false;
	no_lane = true;
	dispatched(EV_SIGNAL, "lane resume ");
}
END_TEST

START_TEST(a_call_on_the_way_to_the_begin_fires_nothing)
{
	static const enum event_kind kinds[] = { EV_SYSCALL_ENTER,
		EV_SYSCALL_EXIT, EV_SECCOMP };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		was_target_call = false;
		dispatched(kinds[i], "lane target-call calls-event resume ");
		was_target_call = true;
		dispatched(kinds[i], "lane target-call ");
	}
}
END_TEST

START_TEST(stops_are_told)
{
	dispatched(EV_GROUP_STOP, "lane tell resume ");
	dispatched(EV_STOP, "lane tell resume ");
	dispatched(EV_EXIT, "look tell resume ");
	dispatched(EV_VFORK_DONE, "lane resume ");
}
END_TEST

START_TEST(new_processes_and_programs_are_the_targets)
{
	dispatched(EV_FORK, "lane target-event ");
	dispatched(EV_VFORK, "lane target-event ");
	dispatched(EV_CLONE, "lane target-event ");
	dispatched(EV_EXEC, "target-event ");
}
END_TEST

START_TEST(the_last_thread_is_the_end_of_its_process)
{
	dispatched(EV_GONE, "tell lane-ends ");
	proc.threads.len = 0;
	dispatched(EV_GONE, "tell lane-ends gone ");
	ck_assert_int_eq(gone_status, 0x55);
	thread.proc = NULL;
	dispatched(EV_GONE, "tell lane-ends ");
}
END_TEST

START_TEST(a_sample_is_taken_at_any_stop)
{
	profile_owes = true;
	dispatched(EV_STOP, "lane sample tell resume ");
	/* At a tracepoint after the hit. */
	dispatched(EV_TRAP, "lane calls-signal trap sample resume ");
	dispatched(EV_GONE, "tell lane-ends ");
	dispatched(EV_EXEC, "sample-lost target-event ");
	/* Not within a firing, but a program that has been executed has none. */
	fires = true;
	dispatched(EV_STOP, "lane ask tell resume ");
	dispatched(EV_EXEC, "sample-lost target-event ");
	profile_owes = false;
	dispatched(EV_STOP, "lane tell resume ");
}
END_TEST

START_TEST(the_time_of_an_event_is_measured)
{
	deadman.on = true;
	dispatched(EV_STOP, "begin lane tell resume end ");
	deadman.due = true;
	dispatched(EV_STOP, "begin lane tell resume end judge ");
}
END_TEST

/* ---- the loop ---- */

static bool
never(struct state *s, void *arg)
{
	return arg == NULL;
}

START_TEST(it_ends_when_it_may)
{
	script[n_script++] = EV_STOP;
	loop_while(&run, never, &run);
	expect("timers ");
	ck_assert(!run.draining);
	loop_while(&run, never, NULL);
	expect("timers wait lane tell resume wait ");
	/* The trace is at its end. */
	loop_while(&run, NULL, NULL);
	expect("timers ");
}
END_TEST

START_TEST(an_interrupted_wait_looks_once_more)
{
	script[n_script++] = SIGNAL;
	script[n_script++] = EV_STOP;
	loop_while(&run, NULL, NULL);
	expect("timers wait poll lane tell resume wait ");
}
END_TEST

START_TEST(without_tracees_it_waits_for_a_signal)
{
	script[n_script++] = NOBODY;
	loop_while(&run, NULL, NULL);
	expect("timers wait suspended ");
	/* The mask is as before. */
	sigset_t mask;
	sigprocmask(SIG_BLOCK, NULL, &mask);
	ck_assert(!sigismember(&mask, SIGINT));
	ck_assert(!sigismember(&mask, SIGALRM));
}
END_TEST

START_TEST(the_time_of_waits_is_measured)
{
	deadman.on = true;
	script[n_script++] = EV_STOP;
	loop_while(&run, NULL, NULL);
	expect("timers wait woken begin lane tell resume end wait "
	       "woken-by-none ");
}
END_TEST

START_TEST(pending_events_are_handled_without_a_wait)
{
	deadman.on = true; /* they are of another account */
	script[n_script++] = EV_STOP;
	script[n_script++] = EV_EXIT;
	loop_pending(&run);
	expect("poll lane tell resume poll look tell resume poll ");
}
END_TEST

/* ---- timers ---- */

START_TEST(an_alarm_runs_the_timers)
{
	loop_signals(&run);
	script[n_script++] = EV_STOP;
	at_wait = SIGALRM;
	loop_while(&run, NULL, NULL);
	ck_assert_int_eq(waits_ended, 1);
	expect("timers wait lane tell resume timers wait ");
}
END_TEST

/* The timer takes in the end of the thread whose event has been returned, or
 * detaches it. */
START_TEST(a_timer_that_ends_the_thread_comes_after_its_event)
{
	loop_signals(&run);
	script[n_script++] = EV_STOP;
	at_wait = SIGALRM;
	ends_by_timer = true;
	loop_while(&run, NULL, NULL);
	expect("timers wait lane tell resume timers wait ");
	/* So does the end of the trace, which detaches. */
	run.draining = false;
	n_script = at_script = 0;
	script[n_script++] = EV_STOP;
	at_wait = SIGTERM;
	loop_while(&run, NULL, NULL);
	expect("timers wait lane tell resume drain ");
}
END_TEST

/* A wait that a signal has interrupted has no event before the timers. */
START_TEST(an_event_after_an_interrupted_wait_comes_after_the_timers)
{
	loop_signals(&run);
	script[n_script++] = SIGNAL;
	script[n_script++] = EV_STOP;
	at_wait = SIGALRM;
	ends_by_timer = true;
	loop_while(&run, NULL, NULL);
	expect("timers wait timers poll lane tell resume wait ");
}
END_TEST

START_TEST(an_alarm_before_the_sleep_is_not_lost)
{
	/* It comes after the flags were looked at. */
	alarm_due = 1;
	wait_for_signal();
	expect("");
	alarm_due = 0;
	stop_signals = 1;
	wait_for_signal();
	expect("");
	stop_signals = 0;
	wait_for_signal();
	expect("suspended ");
}
END_TEST

START_TEST(a_run_ends_calls_when_their_time_is_over)
{
	calls_end = 500;
	loop_run(&run);
	expect("timer time-calls timers wait time-calls ");
	ck_assert_uint_eq(next_timer, 500);
	ck_assert(!time_calls);
	ck_assert_uint_eq(period_timer, 1000000000);
	calls_end = 0;
	timer(&run, NULL, 0);
	expect("end-calls timer ");
	ck_assert_uint_eq(next_timer, UINT64_MAX);
}
END_TEST

START_TEST(the_timer_follows_the_first_call_that_is_due)
{
	script[n_script++] = EV_STOP;
	script[n_script++] = EV_STOP;
	calls_end = 700;
	loop_while(&run, NULL, NULL);
	/* Set once, as it has not changed after the second. */
	expect("timers wait lane tell resume timer timers wait lane tell "
	       "resume wait ");
	ck_assert_uint_eq(next_timer, 700);
}
END_TEST

/* ---- signals of the user ---- */

static void
from(pid_t pid, int sig)
{
	siginfo_t si = { .si_signo = sig, .si_code = SI_USER };

	si.si_pid = pid;
	if (pid == 0)
		si.si_code = SI_KERNEL;
	on_stop(sig, &si, NULL);
}

static int
flags_of(int sig)
{
	struct sigaction sa;

	sigaction(sig, NULL, &sa);
	ck_assert(sa.sa_flags & SA_SIGINFO);
	return sa.sa_flags & SA_RESTART;
}

START_TEST(the_first_signal_ends_the_trace)
{
	loop_signals(&run);
	ck_assert(!loop_stopping());
	script[n_script++] = SIGNAL;
	script[n_script++] = EV_STOP;
	at_wait = SIGTERM;
	loop_while(&run, NULL, NULL);
	ck_assert_int_eq(waits_ended, 1);
	/* What has come is still handled. */
	expect("timers wait drain poll lane tell resume ");
	ck_assert(loop_stopping());
	ck_assert(!loop_impatient());
	ck_assert(flags_of(SIGTERM));
	ck_assert(flags_of(SIGHUP));
}
END_TEST

START_TEST(a_second_interrupt_is_impatient)
{
	loop_signals(&run);
	from(0, SIGINT);
	ck_assert(!flags_of(SIGINT)); /* a read ends by the second */
	ck_assert(flags_of(SIGTERM));
	ck_assert(!loop_impatient());
	from(0, SIGINT);
	/* What has been written meanwhile is given a second. */
	ck_assert(!loop_impatient());
	now_ns += ONCE_NS - 1;
	ck_assert(!loop_impatient());
	now_ns += 1;
	ck_assert(loop_impatient());
}
END_TEST

START_TEST(so_is_a_third_signal_of_any_kind)
{
	loop_signals(&run);
	from(1, SIGTERM);
	from(2, SIGHUP);
	ck_assert(!flags_of(SIGTERM));
	ck_assert(!flags_of(SIGHUP));
	ck_assert(!flags_of(SIGINT));
	now_ns += 2 * (uint64_t)ONCE_NS;
	loop_impatient();
	now_ns += 2 * (uint64_t)ONCE_NS;
	ck_assert(!loop_impatient());
	from(3, SIGTERM);
	ck_assert(loop_impatient());
}
END_TEST

START_TEST(a_second_signal_of_another_kind_is_not)
{
	from(1, SIGINT);
	from(2, SIGTERM);
	loop_impatient();
	now_ns += 2 * (uint64_t)ONCE_NS;
	ck_assert(!loop_impatient());
}
END_TEST

/* timeout(1) sends its signal to the process and then to its group. */
START_TEST(one_sender_says_it_twice)
{
	from(7, SIGINT);
	from(7, SIGINT);
	loop_impatient(); /* heard now */
	now_ns += ONCE_NS - 1;
	from(7, SIGINT);
	now_ns += ONCE_NS;
	ck_assert(!loop_impatient());
	/* Later it means it. */
	from(7, SIGINT);
	ck_assert(loop_impatient());
}
END_TEST

START_TEST(two_senders_mean_it)
{
	from(7, SIGINT);
	from(8, SIGINT);
	loop_impatient();
	now_ns += ONCE_NS;
	ck_assert(loop_impatient());
}
END_TEST

START_TEST(ignored_signals_stay_ignored)
{
	struct sigaction sa;

	signal(SIGHUP, SIG_IGN);
	loop_signals(&run);
	from(0, SIGTERM);
	from(0, SIGTERM);
	sigaction(SIGHUP, NULL, &sa);
	ck_assert_ptr_eq(sa.sa_handler, SIG_IGN);
	sigaction(SIGPIPE, NULL, &sa);
	ck_assert_ptr_eq(sa.sa_handler, SIG_IGN);
	sigaction(SIGXFSZ, NULL, &sa);
	ck_assert_ptr_eq(sa.sa_handler, SIG_IGN);
}
END_TEST

START_TEST(blocked_signals_are_unblocked)
{
	sigset_t set;

	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	loop_signals(&run);
	sigprocmask(SIG_BLOCK, NULL, &set);
	ck_assert(!sigismember(&set, SIGALRM));
	ck_assert(!sigismember(&set, SIGINT));
	ck_assert(!sigismember(&set, SIGTERM));
	ck_assert(!sigismember(&set, SIGHUP));
	ck_assert(sigismember(&set, SIGUSR1));
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		a_hit_goes_on,
		a_clause_that_asks_goes_on,
		a_signal_at_a_trap_is_one_of_the_program,
		a_signal_is_told_and_delivered,
		a_signal_within_a_firing_is_kept,
		a_call_on_the_way_to_the_begin_fires_nothing,
		stops_are_told,
		new_processes_and_programs_are_the_targets,
		the_last_thread_is_the_end_of_its_process,
		a_sample_is_taken_at_any_stop,
		the_time_of_an_event_is_measured,
		it_ends_when_it_may,
		an_interrupted_wait_looks_once_more,
		without_tracees_it_waits_for_a_signal,
		the_time_of_waits_is_measured,
		pending_events_are_handled_without_a_wait,
		an_alarm_runs_the_timers,
		a_timer_that_ends_the_thread_comes_after_its_event,
		an_event_after_an_interrupted_wait_comes_after_the_timers,
		an_alarm_before_the_sleep_is_not_lost,
		a_run_ends_calls_when_their_time_is_over,
		the_timer_follows_the_first_call_that_is_due,
		the_first_signal_ends_the_trace,
		a_second_interrupt_is_impatient,
		so_is_a_third_signal_of_any_kind,
		a_second_signal_of_another_kind_is_not,
		one_sender_says_it_twice,
		two_senders_mean_it,
		ignored_signals_stay_ignored,
		blocked_signals_are_unblocked,
	};

	return suite_run("loop", setup, teardown, tests, ARRAY_SIZE(tests));
}
