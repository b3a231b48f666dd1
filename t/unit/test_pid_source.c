/*
 * tracer/prov/pid/ pid_source: which addresses a description of a source line or
 * of an inlined function means, how their probes are called, and what is said
 * when there are none.  The debug information and the functions are doubles.
 */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "dlang/base/diag.h"
#include "dlang/base/str.h"
#include "symbols/addrspace.h"
#include "symbols/demangle.h"
#include "symbols/dwarf_source.h"
#include "t/unit/suite.h"
#include "tracer/base/probe.h"
#include "tracer/base/progress.h"
#include "tracer/base/state.h"
#include "tracer/prov/pid/pid_impl.h"

#define BIAS UINT64_C(0x400000)

static struct state session;
static struct load its_load = { .bias = BIAS, .module = "prog" };
static struct probe_desc desc;
static struct pid_request request;
static struct diags diags;
static struct str added; /* one line for each place */

static bool has_debug;
static char asked_base[16]; /* of dwarf_rows(); "-": NULL */
static struct row {
	const char *path;
	int line;
	uint64_t addr;
} rows[8];
static size_t n_rows;
static struct copy {
	const char *name, *linkage;
	uint64_t addr;
} copies[8];
static size_t n_copies;
static int walk_error;
static unsigned walks, shown;

static bool
double_rows(const char *base, dwarf_file_fn meant, dwarf_row_fn each, void *ctx)
{
	snprintf(
	    asked_base, sizeof(asked_base), "%s", base != NULL ? base : "-");
	for (size_t i = 0; i < n_rows; i++)
		if (meant(ctx, rows[i].path))
			each(ctx, rows[i].path, rows[i].line, rows[i].addr);
	return has_debug;
}

static bool
double_inlines(dwarf_inline_fn each, void *ctx)
{
	for (size_t i = 0; i < n_copies; i++)
		each(ctx, copies[i].name, copies[i].linkage, copies[i].addr);
	return has_debug;
}

/* Functions of 32 bytes from 0x1000 to 0x1060; none behind. */
static int
double_around(struct pid_request *r, uint64_t addr, uint64_t *start)
{
	if (addr >= 0x1060)
		return -ENOENT;
	*start = addr & ~UINT64_C(31);
	r->size = 32;
	return 0;
}

/* Each instruction is 4 bytes long. */
static int
double_walk(struct pid_request *r)
{
	ck_assert(r->offsets && !r->ret && r->offset == UINT64_MAX);
	ck_assert_uint_eq(r->insns.len, 0);
	walks++;
	for (int i = 0; walk_error == 0 && i < 32; i += 4)
		*vec_push(&r->insns) = (struct pid_site){ .offset = i };
	return walk_error;
}

static void
double_place(const struct pid_request *r, enum pid_kind kind, const char *name,
    const struct pid_site *site)
{
	ck_assert_int_eq(site->offset, 0);
	ck_assert_int_eq(kind, r->source.kind);
	str_printf(
	    &added, "%s:%s %lx", r->sym->name, name, (long)(r->start - BIAS));
	for (unsigned i = 0; r->also != NULL && r->also[i] != NULL; i++)
		str_printf(&added, " %s", r->also[i]);
	str_addc(&added, '\n');
}

/* A linker's name is _bare_full. */
static bool
double_demangle(const char *name, bool full, char *out, size_t size)
{
	const char *bar = strchr(name + 1, '_');

	if (name[0] != '_' || bar == NULL)
		return false;
	if (full)
		snprintf(out, size, "%s", bar + 1);
	else
		snprintf(out, size, "%.*s", (int)(bar - name - 1), name + 1);
	return true;
}

#define dwarf_rows(o, base, meant, each, ctx) \
	double_rows(base, meant, each, ctx)
#define dwarf_inlines(o, each, ctx)           double_inlines(each, ctx)
#define object_is_text(o, addr)               ((addr) >= 0x1000 && (addr) < 0x2000)
#define pid_around(r, addr, start)            double_around(r, addr, start)
#define pid_walk(r)                           double_walk(r)
#define pid_add_place(r, kind, name, site, n) double_place(r, kind, name, site)
#define demangle_as(s, how, out, size) \
	double_demangle(s, how == DEMANGLE_FULL, out, size)
