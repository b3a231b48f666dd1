/*
 * tracer/fire/deadman: when hits take too much, and which probes go.  The clock
 * and all that stands round the file are doubles, so the file itself is read in
 * below.
 */
#include <check.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/str.h"
#include "dlang/image/image.h"
#include "t/unit/suite.h"
#include "tracer/base/probe.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"
#include "tracer/fire/syscalls.h"
#include "tracer/ptrace/event.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/super.h"
#include "tracer/sites/site.h"

static uint64_t clock_ns;
static struct str said;
static timer_fn tick_fn;
static unsigned unsubscribed, switched_off;

static void PRINTF_LIKE(2, 3) say(struct state *st, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	str_vprintf(&said, fmt, ap);
	str_addc(&said, '\n');
	va_end(ap);
}

/* ---- processes, and what is done to their spaces ---- */

static struct proc procs[4];
static unsigned nprocs;
static struct space spaces_of[3]; /* of the first two processes, and so on */
static struct str done;           /* to whom: a letter and a number each */

static struct proc *
double_next(struct proc *p)
{
	unsigned i = p == NULL ? 0 : (unsigned)(p - procs) + 1;

	return i < nprocs ? &procs[i] : NULL;
}

static void
note(char what, const struct space *sp)
{
	str_printf(&done, "%c%d ", what, (int)(sp - spaces_of));
}

#define timer_now()                 clock_ns
#define timer_add(ts, ns, fn, arg)  ((void)(tick_fn = (fn)))
#define state_message               say
#define image_probe_off(image, ref) ((void)(switched_off |= 1U << (ref)))
#define super_next(super, p)        double_next(p)
#define space_keep(sp)              note('k', sp)
#define space_stop(sp)              note('s', sp)
#define space_resume(sp)            note('r', sp)
#define space_leave(sp, ev)         note('l', sp)
#define syscalls_unsubscribe(st, p) ((void)unsubscribed++)
#define sites_take_out(st, sp, p)   note((p)->func[0], sp)
#define sites_commit(st, sp)        note('c', sp)
#include "tracer/fire/deadman.c"

#define MS   1000000ULL
#define TICK (125 * MS)

static struct deadman dm;
static struct state st;
static struct thread th[2];
static struct probe probe[3];
static const struct provider plain = { .name = "pid" };
static const struct provider calls = { .name = "syscall", .at_calls = true };

static void
setup(void)
{
	memset(&st, 0, sizeof(st));
	memset(&dm, 0, sizeof(dm));
	memset(probe, 0, sizeof(probe));
	clock_ns = 1000 * TICK;
	unsubscribed = switched_off = 0;
	tick_fn = NULL;
	str_clear(&said);
	options_init(&st.opts);
	st.opts.value[OPT_MAXLOAD] = 50;
	st.deadman = &dm;
	for (unsigned i = 0; i < ARRAY_SIZE(probe); i++) {
		static const char *const names[] = { "a", "b", "c" };
		probe[i] = (struct probe){ .provider = &plain,
			.prov = "pid1",
			.mod = "m",
			.func = names[i],
			.name = "entry",
			.image_ref = i + 1 };
		*vec_push(&st.probes.list) = &probe[i];
	}
}

static void
teardown(void)
{
	deadman_fini(&st);
	vec_fini(&st.probes.list);
	str_fini(&said);
}

/* A stop of a thread that `ns' are spent on, after nothing was to be done, in
 * which the probe (or none) fires. */
static void
stop(struct thread *t, enum event_kind kind, struct probe *p, uint64_t ns)
{
	struct event ev = { .kind = kind, .thread = t };

	deadman_woken(&st, &ev, true);
	deadman_begin(&st);
	if (p != NULL)
		deadman_fired(&st, p);
	clock_ns += ns;
	deadman_end(&st, &ev);
	clock_ns += 60000; /* the thread runs, for longer than any way */
}

/* An eighth of a second, in which the first n probes take so many percent. */
static void
eighth(const unsigned *percent, unsigned n)
{
	uint64_t begin = dm.looked;

	for (unsigned i = 0; i < n; i++)
		if (percent[i] != 0)
			stop(&th[i % 2], EV_TRAP, &probe[i],
			    TICK * percent[i] / 100);
	ck_assert_uint_le(clock_ns, begin + TICK);
	clock_ns = begin + TICK;
	tick_fn(&st, NULL, 0);
}

static void
eighths(unsigned n, unsigned a, unsigned b, unsigned c)
{
	for (unsigned i = 0; i < n; i++)
		eighth((unsigned[]){ a, b, c }, 3);
}

START_TEST(without_a_limit_it_is_off)
{
	st.opts.value[OPT_MAXLOAD] = 0;
	deadman_start(&st);
	ck_assert(!dm.on);
	ck_assert_ptr_null(tick_fn);
	deadman_fired(&st, &probe[0]);
	ck_assert_uint_eq(dm.fired.len, 0);
	deadman_report(&st);
	ck_assert_str_eq(str_c(&said), "");
}
END_TEST

