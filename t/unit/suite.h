/*
 * The main() of a test program whose tests share one fixture.
 */
#ifndef T_UNIT_SUITE_H
#define T_UNIT_SUITE_H

#include <check.h>
#include <stddef.h>

/* Run the tests, each between setup() and teardown(), which may be NULL.  The
 * exit status: 0 if none has failed. */
static int
suite_run(const char *name, void (*setup)(void), void (*teardown)(void),
    const TTest *const *tests, size_t n)
{
	Suite *s = suite_create(name);
	TCase *tc = tcase_create(name);

	tcase_add_checked_fixture(tc, setup, teardown);
	for (size_t i = 0; i < n; i++)
		tcase_add_test(tc, tests[i]);
	suite_add_tcase(s, tc);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}

#endif
