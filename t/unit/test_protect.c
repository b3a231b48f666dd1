/*
 * tracer/sites/protect: whose text may be changed, who is told, and who is let go.
 * Whether a space can be protected is told by a double, so the file itself is read
 * in below.
 */
#include <check.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/log.h"
#include "dlang/base/str.h"
#include "inject/tracepoint.h"
#include "t/unit/suite.h"
#include "tracer/base/state.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/super.h"
#include "tracer/survive/semaphore.h"
#include "tracer/survive/trapguard.h"

static int answer;       /* trapguard_begin()'s */
static bool tried_again; /* what it was told */
static bool suspended, unlisted;
static unsigned lowered, left_spaces;
static struct proc *procs[3];
static struct str said;

static void PRINTF_LIKE(2, 3) say(struct state *st, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	str_vprintf(&said, fmt, ap);
	str_addc(&said, '\n');
	va_end(ap);
}

static int
double_begin(bool again, const char **why)
{
	tried_again = again;
	if (answer != 0)
		*why = "no thread stands still";
	return answer;
}

static struct proc *
double_next(struct super *s, struct proc *p)
{
	size_t i = 0;

	while (p != NULL && procs[i++] != p)
		;
	return i < ARRAY_SIZE(procs) ? procs[i] : NULL;
}

#define state_message                     say
#define trapguard_begin(sp, near, a, why) double_begin(a, why)
#define tptable_near(tab)                 0
#define tracepoint_suspend(tab, on)       ((void)(suspended = (on)))
#define tracepoint_unlisted(tab)          ((void)(unlisted = true))
#define semaphores_lower(sp)              ((void)lowered++)
#define space_leave(sp, p)                ((void)left_spaces++)
#define super_next                        double_next
#include "tracer/sites/protect.c"

static struct state st;
static struct space space[2];
static struct proc proc[3];

static void
double_let_go(struct state *state, struct proc *p)
{
	p->space->procs.len--;
}

static const struct drive_ops drive = { .let_go = double_let_go };

static void
setup(void)
{
	memset(&st, 0, sizeof(st));
	memset(space, 0, sizeof(space));
	memset(proc, 0, sizeof(proc));
	options_init(&st.opts);
	st.drive = &drive;
	answer = 0;
	suspended = unlisted = tried_again = false;
	lowered = left_spaces = 0;
	str_clear(&said);
	/* Two processes in the first, one in the other. */
	for (unsigned i = 0; i < ARRAY_SIZE(proc); i++) {
		procs[i] = &proc[i];
		proc[i].pid = 100 + (int)i;
		proc[i].space = &space[i / 2];
		*vec_push(&space[i / 2].procs) = &proc[i];
	}
	space[0].probed = space[1].probed = true;
}

static void
teardown(void)
{
	vec_fini(&space[0].procs);
	vec_fini(&space[1].procs);
	str_fini(&said);
}

static void
expect(const char *want)
{
	ck_assert_str_eq(str_c(&said), want);
	str_clear(&said);
}

#define CANNOT                                                               \
	"pid 100 cannot be protected from a sudden end of dtrap: no thread " \
	"stands still (Device or resource busy): probes in its code do not " \
	"fire; -x unprotected traces it anyway\n"

START_TEST(what_is_protected_may_be_changed)
{
	protect_space(&st, &space[0]);
	ck_assert(protect_allows(&st, &space[0]));
	ck_assert(!suspended);
	ck_assert(!tried_again);
	ck_assert_uint_eq(lowered, 0);
	expect("");
}
END_TEST

