/*
 * tracer/fire/records and tracer/prov/sched: of which threads records are wanted,
 * which probes fire for them, and what is told of those without.  perf events are
 * doubles, so the files themselves are included below.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/str.h"
#include "dlang/cc/cc.h"
#include "t/unit/suite.h"
#include "tracer/base/probe.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"
#include "tracer/fire/fire.h"
#include "tracer/fire/moments.h"
#include "tracer/fire/records.h"
#include "tracer/fire/stack.h"
#include "tracer/ptrace/perfevent.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/processor.h"

static struct state session;
static struct moments moments;
static struct lane lane;
static struct proc proc;
static struct thread threads[3];
static struct str done; /* what was done, a word for each */
static uint32_t its_needs;

/* ---- doubles ---- */

static int create_error, add_error;
static int leaves_error; /* of stacks at switches */
static pid_t add_fails;  /* for this thread */
static struct perf_record list[8];
static unsigned n_list;
static uint64_t lost;

static struct perfevents *
double_create(int *error)
{
	*error = create_error;
	return create_error == 0 ? (struct perfevents *)&create_error : NULL;
}

static int
double_add(const struct thread *th, const struct perf_wish *w)
{
	if (w->source == PERF_LEAVES) {
		str_printf(&done, "stacks-%d ", (int)th->tid);
		return 0;
	}
	ck_assert_int_eq(w->source, PERF_SWITCHES);
	if (th->tid == add_fails)
		return add_error;
	str_printf(&done, "add-%d ", (int)th->tid);
	return 0;
}

static void
double_read(perf_record_fn fn, void *ctx)
{
	for (unsigned i = 0; i < n_list; i++)
		fn(ctx, &list[i]);
	n_list = 0;
}

static uint64_t
double_lost(void)
{
	uint64_t n = lost;

	lost = 0;
	return n;
}

static void
double_fire(const struct probe *p, const struct thread *th,
    const uint64_t *words, unsigned nwords, const struct perf_record *seen)
{
	str_printf(&done, "%s-%d-%llu", p->name, (int)th->tid,
	    (unsigned long long)seen->time);
	for (unsigned i = 0; i < nwords; i++)
		str_printf(&done, ",%llu", (unsigned long long)words[i]);
	str_addc(&done, ' ');
}

static struct proc *
double_next(const struct proc *prev)
{
	return prev == NULL ? &proc : NULL;
}

static void
double_message(const char *fmt, const char *why)
{
	str_printf(&done, "message: %s: %s ", fmt, why);
}

static void
double_timer(timer_fn fn, void *arg)
{
	str_add(&done, "timer ");
	fn(&session, arg, 0);
}

#define perfevents_create(size, error)  ((void)(size), double_create(error))
#define perfevents_destroy(pe)          str_add(&done, "destroy ")
#define perfevents_add(pe, th, w)       double_add(th, w)
#define perfevents_add_all(pe, w)       (-EACCES)
#define perfevents_try(w)               ((w)->source == PERF_LEAVES ? leaves_error : -EINVAL)
#define perfevents_drop(th)             str_printf(&done, "drop-%d ", (th)->tid)
#define perfevents_close(pe, tag)       str_printf(&done, "close-%u ", tag)
#define perfevents_any(pe)              (n_list != 0 || lost != 0)
#define perfevents_read(pe, fn, ctx)    double_read(fn, ctx)
#define perfevents_lost_last(pe)        (double_lost() + 3)
#define perfevents_lost(pe)             double_lost()
#define perfevents_ran_since(pe, th, t) ((th)->tid == 11)
#define perfevents_why(error)           ((error) == -EMFILE ? "files" : "no")
#define processor_short(p)              str_add(&done, "short ")
#define super_next(su, prev)            double_next(prev)
#define timer_set_period(ts, fn, arg, period) \
	str_printf(&done, "every-%llu ", (unsigned long long)(period))
#define perfevents_size(pe)  4096
#define perfevents_start(pe) str_add(&done, "start ")
#define timer_set_next(ts, fn, arg, next) \
	str_printf(&done, "next-%d ", (int)(next))
#define super_thread(su, tid)                NULL
#define timer_add(ts, period, fn, arg)       double_timer(fn, arg)
#define fire_seen(st, p, th, words, n, seen) double_fire(p, th, words, n, seen)
#define fire_wants_proc(st, p)               true
#define stack_keep(st, th, r)                str_printf(&done, "keep-%d ", (th)->tid)
#define state_message(st, fmt, why)          double_message(fmt, why)
#include "tracer/fire/records.c" /* NOLINT: doubles above */
#define records_needs(st, p) its_needs
#include "tracer/prov/sched.c" /* NOLINT */

