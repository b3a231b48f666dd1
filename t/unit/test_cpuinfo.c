/*
 * tracer/ptrace/cpuinfo: what the kernel says of the processors.
 */
#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "tracer/ptrace/cpuinfo.h"

#define MOST 256

/* What it says now; the number of processors. */
static unsigned
read_clocks(unsigned *mhz)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[4096];
	double clock;
	unsigned n = 0;

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f) != NULL && n < MOST)
		if (sscanf(line, "cpu MHz : %lf", &clock) == 1)
			mhz[n++] = (unsigned)clock;
	fclose(f);
	return n;
}

/* Compared where it does not change with the load. */
START_TEST(the_clock_is_in_megahertz)
{
	unsigned before[MOST], after[MOST], n = read_clocks(before);
	unsigned told[MOST];

	for (unsigned i = 0; i < n; i++)
		told[i] = cpuinfo_mhz(i);
	ck_assert_uint_eq(read_clocks(after), n);
	for (unsigned i = 0; i < n; i++)
		if (before[i] == after[i])
			ck_assert_uint_eq(told[i], before[i]);
	if (n < MOST)
		ck_assert_uint_eq(cpuinfo_mhz(n), 0);
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
