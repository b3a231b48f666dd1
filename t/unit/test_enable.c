/*
 * tracer/program/ enable, typed_use and absent: which clauses are put on which
 * probes, again when more appear, and what is told about a provider that a process
 * lacks.  The image, the compiled program and the providers are doubles, so the
 * files themselves are included below.
 */
#include <check.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/str.h"
#include "dlang/cc/cc.h"
#include "dlang/image/image.h"
#include "dlang/prog.h"
#include "symbols/addrspace.h"
#include "symbols/sdt.h"
#include "t/unit/suite.h"
#include "tracer/base/probe.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"
#include "tracer/names/prototype.h"
#include "tracer/program/absent.h"
#include "tracer/program/enable.h"
#include "tracer/program/typed_use.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/super.h"
#include "tracer/sites/site.h"

static struct str calls;
static struct prog_globals globals;
static struct prog_clause clauses[2], *clause_list[2];
static bool probes_full, ecbs_full;

static uint32_t
double_probe(const char *name, uint32_t flags)
{
	static uint32_t refs;

	str_printf(&calls, "probe(%s,%u) ", name, flags);
	return probes_full ? 0 : ++refs;
}

static uint32_t
double_ecb(uint32_t ref, unsigned clause, uint32_t flags)
{
	str_printf(&calls, "ecb(%u,%u%s) ", ref, clause,
	    flags == IMG_ECB_OWN ? ",own" :
		flags == 0       ? "" :
				   ",?");
	return ecbs_full ? 0 : 1;
}

static void PRINTF_LIKE(2, 3) say(struct state *st, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	str_vprintf(&calls, fmt, ap);
	str_addc(&calls, '\n');
	va_end(ap);
}

static struct proc proc1;
static struct space space1;
static struct load object1, *objects[] = { &object1 };
static struct sdt_note sdt[4];
static size_t n_sdt;

#define cc_globals(cc) (&globals)
#define image_add_probe(im, id, prov, mod, func, name, flags) \
	double_probe(name, flags)
#define image_add_ecb(im, ref, clause, flags) double_ecb(ref, clause, flags)
#define prototype_refused(st, p)              str_add(&calls, "refused ")
#define loads_matched(st)                     str_add(&calls, "matched ")
#define sites_commit_queued(st)               str_add(&calls, "commit ")
#define progress_part(st, i, n, what, of)     ((void)(i))
#define state_message                         say
#define typed_args_equal(a, b)                ((a)->n == (b)->n)
#define super_proc(su, id)                    ((id) == 10 ? &proc1 : NULL)
#define addrspace_loads(as, out)              (*(out) = objects, 1)
#define object_sdt_notes(o, out)              (*(out) = sdt, n_sdt)
#define procfs_status(pid, out)               strcpy((out)->comm, "perl")
#include "tracer/program/absent.c"
#include "tracer/program/enable.c"
#include "tracer/program/typed_use.c"

/* ---- providers ---- */

static int provide_error;
static unsigned provided;
static const char *appears; /* a probe that is created by the next call */
static unsigned typed_n;    /* of args[] */
static int typed_error;
static struct state run;

static int fixed_provide(struct state *st, const struct probe_desc *pd,
    const struct span *at, struct diags *d);

static void
note_enable(struct state *st, struct probe *p)
{
	ck_assert_uint_ne(p->image_ref, 0);
	str_printf(&calls, "enable(%s) ", p->name);
}

static int
types_of(struct state *st, const struct probe *p, struct typed_args *out)
{
	out->n = typed_n;
	return typed_error;
}

static bool
is_aside(const struct probe *p)
{
	return strcmp(p->name, "aside") == 0;
}

static const struct provider dtrace_prov = { .name = "dtrace" };
static const struct provider plain = { .name = "plain",
	.provide = fixed_provide,
	.enable = note_enable };
static const struct provider typed = { .name = "typed", .typed = types_of };
static const struct provider of_process = { .name = "pid",
	.follows = true,
	.per_process = true,
	.aside = is_aside };
static const struct provider everywhere = { .name = "syscall",
	.follows = true };
static const struct provider *const some_providers[] = { &dtrace_prov, &plain,
	NULL };

static struct probe *
add(const struct provider *prov, const char *name)
{
	bool fresh;

	return probe_add(&run.probes, prov, prov->name, "", "", name, &fresh);
}