#define progress(st, fmt, module)   (shown += strcmp(module, "prog") == 0)
#define pid_unnamed_means(pp, func) (!(pp)->aside)
#include "tracer/prov/pid/pid_source.c"

static void
setup(void)
{
	options_init(&session.opts);
	diags_init(&diags);
	desc = (struct probe_desc){
		.prov = "pid1", .mod = "", .func = "", .name = ""
	};
	request = (struct pid_request){ .st = &session,
		.pd = &desc,
		.d = &diags,
		.load = &its_load,
		.loads = 1 };
	has_debug = true;
}

static void
teardown(void)
{
	vec_fini(&request.insns);
	options_fini(&session.opts);
	diags_fini(&diags);
	str_fini(&added);
}

/* The places of the description, or the error's text, or "nothing". */
static const char *
publish(const char *func, const char *name)
{
	desc.func = func;
	desc.name = name;
	request.source = (struct pid_source){ 0 };
	request.offset = 4;
	request.ret = true;
	request.offsets = false;
	shown = 0;
	str_clear(&added);
	diags_fini(&diags);
	diags_init(&diags);
	pid_source_parse(&request);
	pid_source_publish(&request);
	ck_assert_ptr_null(request.also);
	ck_assert_uint_eq(shown, 1);
	int error = pid_source_check(&request);
	ck_assert_int_eq(error, diags.any ? -EINVAL : 0);
	if (diags.any) {
		ck_assert_str_eq(str_c(&added), "");
		return diags.first.text;
	}
	return added.len > 0 ? str_c(&added) : "nothing";
}

static void
row(const char *path, int line, uint64_t addr)
{
	rows[n_rows++] = (struct row){ path, line, addr };
}

static void
copy(const char *name, const char *linkage, uint64_t addr)
{
	copies[n_copies++] = (struct copy){ name, linkage, addr };
}

static void
source(void)
{
	row("/src/a.c", 10, 0x1024);
	row("/src/a.c", 12, 0x1008);
	row("/src/a.c", 12, 0x1004);
	row("/src/b.c", 12, 0x100c);
	row("/lib/a.c", 20, 0x1040);
}

START_TEST(a_line_is_at_each_address_of_it)
{
	source();
	ck_assert_str_eq(
	    publish("a.c@12", "line"), "a.c@12:line 1004\na.c@12:line 1008\n");
	ck_assert_str_eq(asked_base, "a.c");
	ck_assert_uint_eq(walks, 1);
	ck_assert_str_eq(publish("a.c@10", ""), "a.c@10:line 1024\n");
	ck_assert_str_eq(publish("a.c@20", "l*"), "a.c@20:line 1040\n");
}
END_TEST

START_TEST(a_file_is_called_by_the_end_of_its_path)
{
	source();
	ck_assert_str_eq(
	    publish("lib/a.c@20", "line"), "lib/a.c@20:line 1040\n");
	ck_assert_str_eq(asked_base, "a.c");
	ck_assert_str_eq(
	    publish("/lib/a.c@20", "line"), "/lib/a.c@20:line 1040\n");
	ck_assert_str_eq(publish("src/a.c@20", "line"),
	    "no code begins at line 20 of 'src/a.c': the nearest is 12");
	ck_assert_str_eq(publish("/src/x/../a.c@20", "line"),
	    "no code of 'the process' was made of a file '/src/x/../a.c'");
}
END_TEST

START_TEST(several_lines_and_files_may_be_meant)
{
	source();
	ck_assert_str_eq(publish("a.c@10-12", "line"),
	    "a.c@12:line 1004\na.c@12:line 1008\na.c@10:line 1024\n");
	ck_assert_uint_eq(walks, 2);
	ck_assert_str_eq(publish("a.c@1*", "line"),
	    "a.c@12:line 1004\na.c@12:line 1008\na.c@10:line 1024\n");
	ck_assert_str_eq(publish("[ab].c@12", "line"),
	    "a.c@12:line 1004\na.c@12:line 1008\nb.c@12:line 100c\n");
	ck_assert_str_eq(asked_base, "-");
	ck_assert_str_eq(publish("*/a.c@10", "line"), "src/a.c@10:line 1024\n");
	ck_assert_str_eq(asked_base, "a.c");
	ck_assert_str_eq(publish("a.c@11-12", "line"),
	    "a.c@12:line 1004\na.c@12:line 1008\n");
	ck_assert_str_eq(publish("a.c@12-12", "line"),
	    "a.c@12:line 1004\na.c@12:line 1008\n");
}
END_TEST

