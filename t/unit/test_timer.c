/*
 * Timers: what is called when, and how schedules go on.  The clock is not
 * waited for: deadlines are moved into the past instead.
 */
#include <check.h>
#include <signal.h>

#include "tracer/base/timer.h"

#define S 1000000000ULL

static struct timers ts;
static int calls;
static uint64_t lateness;

static void
count(struct state *st, void *arg, uint64_t late)
{
	calls++;
	lateness = late;
	if (arg != NULL)
		++*(int *)arg;
}

static void
setup(void)
{
	/* What the kernel's timer raises is the loop's business. */
	signal(SIGALRM, SIG_IGN);
	ts = (struct timers){ 0 };
	calls = 0;
}

static void
teardown(void)
{
	timers_fini(&ts);
}

/* Let the first timer have been due `ns' ago. */
static void
overdue(uint64_t ns)
{
	ts.list.at[0].next = timer_now() - ns;
}

START_TEST(first_after_one_period)
{
	uint64_t before = timer_now();

	timer_add(&ts, 100 * S, count, NULL);
	ck_assert_uint_ge(ts.list.at[0].next, before + 100 * S);
	timers_run(&ts, NULL);
	ck_assert_int_eq(calls, 0);
	ck_assert_uint_eq(ts.armed_for, ts.list.at[0].next);
}
END_TEST

START_TEST(no_drift)
{
	timer_add(&ts, 100 * S, count, NULL);
	overdue(3 * S);
	uint64_t due = ts.list.at[0].next;
	timers_run(&ts, NULL);
	ck_assert_int_eq(calls, 1);
	ck_assert_uint_ge(lateness, 3 * S);
	/* From when it was due, not from when it was called. */
	ck_assert_uint_eq(ts.list.at[0].next, due + 100 * S);
	timers_run(&ts, NULL);
	ck_assert_int_eq(calls, 1);
}
END_TEST

START_TEST(missed_ones_are_not_made_up_for)
{
	timer_add(&ts, 100 * S, count, NULL);
	ck_assert_uint_gt(timer_now(), 0);
	/* 1000 periods ago, as far as the clock goes back. */
	ts.list.at[0].next = 1;
	ts.list.at[0].period = timer_now() / 1000;
	timers_run(&ts, NULL);
	ck_assert_int_eq(calls, 1);
	ck_assert_uint_gt(ts.list.at[0].next, timer_now() - S);
}
END_TEST

START_TEST(the_earliest_is_armed)
{
	timer_add(&ts, 300 * S, count, NULL);
	timer_add(&ts, 100 * S, count, NULL);
	timer_add(&ts, 200 * S, count, NULL);
	timers_run(&ts, NULL);
	ck_assert_uint_eq(ts.armed_for, ts.list.at[1].next);
}
END_TEST

static void
add_another(struct state *st, void *arg, uint64_t late)
{
	calls++;
	/* Enough to move the list. */
	for (int i = 0; i < 100; i++)
		timer_add(&ts, 50 * S, count, NULL);
}

START_TEST(a_callback_may_add)
{
	timer_add(&ts, 100 * S, add_another, NULL);
	overdue(0);
	timers_run(&ts, NULL);
	ck_assert_int_eq(calls, 1);
	ck_assert_uint_eq(ts.list.len, 101);
	ck_assert_uint_eq(ts.armed_for, ts.list.at[1].next);
}
END_TEST

START_TEST(periods_change)
{
	int a = 0, b = 0;

	timer_add(&ts, 100 * S, count, &a);
	timer_add(&ts, 100 * S, count, &b);
	uint64_t next = ts.list.at[0].next;
	timer_set_period(&ts, count, &a, 40 * S);
	ck_assert_uint_eq(ts.list.at[0].next, next - 60 * S);
	ck_assert_uint_eq(ts.list.at[0].period, 40 * S);
	ck_assert_uint_eq(ts.list.at[1].period, 100 * S);
	timers_run(&ts, NULL);
	ck_assert_uint_eq(ts.armed_for, ts.list.at[0].next);
}
END_TEST

/* A call that is due stays so, with whatever period. */
START_TEST(what_is_due_stays_due)
{
	timer_add(&ts, 100 * S, count, NULL);
	timer_set_next(&ts, count, NULL, 0);
	timer_set_period(&ts, count, NULL, 40 * S);
	timers_run(&ts, NULL);
	ck_assert_int_eq(calls, 1);
	ck_assert_uint_gt(ts.list.at[0].next, timer_now() + 30 * S);
	ck_assert_uint_lt(ts.list.at[0].next, timer_now() + 50 * S);
}
END_TEST

START_TEST(never_and_again)
{
	uint64_t now = timer_now();

	timer_add(&ts, 100 * S, count, NULL);
	timer_set_period(&ts, count, NULL, 0);
	ck_assert_uint_eq(ts.list.at[0].next, UINT64_MAX);
	timers_run(&ts, NULL);
	ck_assert_int_eq(calls, 0);
	timer_set_period(&ts, count, NULL, 7 * S);
	ck_assert_uint_ge(ts.list.at[0].next, now + 7 * S);
	ck_assert_uint_lt(ts.list.at[0].next, now + 100 * S);
}
END_TEST

START_TEST(a_callback_may_choose_the_time)
{
	int other = 0;

	timer_add(&ts, 100 * S, count, NULL);
	timer_add(&ts, 100 * S, count, &other);
	uint64_t next = timer_now() + 50 * S;
	timer_set_next(&ts, count, &other, next);
	timers_run(&ts, NULL);
	ck_assert_uint_eq(ts.armed_for, next);
	timer_set_next(&ts, count, &other, timer_now() - 1);
	timers_run(&ts, NULL);
	ck_assert_int_eq(calls, 1);
	ck_assert_int_eq(other, 1);
	/* Then as before. */
	ck_assert_uint_gt(ts.list.at[1].next, timer_now() + 90 * S);
}
END_TEST

START_TEST(the_kernel_is_asked_once)
{
	timers_run(&ts, NULL);
	ck_assert(!ts.created); /* nothing to wait for */
	timer_add(&ts, 100 * S, count, NULL);
	timers_run(&ts, NULL);
	struct itimerspec its;
	ck_assert_int_eq(timer_gettime(ts.id, &its), 0);
	ck_assert_int_gt(its.it_value.tv_sec + its.it_value.tv_nsec, 0);
	ck_assert_int_eq(its.it_interval.tv_sec, 0);
	/* It has one timer for all deadlines. */
	timer_t id = ts.id;
	timer_add(&ts, 50 * S, count, NULL);
	timers_run(&ts, NULL);
	ck_assert(ts.created);
	ck_assert_ptr_eq(ts.id, id);
	timers_fini(&ts);
	ck_assert_int_ne(timer_gettime(id, &its), 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("timer");
	TCase *tc = tcase_create("timer");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, first_after_one_period);
	tcase_add_test(tc, no_drift);
	tcase_add_test(tc, missed_ones_are_not_made_up_for);
	tcase_add_test(tc, the_earliest_is_armed);
	tcase_add_test(tc, a_callback_may_add);
	tcase_add_test(tc, periods_change);
	tcase_add_test(tc, what_is_due_stays_due);
	tcase_add_test(tc, never_and_again);
	tcase_add_test(tc, a_callback_may_choose_the_time);
	tcase_add_test(tc, the_kernel_is_asked_once);
	suite_add_tcase(s, tc);

	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
