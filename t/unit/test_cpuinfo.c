/*
 * tracer/ptrace/cpuinfo: what the kernel says of the processors.
 */
#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "tracer/ptrace/cpuinfo.h"

/* Where the clock changes with the load, it is of the same order. */
START_TEST(the_clock_is_in_megahertz)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[4096];
	double lowest = INFINITY, highest = 0, mhz;
	uint64_t cpus = 0;

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "cpu MHz : %lf", &mhz) == 1) {
			lowest = fmin(lowest, mhz);
			highest = fmax(highest, mhz);
			cpus++;
		}
	fclose(f);
	for (uint64_t i = 0; i < cpus; i++) {
		ck_assert_uint_ge(cpuinfo_mhz(i), (unsigned)(lowest / 16));
		ck_assert_uint_le(cpuinfo_mhz(i), (unsigned)(highest * 16));
	}
	ck_assert_uint_eq(cpuinfo_mhz(cpus), 0);
	ck_assert_uint_eq(cpuinfo_mhz(UINT64_MAX), 0);
}
END_TEST

START_TEST(words_are_cut_to_their_room)
{
	struct utsname u;
	char text[64], three[3];

	ck_assert_int_eq(uname(&u), 0);
	cpuinfo_type(text, sizeof(text));
	ck_assert_str_eq(text, u.machine);
	cpuinfo_type(three, sizeof(three));
	ck_assert_uint_eq(strlen(three), 2);
	cpuinfo_fpu(text, sizeof(text));
	cpuinfo_fpu(three, sizeof(three));
	ck_assert(strncmp(text, three, strlen(three)) == 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("cpuinfo");
	TCase *t = tcase_create("cpuinfo");
	SRunner *r;
	int failed;

	tcase_add_test(t, the_clock_is_in_megahertz);
	tcase_add_test(t, words_are_cut_to_their_room);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
