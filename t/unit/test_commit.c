/*
 * tracer/sites/commit: in which order, and whether at all, what is queued in a
 * space is written.  All that it calls is a double that notes the call, so the
 * file itself is included below.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/str.h"
#include "inject/tracepoint.h"
#include "symbols/addrspace.h"
#include "symbols/maps.h"
#include "t/unit/suite.h"
#include "tracer/base/progress.h"
#include "tracer/base/state.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/super.h"
#include "tracer/sites/jumps.h"
#include "tracer/sites/protect.h"
#include "tracer/sites/sigwatch.h"
#include "tracer/sites/site.h"
#include "tracer/survive/semaphore.h"
#include "tracer/survive/trapguard.h"

static struct str calls; /* their names, a space after each */
static bool queued;
static size_t arming;
static int exposing; /* what protect_space() finds */
static struct proc procs[3];
static struct tracepoint *failing; /* commit reports it */
static unsigned failures, arrivals_failed;
static uint64_t timer_ns; /* of the timer; 0: it is not set */
static unsigned timers;
static struct maps known, present; /* to the tracer; in /proc */
static int maps_error;
static timer_fn timer;

static void
call(const char *name)
{
	str_add(&calls, name);
	str_addc(&calls, ' ');
}

static struct proc *
double_next(struct super *s, struct proc *p)
{
	size_t i = p == NULL ? 0 : (size_t)(p - procs) + 1;

	return i < ARRAY_SIZE(procs) ? &procs[i] : NULL;
}

static void
double_protect(struct space *sp)
{
	call("protect");
	sp->exposed = exposing;
}

/* The next that is exposed; each process here has a space of its own, but the
 * last. */
static struct space *
double_exposed(struct space *after)
{
	size_t i = 0;

	while (after != NULL && procs[i++].space != after)
		;
	for (; i < ARRAY_SIZE(procs); i++)
		if (procs[i].space != after && procs[i].space->exposed != 0)
			return procs[i].space;
	return NULL;
}

static void
double_commit(struct tptable *tab,
    void (*failed)(void *, struct tracepoint *, const char *), void *c)
{
	call("commit");
	if (failing != NULL)
		failed(c, failing, "no room");
	queued = false;
}

static void
double_add(uint64_t ns, timer_fn fn)
{
	timers++;
	timer_ns = ns;
	timer = fn;
}

static int
double_maps(struct maps *out)
{
	if (maps_error != 0)
		return maps_error;
	vec_foreach(m, &present.list)
		*vec_push(&out->list) = *m;
	return 0;
}

static void
double_unmap(uint64_t start, uint64_t end)
{
	char text[48];

	snprintf(text, sizeof(text), "unmap-%llx-%llx",
	    (unsigned long long)start, (unsigned long long)end);
	call(text);
}

#define super_next                     double_next
#define tptable_queued(tab)            queued
#define tptable_arming(tab)            arming
#define protect_next(st, after)        double_exposed(after)
#define protect_space(st, sp)          double_protect(sp)
#define protect_allows(st, sp)         ((sp)->exposed == 0)
#define protect_still_not(st, sp)      call("still-not")
#define timer_add(ts, ns, fn, arg)     double_add(ns, fn)
#define timer_set_period(ts, f, a, ns) ((void)(timer_ns = (ns)))
#define progress(...)                  call("progress")
#define sigwatch_look(st, sp)          call("look")
#define sigwatch_begin(st, sp)         call("watch")
#define space_stop(sp)                 call("stop")
#define space_resume(sp)               call("resume")
#define tracepoint_reserve(tab)        call("reserve")
#define tracepoint_prepare(tab)        call("prepare")
#define jumps_prepare(st, sp)          call("jumps")
#define jumps_commit(st, sp)           call("jumps-commit")
#define semaphores_commit(sp, exposed) call((exposed) ? "sems-exposed" : "sems")
#define tracepoint_commit              double_commit
#define trapguard_end(p)               call("handler-ends")
#define site_failed(st, p, addr, why) \
	((void)(failures += strcmp(why, "no room") == 0))
#define addrspace_maps(as)            (&known)
#define addrspace_pid(as)             1
#define maps_read(pid, out)           double_maps(out)
#define sites_unmap(st, sp, from, to) double_unmap(from, to)
#include "tracer/sites/commit.c"

static struct state st;
static struct space spaces[2];

static void
setup(void)
{
	memset(&st, 0, sizeof(st));
	memset(procs, 0, sizeof(procs));
	memset(spaces, 0, sizeof(spaces));
	str_clear(&calls);
	queued = false;
	arming = 0;
	exposing = maps_error = 0;
	failing = NULL;
	failures = arrivals_failed = timers = 0;
	timer_ns = 0;
	known.list.len = present.list.len = 0;
	for (size_t i = 0; i < ARRAY_SIZE(procs); i++)
		procs[i].space = &spaces[i / 2];
	/* Not used by the doubles, but told from NULL. */
	spaces[0].tab = spaces[1].tab = (struct tptable *)8;
}

