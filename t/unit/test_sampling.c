/*
 * tracer/prov/profile_records and tracer/fire/stack: which probes sample without
 * stops, and what is read of the stack in a sample.  What the kernel records is a
 * double, so the files themselves are included below.
 */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "dlang/base/str.h"
#include "dlang/dif.h"
#include "t/unit/suite.h"
#include "tracer/base/probe.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"
#include "tracer/fire/fire.h"
#include "tracer/fire/records.h"
#include "tracer/prov/profile.h"
#include "tracer/ptrace/perfevent.h"
#include "tracer/ptrace/proc.h"

static struct state session;
static struct space space;
static struct proc proc;
static struct thread thread;
static uint32_t its_needs;
static int want_error; /* of what takes CAP_PERFMON */
static int user_error; /* of what does not */
static struct perf_wish wished;
static enum records_of wished_of;
static record_fn told;
static void *told_arg;
static struct str fired;
static uint64_t clock_now;
static struct str messages;

static int
double_want(const struct perf_wish *w, enum records_of of, record_fn fn,
    void *arg, uint32_t *wish)
{
	wished = *w;
	wished_of = of;
	told = fn;
	told_arg = arg;
	*wish = 4;
	return of == RECORDS_ALL ? want_error : user_error;
}

static void
double_fire(const struct probe *p, const uint64_t *words, unsigned n)
{
	str_printf(&fired, "%s", p->name);
	for (unsigned i = 0; i < n; i++)
		str_printf(&fired, ",%llx", (unsigned long long)words[i]);
	str_addc(&fired, ' ');
}

#define records_needs(st, p)                   its_needs
#define records_want(st, w, of, fn, arg, wish) double_want(w, of, fn, arg, wish)
#define fire_seen(st, p, th, words, n, seen)   double_fire(p, words, n)
#define fire_wants_proc(st, p)                 true
#define super_next(su, p)                      ((p) == NULL ? &proc : NULL)
#define timer_now()                            clock_now
#define state_message(st, fmt, ...)            str_printf(&messages, fmt, __VA_ARGS__)
#include "tracer/prov/profile_records.c" /* NOLINT: doubles above */
#include "tracer/fire/stack.c"           /* NOLINT */

static bool
sites_not_asked(const struct probe *p)
{
	return p != NULL;
}

static void
no_sites(const struct probe *p, probe_site_fn each, void *ctx)
{
	ck_assert(sites_not_asked(p));
}

static const struct provider plain = { .name = "profile" },
			     placed = { .name = "pid", .sites = no_sites };

static struct probe *sample, *other;

static void
setup(void)
{
	bool fresh;

	memset(&session, 0, sizeof(session));
	memset(&thread, 0, sizeof(thread));
	memset(&space, 0, sizeof(space));
	options_init(&session.opts);
	probes_init(&session.probes);
	sample = probe_add(
	    &session.probes, &plain, "profile", "", "", "profile-997", &fresh);
	other = probe_add(
	    &session.probes, &placed, "pid1", "a.out", "f", "entry", &fresh);
	sample->image_ref = 1;
	proc.space = &space;
	thread.proc = &proc;
	its_needs = NEED_ARG | NEED_EXIT;
	want_error = user_error = 0;
	told = NULL;
}

static void
teardown(void)
{
	parts_end(&session.parts);
	probes_fini(&session.probes);
	options_fini(&session.opts);
	str_fini(&fired);
	str_fini(&messages);
}

/* Is the probe recorded?  If not, why. */
static const char *
why(void)
{
	static char buf[256];
	struct str text = { 0 };
	uint32_t wish = 0;

	enum sampled by = profile_records(&session, sample, 1003009, &wish);
	if (by != SAMPLED_BY_STOPS) {
		ck_assert_uint_eq(wish, 4);
		ck_assert_int_eq(wished.source, PERF_CLOCK);
		ck_assert_int_eq(wished_of,
		    by == SAMPLED_ALL ? RECORDS_ALL : RECORDS_THREADS);
		ck_assert(wished.switches == (by == SAMPLED_USER));
		ck_assert_uint_eq(wished.period, 1003009);
		return NULL;
	}
	profile_report(&session, &text);
	snprintf(buf, sizeof(buf), "%s", str_c(&text));
	str_fini(&text);
	return buf;
}

#define BY_STOPS "profile-997 has stopped threads for its samples: "