/* ---- tests ---- */

static void
setup(void)
{
	memset(&session, 0, sizeof(session));
	memset(&lane, 0, sizeof(lane));
	memset(&proc, 0, sizeof(proc));
	memset(threads, 0, sizeof(threads));
	create_error = add_error = 0;
	leaves_error = -EACCES;
	add_fails = 0;
	n_list = 0;
	lost = its_needs = 0;
	session.moments = &moments;
	session.env.at.lane = &lane;
	for (unsigned i = 0; i < ARRAY_SIZE(threads); i++) {
		threads[i].tid = 10 + (pid_t)i;
		threads[i].proc = &proc;
		threads[i].stop.state = TH_RUNNING;
	}
	*vec_push(&proc.threads) = &threads[0];
	*vec_push(&proc.threads) = &threads[1];
	probes_init(&session.probes);
	init(&session);
}

static void
teardown(void)
{
	parts_end(&session.parts);
	moments_fini(&moments);
	memset(&moments, 0, sizeof(moments));
	vec_fini(&proc.threads);
	probes_fini(&session.probes);
	str_fini(&done);
}

static struct probe *
probe(const char *name)
{
	vec_foreach(p, &session.probes.list)
		if (strcmp((*p)->name, name) == 0)
			return *p;
	ck_abort_msg("no probe %s", name);
}

static void
has_done(const char *want)
{
	ck_assert_str_eq(str_c(&done), want);
	str_clear(&done);
}

static void
record(unsigned th, uint64_t time, bool out, bool preempted)
{
	list[n_list++] = (struct perf_record){ .source = PERF_SWITCHES,
		.thread = &threads[th],
		.time = time,
		.out = out,
		.preempted = preempted };
}

static void
tell_event(enum event_kind kind, unsigned th, bool first)
{
	const struct event ev = {
		.kind = kind, .thread = &threads[th], .first = first
	};

	moments_tell(&session, &ev);
}

START_TEST(all_threads_are_recorded_once)
{
	prov_sched.enable(&session, probe("on-cpu"));
	prov_sched.enable(&session, probe("off-cpu"));
	has_done(
	    "timer start short every-10000000 next-0 start every-2000000 add-10 add-11 ");
	tell_event(EV_STOP, 2, false);
	has_done("");
	tell_event(EV_STOP, 2, true);
	has_done("add-12 ");
	tell_event(EV_EXEC, 0, false);
	has_done("drop-10 add-10 ");
}
END_TEST

START_TEST(switches_fire_in_order)
{
	static const char *const all[] = { "off-cpu", "preempt", "on-cpu" };

	for (unsigned i = 0; i < ARRAY_SIZE(all); i++)
		prov_sched.enable(&session, probe(all[i]));
	str_clear(&done);
	record(0, 5, true, false);
	record(1, 6, true, true);
	record(0, 7, false, false);
	records_read(&session);
	/* The thread that is next is not known. */
	has_done("off-cpu-10-5,0 preempt-11-6 off-cpu-11-6,0 on-cpu-10-7 ");
	prov_sched.disable(&session, probe("off-cpu"));
	record(0, 8, true, true);
	records_read(&session);
	has_done("preempt-10-8 ");
}
END_TEST

START_TEST(a_stack_is_kept_if_on_cpu_wants_it)
{
	its_needs = NEED_STACK;
	prov_sched.enable(&session, probe("off-cpu"));
	str_clear(&done);
	record(0, 5, true, false);
	records_read(&session);
	has_done("off-cpu-10-5,0 ");
	prov_sched.enable(&session, probe("on-cpu"));
	record(0, 6, true, false);
	record(0, 7, false, false);
	records_read(&session);
	has_done("keep-10 off-cpu-10-6,0 on-cpu-10-7 ");
	ck_assert(!session.lanes_unfit);
}
END_TEST

