/*
 * tracer/ptrace/overtaken: a program gets its signals in the order in which they
 * were sent, although dtrap makes calls in a thread that is stopped for one of
 * them.  The kernel's queue is a double, so the file itself is included below.
 */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dlang/base/str.h"
#include "t/unit/suite.h"
#include "tracer/ptrace/requeue.h"
#include "tracer/ptrace/super.h"

#define RT     34 /* a real-time signal: queued as often as it is sent */
#define PID    100
#define TID    101
#define SENDER 7

static struct super tracer;
static struct proc proc = { .pid = PID, .super = &tracer };
static struct thread thread = { .tid = TID, .proc = &proc };

/* The kernel: what is pending for the thread, and for what it is stopped. */
static VEC(siginfo_t) pending;
static siginfo_t stop;
static bool stopped;
static unsigned sets;
static bool refuses; /* sending fails */

static void
enqueue(const siginfo_t *si)
{
	vec_foreach(other, &pending)
		if (other->si_signo == si->si_signo && si->si_signo < 32)
			return; /* a standard signal is queued once */
	*vec_push(&pending) = *si;
}

/* Somebody sends a signal; its value tells it from others. */
static void
comes(int sig, int code, int value)
{
	siginfo_t si = { .si_signo = sig, .si_code = code };

	si.si_pid = SENDER;
	si.si_value.sival_int = value;
	enqueue(&si);
}

static long
double_syscall(long nr, pid_t pid, pid_t tid, int sig, ...)
{
	va_list ap;

	ck_assert_int_eq(pid, PID);
	ck_assert_int_eq(tid, TID);
	if (refuses)
		return -1;
	if (nr == SYS_tgkill) {
		siginfo_t si = { .si_signo = sig, .si_code = SI_TKILL };
		si.si_pid = getpid();
		enqueue(&si);
		return 0;
	}
	ck_assert_int_eq(nr, SYS_rt_tgsigqueueinfo);
	va_start(ap, sig);
	siginfo_t si = *va_arg(ap, siginfo_t *);
	va_end(ap);
	ck_assert_int_eq(si.si_signo, sig);
	if (si.si_code >= 0 || si.si_code == SI_TKILL)
		return -1;
	enqueue(&si);
	return 0;
}

static int
double_siginfo(siginfo_t *si)
{
	if (!stopped)
		return -ESRCH;
	*si = stop;
	return 0;
}

static int
double_set_siginfo(const siginfo_t *si)
{
	stop = *si;
	sets++;
	return 0;
}

static bool
double_pending(bool shared, unsigned i, siginfo_t *si)
{
	if (shared || i >= pending.len)
		return false;
	*si = pending.at[i];
	return true;
}

static bool
double_has_pending(int sig)
{
	vec_foreach(si, &pending)
		if (si->si_signo == sig)
			return true;
	return false;
}

static size_t
double_take(int sig, size_t n)
{
	size_t taken = 0;

	for (size_t i = 0; !refuses && taken < n && i < pending.len;) {
		if (pending.at[i].si_signo != sig) {
			i++;
			continue;
		}
		pending.len--;
		memmove(&pending.at[i], &pending.at[i + 1],
		    (pending.len - i) * sizeof(stop));
		taken++;
	}
	return taken;
}

#define syscall(nr, pid, tid, ...)       double_syscall(nr, pid, tid, __VA_ARGS__)
#define thread_siginfo(th, si)           double_siginfo(si)
#define thread_set_siginfo(th, si)       double_set_siginfo(si)
#define thread_pending(th, shared, i, s) double_pending(shared, i, s)
#define thread_has_pending(th, sig)      double_has_pending(sig)
#define thread_regs_moved(th)            ((void)(th))
#define thread_settle(th)                ((void)(th))
#define requeue_take(th, sig, n)         double_take(sig, n)
#define requeue_send(th, si)             enqueue(si)
#include "tracer/ptrace/overtaken.c"

static void
teardown(void)
{
	vec_fini(&pending);
	parts_end(&thread.parts);
}

