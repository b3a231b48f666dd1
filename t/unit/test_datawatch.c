/*
 * tracer/ptrace/datawatch: which lengths can be watched, and which signals are
 * those of watches.  t/e2e/67-watch.sh has the rest.
 */
#include <check.h>
#include <string.h>

#include "dlang/base/base.h"
#include "inject/trap/area.h"
#include "t/unit/suite.h"
#include "tracer/ptrace/datawatch.h"

START_TEST(a_processor_watches_aligned_words)
{
	for (unsigned len = 1; len <= 8; len *= 2) {
		ck_assert(datawatch_fits(0x1000, len));
		ck_assert(datawatch_fits(0x1000 + len, len));
		ck_assert(len == 1 || !datawatch_fits(0x1001, len));
	}
	ck_assert(datawatch_fits(0x1001, 1));
	ck_assert(!datawatch_fits(0x1004, 8));
	ck_assert(!datawatch_fits(0x1000, 0));
	ck_assert(!datawatch_fits(0x1000, 3));
	ck_assert(!datawatch_fits(0x1000, 16));
}
END_TEST

START_TEST(a_signal_of_a_watch_has_the_mark)
{
	siginfo_t si = { .si_signo = SIGTRAP, .si_code = TRAP_DATA_CODE };
	uint64_t data = TRAP_DATA_MARK | 5;

	ck_assert(!datawatch_is(&si));
	memcpy((char *)&si + TRAP_DATA_AT, &data, sizeof(data));
	ck_assert(datawatch_is(&si));
	si.si_code = TRAP_CODE;
	ck_assert(!datawatch_is(&si));
	si.si_code = TRAP_DATA_CODE;
	si.si_signo = SIGUSR1;
	ck_assert(!datawatch_is(&si));
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		a_processor_watches_aligned_words,
		a_signal_of_a_watch_has_the_mark,
	};

	return suite_run("datawatch", NULL, NULL, tests, ARRAY_SIZE(tests));
}