START_TEST(what_is_not_keeps_its_own_text)
{
	answer = -EBUSY;
	protect_space(&st, &space[0]);
	ck_assert(!protect_allows(&st, &space[0]));
	ck_assert(suspended);
	ck_assert(!unlisted);
	ck_assert_uint_eq(lowered, 1);
	/* Nothing is said before another try. */
	expect("");
	ck_assert(!tried_again);
	protect_space(&st, &space[0]);
	ck_assert(tried_again);
	proc[1].role.named = true;
	protect_still_not(&st, &space[0]);
	expect(CANNOT);
	/* Once. */
	protect_still_not(&st, &space[0]);
	expect("");
	/* And when it can be had at last. */
	answer = 0;
	protect_space(&st, &space[0]);
	ck_assert(protect_allows(&st, &space[0]));
	ck_assert(!suspended);
	expect("pid 100 is protected again\n");
	/* What was lost once more is said once more. */
	answer = -EBUSY;
	protect_space(&st, &space[0]);
	protect_still_not(&st, &space[0]);
	expect(CANNOT);
}
END_TEST

/* Of what nobody misses nothing is said. */
START_TEST(nothing_is_missed_without_a_probe)
{
	space[0].probed = false;
	proc[0].role.named = true;
	answer = -EBUSY;
	protect_space(&st, &space[0]);
	protect_still_not(&st, &space[0]);
	expect("");
	answer = 0;
	protect_space(&st, &space[0]);
	expect("");
	/* A static probe's semaphore is one. */
	space[0].sems = (struct semaphores *)&space[0];
	answer = -EBUSY;
	protect_space(&st, &space[0]);
	protect_still_not(&st, &space[0]);
	expect(CANNOT);
}
END_TEST

START_TEST(a_child_that_was_not_asked_for_is_let_go)
{
	answer = -EBUSY;
	protect_space(&st, &space[0]);
	protect_still_not(&st, &space[0]);
	expect("detached from pid 100: it cannot be protected from a sudden "
	       "end of dtrap: no thread stands still (Device or resource "
	       "busy); -x unprotected traces it anyway\n");
	ck_assert_uint_eq(space[0].procs.len, 0);
	ck_assert_uint_eq(space[0].refs, 1);
	ck_assert_uint_eq(left_spaces, 1);
	/* Nobody is left in it to be named. */
	ck_assert_int_eq(protect_pid(&space[0]), 0);
	/* One that a provider has looked for was asked for. */
	proc[2].role.found = true;
	protect_space(&st, &space[1]);
	protect_still_not(&st, &space[1]);
	ck_assert_uint_eq(space[1].procs.len, 1);
	ck_assert_uint_eq(left_spaces, 1);
}
END_TEST

START_TEST(who_wants_no_protection_has_probes)
{
	st.opts.value[OPT_UNPROTECTED] = 1;
	answer = -EBUSY;
	protect_space(&st, &space[0]);
	ck_assert(protect_allows(&st, &space[0]));
	ck_assert(!suspended);
	ck_assert(unlisted);
	ck_assert_uint_eq(lowered, 0);
	expect("pid 100 is traced without protection: no thread stands still "
	       "(Device or resource busy): if dtrap is killed, the "
	       "process dies too\n");
	protect_space(&st, &space[0]);
	ck_assert(!tried_again);
	expect("");
	/* Nor is anybody let go. */
	space[0].exposed_said = false;
	protect_still_not(&st, &space[0]);
	expect("");
	ck_assert_uint_eq(left_spaces, 0);
}
END_TEST

START_TEST(exposed_spaces_one_after_the_other)
{
	ck_assert_ptr_null(protect_next(&st, NULL));
	space[0].exposed = -EBUSY;
	ck_assert_ptr_eq(protect_next(&st, NULL), &space[0]);
	/* A space that two processes share comes once. */
	ck_assert_ptr_null(protect_next(&st, &space[0]));
	space[1].exposed = -EBUSY;
	ck_assert_ptr_eq(protect_next(&st, &space[0]), &space[1]);
	ck_assert_ptr_null(protect_next(&st, &space[1]));
	space[0].exposed = 0;
	ck_assert_ptr_eq(protect_next(&st, NULL), &space[1]);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		what_is_protected_may_be_changed,
		what_is_not_keeps_its_own_text,
		nothing_is_missed_without_a_probe,
		a_child_that_was_not_asked_for_is_let_go,
		who_wants_no_protection_has_probes,
		exposed_spaces_one_after_the_other,
	};

	return suite_run("protect", setup, teardown, tests, ARRAY_SIZE(tests));
}