/* The thread stops for the first pending signal of this number. */
static void
stops_for(int sig)
{
	size_t i = 0;

	while (i < pending.len && pending.at[i].si_signo != sig)
		i++;
	ck_assert_uint_lt(i, pending.len);
	stop = pending.at[i];
	stopped = true;
	pending.len--;
	memmove(&pending.at[i], &pending.at[i + 1],
	    (pending.len - i) * sizeof(stop));
}

/* It stops for the next signal: the lowest number comes first. */
static void
stops(void)
{
	int lowest = 65;

	vec_foreach(si, &pending)
		lowest = MIN(lowest, si->si_signo);
	stops_for(lowest);
}

/* dtrap makes a call at a stop: afterwards it injects the signal again, as
 * remote.c does, while all others are blocked, and the stop is for the same
 * signal as before. */
static void
calls(void)
{
	const siginfo_t before = stop;
	siginfo_t injected = { .si_signo = before.si_signo,
		.si_code = SI_KERNEL };

	unsigned n = signals_to_repeat(&thread, before.si_signo);
	enqueue(&injected);
	stops_for(before.si_signo);
	for (; n > 0 && signal_repeat(&thread); n--)
		stops_for(before.si_signo);
	signal_overtaken(&thread);
	stop = before;
}

/* The values of all signals, in the order in which the program gets them. */
static const char *
gets(void)
{
	static char text[64];
	size_t n = 0;

	n +=
	    (size_t)snprintf(text, sizeof(text), "%d", stop.si_value.sival_int);
	while (pending.len > 0) {
		stops();
		signal_in_turn(&thread, stop.si_signo);
		ck_assert(!stopped || stop.si_pid == SENDER);
		n += (size_t)snprintf(
		    text + n, sizeof(text) - n, " %d", stop.si_value.sival_int);
	}
	return text;
}

START_TEST(others_of_another_number_stay)
{
	comes(RT, SI_QUEUE, 1);
	stops();
	comes(RT + 1, SI_QUEUE, 2);
	comes(SIGUSR1, SI_USER, 3);
	calls();
	ck_assert_str_eq(gets(), "1 3 2");
	ck_assert_uint_eq(sets, 0);
}
END_TEST

START_TEST(queued_signals_keep_their_order)
{
	comes(RT, SI_QUEUE, 1);
	comes(RT, SI_QUEUE, 2);
	comes(RT + 1, SI_QUEUE, 9);
	comes(RT, SI_QUEUE, 3);
	stops();
	ck_assert_uint_eq(signals_to_repeat(&thread, RT), 2);
	calls();
	ck_assert_str_eq(gets(), "1 2 3 9");
	/* Only the signals moved; none has another's siginfo. */
	ck_assert_uint_eq(sets, 0);
}
END_TEST

/* dtrap may not send one that looks like the kernel's or kill()'s. */
START_TEST(so_do_those_that_cannot_be_queued_again)
{
	static const int codes[] = { SI_USER, SI_KERNEL + 1, SI_TKILL };

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		comes(RT, SI_QUEUE, 1);
		comes(RT, codes[i], 2);
		comes(RT, SI_QUEUE, 3);
		stops();
		ck_assert_uint_eq(signals_to_repeat(&thread, RT), 0);
		calls();
		ck_assert_str_eq(gets(), "1 2 3");
	}
}
END_TEST

START_TEST(several_calls_keep_it_too)
{
	comes(RT, SI_USER, 1);
	comes(RT, SI_USER, 2);
	comes(RT, SI_USER, 3);
	stops();
	calls();
	calls();
	calls();
	ck_assert_str_eq(gets(), "1 2 3");
}
END_TEST

START_TEST(calls_at_each_of_them)
{
	comes(RT, SI_USER, 1);
	comes(RT, SI_USER, 2);
	comes(RT, SI_USER, 3);
	stops();
	calls();
	ck_assert_int_eq(stop.si_value.sival_int, 1);
	stops();
	signal_in_turn(&thread, RT);
	calls();
	ck_assert_int_eq(stop.si_value.sival_int, 2);
	stops();
	signal_in_turn(&thread, RT);
	calls();
	ck_assert_str_eq(gets(), "3");
}
END_TEST

