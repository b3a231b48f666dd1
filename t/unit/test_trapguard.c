/*
 * tracer/survive/trapguard: when it is known whether the handler is installed.
 * The call in the target is a double, so the file itself is read in below.
 */
#include <check.h>
#include <unistd.h>

#include "t/unit/suite.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/super.h"

#define sigtrap_call(th, act, set, old) 0
#include "tracer/survive/trapguard.c"

/* A vfork child whose int3 has removed the handler gets a new one with the
 * program that it executes. */
START_TEST(a_new_handler_is_not_down)
{
	struct space space = { 0 };
	struct proc first = { 0 };
	struct proc p = { .space = &space, .handler.state = HANDLER_IN };
	struct thread th = { .tid = getpid(), .proc = &p };

	*vec_push(&space.procs) = &first;
	*vec_push(&space.procs) = &p;
	p.vfork_child = true;
	ck_assert(sigtrap_is_reset(&th)); /* this process has no handler */
	trapguard_lost(&th);
	ck_assert(!sigtrap_is_reset(&th));

	p.vfork_child = false;
	ck_assert_int_eq(set_action(&th, false, NULL), 0);
	ck_assert(sigtrap_is_reset(&th));
	vec_fini(&space.procs);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = { a_new_handler_is_not_down };

	return suite_run("trapguard", NULL, NULL, tests, ARRAY_SIZE(tests));
}
