/*
 * tracer/prov/vminfo: which records are wanted for its probes, and with what they
 * fire.  Records are doubles, so the file itself is included below.
 */
#include "t/unit/records_fixture.h"

#include "tracer/prov/vminfo.c" /* NOLINT: doubles above */

static uint32_t
wanted(const struct perf_wish *w)
{
	str_printf(&done, "want-%s-%d ",
	    w->source == PERF_FAULTS ? "all" : "major", w->stack_max != 0);
	return w->source == PERF_FAULTS ? 1 : 2;
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
setup(void)
{
	fixture_begin();
	init(&session);
}

START_TEST(each_probe_has_its_records)
{
	prov_vminfo.enable(&session, probe("as_fault"));
	prov_vminfo.enable(&session, probe("as_fault"));
	has_done("want-all-0 ");
	its_needs |= NEED_STACK;
	prov_vminfo.enable(&session, probe("maj_fault"));
	has_done("want-major-1 ");
	prov_vminfo.disable(&session, probe("maj_fault"));
	has_done("end-2 ");
	ck_assert(!session.lanes_unfit);
}
END_TEST

START_TEST(a_fault_has_address_and_instruction)
{
	struct perf_record r = {
		.source = PERF_FAULTS, .addr = 0x5000, .pc = 0x400
	};

	prov_vminfo.enable(&session, probe("as_fault"));
	str_clear(&done);
	told(&session, &thread, &r, told_arg);
	has_done("as_fault,1,5000,400 ");
	/* In a slot it is that of the program's text. */
	space.tab = (struct tptable *)&space;
	told(&session, &thread, &r, told_arg);
	has_done("as_fault,1,5000,1400 ");
}
END_TEST

START_TEST(it_is_said_if_there_are_none)
{
	want_error = -EMFILE;
	prov_vminfo.enable(&session, probe("maj_fault"));
	has_done("want-major-0 message: vminfo:::maj_fault does not fire: too "
		 "many open files (ulimit -n)");
	prov_vminfo.disable(&session, probe("maj_fault"));
	has_done("");
}
END_TEST

START_TEST(variables_of_threads_are_not_in_lanes)
{
	its_needs = NEED_SELF;
	prov_vminfo.enable(&session, probe("as_fault"));
	ck_assert(session.lanes_unfit);
}
END_TEST

START_TEST(three_arguments)
{
	struct probe_arg a;

	for (unsigned i = 0; i < 3; i++) {
		ck_assert(prov_vminfo.arg(probe("as_fault"), i, &a));
		ck_assert_uint_eq(a.source, i);
	}
	ck_assert(!prov_vminfo.arg(probe("as_fault"), 3, &a));
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		each_probe_has_its_records,
		a_fault_has_address_and_instruction,
		it_is_said_if_there_are_none,
		variables_of_threads_are_not_in_lanes,
		three_arguments,
	};

	return suite_run("vminfo", setup, teardown, tests, ARRAY_SIZE(tests));
}