START_TEST(the_nearest_lines_are_told)
{
	source();
	row("/src/a.c", 1, 0x1050);
	ck_assert_str_eq(publish("a.c@11", "line"),
	    "no code begins at line 11 of 'a.c': the nearest are 10 and 12");
	ck_assert_str_eq(publish("a.c@13-15", "line"),
	    "no code begins at line 13-15 of 'a.c': the nearest are 12 and 20");
	ck_assert_str_eq(publish("a.c@30", "line"),
	    "no code begins at line 30 of 'a.c': the nearest is 20");
	ck_assert_str_eq(publish("b.c@3", "line"),
	    "no code begins at line 3 of 'b.c': the nearest is 12");
	ck_assert_str_eq(
	    publish("a.c@3?", "line"), "no code begins at line 3? of 'a.c'");
}
END_TEST

START_TEST(what_is_missing_is_told)
{
	source();
	ck_assert_str_eq(publish("c.c@3", "line"),
	    "no code of 'the process' was made of a file 'c.c'");
	desc.mod = "prog";
	ck_assert_str_eq(publish("c.c@3", "line"),
	    "no code of 'prog' was made of a file 'c.c'");
	has_debug = false;
	n_rows = 0;
	ck_assert_str_eq(publish("a.c@12", "line"),
	    "there is no debug information of 'prog'");
	ck_assert_int_eq(diags.first.tag, D_PROC_LINE);
	ck_assert_str_eq(publish("f", "inline-entry"),
	    "there is no debug information of 'prog'");
	ck_assert_int_eq(diags.first.tag, D_PROC_FUNC);
	/* No object has been looked at yet; or the user takes what comes. */
	request.loads = 0;
	ck_assert_str_eq(publish("a.c@12", "line"), "nothing");
	request.loads = 1;
	ck_assert_int_eq(option_set(&session.opts, "zdefs", NULL, false), 0);
	ck_assert_str_eq(publish("a.c@12", "line"), "nothing");
	ck_assert_str_eq(publish("a.c@", "line"),
	    "'a.c@' is not a line of the source: FILE@LINE or "
	    "FILE@FIRST-LAST");
	request.d = NULL;
	ck_assert_str_eq(publish("a.c@", "line"), "nothing");
}
END_TEST

START_TEST(a_line_is_a_number_from_1)
{
	static const char *const texts[] = { "a.c@", "@12", "a.c@0", "a.c@-1",
		"a.c@12-", "a.c@12-11", "a.c@12x", "a.c@12-13x", "a.c@x",
		"a.c@2147483648", "a.c@99999999999999999999" };
	char want[120];

	source();
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		snprintf(want, sizeof(want),
		    "'%s' is not a line of the source: FILE@LINE or "
		    "FILE@FIRST-LAST",
		    texts[i]);
		ck_assert_str_eq(publish(texts[i], "line"), want);
		ck_assert_int_eq(diags.first.tag, D_PROC_LINE);
	}
	row("/src/a.c", 1, 0x1000);
	ck_assert_str_eq(publish("a.c@1", "line"), "a.c@1:line 1000\n");
	row("/src/a.c", 2147483647, 0x1030);
	ck_assert_str_eq(
	    publish("a.c@2147483647", "line"), "a.c@2147483647:line 1030\n");
}
END_TEST

START_TEST(a_probe_has_one_name)
{
	source();
	ck_assert_str_eq(publish("a.c@12", "entry"),
	    "entry is not a probe of a line of the source: line");
	ck_assert_int_eq(diags.first.tag, D_PROC_NAME);
	copy("f", NULL, 0x1004);
	ck_assert_str_eq(publish("f", "inline-return"),
	    "inline-return is not a probe of an inlined function: "
	    "inline-entry");
	ck_assert_int_eq(diags.first.tag, D_PROC_NAME);
}
END_TEST