static int
fixed_provide(struct state *st, const struct probe_desc *pd,
    const struct span *at, struct diags *d)
{
	provided++;
	if (appears != NULL)
		add(&plain, appears);
	appears = NULL;
	return provide_error;
}

static void
setup(void)
{
	probes_init(&run.probes);
	options_init(&run.opts);
	run.providers = some_providers;
	run.super = (struct super *)8; /* only passed on */
	for (unsigned i = 0; i < ARRAY_SIZE(clauses); i++) {
		clauses[i].desc = (struct probe_desc){
			.prov = "", .mod = "", .func = "", .name = "none"
		};
		clauses[i].global_index = i;
		clause_list[i] = &clauses[i];
	}
	globals.clauses.at = clause_list;
	globals.clauses.len = 1;
	space1.as = (struct addrspace *)8;
	proc1.space = &space1;
	proc1.pid = 10;
}

static void
teardown(void)
{
	parts_end(&run.parts);
	probes_fini(&run.probes);
	options_fini(&run.opts);
	str_fini(&calls);
}

static void
expect(const char *want)
{
	ck_assert_str_eq(str_c(&calls), want);
	str_clear(&calls);
}

/* ---- providing ---- */

START_TEST(what_a_description_means_is_counted)
{
	const struct probe_desc all = {
		.prov = "plain", .mod = "", .func = "", .name = ""
	};

	add(&plain, "a");
	add(&everywhere, "b");
	ck_assert_int_eq(enable_provide(&run, &all, NULL, NULL), 1);
	appears = "c";
	ck_assert_int_eq(enable_provide(&run, &all, NULL, NULL), 2);
	provide_error = -EINVAL;
	ck_assert_int_eq(enable_provide(&run, &all, NULL, NULL), -EINVAL);
}
END_TEST

/* ---- enabling ---- */

START_TEST(a_clause_is_put_on_what_it_matches)
{
	add(&plain, "a");
	add(&plain, "b");
	clauses[0].desc.name = "b";
	ck_assert_int_eq(enable_apply(&run), 0);
	expect("probe(b,0) ecb(1,0) enable(b) matched ");
	/* What has been looked at is not again. */
	ck_assert_int_eq(enable_apply(&run), 0);
	expect("matched ");
	ck_assert(!run.follow);
}
END_TEST

START_TEST(clauses_stand_in_the_order_of_the_program)
{
	struct probe *p = add(&plain, "a");

	add(&plain, "ab");
	globals.clauses.len = 2;
	clauses[0].desc.name = "a*";
	clauses[1].desc.name = "a";
	ck_assert_int_eq(enable_apply(&run), 0);
	expect("probe(a,0) ecb(1,0) probe(ab,0) ecb(2,0) ecb(1,1) "
	       "enable(a) enable(ab) matched ");
	ck_assert_uint_eq(p->image_ref, 1);
}
END_TEST

START_TEST(probes_of_dtrace_are_marked)
{
	add(&dtrace_prov, "BEGIN");
	add(&dtrace_prov, "END");
	add(&dtrace_prov, "ERROR");
	add(&plain, "BEGIN");
	clauses[0].desc.name = "[BE]*";
	ck_assert_int_eq(enable_apply(&run), 0);
	char want[200];
	snprintf(want, sizeof(want),
	    "probe(BEGIN,%u) ecb(1,0) probe(END,%u) ecb(2,0) "
	    "probe(ERROR,%u) ecb(3,0) probe(BEGIN,0) ecb(4,0) "
	    "enable(BEGIN) matched ",
	    (unsigned)IMG_PROBE_BEGIN, (unsigned)IMG_PROBE_END,
	    (unsigned)IMG_PROBE_ERROR);
	expect(want);
}
END_TEST

START_TEST(a_full_image_is_an_error)
{
	add(&plain, "a");
	clauses[0].desc.name = "a";
	probes_full = true;
	ck_assert_int_eq(enable_apply(&run), -ENOSPC);
	expect("probe(a,0) matched ");
}
END_TEST

START_TEST(so_is_one_without_room_for_a_clause)
{
	add(&plain, "a");
	clauses[0].desc.name = "a";
	ecbs_full = true;
	ck_assert_int_eq(enable_apply(&run), -ENOSPC);
	/* It may have others. */
	expect("probe(a,0) ecb(1,0) enable(a) matched ");
}
END_TEST