static void
teardown(void)
{
	parts_end(&st.parts);
	str_fini(&calls);
	vec_fini(&known.list);
	vec_fini(&present.list);
}

static void
expect(const char *want)
{
	ck_assert_str_eq(str_c(&calls), want);
	str_clear(&calls);
}

START_TEST(nothing_queued_is_nothing_to_protect)
{
	exposing = -EBUSY;
	sites_commit(&st, &spaces[0]);
	expect("jumps stop sems commit jumps-commit resume ");
	ck_assert_uint_eq(spaces[0].changes, 0);
	ck_assert_uint_eq(timer_ns, 0);
}
END_TEST

START_TEST(what_is_queued_is_written_under_protection)
{
	queued = true;
	sites_commit(&st, &spaces[0]);
	expect("look jumps stop protect watch sems commit jumps-commit "
	       "resume ");
	ck_assert_uint_eq(spaces[0].changes, 1);
	ck_assert_uint_eq(timers, 0);
	/* Nothing new, but probes that were there stay protected. */
	spaces[0].probed = true;
	sites_commit(&st, &spaces[0]);
	expect("look jumps stop protect watch sems commit jumps-commit "
	       "resume ");
	ck_assert_uint_eq(spaces[0].changes, 1);
	/* So do semaphores, without a watch of signals. */
	spaces[0].probed = false;
	spaces[0].sems = (struct semaphores *)8;
	sites_commit(&st, &spaces[0]);
	expect("jumps stop protect sems commit jumps-commit resume ");
}
END_TEST

START_TEST(without_protection_it_is_tried_again)
{
	queued = true;
	exposing = -EBUSY;
	sites_commit(&st, &spaces[0]);
	expect("look jumps stop protect commit jumps-commit resume ");
	ck_assert_uint_eq(timer_ns, SITES_AGAIN_NS);
	ck_assert_uint_eq(timers, 1);
	/* Still not; one timer. */
	spaces[0].probed = true;
	timer(&st, NULL, 0);
	expect("look jumps stop protect commit jumps-commit resume "
	       "still-not ");
	ck_assert_uint_eq(timer_ns, SITES_AGAIN_NS);
	ck_assert_uint_eq(timers, 1);
	/* At last. */
	exposing = 0;
	timer(&st, NULL, 0);
	expect("look jumps stop protect watch sems commit jumps-commit "
	       "resume ");
	ck_assert_uint_eq(timer_ns, 0);
	/* The same timer begins anew. */
	sites_commit_later(&st);
	ck_assert_uint_eq(timer_ns, SITES_AGAIN_NS);
	ck_assert_uint_eq(timers, 1);
}
END_TEST

/* Nobody answers the program then, when it asks for its action. */
START_TEST(without_protection_there_is_no_handler)
{
	struct proc *in[] = { &procs[0], &procs[1] };

	spaces[0].procs.at = in;
	spaces[0].procs.len = 2;
	queued = true;
	exposing = -EPIPE;
	sites_commit(&st, &spaces[0]);
	ck_assert_ptr_nonnull(strstr(str_c(&calls),
	    "commit handler-ends handler-ends jumps-commit resume "));
	str_clear(&calls);
	queued = true;
	exposing = 0;
	sites_commit(&st, &spaces[0]);
	ck_assert_ptr_null(strstr(str_c(&calls), "handler-ends"));
	ck_assert_ptr_nonnull(strstr(str_c(&calls), "commit jumps-commit "));
	spaces[0].procs.len = 0;
}
END_TEST

START_TEST(what_will_not_pass_is_not_tried)
{
	sites_commit_later(&st);
	spaces[0].exposed = -EPERM;
	timer(&st, NULL, 0);
	expect("still-not ");
	ck_assert_uint_eq(timer_ns, 0);
}
END_TEST

START_TEST(many_are_prepared_before_the_stop)
{
	queued = true;
	arming = 63;
	sites_commit(&st, &spaces[0]);
	expect("look jumps stop protect watch sems commit jumps-commit "
	       "resume ");
	queued = true;
	arming = 64;
	sites_commit(&st, &spaces[0]);
	expect("look stop protect reserve resume prepare jumps stop protect "
	       "watch sems commit jumps-commit resume ");
	/* No memory is taken where nothing may be written. */
	queued = true;
	exposing = -EBUSY;
	sites_commit(&st, &spaces[0]);
	expect("look stop protect resume prepare jumps stop protect commit "
	       "jumps-commit resume ");
}
END_TEST

static void
arrival_failed(struct space *sp)
{
	ck_assert_ptr_eq(sp, &spaces[0]);
	arrivals_failed++;
}