START_TEST(one_that_comes_later_is_last)
{
	comes(RT, SI_USER, 1);
	comes(RT, SI_USER, 2);
	stops();
	calls();
	comes(RT, SI_USER, 3);
	ck_assert_str_eq(gets(), "1 2 3");
}
END_TEST

/* Of a standard signal only one is queued, so the injected one is lost. */
START_TEST(a_standard_signal_is_sent_once_more)
{
	comes(SIGUSR1, SI_USER, 1);
	stops();
	comes(SIGUSR1, SI_QUEUE, 2);
	ck_assert_uint_eq(signals_to_repeat(&thread, SIGUSR1), 0);
	calls();
	ck_assert_str_eq(gets(), "1 2");
	ck_assert_uint_eq(pending.len, 0);
}
END_TEST

START_TEST(several_calls_at_a_standard_signal)
{
	comes(SIGUSR1, SI_USER, 1);
	stops();
	comes(SIGUSR1, SI_USER, 2);
	calls();
	calls();
	ck_assert_str_eq(gets(), "1 2");
	/* Nothing of dtrap's is left for a later one. */
	comes(SIGUSR1, SI_USER, 3);
	stops();
	signal_in_turn(&thread, SIGUSR1);
	ck_assert_int_eq(stop.si_value.sival_int, 3);
	ck_assert_uint_eq(pending.len, 0);
}
END_TEST

/* Another process's tgkill() is not dtrap's. */
START_TEST(what_a_thread_sends_while_one_is_owed)
{
	comes(RT, SI_USER, 1);
	comes(RT, SI_USER, 2);
	stops();
	calls();
	comes(RT, SI_TKILL, 3);
	ck_assert_str_eq(gets(), "1 2 3");
}
END_TEST

START_TEST(two_numbers_do_not_mix)
{
	comes(SIGUSR1, SI_USER, 1);
	stops();
	comes(SIGUSR1, SI_USER, 2);
	calls();
	comes(RT, SI_USER, 5);
	comes(RT, SI_USER, 6);
	stops();
	signal_in_turn(&thread, SIGUSR1);
	ck_assert_int_eq(stop.si_value.sival_int, 2);
	stops();
	signal_in_turn(&thread, RT);
	ck_assert_int_eq(stop.si_value.sival_int, 5);
	calls();
	ck_assert_str_eq(gets(), "5 6");
}
END_TEST

START_TEST(a_kept_signal_comes_with_its_own_siginfo)
{
	siginfo_t kept = { .si_signo = SIGUSR1, .si_code = SI_QUEUE };

	kept.si_pid = SENDER;
	kept.si_value.sival_int = 4;
	comes(RT, SI_USER, 1);
	stops();
	signals_again(&thread, &kept, 1);
	ck_assert_str_eq(gets(), "1 4");
	ck_assert_int_eq(stop.si_code, SI_QUEUE);
	/* One that cannot be sent is not waited for. */
	refuses = true;
	signals_again(&thread, &kept, 1);
	refuses = false;
	comes(SIGUSR1, SI_USER, 8);
	stops();
	signal_in_turn(&thread, SIGUSR1);
	ck_assert_int_eq(stop.si_value.sival_int, 8);
}
END_TEST

/* The kernel has them whole, so they are not lost with the tracer; unless they have
 * to come before another one. */
START_TEST(kept_signals_are_the_kernels)
{
	siginfo_t kept[3] = { { .si_signo = RT, .si_code = SI_QUEUE },
		{ .si_signo = RT, .si_code = SI_TIMER },
		{ .si_signo = RT, .si_code = SI_USER } };

	for (int i = 0; i < 3; i++) {
		kept[i].si_pid = SENDER;
		kept[i].si_value.sival_int = 4 + i;
	}
	comes(RT, SI_QUEUE, 1);
	stops();
	signals_again(&thread, kept, 2);
	ck_assert_uint_eq(pending.len, 2);
	ck_assert_int_eq(pending.at[0].si_code, SI_QUEUE);
	ck_assert_int_eq(pending.at[1].si_code, SI_TIMER);
	ck_assert_str_eq(gets(), "1 4 5");
	comes(RT, SI_QUEUE, 9);
	signals_again(&thread, kept, 3);
	ck_assert_str_eq(gets(), "5 4 5 6 9");
	/* Nobody but the sender may send the third. */
	signals_again(&thread, kept, 3);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(pending.at[i].si_code, SI_TKILL);
	ck_assert_str_eq(gets(), "9 4 5 6");
}
END_TEST