START_TEST(the_records_of_end_are_counted)
{
	add(&dtrace_prov, "BEGIN");
	add(&dtrace_prov, "END");
	globals.clauses.len = 2;
	clauses[0].desc.name = "END";
	clauses[0].rec_size = 20;
	clauses[1].desc.name = "*";
	clauses[1].rec_size = 8;
	ck_assert_uint_eq(enable_end_size(&run), ROUND_UP(20, REC_ALIGN) + 8);
	clauses[0].desc.name = "BEGIN";
	ck_assert_uint_eq(enable_end_size(&run), 8);
}
END_TEST

/* ---- children ---- */

START_TEST(clauses_of_a_process_are_its_own)
{
	add(&of_process, "a");
	clauses[0].desc.name = "a";
	ck_assert_int_eq(enable_apply(&run), 0);
	expect("probe(a,0) ecb(1,0,own) matched ");
	ck_assert(!run.follow);
}
END_TEST

START_TEST(those_of_its_family_are_not)
{
	add(&of_process, "a");
	clauses[0].desc.name = "a";
	clauses[0].desc.family = true;
	ck_assert_int_eq(enable_apply(&run), 0);
	expect("probe(a,0) ecb(1,0) matched ");
	ck_assert(run.follow);
}
END_TEST

START_TEST(a_probe_that_stands_aside_does_not_follow)
{
	add(&of_process, "aside");
	clauses[0].desc.name = "aside";
	clauses[0].desc.family = true;
	ck_assert_int_eq(enable_apply(&run), 0);
	expect("probe(aside,0) ecb(1,0,own) matched ");
	ck_assert(!run.follow);
}
END_TEST

START_TEST(other_probes_follow)
{
	add(&everywhere, "a");
	clauses[0].desc.name = "a";
	ck_assert_int_eq(enable_apply(&run), 0);
	expect("probe(a,0) ecb(1,0) matched ");
	ck_assert(run.follow);
}
END_TEST

START_TEST(unless_the_user_wants_none)
{
	add(&everywhere, "a");
	clauses[0].desc.name = "a";
	globals.clauses.len = 2;
	clauses[1].desc.family = true;
	ck_assert_int_eq(option_parse(&run.opts, "follow=none", false), 0);
	ck_assert_int_eq(enable_apply(&run), 0);
	ck_assert(!run.follow);
}
END_TEST

START_TEST(a_child_may_execute_what_matches)
{
	add(&plain, "a");
	clauses[0].desc.family = true;
	ck_assert_int_eq(enable_apply(&run), 0);
	ck_assert(run.follow);
}
END_TEST

START_TEST(not_if_the_process_itself_does)
{
	add(&plain, "none");
	clauses[0].desc.family = true;
	ck_assert_int_eq(enable_apply(&run), 0);
	ck_assert(!run.follow);
}
END_TEST

/* ---- again ---- */

START_TEST(what_appears_later_is_enabled)
{
	clauses[0].desc.name = "late";
	ck_assert_int_eq(enable_apply(&run), 0);
	str_clear(&calls);
	appears = "late";
	enable_again(&run);
	ck_assert_uint_eq(provided, 1);
	expect("probe(late,0) ecb(1,0) enable(late) matched commit ");
}
END_TEST

START_TEST(that_there_are_too_many_is_told_once)
{
	clauses[0].desc.name = "late*";
	ecbs_full = true;
	appears = "late1";
	enable_again(&run);
	ck_assert_ptr_nonnull(strstr(str_c(&calls), "too many probes"));
	str_clear(&calls);
	appears = "late2";
	enable_again(&run);
	ck_assert_ptr_null(strstr(str_c(&calls), "too many probes"));
}
END_TEST

/* ---- types of args[] ---- */

START_TEST(a_clause_keeps_its_types)
{
	const struct typed_args two = { .n = 2 }, three = { .n = 3 };
	struct probe *p = add(&typed, "a");

	clauses[0].desc.name = "a";
	typed_use_note(&run, &clauses[0].desc, &two);
	typed_use_note(&run, &clauses[0].desc, &three); /* the first counts */
	typed_n = 2;
	ck_assert_int_eq(enable_apply(&run), 0);
	expect("probe(a,0) ecb(1,0) matched ");
	ck_assert_uint_eq(p->typed.n, 2);
}
END_TEST