START_TEST(samples_are_recorded)
{
	struct str text = { 0 };

	ck_assert_ptr_null(why());
	ck_assert_uint_eq(wished.stack_max, 0);
	profile_report(&session, &text);
	ck_assert_uint_eq(text.len, 0);
	its_needs |= NEED_STACK;
	ck_assert_ptr_null(why());
	ck_assert_uint_gt(wished.stack_max, 0);
	ck_assert_uint_le(wished.stack_max, PERF_STACK_MAX);
	ck_assert_uint_eq(wished.stack_max % 8, 0);
}
END_TEST

START_TEST(what_is_in_no_record_takes_a_stop)
{
	static const uint32_t needs[] = { NEED_MEM, NEED_SELF, NEED_LANG,
		NEED_CONTROL, NEED_POKE, NEED_VTIME, NEED_REGS, NEED_SYMBOL };

	for (unsigned i = 0; i < ARRAY_SIZE(needs); i++) {
		parts_end(&session.parts);
		memset(&session.parts, 0, sizeof(session.parts));
		its_needs = NEED_ARG | needs[i];
		ck_assert_str_eq(
		    why(), BY_STOPS "its clauses need the thread stopped\n");
	}
	ck_assert_ptr_null(told);
}
END_TEST

START_TEST(beside_probes_in_functions_it_takes_stops)
{
	ck_assert_ptr_null(why());
	other->image_ref = 2;
	ck_assert_str_eq(why(), BY_STOPS "other probes are in functions\n");
}
END_TEST

START_TEST(without_permission_it_takes_stops)
{
	want_error = user_error = -EACCES;
	ck_assert_str_eq(why(),
	    BY_STOPS "the kernel records nothing for this user (sysctl "
		     "kernel.perf_event_paranoid)\n");
	parts_end(&session.parts);
	memset(&session.parts, 0, sizeof(session.parts));
	user_error = -EMFILE;
	ck_assert_str_eq(why(), BY_STOPS "too many open files (ulimit -n)\n");
}
END_TEST

START_TEST(an_option_asks_for_stops)
{
	ck_assert_int_eq(
	    option_set(&session.opts, "sampling", "stops", false), 0);
	ck_assert_str_eq(why(), BY_STOPS "as option sampling says\n");
}
END_TEST

START_TEST(a_sample_has_the_pc_of_user_code)
{
	struct perf_record r = { .source = PERF_CLOCK, .has_regs = true };

	ck_assert_ptr_null(why());
	r.regs.r[UREG_PC] = 0x1234;
	told(&session, &thread, &r, told_arg);
	r.has_regs = false;
	told(&session, &thread, &r, told_arg);
	ck_assert_str_eq(
	    str_c(&fired), "profile-997,0,1234,0 profile-997,0,0,0 ");
}
END_TEST

#define MS UINT64_C(1000000)

/* A switch of the thread, in an event. */
static void
switches(uint64_t event, uint64_t time, bool out)
{
	struct perf_record r = { .source = PERF_SWITCHES,
		.event = event,
		.time = time,
		.out = out };

	told(&session, &thread, &r, told_arg);
}

static void
samples(uint64_t event, uint64_t time)
{
	struct perf_record r = { .source = PERF_CLOCK,
		.event = event,
		.time = time,
		.has_regs = true };

	r.regs.r[UREG_PC] = 0x77;
	told(&session, &thread, &r, told_arg);
}

static void
has_fired(const char *want)
{
	ck_assert_str_eq(str_c(&fired), want);
	str_clear(&fired);
}

/* A clock that is silent in the kernel: what is missing fires without a place. */
START_TEST(samples_in_the_kernel_are_reckoned)
{
	struct str text = { 0 };
	uint32_t wish;

	want_error = -EACCES;
	vec_push(&proc.threads);
	proc.threads.at[0] = &thread;
	ck_assert_int_eq(
	    profile_records(&session, sample, 10 * MS, &wish), SAMPLED_USER);
	switches(5, 1000 * MS, false);
	samples(5, 1010 * MS);
	has_fired("profile-997,0,77,0 ");
	samples(5, 1040 * MS);
	has_fired("profile-997,0,0,0 profile-997,0,0,0 profile-997,0,77,0 ");
	switches(5, 1055 * MS, true);
	has_fired("profile-997,0,0,0 ");
	/* Another event, after an exec. */
	switches(6, 2000 * MS, false);
	clock_now = 2029 * MS;
	profile_reckon(&session, sample);
	has_fired("profile-997,0,0,0 ");
	clock_now = 2041 * MS;
	profile_last(&session);
	has_fired("profile-997,0,0,0 profile-997,0,0,0 ");
	ck_assert_str_eq(str_c(&messages),
	    "profile-997: 75 % of the samples are in the kernel, of which only "
	    "option sampling=stops tells where");
	profile_report(&session, &text);
	ck_assert_str_eq(str_c(&text),
	    "profile-997 has 2 samples of user code, and 6 that are reckoned, "
	    "in the kernel: no system call is known for 6\n");
	str_fini(&text);
	vec_fini(&proc.threads);
	parts_end(&thread.parts);
}
END_TEST

