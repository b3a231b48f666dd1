/*
 * The states of a thread, as stop.h draws them: each way that is drawn is
 * taken, and one that is not ends in an assertion.
 */
#include "tracer/ptrace/stop.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>

#include "tracer/ptrace/super.h"

static struct super su;
static struct proc proc = { .super = &su };
static struct thread th;

static void
setup(void)
{
	su = (struct super){ 0 };
	th = (struct thread){ .proc = &proc };
}

/* It stops for this. */
static void
stops(enum event_kind kind)
{
	stop_begin(&th);
	stop_is(&th, kind);
}

START_TEST(a_new_thread_stops_and_runs)
{
	ck_assert_int_eq(stop_begin(&th), TH_NEW);
	ck_assert(thread_stopped(&th));
	stop_is(&th, EV_STOP);
	stop_end(&th, false);
	ck_assert(thread_runs(&th));
	ck_assert_int_eq(stop_begin(&th), TH_RUNNING);
}
END_TEST

/* What was read of the kernel's siginfo is that of this stop alone. */
START_TEST(a_siginfo_lasts_for_its_stop)
{
	static const siginfo_t si = { .si_signo = SIGUSR1 };

	stops(EV_SIGNAL);
	ck_assert(!th.stop.has_info);
	stop_info(&th, &si);
	ck_assert(th.stop.has_info);
	ck_assert_int_eq(th.stop.info.si_signo, SIGUSR1);
	stop_end(&th, false);
	stops(EV_SIGNAL);
	ck_assert(!th.stop.has_info);
	/* A remote call has run in between. */
	stop_info(&th, &si);
	stop_return(&th, stop_lend(&th));
	ck_assert(!th.stop.has_info);
	stop_info(&th, &si);
	stop_info(&th, NULL); /* it was replaced */
	ck_assert(!th.stop.has_info);
	stop_info(&th, &si);
	stop_force(&th, TH_STOPPED, EV_STOP, 0);
	ck_assert(!th.stop.has_info);
}
END_TEST

START_TEST(a_group_stop_is_listened_to)
{
	stops(EV_GROUP_STOP);
	stop_end(&th, true);
	ck_assert_int_eq(th.stop.state, TH_LISTENING);
	ck_assert(thread_runs(&th));
	ck_assert_int_eq(stop_begin(&th), TH_LISTENING);
}
END_TEST

START_TEST(it_waits_for_its_space)
{
	stops(EV_STOP);
	stop_wait(&th);
	ck_assert(thread_stopped(&th));
	ck_assert_int_eq(th.stop.state, TH_WAITING);
	stop_stay(&th);
	ck_assert_int_eq(th.stop.state, TH_STOPPED);
	/* Of one that runs nothing is taken back. */
	stop_end(&th, false);
	stop_stay(&th);
	ck_assert_int_eq(th.stop.state, TH_RUNNING);
}
END_TEST

START_TEST(it_is_lent_from_where_it_was)
{
	stops(EV_FORK);
	stop_wait(&th);
	enum thread_state was = stop_lend(&th);
	ck_assert(thread_runs(&th));
	stop_return(&th, was);
	ck_assert_int_eq(th.stop.state, TH_WAITING);
	ck_assert_int_eq(th.stop.kind, EV_FORK);
}
END_TEST

START_TEST(a_stop_begins_anew)
{
	stops(EV_SIGNAL);
	stop_signal(&th, SIGUSR1);
	stop_end(&th, false);
	stop_sleeps(&th, true);
	stop_begin(&th);
	ck_assert_int_eq(th.stop.sig, 0);
	ck_assert(!th.stop.asleep);
}
END_TEST

START_TEST(an_event_stop_answers)
{
	stops(EV_STOP);
	stop_end(&th, false);
	stop_ask(&th, false);
	ck_assert_int_eq(th.stop.asked, ASK_STOP);
	stop_ask(&th, true);
	stop_ask(&th, false);
	ck_assert_int_eq(th.stop.asked, ASK_EVENT);
	stops(EV_STOP);
	ck_assert_int_eq(th.stop.asked, ASK_EVENT);
	stop_answered(&th);
	ck_assert_int_eq(th.stop.asked, ASK_NOTHING);
}
END_TEST

START_TEST(another_stop_takes_the_event_away)
{
	stops(EV_STOP);
	stop_end(&th, false);
	stop_ask(&th, true);
	stops(EV_SIGNAL);
	ck_assert_int_eq(th.stop.asked, ASK_STOP);
	stops(EV_EXEC);
	ck_assert_int_eq(th.stop.asked, ASK_NOTHING);
}
END_TEST

START_TEST(calls_are_entered_and_left)
{
	stops(EV_SYSCALL_ENTER);
	ck_assert_int_eq(th.stop.call, CALL_INSIDE);
	stops(EV_SYSCALL_EXIT);
	ck_assert_int_eq(th.stop.call, CALL_OUTSIDE);
	ck_assert(!th.stop.broken_off);
	stops(EV_SECCOMP);
	ck_assert_int_eq(th.stop.call, CALL_INSIDE);
	/* What comes on the way says nothing of it. */
	stops(EV_SIGNAL);
	ck_assert_int_eq(th.stop.call, CALL_INSIDE);
	stop_lose_calls(&th);
	ck_assert_int_eq(th.stop.call, CALL_UNKNOWN);
	stops(EV_EXEC);
	ck_assert_int_eq(th.stop.call, CALL_INSIDE);
}
END_TEST

START_TEST(a_call_is_broken_off_by_us)
{
	stops(EV_SYSCALL_ENTER);
	stop_end(&th, false);
	stop_ask(&th, false);
	stops(EV_SYSCALL_EXIT);
	ck_assert(th.stop.broken_off);
	stop_answered(&th);
	stops(EV_SYSCALL_ENTER);
	ck_assert(!th.stop.broken_off);
}
END_TEST