START_TEST(a_probe_of_other_types_is_refused)
{
	const struct typed_args two = { .n = 2 };
	struct probe *p = add(&typed, "a");

	clauses[0].desc.name = "a";
	typed_use_note(&run, &clauses[0].desc, &two);
	typed_n = 1;
	ck_assert_int_eq(enable_apply(&run), 0);
	expect("refused matched ");
	ck_assert_uint_eq(p->image_ref, 0);
	typed_n = 2;
	typed_error = -ENOTUNIQ;
	ck_assert(!typed_use_fits(&run, &clauses[0].desc, p));
	ck_assert(!typed_use_fits(&run, &clauses[0].desc, add(&plain, "b")));
	/* A clause that does not look at them takes any. */
	ck_assert(typed_use_fits(&run, &clauses[1].desc, p));
	ck_assert_uint_eq(p->typed.n, 0);
}
END_TEST

/* ---- absent providers ---- */

static void
absent(const char *prov, const char *want)
{
	const struct probe_desc pd = { .prov = prov };
	struct str to = { 0 };

	absent_provider(&run, &pd, &to);
	if (want == NULL)
		ck_assert_str_eq(str_c(&to), "");
	else
		ck_assert_msg(strncmp(str_c(&to), want, strlen(want)) == 0,
		    "%s", str_c(&to));
	str_fini(&to);
}

START_TEST(a_process_lacks_a_provider)
{
	run.named.any = true;
	run.named.pid = 10;
	absent("tcl",
	    "process 10 (perl) has no provider tcl: it has no static "
	    "probes; Tcl has it when configured --enable-dtrace");
	absent("tcl*", "process 10 (perl) has no provider tcl: ");
	absent("tcl10", "process 10 (perl) has no provider tcl: ");
	absent(
	    "hotspot_jni10", "process 10 (perl) has no provider hotspot_jni");
	sdt[0].provider = "libc";
	sdt[1].provider = "a__b__c";
	sdt[2].provider = "libc";
	n_sdt = 3;
	absent("tcl10",
	    "process 10 (perl) has no provider tcl: its providers "
	    "of static probes are libc, a-b-c; Tcl has");
	/* It has it; or it is nobody's; or the process is not there. */
	sdt[3].provider = "tcl";
	n_sdt = 4;
	absent("tcl10", NULL);
	absent("tcl", NULL);
	absent("mine10", NULL);
	absent("tcl11", NULL);
	run.super = NULL;
	absent("perl10", NULL);
}
END_TEST

START_TEST(no_process_at_all)
{
	absent("tcl", "no process that may be traced has a provider tcl; Tcl");
	absent("tcl1*", NULL);
	space1.as = NULL;
	run.named.any = true;
	absent("tcl10", NULL);
}
END_TEST

START_TEST(it_is_told_if_nothing_has_matched)
{
	globals.clauses.len = 2;
	clauses[0].desc.prov = "mine";
	clauses[1].desc.prov = "tcl";
	struct probe *p = add(&everywhere, "a");
	absent_tell(&run);
	expect("no process that may be traced has a provider tcl; Tcl has it "
	       "when configured --enable-dtrace\n");
	p->image_ref = 1;
	absent_tell(&run);
	expect("");
	/* BEGIN, and profile, are not of a process. */
	p->image_ref = 0;
	add(&plain, "b")->image_ref = 2;
	add(&prov_profile, "c")->image_ref = 3;
	absent_tell(&run);
	ck_assert_ptr_nonnull(strstr(str_c(&calls), "tcl"));
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		what_a_description_means_is_counted,
		a_clause_is_put_on_what_it_matches,
		clauses_stand_in_the_order_of_the_program,
		probes_of_dtrace_are_marked,
		a_full_image_is_an_error,
		so_is_one_without_room_for_a_clause,
		the_records_of_end_are_counted,
		clauses_of_a_process_are_its_own,
		those_of_its_family_are_not,
		a_probe_that_stands_aside_does_not_follow,
		other_probes_follow,
		unless_the_user_wants_none,
		a_child_may_execute_what_matches,
		not_if_the_process_itself_does,
		what_appears_later_is_enabled,
		that_there_are_too_many_is_told_once,
		a_clause_keeps_its_types,
		a_probe_of_other_types_is_refused,
		a_process_lacks_a_provider,
		no_process_at_all,
		it_is_told_if_nothing_has_matched,
	};

	return suite_run("enable", setup, teardown, tests, ARRAY_SIZE(tests));
}
