/*
 * tracer/sites/lost: for how long a start waits for protection, and what is done
 * when protection is lost.  Spaces and the guardian are doubles, so the file itself
 * is included below.
 */
#include <check.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dlang/base/clock.h"
#include "dlang/base/str.h"
#include "t/unit/suite.h"
#include "tracer/base/state.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/super.h"
#include "tracer/sites/protect.h"
#include "tracer/sites/site.h"
#include "tracer/survive/guardian.h"
#include "tracer/survive/trapguard.h"

static struct proc procs[2];
static struct space spaces[2];
static struct str said;
static uint64_t clock_ms;
static unsigned commits[2], naps, dropped, pendings, later;
static unsigned heals_after; /* commits of the first space; 0: never */
static bool off, stirred, alive;
static int revive_error, add_error;

static void PRINTF_LIKE(2, 3) say(struct state *st, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	str_vprintf(&said, fmt, ap);
	str_addc(&said, '\n');
	va_end(ap);
}

static struct proc *
double_next(struct super *s, struct proc *p)
{
	size_t i = p == NULL ? 0 : (size_t)(p - procs) + 1;

	return i < ARRAY_SIZE(procs) ? &procs[i] : NULL;
}

static struct space *
double_exposed(struct space *after)
{
	for (size_t i = after == NULL ? 0 : (size_t)(after - spaces) + 1;
	     i < ARRAY_SIZE(spaces); i++)
		if (spaces[i].exposed != 0)
			return &spaces[i];
	return NULL;
}

static void
double_commit(struct space *sp)
{
	if (++commits[sp - spaces] == heals_after)
		sp->exposed = 0;
}

/* The clock goes on only while we sleep. */
static int
double_sleep(const struct timespec *ts)
{
	naps++;
	clock_ms += (uint64_t)ts->tv_nsec / 1000000;
	return 0;
}

#define state_message           say
#define super_next              double_next
#define protect_next(st, after) double_exposed(after)
#define protect_is_off(st)      off
#define protect_matters(sp)     (sp)->probed
#define protect_pid(sp)         (100 + (int)((sp)-spaces))
#define sites_commit(st, sp)    double_commit(sp)
#define sites_commit_later(st)  ((void)later++)
#define clock_coarse_ms()       clock_ms
#define nanosleep(ts, left)     double_sleep(ts)
#define guardian_add(sp, area)  ((area) == 0x1000 ? add_error : -EINVAL)
#define guardian_stirred()      stirred
#define guardian_is_alive()     alive
#define guardian_revive(su)     revive_error
#define guardian_drop(sp)       ((void)dropped++)
#include "tracer/sites/lost.c"

static struct state st;
static struct super super;

static void
pending(struct state *state)
{
	pendings++;
}

static const struct drive_ops drive = { .pending = pending };

static void
setup(void)
{
	memset(&st, 0, sizeof(st));
	memset(&super, 0, sizeof(super));
	memset(spaces, 0, sizeof(spaces));
	st.drive = &drive;
	st.super = &super;
	str_clear(&said);
	clock_ms = 1000000;
	commits[0] = commits[1] = naps = dropped = pendings = later = 0;
	heals_after = 0;
	off = stirred = false;
	alive = true;
	revive_error = add_error = 0;
	for (size_t i = 0; i < ARRAY_SIZE(procs); i++) {
		procs[i].space = &spaces[i];
		spaces[i].probed = true;
		spaces[i].exposed_why = "no thread stands still";
		spaces[i].tab = (struct tptable *)8;
	}
}

static void
teardown(void)
{
	str_fini(&said);
}

START_TEST(a_protected_start_does_not_wait)
{
	ck_assert_ptr_null(protect_start(&st));
	ck_assert_uint_eq(naps, 0);
	ck_assert_uint_eq(commits[0], 0);
}
END_TEST

START_TEST(what_may_pass_is_waited_for)
{
	spaces[0].exposed = -EBUSY;
	heals_after = 3;
	ck_assert_ptr_null(protect_start(&st));
	ck_assert_uint_eq(commits[0], 3);
	ck_assert_uint_eq(naps, 2);
	ck_assert_uint_eq(pendings, 2);
}
END_TEST

START_TEST(not_for_ever)
{
	spaces[0].exposed = -EBUSY;
	/* It may still pass: tracing begins without. */
	ck_assert_ptr_null(protect_start(&st));
	ck_assert_uint_eq(naps, 2000 / 20);
	ck_assert_uint_eq(commits[0], 2000 / 20);
}
END_TEST