START_TEST(nothing_is_judged_in_the_first_second)
{
	deadman_start(&st);
	ck_assert(dm.on);
	eighths(7, 90, 0, 0);
	ck_assert(!dm.due);
	eighths(1, 90, 0, 0);
	ck_assert(dm.due);
}
END_TEST

START_TEST(a_spike_is_no_reason)
{
	deadman_start(&st);
	eighths(10, 10, 0, 0);
	eighths(3, 95, 0, 0);
	ck_assert(!dm.due);
	eighths(1, 40, 0, 0);
	eighths(3, 95, 0, 0);
	ck_assert(!dm.due);
	eighths(1, 95, 0, 0);
	ck_assert(dm.due);
}
END_TEST

/* At the limit is not above it. */
START_TEST(the_limit_may_be_used_up)
{
	deadman_start(&st);
	eighths(20, 50, 0, 0);
	ck_assert(!dm.due);
	eighths(4, 51, 0, 0);
	ck_assert(dm.due);
}
END_TEST

START_TEST(the_worst_goes_and_the_rest_stays)
{
	deadman_start(&st);
	eighths(8, 20, 40, 5);
	ck_assert(dm.due);
	deadman_judge(&st);
	ck_assert(!dm.due);
	ck_assert_uint_eq(switched_off, 1U << 2);
	ck_assert(probe[1].off);
	ck_assert(probe[1].out);
	ck_assert(!probe[0].off);
	ck_assert_uint_eq(unsubscribed, 1);
	ck_assert_str_eq(str_c(&said),
	    "pid1:m:b:entry disabled: it took 40% of the time, maxload is "
	    "50%\n");
	/* It has half a second again. */
	eighths(3, 90, 0, 0);
	ck_assert(!dm.due);
	eighths(1, 90, 0, 0);
	ck_assert(dm.due);
	str_clear(&said);
	deadman_report(&st);
	ck_assert_str_eq(str_c(&said), "1 probe disabled by maxload\n");
	deadman_judge(&st);
	str_clear(&said);
	deadman_report(&st);
	ck_assert_str_eq(str_c(&said), "2 probes disabled by maxload\n");
}
END_TEST

START_TEST(as_many_go_as_must)
{
	deadman_start(&st);
	st.opts.value[OPT_MAXLOAD] = 20;
	eighths(8, 31, 33, 15);
	deadman_judge(&st);
	ck_assert_uint_eq(switched_off, 1U << 1 | 1U << 2);
	ck_assert(!probe[2].off);
}
END_TEST

/* What is over by now weighs less than what goes on. */
START_TEST(what_is_past_fades)
{
	deadman_start(&st);
	eighths(16, 60, 0, 0);
	ck_assert(dm.due);
	dm.due = false;
	dm.over = 0;
	double before = probe[0].cost;
	eighths(16, 0, 45, 0);
	ck_assert(!dm.due);
	ck_assert(probe[0].cost < before / 2);
	ck_assert(probe[1].cost > probe[0].cost);
	/* In the end it is forgotten. */
	eighths(200, 0, 1, 0);
	ck_assert(probe[0].cost == 0);
	ck_assert_uint_eq(dm.costly.len, 1);
}
END_TEST

/* The cost of a stop is shared by those that fired in it. */
START_TEST(those_that_fire_together_share)
{
	struct event ev = { .kind = EV_TRAP, .thread = &th[0] };

	deadman_start(&st);
	deadman_woken(&st, &ev, true);
	deadman_begin(&st);
	deadman_fired(&st, &probe[0]);
	deadman_fired(&st, &probe[1]);
	clock_ns += 10 * MS;
	deadman_end(&st, &ev);
	ck_assert(probe[0].cost == 5e6);
	ck_assert(probe[1].cost == 5e6);
	ck_assert(dm.since == 1e7);
	/* Nothing that fires: nobody's. */
	stop(&th[0], EV_SIGNAL, NULL, 10 * MS);
	ck_assert(dm.since == 1e7);
	ck_assert(dm.calls == 0);
}
END_TEST

/* Stops at system calls that nobody asked for are paid by who made them stop. */
START_TEST(calls_are_paid_by_those_who_probe_calls)
{
	deadman_start(&st);
	probe[0].provider = probe[1].provider = &calls;
	probe[1].image_ref = 0; /* not enabled */
	for (unsigned i = 0; i < 8; i++) {
		stop(&th[0], EV_SYSCALL_ENTER, NULL, 20 * MS);
		stop(&th[0], EV_SYSCALL_EXIT, NULL, 20 * MS);
		stop(&th[0], EV_SECCOMP, NULL, 40 * MS);
		eighth(NULL, 0);
	}
	ck_assert(dm.due);
	ck_assert(dm.calls > 0);
	deadman_judge(&st);
	ck_assert(dm.calls == 0);
	ck_assert_uint_eq(switched_off, 1U << 1);
	ck_assert(strstr(str_c(&said), "64%") != NULL);
}
END_TEST

