/*
 * dlang/options: names, values, phases.
 */
#include <check.h>
#include <errno.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/base.h"
#include "dlang/options.h"

static struct options o;

static void
setup(void)
{
	options_init(&o);
}

static void
teardown(void)
{
	options_fini(&o);
}

START_TEST(defaults)
{
	ck_assert_int_eq(option_get(&o, OPT_BUFSIZE), 4 << 20);
	ck_assert_int_eq(option_get(&o, OPT_STRSIZE), 256);
	ck_assert_int_eq(option_get(&o, OPT_STACKINDENT), 14);
	ck_assert_int_eq(option_get(&o, OPT_TEMPORAL), 1);
	ck_assert_int_eq(option_get(&o, OPT_QUIET), 0);
	ck_assert_int_eq(option_get(&o, OPT_CPU), OPTION_UNSET);
	for (int i = 0; i < OPT_COUNT; i++) {
		ck_assert(!o.set[i]);
		ck_assert_ptr_null(o.text[i]);
	}
}
END_TEST

START_TEST(sizes)
{
	static const struct {
		const char *arg;
		int64_t value; /* -1: refused */
	} rows[] = {
		{ "bufsize=0", 0 },
		{ "bufsize=512", 512 },
		{ "bufsize=0x100", 256 },
		{ "bufsize=010", 8 },
		{ "bufsize=4k", 4096 },
		{ "bufsize=4K", 4096 },
		{ "bufsize=2m", 2 << 20 },
		{ "bufsize=1g", 1 << 30 },
		{ "bufsize=1t", 1LL << 40 },
		{ "bufsize", 0 },
		{ "bufsize=-1", -1 },
		{ "bufsize=4x", -1 },
		{ "bufsize=4kb", -1 },
		{ "bufsize=k", -1 },
		{ "bufsize= 4", -1 },
		{ "bufsize=yes", -1 },
		{ "bufsize=9999999t", -1 },
		{ "bufsize=99999999999999999999", -1 },
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		o.value[OPT_BUFSIZE] = 77;
		int r = option_parse(&o, rows[i].arg, false);
		ck_assert_msg(
		    r == (rows[i].value < 0 ? -EINVAL : 0), "%s", rows[i].arg);
		ck_assert_int_eq(option_get(&o, OPT_BUFSIZE),
		    rows[i].value < 0 ? 77 : rows[i].value);
	}
}
END_TEST

START_TEST(rates)
{
	static const struct {
		const char *value;
		int64_t ns; /* -1: refused */
	} rows[] = {
		{ "1", 1 },
		{ "10ns", 10 },
		{ "10nsec", 10 },
		{ "3us", 3000 },
		{ "3usec", 3000 },
		{ "4ms", 4000000 },
		{ "4msec", 4000000 },
		{ "2s", 2000000000 },
		{ "2sec", 2000000000 },
		{ "1m", 60000000000 },
		{ "1min", 60000000000 },
		{ "1h", 3600000000000 },
		{ "1hour", 3600000000000 },
		{ "1d", 86400000000000 },
		{ "1day", 86400000000000 },
		{ "1hz", 1000000000 },
		{ "101hz", 9900990 },
		{ "10HZ", 100000000 },
		{ "1000000000hz", 1 },
		{ "0hz", -1 },
		{ "1000000001hz", -1 },
		{ "1week", -1 },
		{ "hz", -1 },
		{ "-1s", -1 },
		{ "9223372036854775807d", -1 },
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int r = option_set(&o, "switchrate", rows[i].value, false);
		ck_assert_msg(
		    r == (rows[i].ns < 0 ? -EINVAL : 0), "%s", rows[i].value);
		if (r == 0)
			ck_assert_int_eq(
			    option_get(&o, OPT_SWITCHRATE), rows[i].ns);
	}
}
END_TEST