START_TEST(the_end_of_a_call_that_was_passed)
{
	stops(EV_FORK);
	stop_pass_event(&th);
	ck_assert(th.stop.past_event);
	stop_owe_exit(&th);
	ck_assert(!th.stop.past_event);
	ck_assert_int_eq(th.stop.kind, EV_SYSCALL_EXIT);
	ck_assert_int_eq(th.stop.call, CALL_OUTSIDE);
	stop_becomes(&th, EV_FORK);
	stop_pass_event(&th);
	stop_begin(&th);
	ck_assert(!th.stop.past_event);
}
END_TEST

START_TEST(lives_end_and_begin_again)
{
	stops(EV_VFORK);
	ck_assert_int_eq(th.stop.life, LIFE_VFORK);
	stops(EV_SIGNAL);
	ck_assert_int_eq(th.stop.life, LIFE_VFORK);
	stops(EV_VFORK_DONE);
	ck_assert_int_eq(th.stop.life, LIFE_RUNS);
	stops(EV_EXIT);
	ck_assert(thread_ends(&th));
	stops(EV_VFORK_DONE);
	ck_assert(thread_ends(&th));
	stops(EV_EXEC);
	ck_assert_int_eq(th.stop.life, LIFE_RUNS);
}
END_TEST

START_TEST(askers_do_not_disturb_each_other)
{
	stop_want_calls(&th, WANT_EXIT, true);
	stop_want_calls(&th, WANT_HIDE, true);
	stop_want_calls(&th, WANT_EXIT, false);
	ck_assert_uint_eq(th.stop.wants, WANT_HIDE);
}
END_TEST

START_TEST(the_supervisor_counts_what_is_left_with_the_kernel)
{
	stops(EV_TRAP);
	stop_leave_untaken(&th);
	ck_assert_uint_eq(su.untaken, 1);
	stop_take(&th);
	stop_take(&th);
	ck_assert_uint_eq(su.untaken, 0);
	stop_leave_untaken(&th);
	stop_gone(&th);
	ck_assert(thread_gone(&th));
	ck_assert_uint_eq(su.untaken, 0);
}
END_TEST

/* What is not drawn. */

static void
begin_when_gone(void)
{
	stop_gone(&th);
	stop_begin(&th);
}

static void
go_twice(void)
{
	stop_gone(&th);
	stop_gone(&th);
}

static void
resume_what_runs(void)
{
	stops(EV_STOP);
	stop_end(&th, false);
	stop_end(&th, false);
}

static void
resume_what_is_new(void)
{
	stop_end(&th, false);
}

static void
wait_while_it_runs(void)
{
	stops(EV_STOP);
	stop_end(&th, false);
	stop_wait(&th);
}

static void
lend_twice(void)
{
	stops(EV_STOP);
	stop_lend(&th);
	stop_lend(&th);
}

static void
return_what_was_not_lent(void)
{
	stops(EV_STOP);
	stop_return(&th, TH_STOPPED);
}

static void
call_a_stop_what_is_none(void)
{
	stop_is(&th, EV_SIGNAL);
}

static void
pass_an_event_twice(void)
{
	stops(EV_FORK);
	stop_pass_event(&th);
	stop_pass_event(&th);
}

static void
owe_nothing(void)
{
	stops(EV_FORK);
	stop_owe_exit(&th);
}

static void
sleep_in_a_stop(void)
{
	stops(EV_STOP);
	stop_sleeps(&th, true);
}

static void
hand_out_what_is_not_queued(void)
{
	stop_queue(&th);
	stop_unqueue(&th);
	stop_unqueue(&th);
}

static void
leave_untaken_twice(void)
{
	stops(EV_TRAP);
	stop_leave_untaken(&th);
	stop_leave_untaken(&th);
}

static void (*const wrong[])(void) = { begin_when_gone, go_twice,
	resume_what_runs, resume_what_is_new, wait_while_it_runs, lend_twice,
	return_what_was_not_lent, call_a_stop_what_is_none, pass_an_event_twice,
	owe_nothing, sleep_in_a_stop, hand_out_what_is_not_queued,
	leave_untaken_twice };

START_TEST(what_is_not_drawn_is_refused)
{
	wrong[_i]();
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("tracer/stop");
	TCase *tc = tcase_create("states");
	SRunner *r = srunner_create(s);

	suite_add_tcase(s, tc);
	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, a_new_thread_stops_and_runs);
	tcase_add_test(tc, a_siginfo_lasts_for_its_stop);
	tcase_add_test(tc, a_group_stop_is_listened_to);
	tcase_add_test(tc, it_waits_for_its_space);
	tcase_add_test(tc, it_is_lent_from_where_it_was);
	tcase_add_test(tc, a_stop_begins_anew);
	tcase_add_test(tc, an_event_stop_answers);
	tcase_add_test(tc, another_stop_takes_the_event_away);
	tcase_add_test(tc, calls_are_entered_and_left);
	tcase_add_test(tc, a_call_is_broken_off_by_us);
	tcase_add_test(tc, the_end_of_a_call_that_was_passed);
	tcase_add_test(tc, lives_end_and_begin_again);
	tcase_add_test(tc, askers_do_not_disturb_each_other);
	tcase_add_test(tc, the_supervisor_counts_what_is_left_with_the_kernel);
	tcase_add_loop_test_raise_signal(tc, what_is_not_drawn_is_refused,
	    SIGABRT, 0, (int)ARRAY_SIZE(wrong));
	srunner_run_all(r, CK_NORMAL);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