START_TEST(a_failure_is_told_to_probes_and_arrivals)
{
	const struct arrival hook = { .failed = arrival_failed };
	const struct arrival silent = { 0 };
	struct site second = { 0 }, first = { .next = &second };
	struct tp_user user = { .sites = &first,
		.arrivals = { &silent, &hook } };
	struct tracepoint tp = { .user = &user };

	failing = &tp;
	sites_commit(&st, &spaces[0]);
	ck_assert_uint_eq(failures, 2);
	ck_assert_uint_eq(arrivals_failed, 1);
	/* One that nobody uses. */
	tp.user = NULL;
	sites_commit(&st, &spaces[0]);
	ck_assert_uint_eq(failures, 2);
}
END_TEST

static void
map(struct maps *maps, uint64_t start, uint64_t inode, uint64_t offset)
{
	*vec_push(&maps->list) = (struct map){ .start = start,
		.end = start + 0x2000,
		.offset = offset,
		.inode = inode,
		.dev = 7,
		.exec = true };
}

START_TEST(sites_of_what_has_gone_are_dropped)
{
	map(&known, 0x10000, 1, 0);
	map(&known, 0x20000, 2, 0);
	map(&known, 0x30000, 3, 0x1000);
	map(&known, 0x40000, 4, 0);
	map(&known, 0x50000, 0, 0); /* of no file */
	map(&known, 0x60000, 6, 0);
	known.list.at[5].exec = false;
	map(&known, 0x70000, 7, 0x1000);
	map(&known, 0x80000, 8, 0);
	map(&present, 0x10000, 1, 0);
	map(&present, 0x20000, 9, 0); /* another file */
	map(&present, 0x30000, 3, 0); /* another part of it */
	/* 0x40000 is not mapped.  0x6f000: now part of a larger mapping. */
	map(&present, 0x6f000, 7, 0);
	map(&present, 0x80000, 8, 0); /* of another disk */
	present.list.at[4].dev = 8;
	/* Only where something is queued. */
	sites_commit(&st, &spaces[0]);
	expect("jumps stop sems commit jumps-commit resume ");
	queued = true;
	sites_commit(&st, &spaces[0]);
	expect("look jumps stop unmap-20000-22000 unmap-30000-32000 "
	       "unmap-40000-42000 unmap-80000-82000 protect watch sems "
	       "commit jumps-commit resume ");
	/* What cannot be read is believed to be there. */
	queued = true;
	maps_error = -ESRCH;
	sites_commit(&st, &spaces[0]);
	expect("look jumps stop protect watch sems commit jumps-commit "
	       "resume ");
}
END_TEST

#define QUIET "jumps stop sems commit jumps-commit resume "

START_TEST(each_space_is_committed_once)
{
	/* Two processes share the first. */
	sites_commit_all(&st);
	expect(QUIET QUIET);
	/* One that has no table yet. */
	spaces[1].tab = NULL;
	sites_commit_all(&st);
	expect(QUIET);
}
END_TEST

START_TEST(spaces_without_changes_are_not_stopped)
{
	sites_commit_queued(&st);
	expect("");
	/* Masks are watched from the first probe on. */
	spaces[1].probed = true;
	sites_commit_queued(&st);
	expect("look jumps stop protect watch sems commit jumps-commit "
	       "resume ");
	spaces[1].masks_watched = true;
	sites_commit_queued(&st);
	expect("");
	queued = true;
	spaces[0].tab = NULL;
	sites_commit_queued(&st);
	expect("look jumps stop protect watch sems commit jumps-commit "
	       "resume ");
}
END_TEST

START_TEST(what_passes_and_what_does_not)
{
	static const int passes[] = { EBUSY, ESRCH, EFAULT, EPIPE, ETIMEDOUT,
		EAGAIN };
	static const int stays[] = { 0, EPERM, ENOSYS, ENOMEM, EMFILE };

	for (size_t i = 0; i < ARRAY_SIZE(passes); i++)
		ck_assert(trapguard_may_pass(-passes[i]));
	for (size_t i = 0; i < ARRAY_SIZE(stays); i++)
		ck_assert(!trapguard_may_pass(-stays[i]));
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		nothing_queued_is_nothing_to_protect,
		what_is_queued_is_written_under_protection,
		without_protection_it_is_tried_again,
		without_protection_there_is_no_handler,
		what_will_not_pass_is_not_tried,
		many_are_prepared_before_the_stop,
		a_failure_is_told_to_probes_and_arrivals,
		sites_of_what_has_gone_are_dropped,
		each_space_is_committed_once,
		spaces_without_changes_are_not_stopped,
		what_passes_and_what_does_not,
	};

	return suite_run("commit", setup, teardown, tests, ARRAY_SIZE(tests));
}
