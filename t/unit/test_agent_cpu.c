/*
 * inject/agent/x86_64/cpu.c: in both ways the processor is the one on which the
 * thread is.
 */
#include <check.h>
#include <sched.h>

#include "inject/agent/agent.h"
#include "inject/stub.h"

struct agent agent;

#include "inject/agent/x86_64/cpu.c"

START_TEST(it_is_the_one_that_the_thread_is_bound_to)
{
	unsigned bound = 0;

	for (int n = 0; n < CPU_SETSIZE; n++) {
		cpu_set_t one;
		CPU_ZERO(&one);
		CPU_SET(n, &one);
		if (sched_setaffinity(0, sizeof(one), &one) != 0)
			continue;
		bound++;
		agent.processor = 0;
		ck_assert_uint_eq(agent_cpu(), n);
		agent.processor = stub_processor();
		ck_assert_uint_eq(agent_cpu(), n);
	}
	ck_assert_uint_gt(bound, 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("agent_cpu");
	TCase *t = tcase_create("agent_cpu");

	if (!stub_possible())
		return 77;
	tcase_add_test(t, it_is_the_one_that_the_thread_is_bound_to);
	suite_add_tcase(suite, t);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
