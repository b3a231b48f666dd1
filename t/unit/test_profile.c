/*
 * tracer/prov/profile: which names are probes, when samples are due, and in which
 * threads a sample fires.  Time, timers and threads are doubles, so the file itself
 * is included below.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/clock.h"
#include "dlang/base/str.h"
#include "dlang/world.h"
#include "inject/resume.h"
#include "t/unit/suite.h"
#include "tracer/base/probe.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"
#include "tracer/fire/fire.h"
#include "tracer/fire/oncpu.h"
#include "tracer/fire/records.h"
#include "tracer/prov/profile.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/procfs.h"

#define MS     UINT64_C(1000000)
#define PERIOD (10 * MS)

static struct state session;
static struct oncpu oncpu;
static struct proc proc;
static struct space space;
static struct thread threads[2];
static uint64_t clock_now = 1000 * MS;
static struct str fired;
static bool is_empty; /* no process is traced */
static struct uregs its_regs;
static bool is_dead; /* the registers cannot be read */
static struct procfs_sched sched[2];
static int sched_error;
static bool owes[2];
static unsigned asks;

/* ---- timers ---- */

static timer_fn timer, timer_before;
static void *timer_arg;
static uint64_t timer_period, timer_next;

static void
double_add(uint64_t period, timer_fn fn, void *arg)
{
	timer_before = timer;
	timer = fn;
	timer_arg = arg;
	timer_period = period;
}

static void
double_set_next(timer_fn fn, const void *arg, uint64_t next)
{
	ck_assert(fn == timer && arg == timer_arg);
	timer_next = next;
}

static void
double_set_period(timer_fn fn, const void *arg, uint64_t period)
{
	ck_assert(fn == timer || fn == timer_before);
	ck_assert(arg == timer_arg);
	timer_period = period;
}

static void
comes(uint64_t at)
{
	clock_now = at;
	timer(&session, timer_arg, 77);
}

/* ---- threads ---- */

static struct oncpu_thread running[2];
static unsigned n_running;
static unsigned looks;

static void
double_find(oncpu_threads *out)
{
	for (unsigned i = 0; i < n_running; i++)
		*vec_push(out) = running[i];
}

static void
double_ask(struct thread *th)
{
	asks++;
	stop_ask(th, true);
}

static int
double_sched(pid_t tid, struct procfs_sched *out)
{
	*out = sched[tid];
	return sched_error;
}

static void
double_fire(const struct probe *p, const struct thread *th,
    const uint64_t *words, unsigned nwords)
{
	ck_assert_uint_eq(nwords, 3);
	ck_assert_uint_eq(words[0], 0);
	if (th == NULL) /* in the tracer: the pc is its own */
		ck_assert_uint_ne(words[1], 0);
	str_printf(&fired, "%s:%d,%lx,%llu ", p->name,
	    th != NULL ? (int)th->tid : -1,
	    th != NULL ? (unsigned long)words[1] : 0,
	    (unsigned long long)words[2]);
}

#define timer_now() clock_now
/* ---- records ---- */

static enum sampled records; /* how it samples */
static uint32_t ended;
static unsigned without;
static bool has[2]; /* are there records of the thread? */
static unsigned reckoned;

static enum sampled
double_records(const struct probe *p, uint32_t *wish)
{
	ck_assert_str_eq(p->prov, "profile");
	*wish = 6;
	return records;
}

#define timer_add(ts, period, fn, arg)    double_add(period, fn, arg)
#define timer_set_next(ts, fn, arg, next) double_set_next(fn, arg, next)
#define timer_set_period(ts, fn, arg, p)  double_set_period(fn, arg, p)
#define fire_probe(st, p, th, words, n)   double_fire(p, th, words, n)
#define super_next(su, p)                 (is_empty ? NULL : &proc)
#define oncpu_look(st, period)            looks++
#define oncpu_find(st, out)               double_find(out)
#define oncpu_owes(th, yes)               (owes[(th)->tid] = (yes))
#define thread_ask(th)                    double_ask(th)
#define procfs_sched(tid, out)            double_sched(tid, out)
#define thread_regs(th)                   (is_dead ? NULL : &its_regs)
#define resume_thread_pc(tab, pc, sp) \
	((tab) != NULL ? (pc) + (sp) + 0x1000 : (pc))
