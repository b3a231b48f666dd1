/*
 * tracer/program/world.c: what the compiler is told about probes, their
 * arguments, types and macro variables, by providers and probes that are made up
 * here.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dlang/types.h"
#include "t/unit/suite.h"
#include "tracer/base/probe.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"
#include "tracer/names/external.h"
#include "tracer/names/locals.h"
#include "tracer/program/absent.h"
#include "tracer/program/enable.h"
#include "tracer/program/typed_use.h"
#include "tracer/program/unmatched.h"

static struct state state;
static struct types *types;

static const char *absent, *unmatched; /* what these say */
static int64_t provided;               /* what enable_provide() returns */
static enum diag_tag provided_tag;     /* and reports */
static unsigned noted;                 /* typed_use_note() */

static int64_t
double_provide(const struct span *at, struct diags *d)
{
	if (provided < 0)
		diag_error(d, provided_tag, at, "no");
	return provided;
}

#define absent_provider(st, pd, to)    str_add(to, absent)
#define unmatched_why(st, pd, to)      str_add(to, unmatched)
#define enable_provide(st, pd, at, d)  double_provide(at, d)
#define typed_use_note(st, pd, a)      noted++
#define external_symbol(c, o, n, t, r) (strcmp(n, "errno") == 0 ? 5 : -ENOENT)
#define external_type(c, o, n, t, r)   (strcmp(n, "FILE") == 0 ? 6 : -ENOENT)
#define locals_find(c, pd, n, a, t, r) ((a) ? 7 : -ENOENT)
#include "tracer/program/world.c"

/* ---- providers ---- */

