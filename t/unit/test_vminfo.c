/*
 * tracer/prov/vminfo: which records are wanted for its probes, and with what they
 * fire.  Records are doubles, so the file itself is included below.
 */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "dlang/base/str.h"
#include "dlang/dif.h"
#include "inject/resume.h"
#include "t/unit/suite.h"
#include "tracer/base/probe.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"
#include "tracer/fire/fire.h"
#include "tracer/fire/records.h"
#include "tracer/ptrace/proc.h"

static struct state session;
static struct space space;
static struct proc proc;
static struct thread thread;
static struct str done;
static uint32_t its_needs;
static int want_error;
static record_fn told;
static void *told_arg;

static int
double_want(const struct perf_wish *w, record_fn fn, void *arg, uint32_t *wish)
{
	str_printf(&done, "want-%s-%d ",
	    w->source == PERF_FAULTS ? "all" : "major", w->stack_max != 0);
	told = fn;
	told_arg = arg;
	*wish = w->source == PERF_FAULTS ? 1 : 2;
	return want_error;
}

static void
double_fire(const struct probe *p, const uint64_t *words, unsigned n)
{
	str_printf(&done, "%s", p->name);
	for (unsigned i = 0; i < n; i++)
		str_printf(&done, ",%llx", (unsigned long long)words[i]);
	str_addc(&done, ' ');
}

#define records_needs(st, p)                   its_needs
#define records_want(st, w, of, fn, arg, wish) double_want(w, fn, arg, wish)
#define records_end(st, wish)                  str_printf(&done, "end-%u ", wish)
#define fire_seen(st, p, th, words, n, seen)   double_fire(p, words, n)
#define resume_text_pc(tab, pc)                ((pc) + 0x1000)
#define state_message(st, fmt, name, why) \
	str_printf(&done, "message: " fmt, name, why)
#include "tracer/prov/vminfo.c" /* NOLINT: doubles above */

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
setup(void)
{
	memset(&session, 0, sizeof(session));
	memset(&space, 0, sizeof(space));
	probes_init(&session.probes);
	init(&session);
	proc.space = &space;
	thread.proc = &proc;
	its_needs = NEED_ARG;
	want_error = 0;
}

static void
teardown(void)
{
	parts_end(&session.parts);
	probes_fini(&session.probes);
	str_fini(&done);
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