START_TEST(what_will_not_pass_is_an_error)
{
	spaces[1].exposed = -EPERM;
	ck_assert_str_eq(protect_start(&st),
	    "pid 101 cannot be protected from a sudden end of dtrap: no thread "
	    "stands still (Operation not permitted); -x unprotected traces it "
	    "anyway");
	ck_assert_uint_eq(naps, 0);
	ck_assert_uint_eq(commits[1], 0);
	/* Unless it has no probe, or nobody wants protection. */
	spaces[1].probed = false;
	ck_assert_ptr_null(protect_start(&st));
	spaces[1].probed = true;
	off = true;
	ck_assert_ptr_null(protect_start(&st));
	ck_assert_uint_eq(naps, 0);
}
END_TEST

START_TEST(without_protection_nothing_is_waited_for)
{
	spaces[0].exposed = -EBUSY;
	off = true;
	ck_assert_ptr_null(protect_start(&st));
	ck_assert_uint_eq(naps, 0);
	ck_assert_uint_eq(commits[0], 0);
}
END_TEST

START_TEST(one_of_two_passes)
{
	spaces[0].exposed = -EBUSY;
	spaces[1].exposed = -EPERM;
	heals_after = 2;
	ck_assert_ptr_nonnull(protect_start(&st));
	ck_assert_uint_eq(commits[0], 2);
	ck_assert_uint_eq(commits[1], 0);
	ck_assert_uint_eq(naps, 1);
}
END_TEST

START_TEST(what_has_no_probe_is_not_waited_for)
{
	spaces[0].exposed = -EBUSY;
	spaces[0].probed = false;
	ck_assert_ptr_null(protect_start(&st));
	ck_assert_uint_eq(naps, 0);
	ck_assert_uint_eq(commits[0], 0);
}
END_TEST

START_TEST(a_child_is_tried_again_where_it_is_exposed)
{
	protect_fork(&st, &spaces[0], 0x1000);
	ck_assert_int_eq(spaces[0].exposed, 0);
	ck_assert_uint_eq(later, 0);
	add_error = -EPIPE;
	protect_fork(&st, &spaces[0], 0x1000);
	ck_assert_int_eq(spaces[0].exposed, -EPIPE);
	ck_assert_ptr_nonnull(strstr(spaces[0].exposed_why, "guardian"));
	ck_assert_uint_eq(later, 1);
}
END_TEST

START_TEST(a_look_at_what_is_well_changes_nothing)
{
	protect_look(&st);
	stirred = true;
	protect_look(&st);
	stirred = alive = false;
	protect_look(&st);
	ck_assert_str_eq(str_c(&said), "");
	ck_assert_uint_eq(commits[0] + commits[1] + dropped, 0);
}
END_TEST

START_TEST(a_lost_handler_is_put_back)
{
	super.unguarded = 2;
	spaces[1].tab = NULL; /* has no text of ours */
	protect_look(&st);
	ck_assert_ptr_nonnull(strstr(str_c(&said), "SIGTRAP"));
	ck_assert_uint_eq(super.unguarded, 0);
	ck_assert_uint_eq(commits[0], 1);
	ck_assert_uint_eq(commits[1], 0);
	/* Once. */
	str_clear(&said);
	protect_look(&st);
	ck_assert_str_eq(str_c(&said), "");
	ck_assert_uint_eq(commits[0], 1);
}
END_TEST

START_TEST(a_killed_guardian_is_replaced)
{
	stirred = true;
	alive = false;
	protect_look(&st);
	ck_assert_str_eq(str_c(&said),
	    "the guardian process was killed: a new one was started\n");
	ck_assert_uint_eq(dropped, 0);
	ck_assert_uint_eq(commits[0], 0);
}
END_TEST

START_TEST(without_a_guardian_nothing_stays_as_it_is)
{
	stirred = true;
	alive = false;
	revive_error = -EAGAIN;
	protect_look(&st);
	ck_assert_str_eq(str_c(&said),
	    "the guardian process was killed: no new one can be started\n");
	ck_assert_uint_eq(dropped, 2);
	ck_assert_uint_eq(commits[0], 1);
	ck_assert_uint_eq(commits[1], 1);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		a_protected_start_does_not_wait,
		what_may_pass_is_waited_for,
		not_for_ever,
		what_will_not_pass_is_an_error,
		without_protection_nothing_is_waited_for,
		one_of_two_passes,
		what_has_no_probe_is_not_waited_for,
		a_child_is_tried_again_where_it_is_exposed,
		a_look_at_what_is_well_changes_nothing,
		a_lost_handler_is_put_back,
		a_killed_guardian_is_replaced,
		without_a_guardian_nothing_stays_as_it_is,
	};

	return suite_run("lost", setup, teardown, tests, ARRAY_SIZE(tests));
}
