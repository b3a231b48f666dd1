/*
 * tracer/program/dlib: which libraries in D are compiled, and in which order.  The
 * directories are real; the compiler and the process are doubles, so the file
 * itself is included below.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/diag.h"
#include "dlang/base/str.h"
#include "dlang/cc/cc.h"
#include "symbols/addrspace.h"
#include "t/fake/fixture.h"
#include "t/unit/suite.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"
#include "tracer/ptrace/proc.h"

static struct state session;
static struct diags diags;
static struct str compiled; /* the names, in order */
static int cc_error;
static struct proc proc;
static struct space space;
static bool has_process;
static struct load a_load = { .module = "libc.so.6" },
		   *const mapped[] = { &a_load };

static int
double_compile(const struct cc_input *in, struct prog **prog)
{
	const char *name = strrchr(in->source->name, '/') + 1;

	ck_assert(in->library);
	ck_assert_int_eq(in->level, CC_SCRIPT);
	str_printf(&compiled, "%s ", name);
	*prog = (struct prog *)&compiled;
	return strcmp(name, "bad.d") == 0 ? cc_error : 0;
}

#define cc_compile(cc, in, prog, d) double_compile(in, prog)
#define super_proc(su, pid)         ((pid) == 7 && has_process ? &proc : NULL)
#define addrspace_loads(as, out)    (*(out) = mapped, ARRAY_SIZE(mapped))
#define load_matches(l, name)       (strcmp((l)->module, name) == 0)
#include "tracer/program/dlib.c"

static const struct provider profile = { .name = "profile" },
			     *const all[] = { &profile, NULL };

static void
setup(void)
{
	options_init(&session.opts);
	probes_init(&session.probes);
	diags_init(&diags);
	session.providers = all;
	session.named.pid = 7;
	proc.space = &space;
	fixture_sh("rm -rf $DIR/sys $DIR/own; mkdir $DIR/sys $DIR/own");
	ck_assert_int_eq(
	    option_parse(&session.opts,
		mem_printf("syslibdir=%s", fixture_path("sys")), false),
	    0);
}

static void
teardown(void)
{
	parts_end(&session.parts);
	probes_fini(&session.probes);
	options_fini(&session.opts);
	vec_fini(&session.compiled.progs);
	diags_fini(&diags);
	str_fini(&compiled);
}

/* A library; the lines are "KIND NAME" of what it depends on. */
static void
library(const char *path, const char *a, const char *b)
{
	FILE *f = fopen(fixture_path(path), "w");
	ck_assert_ptr_nonnull(f);
	if (a != NULL)
		fprintf(f, "#pragma D depends_on %s\n", a);
	fprintf(f, "inline int x = 1;\n");
	if (b != NULL)
		fprintf(f, "  # pragma D depends_on %s\n", b);
	fclose(f);
}

static void
expect(const char *want)
{
	ck_assert_int_eq(dlibs_load(&session, &diags), 0);
	ck_assert_str_eq(str_c(&compiled), want);
	ck_assert(!diags.any);
}

static void
expect_error(const char *want)
{
	ck_assert_int_eq(dlibs_load(&session, &diags), -EINVAL);
	ck_assert(diags.any);
	ck_assert_ptr_nonnull(strstr(diags.first.text, want));
}

static void
own_directory(void)
{
	ck_assert_int_eq(
	    option_parse(&session.opts,
		mem_printf("libdir=%s", fixture_path("own")), false),
	    0);
}

START_TEST(in_the_order_of_their_names)
{
	library("sys/b.d", NULL, NULL);
	library("sys/a.d", NULL, NULL);
	library("sys/c.d", NULL, NULL);
	library("sys/.hidden.d", NULL, NULL);
	library("sys/a.txt", NULL, NULL);
	library("sys/.d", NULL, NULL);
	library("sys/d", NULL, NULL);
	expect("a.d b.d c.d ");
	ck_assert_uint_eq(session.compiled.progs.len, 3);
	/* Once. */
	expect("a.d b.d c.d ");
}
END_TEST

START_TEST(after_those_that_they_need)
{
	library("sys/a.d", "library c.d", "library d.d");
	library("sys/b.d", "library a.d", NULL);
	library("sys/c.d", "library d.d", NULL);
	library("sys/d.d", NULL, NULL);
	expect("d.d c.d a.d b.d ");
}
END_TEST

START_TEST(those_of_two_directories)
{
	own_directory();
	library("sys/b.d", "library z.d", NULL);
	library("own/a.d", NULL, NULL);
	library("own/z.d", NULL, NULL);
	expect("z.d b.d a.d ");
}
END_TEST

START_TEST(no_directory_is_no_error)
{
	fixture_sh("rmdir $DIR/sys");
	expect("");
}
END_TEST