START_TEST(only_instructions_have_probes)
{
	row("a.c", 1, 0x1002); /* in one */
	row("a.c", 2, 0x0);    /* the linker has dropped it */
	row("a.c", 3, 0x1070); /* in no function */
	row("a.c", 4, 0x105c); /* the last one */
	row("a.c", 5, 0x105e); /* in it */
	row("a.c", 6, 0x1020);
	ck_assert_str_eq(
	    publish("a.c@1-9", "line"), "a.c@6:line 1020\na.c@4:line 105c\n");
	ck_assert_uint_eq(request.source.found, 2);
	walk_error = -EIO;
	ck_assert_ptr_nonnull(
	    strstr(publish("a.c@1-9", "line"), "no code begins at line"));
}
END_TEST

START_TEST(an_inlined_function_is_at_each_copy)
{
	copy("f", NULL, 0x1044);
	copy("g", NULL, 0x1008);
	copy("f", NULL, 0x1004);
	ck_assert_str_eq(publish("f", "inline-entry"),
	    "f:inline-entry 1004\nf:inline-entry 1044\n");
	ck_assert_str_eq(publish("", "inline*"),
	    "f:inline-entry 1004\ng:inline-entry 1008\n"
	    "f:inline-entry 1044\n");
	ck_assert_str_eq(publish("h", "inline-entry"),
	    "no function 'h' is inlined in 'the process'");
	ck_assert_int_eq(diags.first.tag, D_PROC_FUNC);
	ck_assert_str_eq(publish("h*", "inline-entry"), "nothing");
	copy("h", NULL, 0x1004);
	ck_assert_str_eq(publish("[fh]", "inline-entry"),
	    "f:inline-entry 1004\nh:inline-entry 1004\n"
	    "f:inline-entry 1044\n");
}
END_TEST

START_TEST(a_description_has_no_arguments_of_templates)
{
	copy("add<int>", NULL, 0x1004);
	copy("operator<<int>", NULL, 0x1008);
	ck_assert_str_eq(
	    publish("add", "inline-entry"), "add:inline-entry 1004\n");
	ck_assert_str_eq(publish("operator<<int>", "inline-entry"),
	    "operator<<int>:inline-entry 1008\n");
}
END_TEST

START_TEST(an_inlined_function_has_several_names)
{
	static const char *const names[] = { "f", "_N::f_N::f(int)", "N::f",
		"N::f(int)" };

	copy("f", "_N::f_N::f(int)", 0x1004);
	copy("f", "_N::f_N::f(int)", 0x1008);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		ck_assert_str_eq(publish(names[i], "inline-entry"),
		    "N::f:inline-entry 1004 _N::f_N::f(int) f N::f N::f(int)\n"
		    "N::f:inline-entry 1008 _N::f_N::f(int) f N::f "
		    "N::f(int)\n");
	ck_assert_str_eq(publish("N", "inline-entry"),
	    "no function 'N' is inlined in 'the process'");
	ck_assert_int_eq(option_set(&session.opts, "demangle", "no", false), 0);
	ck_assert_str_eq(publish("f", "inline-entry"),
	    "_N::f_N::f(int):inline-entry 1004 _N::f_N::f(int) f N::f "
	    "N::f(int)\n"
	    "_N::f_N::f(int):inline-entry 1008 _N::f_N::f(int) f N::f "
	    "N::f(int)\n");
	ck_assert_int_eq(
	    option_set(&session.opts, "demangle", "full", false), 0);
	n_copies = 1;
	ck_assert_str_eq(publish("f", "inline-entry"),
	    "N::f(int):inline-entry 1004 _N::f_N::f(int) f N::f N::f(int)\n");
}
END_TEST

START_TEST(functions_with_one_bare_name_are_shown_in_full)
{
	copy("f", "_f_f(int)", 0x1004);
	copy("f", "_f_f(char)", 0x1008);
	copy("g", "_g_g(char)", 0x100c);
	copy("c", "c", 0x1010); /* no name of a compiler's making */
	ck_assert_str_eq(publish("*", "inline-entry"),
	    "f(int):inline-entry 1004 _f_f(int) f f f(int)\n"
	    "f(char):inline-entry 1008 _f_f(char) f f f(char)\n"
	    "g:inline-entry 100c _g_g(char) g g g(char)\n"
	    "c:inline-entry 1010 c c\n");
}
END_TEST

