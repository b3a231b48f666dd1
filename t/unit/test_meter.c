/*
 * tracer/prov/meter: how many samples a thread has missed in the kernel.
 */
#include <check.h>

#include "dlang/base/base.h"
#include "t/unit/suite.h"
#include "tracer/prov/meter.h"

#define MS     UINT64_C(1000000)
#define PERIOD (10 * MS)

static struct meter m;

static void
setup(void)
{
	m = (struct meter){ 0 };
}

/* What the records of a program would be whose clock is due each PERIOD of its time,
 * and is silent in the kernel. */
START_TEST(user_code_alone_misses_nothing)
{
	uint64_t t = 50 * MS;

	for (int i = 0; i < 100; i++) {
		meter_on(&m, t);
		/* Two thirds of a period, then away for a while. */
		uint64_t used = (uint64_t)i * 7 * MS;
		uint64_t due = (used / PERIOD + 1) * PERIOD;
		if (due <= used + 7 * MS && due > used)
			ck_assert_uint_eq(
			    meter_sample(&m, t + due - used, PERIOD), 0);
		ck_assert_uint_eq(meter_off(&m, t + 7 * MS, PERIOD), 0);
		t += 100 * MS;
	}
}
END_TEST

START_TEST(what_has_passed_without_a_sample_is_missed)
{
	meter_on(&m, 100 * MS);
	ck_assert_uint_eq(meter_sample(&m, 130 * MS, PERIOD), 2);
	ck_assert_uint_eq(meter_sample(&m, 140 * MS, PERIOD), 0);
	ck_assert_uint_eq(meter_off(&m, 165 * MS, PERIOD), 2);
	/* Off the processor no time passes. */
	meter_on(&m, 1000 * MS);
	ck_assert_uint_eq(meter_off(&m, 1004 * MS, PERIOD), 0);
	meter_on(&m, 2000 * MS);
	ck_assert_uint_eq(meter_off(&m, 2001 * MS, PERIOD), 1);
	/* A sample ends what is due. */
	meter_on(&m, 3000 * MS);
	ck_assert_uint_eq(meter_sample(&m, 3010 * MS, PERIOD), 0);
	ck_assert_uint_eq(meter_off(&m, 3019 * MS, PERIOD), 0);
}
END_TEST

START_TEST(an_interrupt_may_be_early_or_late)
{
	meter_on(&m, 100 * MS);
	ck_assert_uint_eq(meter_sample(&m, 106 * MS, PERIOD), 0);
	ck_assert_uint_eq(meter_sample(&m, 120 * MS, PERIOD), 0);
	ck_assert_uint_eq(meter_sample(&m, 136 * MS, PERIOD), 1);
	/* Told before it turns out that the sample was only late. */
	ck_assert_uint_eq(meter_now(&m, 146 * MS, PERIOD), 1);
	ck_assert_uint_eq(meter_sample(&m, 147 * MS, PERIOD), 0);
	ck_assert_uint_eq(meter_sample(&m, 167 * MS, PERIOD), 0);
	ck_assert_uint_eq(meter_sample(&m, 187 * MS, PERIOD), 1);
}
END_TEST

START_TEST(one_that_stays_in_the_kernel_is_told_of_meanwhile)
{
	ck_assert_uint_eq(meter_now(&m, 90 * MS, PERIOD), 0);
	meter_on(&m, 100 * MS);
	ck_assert_uint_eq(meter_now(&m, 95 * MS, PERIOD), 0);
	ck_assert_uint_eq(meter_now(&m, 129 * MS, PERIOD), 2);
	ck_assert_uint_eq(meter_now(&m, 131 * MS, PERIOD), 1);
	ck_assert_uint_eq(meter_off(&m, 151 * MS, PERIOD), 2);
	ck_assert_uint_eq(meter_now(&m, 500 * MS, PERIOD), 0);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		user_code_alone_misses_nothing,
		what_has_passed_without_a_sample_is_missed,
		an_interrupt_may_be_early_or_late,
		one_that_stays_in_the_kernel_is_told_of_meanwhile,
	};

	return suite_run("meter", setup, NULL, tests, ARRAY_SIZE(tests));
}