START_TEST(one_that_cannot_be_read_is_left_out)
{
	library("sys/a.d", NULL, NULL);
	fixture_sh("ln -s /nowhere $DIR/sys/b.d; mkdir $DIR/sys/c.d");
	expect("a.d ");
}
END_TEST

START_TEST(without_libraries)
{
	library("sys/a.d", NULL, NULL);
	ck_assert_int_eq(option_parse(&session.opts, "nolibs", false), 0);
	expect("");
}
END_TEST

/* ---- what is not there ---- */

START_TEST(a_provider_is_needed)
{
	library("sys/a.d", "provider profile", NULL);
	library("sys/b.d", "provider none", NULL);
	library("sys/c.d", NULL, "provider mine");
	bool fresh;
	probe_add(&session.probes, &profile, "mine", "", "", "x", &fresh);
	expect("a.d c.d ");
}
END_TEST

START_TEST(a_module_is_needed)
{
	library("sys/a.d", "module libc.so.6", NULL);
	library("sys/b.d", "module libm.so.6", NULL);
	has_process = true;
	expect("a.d ");
}
END_TEST

START_TEST(without_a_process_no_module_is_there)
{
	library("sys/a.d", "module libc.so.6", NULL);
	expect("");
}
END_TEST

START_TEST(what_needs_one_that_is_left_out_is_left_out)
{
	library("sys/a.d", "library b.d", NULL);
	library("sys/b.d", "provider profile", "library c.d");
	library("sys/c.d", "provider profile", "provider none");
	library("sys/d.d", "library e.d", NULL);
	library("sys/e.d", NULL, NULL);
	expect("e.d d.d ");
}
END_TEST

/* ---- errors ---- */

START_TEST(one_that_is_in_no_directory)
{
	library("sys/a.d", NULL, "library none.d");
	expect_error("library a.d depends on none.d, which is in no library");
	ck_assert_int_eq(diags.first.tag, D_PRAGMA_DEPEND);
	ck_assert_int_eq(diags.first.span.line, 2);
	ck_assert_str_eq(strrchr(diags.first.span.file, '/'), "/a.d");
	ck_assert_int_eq(diags.first.span.file_line, 2);
	ck_assert_str_eq(str_c(&compiled), "");
}
END_TEST

START_TEST(two_that_depend_on_each_other)
{
	library("sys/a.d", "library b.d", NULL);
	library("sys/b.d", "library c.d", NULL);
	library("sys/c.d", "library a.d", NULL);
	expect_error("library c.d and a.d depend on each other");
}
END_TEST

START_TEST(itself)
{
	library("sys/a.d", "library a.d", NULL);
	expect_error("library a.d and a.d depend on each other");
}
END_TEST

START_TEST(an_error_in_one_ends_it)
{
	library("sys/a.d", NULL, NULL);
	library("sys/bad.d", NULL, NULL);
	library("sys/c.d", NULL, NULL);
	cc_error = -EINVAL;
	ck_assert_int_eq(dlibs_load(&session, &diags), -EINVAL);
	ck_assert_str_eq(str_c(&compiled), "a.d bad.d ");
	ck_assert_uint_eq(session.compiled.progs.len, 1);
}
END_TEST

/* The compiler reports what is wrong in a line. */
START_TEST(lines_that_are_no_such_pragma)
{
	library("sys/a.d", "library", "strange thing");
	library("sys/b.d", NULL, NULL);
	fixture_sh("printf '#pragma D option x\\n"
		   "#pragma D option library none.d\\n#pragma\\n#define y\\n"
		   "pragma D depends_on provider none\\n"
		   "#pragma D depends_onprovider none\\n#' >>$DIR/sys/b.d");
	expect("a.d b.d ");
}
END_TEST

/* As in "library.d", with quotes and other blanks. */
START_TEST(names_may_be_quoted)
{
	library("sys/a.d", "\tlibrary \t\"b.d\"\r", NULL);
	library("sys/b.d", NULL, NULL);
	expect("b.d a.d ");
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		in_the_order_of_their_names,
		after_those_that_they_need,
		those_of_two_directories,
		no_directory_is_no_error,
		one_that_cannot_be_read_is_left_out,
		without_libraries,
		a_provider_is_needed,
		a_module_is_needed,
		without_a_process_no_module_is_there,
		what_needs_one_that_is_left_out_is_left_out,
		one_that_is_in_no_directory,
		two_that_depend_on_each_other,
		itself,
		an_error_in_one_ends_it,
		lines_that_are_no_such_pragma,
		names_may_be_quoted,
	};

	fixture_setup();
	int failed =
	    suite_run("dlib", setup, teardown, tests, ARRAY_SIZE(tests));
	fixture_teardown();
	return failed;
}
