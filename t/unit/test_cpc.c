/*
 * tracer/prov/cpc: which names are probes, what is counted for them, and what is said
 * where nothing can be.  Records are doubles, so the file itself is included below.
 */
#include "t/unit/records_fixture.h"

static int try_error;

#define perfevents_try(w)     ((void)(w), try_error)
#define perfevents_why(error) ((error) == -EMFILE ? "files" : "forbidden")
#include "tracer/prov/cpc.c" /* NOLINT: doubles above */

static uint32_t
wanted(const struct perf_wish *w)
{
	str_printf(&done, "want-%d-%llu%s%s%s ", (int)w->counter,
	    (unsigned long long)w->period, w->user ? "-user" : "",
	    w->kernel ? "-kernel" : "", w->stack_max != 0 ? "-stack" : "");
	return 7;
}

/* The probe that is created for the name, or NULL. */
static struct probe *
probe(const char *name)
{
	const struct probe_desc pd = {
		.prov = "cpc", .mod = "", .func = "", .name = name
	};

	ck_assert_int_eq(prov_cpc.provide(&session, &pd, NULL, NULL), 0);
	vec_foreach(p, &session.probes.list)
		if (strcmp((*p)->name, name) == 0)
			return *p;
	return NULL;
}

static void
setup(void)
{
	fixture_begin();
	try_error = 0;
}

START_TEST(a_name_has_event_mode_and_count)
{
	static const struct {
		const char *name, *want; /* NULL: no probe */
	} rows[] = {
		{ "cycles-user-1000", "want-0-1000-user " },
		{ "cpu_cycles-user-1000", "want-0-1000-user " },
		{ "PAPI_tot_cyc-kernel-1000", "want-0-1000-kernel " },
		{ "instructions-all-9999", "want-1-9999-user-kernel " },
		{ "PAPI_tot_ins-all-9999", "want-1-9999-user-kernel " },
		{ "cache_references-user-5000", "want-2-5000-user " },
		{ "cache_misses-user-5000", "want-3-5000-user " },
		{ "branches-user-5000", "want-4-5000-user " },
		{ "PAPI_br_msp-user-5000", "want-5-5000-user " },
		{ "bus_cycles-user-5000", "want-6-5000-user " },
		{ "ref_cycles-user-5000", "want-7-5000-user " },
		{ "cpu_clock-user-100000", "want-8-100000-user " },
		{ "task_clock-user-100000", "want-9-100000-user " },
		{ "cycles-user-9223372036854775807",
		    "want-0-9223372036854775807-user " },
		{ "cycles-user-999", NULL },
		{ "cpu_clock-user-99999", NULL },
		{ "cycles-user-9223372036854775808", NULL },
		{ "cycles-user-99999999999999999999", NULL },
		{ "cycles-user-1000x", NULL },
		{ "cycles-user--1000", NULL },
		{ "cycles-user-", NULL },
		{ "cycles-user", NULL },
		{ "cycles", NULL },
		{ "cycle-user-1000", NULL },
		{ "cyclesx-user-1000", NULL },
		{ "cycles-use-1000", NULL },
		{ "cycles-both-1000", NULL },
		{ "cycles-user-0x1-1000", NULL },
		{ "cycles-*-1000", NULL },
		{ "", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct probe *p = probe(rows[i].name);
		if (rows[i].want == NULL) {
			ck_assert_msg(p == NULL, "%s", rows[i].name);
			continue;
		}
		ck_assert_msg(p != NULL, "%s", rows[i].name);
		ck_assert_ptr_eq(probe(rows[i].name), p);
		prov_cpc.enable(&session, p);
		has_done(rows[i].want);
	}
}
END_TEST

START_TEST(other_descriptions_are_not_its)
{
	static const struct probe_desc others[] = {
		{ .prov = "pid",
		    .mod = "",
		    .func = "",
		    .name = "cycles-all-1000" },
		{ .prov = "cpc",
		    .mod = "m",
		    .func = "",
		    .name = "cycles-all-1000" },
		{ .prov = "cpc",
		    .mod = "",
		    .func = "f",
		    .name = "cycles-all-1000" },
		{ .prov = "cpc",
		    .mod = "",
		    .func = "",
		    .name = "cycles-all-1000",
		    .id = 3 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		prov_cpc.provide(&session, &others[i], NULL, NULL);
		ck_assert_uint_eq(session.probes.list.len, 0);
	}
}
END_TEST

START_TEST(it_is_enabled_once)
{
	struct probe *p = probe("cycles-user-1000");

	its_needs |= NEED_STACK;
	prov_cpc.enable(&session, p);
	prov_cpc.enable(&session, p);
	has_done("want-0-1000-user-stack ");
	prov_cpc.disable(&session, p);
	has_done("end-7 ");
	ck_assert(!session.lanes_unfit);
	its_needs |= NEED_SELF;
	prov_cpc.enable(&session, p);
	ck_assert(session.lanes_unfit);
}
END_TEST

START_TEST(the_instruction_is_of_the_kernel_or_not)
{
	struct perf_record r = { .source = PERF_COUNTER, .pc = 0x400 };

	prov_cpc.enable(&session, probe("cycles-all-1000"));
	str_clear(&done);
	told(&session, &thread, &r, told_arg);
	has_done("cycles-all-1000,0,400 ");
	/* In a slot it is that of the program's text. */
	space.tab = (struct tptable *)&space;
	told(&session, &thread, &r, told_arg);
	has_done("cycles-all-1000,0,1400 ");
	r.pc = 0xffffffff81000000;
	told(&session, &thread, &r, told_arg);
	has_done("cycles-all-1000,ffffffff81000000,0 ");
}
END_TEST

START_TEST(it_is_said_why_nothing_is_counted)
{
	static const struct {
		int error;
		const char *name, *why;
	} rows[] = {
		{ -ENOENT, "cycles-user-1000",
		    "this machine has no such counter, as many virtual machines" },
		{ -EOPNOTSUPP, "branches-user-1000",
		    "this machine has no such counter, as many virtual machines" },
		{ -EACCES, "cycles-all-1000",
		    "only who has CAP_PERFMON may count in the kernel; MODE user "
		    "needs no right" },
		{ -EACCES, "cycles-user-2000", "forbidden" },
		{ -EMFILE, "cycles-all-2000", "files" },
	};
	char want[200];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct probe *p = probe(rows[i].name);
		try_error = rows[i].error;
		prov_cpc.enable(&session, p);
		snprintf(want, sizeof(want),
		    "message: cpc:::%s does not fire: %s", rows[i].name,
		    rows[i].why);
		has_done(want);
		prov_cpc.disable(&session, p);
		has_done("");
	}
}
END_TEST

START_TEST(two_arguments)
{
	struct probe *p = probe("cycles-all-1000");
	struct probe_arg a;

	for (unsigned i = 0; i < 2; i++) {
		ck_assert(prov_cpc.arg(p, i, &a));
		ck_assert_uint_eq(a.source, i);
	}
	ck_assert(!prov_cpc.arg(p, 2, &a));
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		a_name_has_event_mode_and_count,
		other_descriptions_are_not_its,
		it_is_enabled_once,
		the_instruction_is_of_the_kernel_or_not,
		it_is_said_why_nothing_is_counted,
		two_arguments,
	};

	return suite_run("cpc", setup, teardown, tests, ARRAY_SIZE(tests));
}