/* The arguments of a probe, by the name of its function. */
static bool
plain_arg(const struct probe *p, unsigned n, struct probe_arg *out)
{
	static const struct {
		const char *func;
		struct probe_arg args[3];
	} rows[] = {
		{ "two",
		    { { .type = "int" }, { .type = "char *", .source = 3 } } },
		{ "same",
		    { { .type = "int" }, { .type = "char *", .source = 3 } } },
		{ "one", { { .type = "int" } } },
		{ "other",
		    { { .type = "int" }, { .type = "long", .source = 3 } } },
		{ "moved",
		    { { .type = "int" }, { .type = "char *", .source = 2 } } },
		{ "text", { { .type = "char *", .translated = "string" } } },
		{ "translated", { { .type = "long", .translated = "int" } } },
		{ "untranslated",
		    { { .type = "long", .translated = "short" } } },
		{ "unknown",
		    { { .type = "nobody_t", .otherwise = "uintptr_t" } } },
		{ "unknown2", { { .type = "nobody_t", .otherwise = "int" } } },
		{ "none", { { .type = "nobody_t" } } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (strcmp(rows[i].func, p->func) == 0) {
			const struct probe_arg *a = &rows[i].args[n];
			if (n >= 3 || a->type == NULL)
				return false;
			*out = *a;
			return true;
		}
	return false;
}

static int typed_error;

/* From debug information. */
static int
typed(struct state *st, const struct probe *p, struct typed_args *out)
{
	static struct world_arg args[2];

	ck_assert_ptr_eq(st, &state);
	args[0].native = args[0].translated = types_lookup(types, "int");
	args[1].native = args[1].translated = types_lookup(types, "long");
	*out = (struct typed_args){ .args = args, .n = 2 };
	if (strcmp(p->func, "short") == 0)
		out->n = 1;
	if (strcmp(p->func, "bare") == 0)
		*out = (struct typed_args){ .why = "it is bare" };
	if (strcmp(p->func, "half") == 0)
		args[1].native = NULL;
	return strcmp(p->func, "broken") == 0 ? -EIO : typed_error;
}

static const struct provider plain = { .name = "plain",
	.stability = STABILITY("Evolving", "ISA"),
	.arg = plain_arg };
static const struct provider debug = { .name = "debug",
	.stability = STABILITY("Stable", "Common"),
	.per_process = true,
	.typed = typed };
static const struct provider silent = { .name = "silent" };
static const struct provider odd = { .name = "odd",
	.stability = STABILITY("Odd", "Common") };
static const struct provider *const all_of_them[] = { &plain, &debug, &silent,
	NULL };

static void
add(const struct provider *p, const char *prov, const char *func)
{
	bool fresh;

	probe_add(&state.probes, p, prov, "m", func, "go", &fresh);
	ck_assert(fresh);
}

static void
setup(void)
{
	static const char *const funcs[] = { "two", "same", "one", "other",
		"moved", "text", "translated", "untranslated", "unknown",
		"unknown2", "none" };
	static const char *const typeds[] = { "full", "fully", "short", "bare",
		"half", "broken" };

	types = types_create(256);
	state.providers = all_of_them;
	probes_init(&state.probes);
	for (size_t i = 0; i < ARRAY_SIZE(funcs); i++)
		add(&plain, "plain", funcs[i]);
	for (size_t i = 0; i < ARRAY_SIZE(typeds); i++)
		add(&debug, "debug42", typeds[i]);
	add(&silent, "silent", "quiet");
	absent = unmatched = "";
}

static void
teardown(void)
{
	probes_fini(&state.probes);
	types_destroy(types);
}

static struct probe_desc
desc(const char *func)
{
	return (struct probe_desc){
		.prov = "", .mod = "", .func = func, .name = "go"
	};
}

static const char *why;

static int
nargs(const char *func)
{
	struct probe_desc pd = desc(func);

	why = "";
	return world_ops.nargs(&state, &pd, types, &why);
}

static struct world_arg out;

static int
arg(const char *func, unsigned n)
{
	struct probe_desc pd = desc(func);

	memset(&out, 0, sizeof(out));
	return world_ops.arg(&state, &pd, n, types, &out);
}

static const char *
name_of(const struct type *t)
{
	static char ring[2][80];
	static unsigned i;

	return type_name(t, ring[i++ % 2], sizeof(ring[0]));
}

/* ---- how many arguments ---- */

START_TEST(the_arguments_of_a_probe_are_counted)
{
	ck_assert_int_eq(nargs("two"), 2);
	ck_assert_int_eq(nargs("one"), 1);
	ck_assert_int_eq(nargs("quiet"), -ENOENT);
	ck_assert_int_eq(nargs("full"), 2);
	ck_assert_uint_eq(noted, 1);
	ck_assert_int_eq(nargs("short"), 1);
	ck_assert_int_eq(nargs("broken"), -EIO);
	ck_assert_int_eq(nargs("bare"), -ENOENT);
	ck_assert_str_eq(why, "it is bare");
	ck_assert_uint_eq(noted, 2);
	ck_assert_int_eq(nargs("nobody"), -ENOENT);
	ck_assert_str_eq(why, "there is no such probe yet to tell their types");
}
END_TEST

static struct probe *
probe_of(const char *func)
{
	vec_foreach(p, &state.probes.list)
		if (strcmp((*p)->func, func) == 0)
			return *p;
	ck_abort_msg("no probe %s", func);
	return NULL;
}

/* There are these two probes, and a clause of both. */
static int
nargs_of_both(const char *a, const char *b)
{
	struct probe **at = state.probes.list.at;
	struct probe *was[2] = { at[0], at[1] };
	size_t n = state.probes.list.len;

	struct probe *both[2] = { probe_of(a), probe_of(b) };
	at[0] = both[0];
	at[1] = both[1];
	state.probes.list.len = 2;
	int result = nargs("*");
	ck_assert_int_eq(arg("*", 0), result < 0 ? result : 0);
	state.probes.list.len = n;
	at[0] = was[0];
	at[1] = was[1];
	return result;
}

static void
differ(const char *a, const char *b, const char *want)
{
	ck_assert_int_eq(nargs_of_both(a, b), -ENOTUNIQ);
	ck_assert_str_eq(why, want);
}

/* One clause is compiled once, for all its probes. */
START_TEST(probes_that_are_alike_count_as_one)
{
	ck_assert_int_eq(nargs_of_both("two", "same"), 2);
	ck_assert_int_eq(nargs_of_both("full", "fully"), 2);
	ck_assert_int_eq(arg("full", 1), 0);
	ck_assert_str_eq(name_of(out.native), "long");
}
END_TEST

START_TEST(how_probes_differ_is_told)
{
	differ("two", "other",
	    "two:go has char * as args[1], other:go has long as args[1]: "
	    "write a clause for each, or arg1 here");
	differ("two", "one",
	    "two:go has char * as args[1], one:go has no args[1]: "
	    "write a clause for each, or arg1 here");
	differ("one", "quiet",
	    "one:go has int as args[0], quiet:go has no args[ ]: "
	    "write a clause for each, or arg0 here");
	/* By a number that the text does not show. */
	differ("two", "moved",
	    "m:two:go and m:moved:go do not have the same arguments: "
	    "write a clause for each, or arg2 here");
	differ("one", "translated",
	    "m:one:go and m:translated:go do not have the same arguments: "
	    "write a clause for each, or arg1 here");
	differ("one", "text",
	    "one:go has int as args[0], text:go has string as args[0]: "
	    "write a clause for each, or arg0 here");
	differ("unknown", "unknown2",
	    "m:unknown:go and m:unknown2:go do not have the same arguments: "
	    "write a clause for each, or arg1 here");
	differ("full", "short",
	    "full:go has long as args[1], short:go has no args[1]: "
	    "write a clause for each, or arg1 here");
	differ("short", "half",
	    "short:go has no args[1], half:go has of no known type as "
	    "args[1]: write a clause for each, or arg1 here");
	differ("one", "full",
	    "one:go has no args[1], full:go has long as args[1]: "
	    "write a clause for each, or arg1 here");
	differ("full", "broken",
	    "full:go has int as args[0], broken:go has no args[ ]: "
	    "write a clause for each, or arg0 here");
}
END_TEST

/* ---- which arguments ---- */

START_TEST(an_argument_has_its_type)
{
	ck_assert_int_eq(arg("two", 1), 0);
	ck_assert_uint_eq(out.source, 3);
	ck_assert_str_eq(name_of(out.native), "char *");
	ck_assert_ptr_eq(out.native, out.translated);
	ck_assert_int_eq(arg("two", 2), -ENOENT);
	ck_assert_int_eq(arg("quiet", 0), -ENOENT);
	ck_assert_int_eq(arg("nobody", 0), -ENOENT);
	ck_assert_int_eq(arg("full", 0), 0);
	ck_assert_str_eq(name_of(out.native), "int");
	ck_assert_int_eq(arg("full", 2), -ENOENT);
	ck_assert_int_eq(arg("half", 1), -ENOENT);
	ck_assert_int_eq(arg("broken", 0), -ENOENT);
}
END_TEST

START_TEST(a_translated_argument_has_two)
{
	ck_assert_int_eq(arg("translated", 0), 0);
	ck_assert_str_eq(name_of(out.native), "long");
	ck_assert_str_eq(name_of(out.translated), "int");
	/* An address of characters is a string as it is. */
	ck_assert_int_eq(arg("text", 0), 0);
	ck_assert_str_eq(name_of(out.native), "string");
	ck_assert_ptr_eq(out.native, out.translated);
}
END_TEST

START_TEST(a_type_that_is_not_known_has_a_substitute)
{
	ck_assert_int_eq(arg("unknown", 0), 0);
	ck_assert_str_eq(name_of(out.native), "uintptr_t");
	ck_assert_int_eq(arg("none", 0), -ENOENT);
}
END_TEST

/* ---- providers ---- */

static bool
is_provider(const char *field)
{
	return world_ops.provider(&state, field);
}

START_TEST(what_a_provider_is_called)
{
	ck_assert(is_provider("plain"));
	ck_assert(is_provider("pl*n"));
	ck_assert(is_provider("debug"));
	ck_assert(is_provider("debug42"));   /* a probe has it */
	ck_assert(is_provider("debug1234")); /* of a process that may be */
	ck_assert(is_provider("debug*"));
	ck_assert(is_provider("*42"));
	ck_assert(!is_provider("debug12x"));
	ck_assert(!is_provider("plain12")); /* it is no process's */
	ck_assert(!is_provider("plai"));
	ck_assert(!is_provider("xebug1"));
	ck_assert(!is_provider(""));
	ck_assert(is_provider("fbt")); /* known, to say that it is not here */
}
END_TEST

static struct attr parts[ATTR_PARTS];

static bool
stability(const char *prov, uint32_t id)
{
	struct probe_desc pd = desc("");

	pd.prov = prov;
	pd.id = id;
	memset(parts, 0, sizeof(parts));
	return world_ops.stability(&state, &pd, parts);
}

START_TEST(the_stability_of_a_probe_is_its_providers)
{
	struct attr evolving, stable, hidden;

	attr_words("Evolving", "Evolving", "ISA", &evolving);
	attr_words("Stable", "Stable", "Common", &stable);
	attr_words("Private", "Private", "Unknown", &hidden);
	ck_assert(stability("plain", 0));
	ck_assert_mem_eq(&parts[0], &evolving, sizeof(evolving));
	ck_assert_mem_eq(&parts[1], &hidden, sizeof(hidden));
	ck_assert_mem_eq(&parts[ATTR_PARTS - 1], &evolving, sizeof(evolving));
	ck_assert(stability("debug42", 0));
	ck_assert_mem_eq(&parts[0], &stable, sizeof(stable));
	/* By number: the first probe is plain's. */
	ck_assert(stability("", 1));
	ck_assert_mem_eq(&parts[0], &evolving, sizeof(evolving));
	ck_assert(!stability("", 999));
	ck_assert(!stability("nobody", 0));
	ck_assert(!stability("", 0));
	/* Words that are none. */
	add(&odd, "odd", "one");
	ck_assert(!stability("odd", 0));
}
END_TEST

/* ---- what the user is told ---- */

START_TEST(why_nothing_matches)
{
	struct probe_desc pd = desc("nobody");
	struct str to = { 0 };

	unmatched = "it is misspelt";
	world_ops.unmatched(&state, &pd, &to);
	ck_assert_str_eq(str_c(&to), "it is misspelt");
	str_clear(&to);
	absent = "no such provider";
	world_ops.unmatched(&state, &pd, &to);
	ck_assert_str_eq(str_c(&to), "no such provider");
	str_fini(&to);
}
END_TEST

static const char *
hint_of(enum diag_tag tag)
{
	struct probe_desc pd = desc("nobody");
	static const struct source source = { "-n", "nobody:::", false };
	const struct span at = { .source = &source,
		.line = 1,
		.col = 1,
		.end_line = 1,
		.end_col = 7 };
	static char text[80];
	struct diags d;

	diags_init(&d);
	provided = -EINVAL;
	provided_tag = tag;
	ck_assert_int_eq(world_ops.probes(&state, &pd, &at, &d), -EINVAL);
	snprintf(
	    text, sizeof(text), "%s", d.first.hint != NULL ? d.first.hint : "");
	diags_fini(&d);
	return text;
}

START_TEST(a_function_that_does_not_exist)
{
	struct probe_desc pd = desc("two");

	unmatched = "did you mean main?";
	ck_assert_str_eq(hint_of(D_PROC_FUNC), "did you mean main?");
	ck_assert_str_eq(hint_of(D_PDESC_ZERO), "did you mean main?");
	ck_assert_str_eq(hint_of(D_SYNTAX), "");
	unmatched = "";
	ck_assert_str_eq(hint_of(D_PROC_FUNC), "");
	provided = 3;
	ck_assert_int_eq(world_ops.probes(&state, &pd, NULL, NULL), 3);
}
END_TEST

/* ---- the rest is asked elsewhere ---- */

START_TEST(names_are_looked_up)
{
	struct probe_desc pd = desc("two");

	ck_assert_int_eq(world_ops.symbol(&state, "", "errno", types, NULL), 5);
	ck_assert_int_eq(
	    world_ops.symbol(&state, "", "nothing", types, NULL), -ENOENT);
	ck_assert_int_eq(world_ops.type(&state, "", "FILE", types, NULL), 6);
	ck_assert_int_eq(
	    world_ops.local(&state, &pd, "x", true, types, NULL), 7);
	ck_assert_int_eq(
	    world_ops.local(&state, &pd, "x", false, types, NULL), -ENOENT);
}
END_TEST

static int64_t
macro(const char *name)
{
	int64_t value = -77;

	ck_assert_int_eq(world_ops.macro(&state, name, &value), 0);
	return value;
}

START_TEST(macro_variables)
{
	int64_t value;

	state.named.pid = 4242;
	ck_assert_int_eq(macro("target"), 4242);
	ck_assert_int_eq(macro("pid"), getpid());
	ck_assert_int_eq(macro("ppid"), getppid());
	ck_assert_int_eq(macro("pgid"), getpgid(0));
	ck_assert_int_eq(macro("sid"), getsid(0));
	ck_assert_int_eq(macro("uid"), getuid());
	ck_assert_int_eq(macro("euid"), geteuid());
	ck_assert_int_eq(macro("gid"), getgid());
	ck_assert_int_eq(macro("egid"), getegid());
	ck_assert_int_eq(world_ops.macro(&state, "egi", &value), -ENOENT);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		the_arguments_of_a_probe_are_counted,
		probes_that_are_alike_count_as_one,
		how_probes_differ_is_told,
		an_argument_has_its_type,
		a_translated_argument_has_two,
		a_type_that_is_not_known_has_a_substitute,
		what_a_provider_is_called,
		the_stability_of_a_probe_is_its_providers,
		why_nothing_matches,
		a_function_that_does_not_exist,
		names_are_looked_up,
		macro_variables,
	};

	return suite_run("world", setup, teardown, tests, ARRAY_SIZE(tests));
}