/* Who may have the stacks at switches has them, before the switches. */
START_TEST(stacks_are_recorded)
{
	leaves_error = 0;
	prov_sched.enable(&session, probe("preempt"));
	ck_assert_ptr_null(strstr(str_c(&done), "stacks"));
	its_needs = NEED_STACK;
	prov_sched.enable(&session, probe("off-cpu"));
	ck_assert_ptr_nonnull(strstr(str_c(&done), "stacks-10 stacks-11 "));
	str_clear(&done);
	prov_sched.enable(&session, probe("on-cpu"));
	has_done("");
	record(0, 5, true, false);
	list[0].source = PERF_LEAVES;
	list[0].tag = 1;
	record(0, 6, true, false);
	records_read(&session);
	has_done("keep-10 keep-10 off-cpu-10-6,0 ");
}
END_TEST

/* A thread that runs uses its lane. */
START_TEST(variables_of_threads_are_not_in_lanes)
{
	its_needs = NEED_SELF;
	prov_sched.enable(&session, probe("off-cpu"));
	ck_assert(session.lanes_unfit);
}
END_TEST

START_TEST(lost_records_are_drops)
{
	prov_sched.enable(&session, probe("on-cpu"));
	lost = 9;
	records_read(&session);
	records_read(&session);
	ck_assert_uint_eq(lane.drops[DROP_KERNEL], 9);
	records_read_last(&session);
	ck_assert_uint_eq(lane.drops[DROP_KERNEL], 12);
}
END_TEST

START_TEST(threads_without_records_are_told)
{
	struct str text = { 0 };

	add_fails = 11;
	add_error = -EMFILE;
	prov_sched.enable(&session, probe("on-cpu"));
	records_report(&session, &text);
	ck_assert_str_eq(
	    str_c(&text), "1 threads without records of the kernel: files\n");
	str_fini(&text);
}
END_TEST

START_TEST(it_is_said_if_there_are_none)
{
	create_error = -EACCES;
	prov_sched.enable(&session, probe("on-cpu"));
	prov_sched.enable(&session, probe("off-cpu"));
	has_done("message: the probes of sched do not fire: %s: no ");
	record(0, 1, false, false);
	records_read(&session);
	has_done("");
}
END_TEST

START_TEST(arguments_are_those_of_the_next_thread)
{
	struct probe_arg a;

	ck_assert(prov_sched.arg(probe("off-cpu"), 0, &a));
	ck_assert_str_eq(a.translated, "lwpsinfo_t *");
	ck_assert(prov_sched.arg(probe("off-cpu"), 1, &a));
	ck_assert_str_eq(a.translated, "psinfo_t *");
	ck_assert(!prov_sched.arg(probe("off-cpu"), 2, &a));
	ck_assert(!prov_sched.arg(probe("on-cpu"), 0, &a));
	ck_assert(!prov_sched.arg(probe("preempt"), 0, &a));
}
END_TEST

START_TEST(a_wish_that_ends_is_not_for_new_threads)
{
	const struct perf_wish w = { .source = PERF_SWITCHES };
	uint32_t wish;

	ck_assert_int_eq(
	    records_want(&session, &w, RECORDS_THREADS, on_switch, NULL, &wish),
	    0);
	records_end(&session, wish);
	str_clear(&done);
	tell_event(EV_STOP, 2, true);
	has_done("");
	/* One that fails leaves nothing. */
	ck_assert_int_eq(
	    records_want(&session, &w, RECORDS_ALL, on_switch, NULL, &wish),
	    -EACCES);
	has_done("");
	ck_assert(records_ran_since(&session, &threads[1], 0));
	ck_assert(!records_ran_since(&session, &threads[0], 0));
}
END_TEST

START_TEST(what_fails_takes_no_time)
{
	const struct perf_wish w = { .source = PERF_SWITCHES };
	uint32_t wish;

	ck_assert_int_eq(
	    records_want(&session, &w, RECORDS_ALL, on_switch, NULL, &wish),
	    -EACCES);
	has_done("timer start short every-10000000 next-0 every-0 destroy ");
	/* Others are not kept from it. */
	prov_sched.enable(&session, probe("on-cpu"));
	has_done("every-10000000 next-0 start every-2000000 add-10 add-11 ");
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		all_threads_are_recorded_once,
		switches_fire_in_order,
		a_stack_is_kept_if_on_cpu_wants_it,
		stacks_are_recorded,
		variables_of_threads_are_not_in_lanes,
		lost_records_are_drops,
		threads_without_records_are_told,
		it_is_said_if_there_are_none,
		arguments_are_those_of_the_next_thread,
		a_wish_that_ends_is_not_for_new_threads,
		what_fails_takes_no_time,
	};

	return suite_run("sched", setup, teardown, tests, ARRAY_SIZE(tests));
}