#define profile_records(st, p, period, wish) double_records(p, wish)
#define profile_reckon(st, p)                reckoned++
#define records_without(st, wish)            without
#define records_has(st, th, wish)            has[(th)->tid]
#define records_end(st, wish)                (ended = (wish))
#include "tracer/prov/profile.c"

static void
setup(void)
{
	probes_init(&session.probes);
	session.oncpu = &oncpu;
	oncpu.turns = 1;
	proc.space = &space;
	for (int i = 0; i < 2; i++) {
		threads[i].tid = i;
		threads[i].proc = &proc;
		threads[i].stop.state = TH_RUNNING;
	}
	its_regs.r[UREG_PC] = 0xabc;
}

static void
teardown(void)
{
	probes_fini(&session.probes);
	for (int i = 0; i < 2; i++)
		parts_end(&threads[i].parts);
	str_fini(&fired);
}

static void
expect(const char *want)
{
	ck_assert_str_eq(str_c(&fired), want);
	str_clear(&fired);
}

/* The probe that the description creates, or NULL. */
static struct probe *
provided(struct probe_desc pd)
{
	size_t before = session.probes.list.len;

	pd.prov = pd.prov != NULL ? pd.prov : "";
	pd.mod = pd.mod != NULL ? pd.mod : "";
	pd.func = pd.func != NULL ? pd.func : "";
	ck_assert_int_eq(prov_profile.provide(&session, &pd, NULL, NULL), 0);
	return session.probes.list.len > before ?
	    session.probes.list.at[session.probes.list.len - 1] :
	    NULL;
}

#define PROVIDED(...) provided((struct probe_desc){ __VA_ARGS__ })

static uint64_t
period_of(const char *name)
{
	const struct probe *p = PROVIDED(.name = name);

	return p != NULL ? ((struct profile *)p->data)->period : 0;
}

/* ---- names ---- */