START_TEST(a_description_matches_the_probe_of_a_line)
{
	struct probe p = { .func = "a.c@12" };

	ck_assert(pid_line_matches(&p, "a.c@12"));
	ck_assert(pid_line_matches(&p, "a.c@10-12"));
	ck_assert(pid_line_matches(&p, "a.c@12-13"));
	ck_assert(pid_line_matches(&p, "*.c@1?"));
	ck_assert(!pid_line_matches(&p, "a.c@13"));
	ck_assert(!pid_line_matches(&p, "a.c@10-11"));
	ck_assert(!pid_line_matches(&p, "a.c@2?"));
	ck_assert(!pid_line_matches(&p, "b.c@12"));
	ck_assert(!pid_line_matches(&p, "a.c"));
	p.func = "main";
	ck_assert(!pid_line_matches(&p, "a.c@12"));
}
END_TEST

START_TEST(a_probe_means_one_scope_of_variables)
{
	static const char *const also[] = { "_f_f", NULL };
	struct pid_probe pp = { .kind = PID_ENTRY };
	struct probe p = { .func = "a.c@12", .data = &pp };
	struct dwarf_sense s = pid_sense(&p);

	ck_assert(s.entry && s.line == 0 && s.inlined == NULL);
	pp.kind = PID_LINE;
	s = pid_sense(&p);
	ck_assert(!s.entry && s.line == 12 && s.inlined == NULL);
	pp.kind = PID_INLINE;
	p.func = "f";
	s = pid_sense(&p);
	ck_assert(!s.entry && s.line == 0);
	ck_assert_str_eq(s.inlined, "f");
	p.also = also;
	ck_assert_str_eq(pid_sense(&p).inlined, "_f_f");
	pp.kind = PID_RETURN;
	s = pid_sense(&p);
	ck_assert(!s.entry && s.line == 0 && s.inlined == NULL);
}
END_TEST

START_TEST(a_probe_is_meant_by_a_description_of_its_kind)
{
	struct pid_probe pp = { .kind = PID_LINE };
	struct probe p = { .func = "src/a.c@12", .data = &pp };

	desc.func = "s*/a.c@12";
	ck_assert(pid_source_means(&p, &desc));
	desc.func = "*@12";
	ck_assert(!pid_source_means(&p, &desc));
	desc.func = "s*/a.c";
	ck_assert(!pid_source_means(&p, &desc));
	pp.kind = PID_INLINE;
	desc.name = "inline*";
	ck_assert(pid_source_means(&p, &desc));
	desc.name = "*";
	ck_assert(!pid_source_means(&p, &desc));
	pp.kind = PID_ENTRY;
	ck_assert(pid_source_means(&p, &desc));
	pp.aside = true;
	ck_assert(!pid_source_means(&p, &desc));
}
END_TEST

static void
parses(const char *func, const char *name, enum pid_kind kind, bool globs)
{
	struct pid_request r = { .pd = &desc };

	desc.func = func;
	desc.name = name;
	pid_source_parse(&r);
	ck_assert_int_eq(r.source.kind, kind);
	ck_assert_int_eq(r.globs, globs);
}

START_TEST(the_description_tells_its_kind)
{
	parses("a.c@12", "line", PID_LINE, false);
	parses("*@12", "", PID_LINE, true);
	parses("f", "inline-entry", PID_INLINE, false);
	parses("", "inline", PID_INLINE, true);
	parses("", "*", PID_ENTRY, true);
	parses("f", "entry", PID_ENTRY, false);
	parses("f", "inlin*", PID_ENTRY, false);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		a_line_is_at_each_address_of_it,
		a_file_is_called_by_the_end_of_its_path,
		several_lines_and_files_may_be_meant,
		the_nearest_lines_are_told,
		what_is_missing_is_told,
		a_line_is_a_number_from_1,
		a_probe_has_one_name,
		only_instructions_have_probes,
		an_inlined_function_is_at_each_copy,
		a_description_has_no_arguments_of_templates,
		an_inlined_function_has_several_names,
		functions_with_one_bare_name_are_shown_in_full,
		a_description_matches_the_probe_of_a_line,
		a_probe_means_one_scope_of_variables,
		a_probe_is_meant_by_a_description_of_its_kind,
		the_description_tells_its_kind,
	};

	return suite_run(
	    "pid_source", setup, teardown, tests, ARRAY_SIZE(tests));
}