/* The way to the tracer and back belongs to a stop that was waited for: the
 * shortest that was seen, where it is one at all. */
START_TEST(the_way_counts)
{
	struct event ev = { .kind = EV_TRAP, .thread = &th[0] };

	deadman_start(&st);
	stop(&th[0], EV_TRAP, &probe[0], 1000);
	ck_assert(probe[0].cost == 1000);
	/* Another thread's stop tells nothing of the way. */
	clock_ns = dm.resumed + 300;
	deadman_woken(
	    &st, &(struct event){ .kind = EV_TRAP, .thread = &th[1] }, true);
	ck_assert_uint_eq(dm.way, 60000 < WAY_MAX ? 60000 : UINT64_MAX);
	dm.last = &th[0];
	dm.resumed = clock_ns;
	clock_ns += 700;
	deadman_woken(&st, &ev, true);
	ck_assert_uint_eq(dm.way, 700);
	deadman_begin(&st);
	deadman_fired(&st, &probe[1]);
	clock_ns += 1000;
	deadman_end(&st, &ev);
	ck_assert(probe[1].cost == 1700);
	/* One that was there already has not kept anybody waiting. */
	clock_ns += 400;
	deadman_woken(&st, &ev, false);
	ck_assert_uint_eq(dm.way, 700);
	ck_assert(dm.other == 400);
	clock_ns += 50;
	deadman_begin(&st);
	ck_assert(dm.other == 450);
	deadman_fired(&st, &probe[2]);
	clock_ns += 1000;
	deadman_end(&st, &ev);
	ck_assert(probe[2].cost == 1000);
}
END_TEST

/* Work of the tracer's own that stops wait for is shared by all. */
START_TEST(other_work_is_on_everybodys_account)
{
	deadman_start(&st);
	for (unsigned i = 0; i < 12; i++) {
		struct event ev = { .kind = EV_TRAP, .thread = &th[0] };
		uint64_t begin = dm.looked;
		deadman_woken(&st, &ev, true);
		deadman_begin(&st);
		deadman_fired(&st, &probe[0]);
		clock_ns += TICK * 55 / 100;
		deadman_end(&st, &ev);
		/* Printing, while the next stop waits. */
		clock_ns += TICK * 30 / 100;
		deadman_woken(&st, &ev, false);
		clock_ns = begin + TICK;
		tick_fn(&st, NULL, 0);
	}
	ck_assert(dm.due);
	deadman_judge(&st);
	ck_assert(strstr(str_c(&said), "took 85%") != NULL);
}
END_TEST

/* The event of a fork that has happened already. */
static void
a_fork_is_reported(struct state *state)
{
	str_printf(&done, "| ");
	nprocs = ARRAY_SIZE(procs);
}

/* Every process is stopped before a tracepoint goes, also a child that has a copy
 * of it and is reported only now. */
START_TEST(processes_are_stopped_while_probes_go)
{
	static const struct drive_ops drive = { .pending = a_fork_is_reported };

	for (unsigned i = 0; i < ARRAY_SIZE(procs); i++)
		procs[i].space = &spaces_of[i / 2 + i / 3];
	/* The second space has no tracepoints. */
	spaces_of[0].tab = spaces_of[2].tab = (struct tptable *)&spaces_of;
	nprocs = 3;
	st.drive = &drive;
	deadman_start(&st);
	eighths(8, 90, 0, 0);
	deadman_judge(&st);
	ck_assert_str_eq(str_c(&done),
	    "k0 s0 k1 s1 | k2 s2 | a0 a2 c0 c2 r0 l0 r1 l1 r2 l2 ");
	ck_assert_uint_eq(unsubscribed, 1);
	nprocs = 0;
	str_fini(&done);
}
END_TEST

START_TEST(drop_tags_are_before_it)
{
	deadman_start(&st);
	st.opts.value[OPT_DROPTAGS] = 1;
	eighths(8, 90, 0, 0);
	deadman_judge(&st);
	ck_assert(strncmp(str_c(&said), "[DTRACEDROP_MAXLOAD] pid1:", 26) == 0);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		without_a_limit_it_is_off,
		nothing_is_judged_in_the_first_second,
		a_spike_is_no_reason,
		the_limit_may_be_used_up,
		the_worst_goes_and_the_rest_stays,
		as_many_go_as_must,
		what_is_past_fades,
		those_that_fire_together_share,
		calls_are_paid_by_those_who_probe_calls,
		the_way_counts,
		other_work_is_on_everybodys_account,
		processes_are_stopped_while_probes_go,
		drop_tags_are_before_it,
	};

	return suite_run("deadman", setup, teardown, tests, ARRAY_SIZE(tests));
}