/* ---- the copy ---- */

static int
live_read(void *ctx, uint64_t addr, void *buf, size_t len)
{
	memset(buf, 0xee, len);
	return 0;
}

START_TEST(a_stack_is_as_it_was)
{
	const struct reader live = { live_read, NULL };
	uint8_t bytes[32], got[24];
	struct copy c = { 0x1000, bytes, sizeof(bytes), &live };
	const struct reader mem = { copy_read, &c };

	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i + 1);
	ck_assert_int_eq(reader_read(&mem, 0x1008, got, 8), 0);
	ck_assert_uint_eq(got[0], 9);
	ck_assert_uint_eq(got[7], 16);
	/* Across its begin and its end: what is not in it is 0. */
	ck_assert_int_eq(reader_read(&mem, 0xff8, got, 24), 0);
	ck_assert_uint_eq(got[7], 0);
	ck_assert_uint_eq(got[8], 1);
	ck_assert_uint_eq(got[23], 16);
	ck_assert_int_eq(reader_read(&mem, 0x1010, got, 24), 0);
	ck_assert_uint_eq(got[15], 32);
	ck_assert_uint_eq(got[16], 0);
	/* Behind it is stack that is not known; elsewhere is other memory. */
	ck_assert_int_eq(reader_read(&mem, 0x1020, got, 8), -EFAULT);
	ck_assert_int_eq(
	    reader_read(&mem, 0x1020 + ABOVE_BYTES - 8, got, 8), -EFAULT);
	ck_assert_int_eq(reader_read(&mem, 0x1020 + ABOVE_BYTES, got, 8), 0);
	ck_assert_uint_eq(got[0], 0xee);
	ck_assert_int_eq(reader_read(&mem, 0xff0, got, 16), 0);
	ck_assert_uint_eq(got[15], 0xee);
}
END_TEST

START_TEST(what_is_not_known_of_a_stack_is_marked)
{
	struct perf_record r = { .source = PERF_CLOCK };
	uint64_t pcs[4];

	ck_assert_uint_eq(stack_seen(&session, &thread, &r, pcs, 4), 1);
	ck_assert_str_eq(langname_of(pcs[0])->function, "[not seen]");
	ck_assert_uint_eq(stack_seen(&session, &thread, &r, pcs, 0), 0);
	r.reckoned = true;
	ck_assert_uint_eq(stack_seen(&session, &thread, &r, pcs, 4), 1);
	ck_assert_str_eq(langname_of(pcs[0])->function, "[kernel]");
}
END_TEST

/* The stack at a switch is recorded just before it: it is that of the switch, and of
 * the next time on a processor, and of no other. */
START_TEST(a_stack_may_come_before_its_switch)
{
	struct perf_record leaves = { .source = PERF_LEAVES,
		.time = 9,
		.stack = (const uint8_t *)"stack",
		.stack_len = 5 },
			   off = { .source = PERF_SWITCHES,
				   .time = 10,
				   .out = true,
				   .preempted = true };
	struct kept *k = part_of(&thread.parts, &kept_part);

	stack_keep(&session, &thread, &leaves);
	stack_keep(&session, &thread, &off);
	ck_assert_uint_eq(k->time, 10);
	ck_assert_uint_eq(k->leaves.time, 9);
	ck_assert_uint_eq(k->leaves.stack_len, 5);
	ck_assert_mem_eq(k->leaves.stack, "stack", 5);
	off.time = 20;
	stack_keep(&session, &thread, &off);
	ck_assert_uint_eq(k->leaves.time, 0);
	parts_end(&thread.parts);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		samples_are_recorded,
		what_is_in_no_record_takes_a_stop,
		beside_probes_in_functions_it_takes_stops,
		without_permission_it_takes_stops,
		an_option_asks_for_stops,
		a_sample_has_the_pc_of_user_code,
		samples_in_the_kernel_are_reckoned,
		a_stack_is_as_it_was,
		what_is_not_known_of_a_stack_is_marked,
		a_stack_may_come_before_its_switch,
	};

	return suite_run("sampling", setup, teardown, tests, ARRAY_SIZE(tests));
}