START_TEST(one_that_cannot_be_sent_is_not_owed)
{
	comes(SIGUSR1, SI_USER, 1);
	stops();
	comes(SIGUSR1, SI_USER, 2);
	refuses = true;
	calls();
	refuses = false;
	comes(SIGUSR1, SI_USER, 3);
	ck_assert_str_eq(gets(), "1 3");
}
END_TEST

START_TEST(a_thread_that_has_ended_gets_none)
{
	comes(RT, SI_USER, 1);
	stops();
	comes(RT, SI_USER, 2);
	calls();
	stopped = false;
	sets = 0;
	signal_overtaken(&thread);
	signal_in_turn(&thread, RT);
	ck_assert(!signal_repeat(&thread));
	ck_assert_uint_eq(sets, 0);
}
END_TEST

/* dtrap's own injected signal is not repeated. */
START_TEST(the_injected_one_is_known)
{
	stop = (siginfo_t){ .si_signo = RT, .si_code = SI_KERNEL };
	stopped = true;
	ck_assert(!signal_repeat(&thread));
	signal_overtaken(&thread);
	comes(RT, SI_USER, 7);
	stops();
	signal_in_turn(&thread, RT);
	ck_assert_int_eq(stop.si_value.sival_int, 7);
	ck_assert_uint_eq(pending.len, 0);
}
END_TEST

/* Three signals that dtrap may not send, and a call at the first one: siginfos
 * are owed. */
static void
owes_three(void)
{
	for (int i = 1; i <= 3; i++)
		comes(RT, SI_USER, i);
	stops();
	calls();
	thread.stop.state = TH_STOPPED;
	thread.stop.kind = EV_SIGNAL;
	thread.stop.sig = RT;
}

/* After a detach there is nobody to give the owed siginfos. */
START_TEST(what_is_owed_is_queued_at_the_end)
{
	owes_three();
	comes(RT, SI_USER, 4);
	signals_settle(&thread);
	ck_assert_int_eq(thread.stop.kind, EV_STOP);
	ck_assert_int_eq(thread.stop.sig, 0);
	ck_assert_ptr_null(first_owed(&thread, RT));
	ck_assert_uint_eq(pending.len, 4);
	for (int i = 0; i < 4; i++) {
		ck_assert_int_eq(pending.at[i].si_pid, SENDER);
		ck_assert_int_eq(pending.at[i].si_value.sival_int, i + 1);
	}
}
END_TEST

START_TEST(without_a_call_it_stays_owed)
{
	owes_three();
	refuses = true;
	signals_settle(&thread);
	refuses = false;
	ck_assert_int_eq(thread.stop.kind, EV_SIGNAL);
	ck_assert_int_eq(thread.stop.sig, RT);
	ck_assert_str_eq(gets(), "1 2 3");
	ck_assert_ptr_null(first_owed(&thread, RT));
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		others_of_another_number_stay,
		queued_signals_keep_their_order,
		so_do_those_that_cannot_be_queued_again,
		several_calls_keep_it_too,
		calls_at_each_of_them,
		one_that_comes_later_is_last,
		a_standard_signal_is_sent_once_more,
		several_calls_at_a_standard_signal,
		what_a_thread_sends_while_one_is_owed,
		two_numbers_do_not_mix,
		a_kept_signal_comes_with_its_own_siginfo,
		kept_signals_are_the_kernels,
		one_that_cannot_be_sent_is_not_owed,
		a_thread_that_has_ended_gets_none,
		the_injected_one_is_known,
		what_is_owed_is_queued_at_the_end,
		without_a_call_it_stays_owed,
	};

	return suite_run("overtaken", NULL, teardown, tests, ARRAY_SIZE(tests));
}