START_TEST(flags)
{
	static const char *const on[] = { "quiet", "quiet=yes", "quiet=enable",
		"quiet=enabled", "quiet=true", "quiet=on", "quiet=set",
		"quiet=1", "quiet=YES" };
	static const char *const off[] = { "quiet=no", "quiet=disable",
		"quiet=disabled", "quiet=false", "quiet=off", "quiet=unset",
		"quiet=", "quiet=0" };

	for (size_t i = 0; i < ARRAY_SIZE(on); i++) {
		o.value[OPT_QUIET] = 0;
		ck_assert_int_eq(option_parse(&o, on[i], false), 0);
		ck_assert_int_eq(option_get(&o, OPT_QUIET), 1);
		ck_assert(o.set[OPT_QUIET]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(off); i++) {
		o.value[OPT_QUIET] = 1;
		ck_assert_int_eq(option_parse(&o, off[i], false), 0);
		ck_assert_int_eq(option_get(&o, OPT_QUIET), 0);
	}
	ck_assert_int_eq(option_parse(&o, "quiet=maybe", false), -EINVAL);
	/* One that is on by default goes off, not back. */
	ck_assert_int_eq(option_parse(&o, "temporal=no", false), 0);
	ck_assert_int_eq(option_get(&o, OPT_TEMPORAL), 0);
	/* Flags of the compiler take no value. */
	ck_assert_int_eq(option_parse(&o, "zdefs", false), 0);
	ck_assert_int_eq(option_get(&o, OPT_ZDEFS), 1);
	ck_assert_int_eq(option_parse(&o, "zdefs=1", false), -EINVAL);
}
END_TEST

START_TEST(integers)
{
	ck_assert_int_eq(option_parse(&o, "nspec=4", false), 0);
	ck_assert_int_eq(option_get(&o, OPT_NSPEC), 4);
	ck_assert_int_eq(option_parse(&o, "nspec=no", false), 0);
	ck_assert_int_eq(option_get(&o, OPT_NSPEC), 1);
	ck_assert(!o.set[OPT_NSPEC]);
	ck_assert_int_eq(option_parse(&o, "nspec=-1", false), -EINVAL);
	ck_assert_int_eq(option_parse(&o, "strsize=0", false), -EINVAL);
	ck_assert_int_eq(option_parse(&o, "strsize=1g", false), -EINVAL);
	ck_assert_int_eq(option_get(&o, OPT_STRSIZE), 256);
	ck_assert_int_eq(option_parse(&o, "cpu=0", false), 0);
	ck_assert_int_eq(option_get(&o, OPT_CPU), 0);
	ck_assert_int_eq(option_parse(&o, "aggsortkeypos", false), 0);
	ck_assert(o.set[OPT_AGGSORTKEYPOS]);
	ck_assert_int_eq(option_parse(&o, "iregs", false), -EINVAL);
	ck_assert_int_eq(option_parse(&o, "iregs=3x", false), -EINVAL);
	ck_assert_int_eq(option_parse(&o, "tree=15", false), 0);
	ck_assert_int_eq(option_get(&o, OPT_TREE), 15);
}
END_TEST

START_TEST(strings_and_policies)
{
	ck_assert_int_eq(option_parse(&o, "bufpolicy=ring", false), 0);
	ck_assert_int_eq(option_get(&o, OPT_BUFPOLICY), POLICY_RING);
	ck_assert_int_eq(option_parse(&o, "bufpolicy=rung", false), -EINVAL);
	ck_assert_int_eq(option_parse(&o, "bufpolicy", false), -EINVAL);
	ck_assert_int_eq(option_get(&o, OPT_BUFPOLICY), POLICY_RING);

	ck_assert_int_eq(option_parse(&o, "evaltime=main", false), 0);
	ck_assert_str_eq(o.text[OPT_EVALTIME], "main");
	ck_assert_int_eq(option_parse(&o, "evaltime=never", false), -EINVAL);
	ck_assert_str_eq(o.text[OPT_EVALTIME], "main");
	ck_assert_int_eq(option_parse(&o, "evaltime=exec", false), 0);
	ck_assert_str_eq(o.text[OPT_EVALTIME], "exec");
	ck_assert_int_eq(option_parse(&o, "cpppath", false), -EINVAL);

	/* The value is what follows the first `='; several are kept. */
	ck_assert_int_eq(option_parse(&o, "define=A=1", false), 0);
	ck_assert_int_eq(option_parse(&o, "define=B", false), 0);
	ck_assert_str_eq(o.text[OPT_DEFINE], "A=1\nB");
}
END_TEST

/* ---- every row of options.def ---- */

static const struct row {
	const char *name;
	enum option_kind kind;
	enum option_phase phase;
} defs[OPT_COUNT] = {
#define OPTION(id, name, kind, phase, def, text) \
	[OPT_##id] = { name, kind, phase },
#include "dlang/options.def"
#undef OPTION
};

/* A value that the option takes; NULL: it stands alone. */
static const char *
good(enum option_id id)
{
	switch (id) {
	case OPT_AMIN: return "Stable/Stable/Common";
	case OPT_BUFRESIZE: return "auto";
	case OPT_ENCODING: return "ascii";
	case OPT_EVALTIME: return "main";
	case OPT_FOLLOW: return "none";
	case OPT_LATE: return "static";
	case OPT_LINKTYPE: return "elf";
	case OPT_OFORMAT: return "json";
	case OPT_STACKFORMAT: return "folded";
	case OPT_FASTPATH: return "on";
	case OPT_SAMPLING: return "stops";
	case OPT_UNWINDER: return "check";
	case OPT_DEBUGINFOD: return "all";
	case OPT_STDC: return "a";
	case OPT_VERSION: return "1.0";
	default: break;
	}
	switch (defs[id].kind) {
	case OPTK_INT: return "4";
	case OPTK_SIZE: return "64k";
	case OPTK_RATE: return "10hz";
	case OPTK_SHARE: return "25%";
	case OPTK_POLICY: return "ring";
	case OPTK_STRING: return "x";
	case OPTK_FLAG:
	case OPTK_NONE: break;
	}
	return NULL;
}

/* One that it does not take; for a string, none at all. */
static const char *
bad(enum option_id id)
{
	switch (defs[id].kind) {
	case OPTK_FLAG: return "perhaps";
	case OPTK_INT: return "4x";
	case OPTK_SIZE: return "64x";
	case OPTK_RATE: return "10hertz";
	case OPTK_SHARE: return "101%";
	case OPTK_POLICY: return "heap";
	case OPTK_STRING:
	case OPTK_NONE: break;
	}
	return NULL;
}

START_TEST(every_option_keeps_the_rules_of_its_kind)
{
	for (enum option_id id = 0; id < OPT_COUNT; id++) {
		const struct row *r = &defs[id];
		const char *value = good(id);

		ck_assert_msg(
		    option_set(&o, r->name, value, false) == 0, "%s", r->name);
		ck_assert_msg(o.set[id], "%s", r->name);
		int from_text = option_set(&o, r->name, value, true);
		ck_assert_msg(
		    from_text == 0 || from_text == -EPERM, "%s", r->name);
		if (r->kind != OPTK_NONE)
			ck_assert_msg(
			    option_set(&o, r->name, bad(id), false) == -EINVAL,
			    "%s", r->name);
		/* A switch of the compiler is on or not there. */
		if (r->kind == OPTK_FLAG && r->phase == OPTP_COMPILE)
			ck_assert_msg(
			    option_set(&o, r->name, "1", false) == -EINVAL,
			    "%s", r->name);
		o.active = true;
		ck_assert_msg(option_set(&o, r->name, value, false) ==
			(r->phase == OPTP_DYNAMIC ? 0 : -EBUSY),
		    "%s", r->name);
		o.active = false;
	}
}
END_TEST

/* A test "BEGIN.NAME.d" or "BEGIN.NAME-more.d"? */
static bool
is_there(const char *begin, const char *name)
{
	char path[128];
	glob_t g;

	snprintf(path, sizeof(path), "t/d/options/%s.%s{,-*}.d", begin, name);
	int error = glob(path, GLOB_BRACE, NULL, &g);
	if (error == 0)
		globfree(&g);
	return error == 0;
}

/* An option without a test is one that nobody has seen at work. */
START_TEST(every_option_has_a_golden_test)
{
	for (enum option_id id = 0; id < OPT_COUNT; id++)
		ck_assert_msg(is_there("tst", defs[id].name) ||
			is_there("err.*", defs[id].name),
		    "no test in t/d/options for %s", defs[id].name);
}
END_TEST

START_TEST(what_may_not_be_set)
{
	ck_assert_int_eq(option_parse(&o, "nosuch", false), -ENOENT);
	ck_assert_int_eq(option_parse(&o, "Quiet", false), -ENOENT);
	ck_assert_int_eq(option_parse(&o, "=1", false), -ENOENT);
	ck_assert_int_eq(option_parse(&o, "define=A", true), -EPERM);
	ck_assert_int_eq(option_parse(&o, "ldpath=x", true), -EPERM);
	ck_assert_int_eq(option_parse(&o, "ldpath=x", false), 0);
	ck_assert_int_eq(option_parse(&o, "quiet", true), 0);
	ck_assert_int_eq(option_parse(&o, "strsize=1k", true), 0);

	o.active = true;
	ck_assert_int_eq(option_parse(&o, "strsize=2k", true), -EBUSY);
	ck_assert_int_eq(option_parse(&o, "zdefs", false), -EBUSY);
	ck_assert_int_eq(option_get(&o, OPT_STRSIZE), 1024);
	ck_assert_int_eq(option_parse(&o, "switchrate=10hz", true), 0);

	ck_assert_str_eq(option_error(-ENOENT), "Invalid option name");
	ck_assert_str_eq(
	    option_error(-EINVAL), "Invalid value for specified option");
	ck_assert_str_eq(
	    option_error(-EBUSY), "Operation illegal when tracing is active");
	ck_assert_str_eq(option_error(-EPERM),
	    "Option cannot be used from within a D program");
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("options");
	TCase *tc = tcase_create("options");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, every_option_keeps_the_rules_of_its_kind);
	tcase_add_test(tc, every_option_has_a_golden_test);
	tcase_add_test(tc, defaults);
	tcase_add_test(tc, sizes);
	tcase_add_test(tc, rates);
	tcase_add_test(tc, flags);
	tcase_add_test(tc, integers);
	tcase_add_test(tc, strings_and_policies);
	tcase_add_test(tc, what_may_not_be_set);
	suite_add_tcase(s, tc);

	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