START_TEST(units_of_rates)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} names[] = {
		{ "tick-3", 333333333 },
		{ "tick-4hz", 250000000 },
		{ "profile-250000ns", 250000 },
		{ "profile-250001nsec", 250001 },
		{ "profile-250us", 250000 },
		{ "profile-251usec", 251000 },
		{ "tick-7ms", 7 * MS },
		{ "tick-8MSEC", 8 * MS },
		{ "tick-2s", 2000 * MS },
		{ "tick-3sec", 3000 * MS },
		{ "tick-2m", 120000 * MS },
		{ "tick-3min", 180000 * MS },
		{ "tick-2h", 7200000 * MS },
		{ "tick-3hour", 10800000 * MS },
		{ "tick-2d", 172800000 * MS },
		{ "tick-3day", 259200000 * MS },
		{ "tick-5000hz", 200000 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		ck_assert_uint_eq(period_of(names[i].name), names[i].ns);
}
END_TEST

START_TEST(names_that_are_none)
{
	static const char *const names[] = { "tick", "tick-", "tock-1",
		"tick-0", "tick-0s", "tick--1", "tick-+1", "tick- 1", "tick-1x",
		"tick-1 s", "profile-5001hz", "tick-199999ns", "tick-199us",
		"tick-99999999999999999999", "tick-999999999999d",
		"tick-18446744073709551615d", "profile-", "" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		ck_assert_ptr_null(PROVIDED(.name = names[i]));
}
END_TEST

START_TEST(the_usual_rates_are_there)
{
	prov_profile.init(&session);
	size_t n = 0, ticks = 0;
	vec_foreach(p, &session.probes.list) {
		if (*p == NULL)
			continue;
		n++;
		ticks += prov_profile.aside(*p);
		ck_assert_str_eq((*p)->prov, "profile");
	}
	ck_assert_uint_eq(n, 13);
	ck_assert_uint_eq(ticks, 6);
	/* They are created once. */
	ck_assert_ptr_null(PROVIDED(.name = "profile-97"));
	ck_assert_ptr_null(PROVIDED(.name = "tick-500"));
}
END_TEST

START_TEST(only_an_exact_name_creates_a_probe)
{
	ck_assert_ptr_null(PROVIDED(.name = "tick-1*"));
	ck_assert_ptr_null(PROVIDED(.name = "tick-11", .prov = "pid1"));
	ck_assert_ptr_null(PROVIDED(.name = "tick-11", .mod = "a"));
	ck_assert_ptr_null(PROVIDED(.name = "tick-11", .func = "a"));
	ck_assert_ptr_null(PROVIDED(.name = "tick-11", .id = 4));
	ck_assert_ptr_nonnull(PROVIDED(.name = "tick-11", .prov = "prof*"));
	ck_assert_ptr_nonnull(PROVIDED(.name = "tick-12", .prov = "profile"));
}
END_TEST

/* ---- ticks ---- */

START_TEST(a_tick_fires_in_the_tracer)
{
	struct probe *p = PROVIDED(.name = "tick-10ms");

	prov_profile.enable(&session, p);
	ck_assert_uint_eq(timer_period, PERIOD);
	comes(clock_now);
	expect("tick-10ms:-1,0,0 ");
	ck_assert_uint_eq(looks, 0);
	prov_profile.disable(&session, p);
	ck_assert_uint_eq(timer_period, 0);
}
END_TEST

/* ---- samples ---- */

START_TEST(nobody_is_stopped_for_records)
{
	struct probe *p = PROVIDED(.name = "profile-10ms");

	records = SAMPLED_ALL;
	prov_profile.enable(&session, p);
	ck_assert_uint_eq(timer_period, 0);
	prov_profile.disable(&session, p);
	ck_assert_uint_eq(ended, 6);
}
END_TEST

/* Threads of which the kernel does not record are stopped, and no others. */
START_TEST(what_is_not_recorded_is_stopped)
{
	struct probe *p = PROVIDED(.name = "profile-10ms");

	records = SAMPLED_USER;
	has[0] = true;
	n_running = 2;
	for (int i = 0; i < 2; i++)
		running[i] = (struct oncpu_thread){ &threads[i], 0 };
	prov_profile.enable(&session, p);
	ck_assert_uint_eq(timer_period, 50 * MS);
	comes(clock_now + 50 * MS);
	ck_assert_uint_eq(reckoned, 1);
	ck_assert_uint_eq(timer_period, 50 * MS);
	without = 1;
	comes(clock_now + 50 * MS);
	ck_assert_uint_eq(reckoned, 2);
	ck_assert_uint_eq(timer_period, PERIOD); /* the samples */
	comes(clock_now + PERIOD);
	comes(timer_next);
	ck_assert_uint_eq(asks, 1);
	ck_assert(owes[1] && !owes[0]);
	prov_profile.disable(&session, p);
	ck_assert_uint_eq(timer_period, 0);
	ck_assert_uint_eq(ended, 6);
}
END_TEST

static struct probe *
profiles(void)
{
	struct probe *p = PROVIDED(.name = "profile-10ms");

	prov_profile.enable(&session, p);
	return p;
}

/* These threads run when the sample is due. */
static void
run_now(unsigned n, uint64_t late)
{
	n_running = n;
	for (unsigned i = 0; i < n; i++)
		running[i] = (struct oncpu_thread){ .thread = &threads[i],
			.late = late };
}

static void
samples(void)
{
	comes(clock_now);  /* the look */
	comes(timer_next); /* the sample */
}

START_TEST(looks_and_samples_alternate)
{
	struct probe *p = profiles();
	const uint64_t start = clock_now;

	comes(start);
	ck_assert_uint_eq(looks, 1);
	ck_assert_uint_eq(timer_next, start + ONCPU_LEAD);
	comes(start + ONCPU_LEAD + 5000);
	ck_assert_uint_eq(looks, 1);
	/* The next is due one period after this one was, however late it is. */
	ck_assert_uint_eq(timer_next, start + PERIOD);
	comes(timer_next);
	ck_assert_uint_eq(looks, 2);
	ck_assert_uint_eq(timer_next, start + PERIOD + ONCPU_LEAD);
	prov_profile.disable(&session, p);
	ck_assert_uint_eq(timer_period, 0);
}
END_TEST

START_TEST(a_late_look_has_its_lead)
{
	profiles();
	const uint64_t start = clock_now;
	samples();
	comes(start + PERIOD + ONCPU_LEAD / 2);
	ck_assert_uint_eq(
	    timer_next, start + PERIOD + ONCPU_LEAD / 2 + ONCPU_LEAD);
}
END_TEST

START_TEST(samples_that_are_missed_are_not_made_up)
{
	profiles();
	const uint64_t start = clock_now;
	comes(start);
	comes(start + 5 * PERIOD);
	ck_assert_uint_eq(timer_next, start + 6 * PERIOD - ONCPU_LEAD);
}
END_TEST

START_TEST(processors_in_turn_share_the_period)
{
	profiles();
	const uint64_t start = clock_now;
	oncpu.turns = 4;
	samples();
	ck_assert_uint_eq(timer_next, start + PERIOD / 4);
}
END_TEST

START_TEST(a_sample_fires_when_the_thread_has_stopped)
{
	profiles();
	run_now(2, 0);
	samples();
	expect("");
	ck_assert_uint_eq(asks, 2);
	ck_assert(owes[0] && owes[1]);
	ck_assert(profile_waits(&threads[0]));
	clock_now += 30;
	threads[0].stop.state = TH_STOPPED;
	profile_stopped(&session, &threads[0]);
	expect("profile-10ms:0,abc,30 ");
	ck_assert(!owes[0] && owes[1]);
	ck_assert(!profile_waits(&threads[0]));
	profile_stopped(&session, &threads[0]);
	expect("");
}
END_TEST

/* The user sees the address in the program, not that in a slot. */
START_TEST(the_pc_is_that_of_the_text)
{
	profiles();
	run_now(1, 0);
	samples();
	space.tab = (struct tptable *)&calloc;
	profile_stopped(&session, &threads[0]);
	expect("profile-10ms:0,1abc,0 ");
	samples();
	is_dead = true;
	profile_stopped(&session, &threads[0]);
	expect("");
	ck_assert(!profile_waits(&threads[0]));
}
END_TEST

START_TEST(a_thread_that_does_not_stop_has_one_sample)
{
	profiles();
	run_now(1, 0);
	samples();
	samples();
	ck_assert_uint_eq(asks, 1);
	profile_stopped(&session, &threads[0]);
	ck_assert_uint_eq(
	    strstr(str_c(&fired), " ") - str_c(&fired), fired.len - 1);
}
END_TEST

START_TEST(two_probes_have_one_each)
{
	profiles();
	run_now(1, 0);
	samples();
	timer_arg = PROVIDED(.name = "profile-20ms");
	samples();
	ck_assert(owes[0]);
	profile_stopped(&session, &threads[0]);
	ck_assert_ptr_nonnull(strstr(str_c(&fired), "profile-10ms:0,"));
	ck_assert_ptr_nonnull(strstr(str_c(&fired), "profile-20ms:0,"));
	ck_assert(!owes[0]);
}
END_TEST

START_TEST(a_stopped_thread_is_not_asked)
{
	profiles();
	run_now(1, ONCPU_LATE);
	threads[0].stop.state = TH_STOPPED;
	samples();
	ck_assert_uint_eq(asks, 0);
	ck_assert(profile_waits(&threads[0]));
	sched[0].turns = 5;
	sched[0].waited = 900 * MS;
	profile_stopped(&session, &threads[0]);
	expect("profile-10ms:0,abc,0 ");
}
END_TEST

/* ---- was it waiting? ---- */

/* It gets a processor `turns' times, and has waited so long; the stop comes
 * `after' ns. */
static bool
fires(uint64_t turns, uint64_t waited, uint64_t after, uint64_t late)
{
	n_running = 1;
	str_clear(&fired);
	running[0] = (struct oncpu_thread){ &threads[0], late };
	threads[0].stop.asked = ASK_NOTHING;
	samples();
	sched[0].turns += turns;
	sched[0].waited += waited;
	clock_now += after;
	profile_stopped(&session, &threads[0]);
	return fired.len > 0;
}

START_TEST(one_that_waited_for_a_processor_is_no_sample)
{
	profiles();
	sched[0] = (struct procfs_sched){ .turns = 9, .waited = 50 * MS };
	ck_assert(fires(0, 0, MS, ONCPU_LATE));
	/* It waited before it was asked already. */
	ck_assert(!fires(1, 2 * MS, MS, ONCPU_LATE));
	/* Only since: the tracer took its processor. */
	ck_assert(fires(1, 2 * MS, 2 * MS, ONCPU_LATE));
	ck_assert(fires(1, 2 * MS, 2 * MS - ONCPU_LATE, ONCPU_LATE));
	ck_assert(!fires(1, 2 * MS + 1, 2 * MS - ONCPU_LATE, ONCPU_LATE));
	/* It has not had one: it has run all the time. */
	ck_assert(fires(0, 2 * MS, MS, ONCPU_LATE));
	/* The tracer had come to its processor 7 ns before. */
	ck_assert(fires(1, MS + 7, MS, 7));
	/* Another program had its processor when the tracer came. */
	ck_assert(!fires(1, MS + 8, MS, 7));
	sched_error = -ENOENT;
	ck_assert(fires(1, 2 * MS, MS, ONCPU_LATE));
}
END_TEST

START_TEST(a_thread_ends_without_its_sample)
{
	profiles();
	run_now(1, 0);
	samples();
	profile_thread_end(&threads[0]);
	ck_assert(!profile_waits(&threads[0]));
	ck_assert(!owes[0]);
	profile_stopped(&session, &threads[0]);
	expect("");
	profile_thread_end(&threads[1]);
	/* One that was never sampled. */
	ck_assert(!profile_waits(&threads[1]));
}
END_TEST

START_TEST(without_targets_it_fires_in_the_tracer)
{
	profiles();
	is_empty = true;
	comes(clock_now);
	expect("profile-10ms:-1,0,77 ");
	/* They have only ended. */
	session.named.any = true;
	comes(clock_now);
	expect("");
	session.named.any = is_empty = false;
	comes(clock_now);
	expect("");
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		units_of_rates,
		names_that_are_none,
		the_usual_rates_are_there,
		only_an_exact_name_creates_a_probe,
		a_tick_fires_in_the_tracer,
		nobody_is_stopped_for_records,
		what_is_not_recorded_is_stopped,
		looks_and_samples_alternate,
		a_late_look_has_its_lead,
		samples_that_are_missed_are_not_made_up,
		processors_in_turn_share_the_period,
		a_sample_fires_when_the_thread_has_stopped,
		the_pc_is_that_of_the_text,
		a_thread_that_does_not_stop_has_one_sample,
		two_probes_have_one_each,
		a_stopped_thread_is_not_asked,
		one_that_waited_for_a_processor_is_no_sample,
		a_thread_ends_without_its_sample,
		without_targets_it_fires_in_the_tracer,
	};

	return suite_run("profile", setup, teardown, tests, ARRAY_SIZE(tests));
}
