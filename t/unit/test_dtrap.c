/*
 * tracer/dtrap: what the command line means, and with which status and message it
 * ends, as far as nobody is traced.  The file is read in below, and each command
 * line is one call of its main() in a process of its own.
 */
int dtrap_main(int argc, char **argv);
#define main dtrap_main
#include "tracer/dtrap.c"
#undef main

#include <check.h>

#define CALLS_MAIN dtrap_main
#include "t/unit/calls.h"
#include "t/unit/suite.h"

static char dir[] = "/tmp/test_dtrap.XXXXXX";

#define dtrap(...) call((char *const[]){ (char *)"x/dtrap", __VA_ARGS__, NULL })

static const char *
path(const char *name)
{
	static char paths[2][64];
	static unsigned n;

	n = !n;
	snprintf(paths[n], sizeof(paths[n]), "%s/%s", dir, name);
	return paths[n];
}

static const char *
script(const char *name, const char *text)
{
	const char *at = path(name);
	FILE *f = fopen(at, "we");

	fputs(text, f);
	fclose(f);
	return at;
}

static void
setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	unsetenv("_DTRACE_TESTING");
}

static void
teardown(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", dir);
	ck_assert_int_eq(system(command), 0);
}

/* ---- what it says of itself ---- */

START_TEST(without_a_word_it_shows_its_usage)
{
	call((char *const[]){ W("x/dtrap"), NULL });
	ends(2, "Usage: dtrap [option ...]");
	ck_assert_ptr_nonnull(strstr(err, "-n"));
	ck_assert_str_eq(out, "");
}
END_TEST

START_TEST(what_it_is_and_what_it_does)
{
	dtrap(W("--help"));
	ck_assert_int_eq(status, 0);
	ck_assert_ptr_eq(strstr(out, "Usage: dtrap "), out);
	ck_assert_str_eq(err, "");
	dtrap(W("--version"));
	is_quiet("dtrap " DTRAP_VERSION DTRAP_WITHOUT "\n");
	dtrap(W("-V"));
	is_quiet("dtrap: D 2.0\n");
	dtrap(W("-Vv"));
	is_quiet(
	    "dtrap: D 2.0\nThis is dtrap " DTRAP_VERSION DTRAP_WITHOUT "\n");
}
END_TEST

/* ---- bad usage ---- */

START_TEST(an_unknown_option_is_bad_usage)
{
	dtrap(W("-y"));
	ends(2, "dtrap: unknown option -y");
	ends(2, "--help tells more");
	dtrap(W("--verison=2"));
	ends(2, "dtrap: unknown option --verison; ");
	dtrap(W("--help=2"));
	ends(2, "dtrap: --help takes no argument\n");
	dtrap(W("-n"), W("BEGIN"), W("-c"));
	ends(2, "dtrap: option -c needs an argument\n");
	dtrap(W("-35"));
	ends(2, "dtrap: unknown option -35; did you mean -32?\n");
	dtrap(W("-644"));
	ends(2, "did you mean -64?\n");
	dtrap(W("-6"), W("2"));
	ends(2, "did you mean -64?\n");
}
END_TEST

START_TEST(one_thing_at_a_time)
{
	static const char *const pairs[][2] = { { "-l", "-V" }, { "-l", "-h" },
		{ "-h", "-G" }, { "-V", "-G" } };

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		dtrap(W(pairs[i][0]), W(pairs[i][1]));
		ends(2, "dtrap: only one of the [-GhlV] options");
	}
}
END_TEST

START_TEST(what_needs_a_kernel_is_refused)
{
	dtrap(W("-a"));
	ends(1, "dtrap: -a: anonymous tracing needs a kernel");
	ck_assert_ptr_null(strstr(err, ";"));
	dtrap(W("-A"));
	ends(1, "dtrap: -A: anonymous tracing");
	dtrap(W("-B"));
	ends(1, "dtrap: -B: this option is not available");
	dtrap(W("-x"), W("grabanon"), W("-n"), W("BEGIN"));
	ends(1, "dtrap: grabanon: anonymous tracing");
}
END_TEST

START_TEST(an_option_of_the_command_is_seen)
{
	dtrap(W("-c"), W("ls"), W("-a"));
	ends(1, "; quote the command as one argument: -c 'ls -a'\n");
	dtrap(W("-c"), W("ls"), W("-q"), W("-a"));
	ends(1, "needs a kernel");
	ck_assert_ptr_null(strstr(err, "one argument"));
	/* Those who compare messages get no hints. */
	setenv("_DTRACE_TESTING", "1", 1);
	dtrap(W("-c"), W("ls"), W("-a"));
	ck_assert_ptr_null(strstr(err, "one argument"));
}
END_TEST

START_TEST(pids_are_numbers)
{
	static const char *const bad[] = { "", "x", "1x", "0", "-1",
		"2147483648", "99999999999999999999" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		dtrap(W("-p"), W(bad[i]));
		ends(1, "dtrap: invalid pid: ");
	}
	/* The largest that there may be: nobody has it. */
	dtrap(W("-q"), W("-p"), W("2147483647"), W("-n"), W("BEGIN"));
	ck_assert_int_eq(status, 1);
	ck_assert_ptr_null(strstr(err, "invalid pid"));
}
END_TEST

START_TEST(programs_of_32_bits_are_not_traced)
{
	dtrap(W("-32"), W("-n"), W("BEGIN { exit(0); }"));
	ends(1, "dtrap: -32: only 64-bit programs can be traced");
	dtrap(W("-64"), W("-q"), W("-n"), W("BEGIN { exit(0); }"));
	is_quiet("\n");
}
END_TEST

START_TEST(nothing_to_do)
{
	dtrap(W("-q"));
	ends(1, "dtrap: no probes specified; ");
	dtrap(W("-q"), W("word"));
	ends(1, "dtrap: no probes specified; ");
	dtrap(W("-h"));
	ends(1, "dtrap: no providers specified; -s SCRIPT");
	dtrap(W("-G"));
	ends(1, "dtrap: no providers specified; -s SCRIPT");
	dtrap(W("-c"), W("true"), W("word"));
	ends(1, "dtrap: extraneous argument 'word'");
	dtrap(W("-l"), W("word"));
	ends(1, "dtrap: extraneous argument 'word'");
	/* Nothing to compile is compiled. */
	dtrap(W("-e"));
	is_quiet("");
}
END_TEST

/* ---- options ---- */

START_TEST(options_have_values)
{
	dtrap(W("-x"), W("strsize=1"), W("-n"), W("BEGIN"));
	ends(1, "dtrap: failed to set -x strsize: Invalid value");
	dtrap(W("-x"), W("strsiz=8"), W("-n"), W("BEGIN"));
	ends(1,
	    "dtrap: failed to set -x strsiz: Invalid option name; did you "
	    "mean strsize?\n");
	dtrap(W("-b"), W("x"), W("-n"), W("BEGIN"));
	ends(1, "dtrap: failed to set option bufsize to x: ");
	dtrap(W("-x"), W("strsize=4"), W("-q"), W("-n"),
	    W("BEGIN { s = \"abcdef\"; printf(\"%s\", s); exit(0); }"));
	is_quiet("abcd\n");
}
END_TEST

START_TEST(options_come_from_the_environment)
{
	setenv("DTRACE_OPT_QUIET", "1", 1);
	setenv("DTRACE_OPT_StrSize", "4", 1);
	dtrap(W("-n"),
	    W("BEGIN { s = \"abcdef\"; printf(\"%s\", s); exit(0); }"));
	is_quiet("abcd\n");
	/* The command line has the last word. */
	dtrap(W("-x"), W("strsize=5"), W("-n"),
	    W("BEGIN { s = \"abcdef\"; printf(\"%s\", s); exit(0); }"));
	is_quiet("abcde\n");
	setenv("DTRACE_OPT_NONE", "4", 1);
	dtrap(W("-n"), W("BEGIN { exit(0); }"));
	ends(1, "dtrap: failed to set -x none: ");
}
END_TEST

START_TEST(letters_are_options)
{
	dtrap(W("-DN=7"), W("-I/"), W("-L/"), W("-UM"), W("-Xa"), W("-b"),
	    W("1m"), W("-FHwZCe"), W("-n"), W("BEGIN"));
	is_quiet("");
	dtrap(W("-X"), W("b"), W("-e"), W("-n"), W("BEGIN"));
	ends(1, "failed to set option stdc to b");
	/* -S shows what was compiled. */
	dtrap(W("-S"), W("-e"), W("-n"), W("BEGIN { x = 1; }"));
	ck_assert_int_eq(status, 0);
	ck_assert_uint_gt(strlen(err), 0);
}
END_TEST

/* ---- programs ---- */

START_TEST(a_description_is_named_without_its_body)
{
	static const struct {
		const char *text, *name;
	} rows[] = {
		{ "BEGIN{ exit(0); }", "'BEGIN'" },
		{ "BEGIN/1/{ exit(0); }", "'BEGIN'" },
		{ "dtrace:::BEGIN,END /1/ { exit(0); }",
		    "'dtrace:::BEGIN,END '" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		dtrap(
		    W("-n"), W(rows[i].text), W("-n"), W("BEGIN { exit(0); }"));
		ck_assert_ptr_eq(strstr(err, "dtrap: description "), err);
		ck_assert_ptr_eq(strstr(err, rows[i].name), err + 19);
	}
}
END_TEST

START_TEST(how_long_a_name_is)
{
	ck_assert_uint_eq(spec_length("BEGIN"), 5);
	ck_assert_uint_eq(spec_length("a:b:c:d{}"), 7);
	ck_assert_uint_eq(spec_length("a:b:c:d/x/{}"), 7);
	ck_assert_uint_eq(spec_length("a:/usr/lib/b:c:d/x/{}"), 16);
	ck_assert_uint_eq(spec_length("a:/usr/lib/b:c:d{}"), 16);
	ck_assert_uint_eq(spec_length("a:/b:c:d,e:/f:g:h /x/{}"), 18);
	ck_assert_uint_eq(spec_length("a:/b"), 2);
}
END_TEST

/* Else it looks as if nothing happened. */
START_TEST(that_nobody_is_traced_is_told)
{
	dtrap(W("-q"), W("-n"),
	    W("syscall:::entry { x++; } tick-1ms { exit(0); }"));
	ck_assert_int_eq(status, 0);
	ck_assert_str_eq(err,
	    "dtrap: no process is traced: syscall probes fire only in "
	    "processes given with -p or -c\n");
	dtrap(W("-q"), W("-n"), W("tick-1ms { exit(0); }"));
	ck_assert_str_eq(err, "");
}
END_TEST

START_TEST(probes_are_counted)
{
	dtrap(W("-n"), W("BEGIN,END { exit(0); }"));
	ends(0, "dtrap: description 'BEGIN,END ' matched 2 probes\n");
	dtrap(W("-n"), W("BEGIN { exit(0); }"), W("-n"), W("END"));
	ends(0, "'BEGIN ' matched 1 probe\n");
	dtrap(W("-w"), W("-n"), W("BEGIN { exit(0); }"));
	ends(0, "dtrap: allowing destructive actions\n");
	dtrap(W("-q"), W("-w"), W("-n"), W("BEGIN { exit(0); }"));
	is_quiet("\n");
	dtrap(
	    W("-Z"), W("-n"), W("no:::such"), W("-n"), W("BEGIN { exit(0); }"));
	ends(0, "'no:::such' matched 0 probes\n");
	dtrap(W("-n"), W("no:::such"));
	ends(1, "dtrap: invalid probe specifier");
	dtrap(W("-x"), W("empty"), W("-s"), W(script("empty.d", "")));
	ends(1, "dtrap: no probes matched\n");
}
END_TEST

START_TEST(the_status_is_that_of_exit)
{
	dtrap(W("-q"), W("-n"), W("BEGIN { exit(3); }"));
	ck_assert_int_eq(status, 3);
	dtrap(W("-qe"), W("-n"), W("BEGIN { exit(3); }"));
	is_quiet("");
	dtrap(W("-e"), W("-n"), W("BEGIN { x = ; }"));
	ends(1, "invalid probe specifier");
}
END_TEST

START_TEST(every_kind_of_description)
{
	dtrap(W("-q"), W("-P"),
	    W("dtrace /probename == \"BEGIN\"/ { exit(1); }"));
	ck_assert_int_eq(status, 1);
	dtrap(W("-q"), W("-i"), W("1 { exit(2); }"));
	ck_assert_int_eq(status, 2);
	dtrap(W("-q"), W("-n"), W("BEGIN { exit(3); }"));
	ck_assert_int_eq(status, 3);
	dtrap(W("-l"), W("-m"), W("dtrace:"));
	ck_assert_ptr_nonnull(strstr(out, " BEGIN\n"));
	dtrap(W("-l"), W("-f"), W("dtrace::"));
	ck_assert_ptr_nonnull(strstr(out, " BEGIN\n"));
	dtrap(W("-q"), W("-m"), W("BEGIN { exit(3); }"));
	ends(1, "");
}
END_TEST

START_TEST(scripts_have_arguments)
{
	const char *s = script(
	    "args.d", "BEGIN { printf(\"%s %s\", $$0, $$1); exit($2); }");
	char want[100];

	dtrap(W("-q"), W("-s"), W(s), W("one"), W("2"));
	ck_assert_int_eq(status, 2);
	snprintf(want, sizeof(want), "%s one\n", s);
	ck_assert_str_eq(out, want);
	dtrap(W("-q"), W("-n"), W("BEGIN { trace($$0); exit(0); }"));
	is_quiet("dtrap\n");
	dtrap(W("-s"), W(path("none")));
	ends(1, "none: No such file or directory");
	ends(1, "dtrap: failed to open ");
	dtrap(W("-s"), W(script("bad.d", "BEGIN { x = ; }")));
	ends(1, "dtrap: failed to compile script ");
	/* An argument that nobody uses, and what the script says of its use. */
	dtrap(W("-s"),
	    W(script(
		"use.d", "/* usage: use.d NOTHING */\nBEGIN { exit(0); }")),
	    W("one"));
	ends(1, "usage: use.d NOTHING");
}
END_TEST

START_TEST(scripts_are_preprocessed_on_request)
{
	const char *s = script("cpp.d",
	    "#define STATUS 4\n#ifdef FIVE\n#undef STATUS\n"
	    "#define STATUS 5\n#endif\nBEGIN { exit(STATUS); }\n");

	dtrap(W("-q"), W("-s"), W(s));
	ck_assert_int_eq(status, 1);
	dtrap(W("-q"), W("-C"), W("-s"), W(s));
	ck_assert_int_eq(status, 4);
	dtrap(W("-q"), W("-C"), W("-D"), W("FIVE"), W("-s"), W(s));
	ck_assert_int_eq(status, 5);
	dtrap(W("-q"), W("-C"), W("-s"), W(script("err.d", "#error no\n")));
	ck_assert_int_eq(status, 1);
}
END_TEST

/* ---- enabling ---- */

START_TEST(destructive_actions_must_be_allowed)
{
	dtrap(W("-q"), W("-n"), W("BEGIN { system(\"true\"); exit(0); }"));
	ends(1,
	    "dtrap: could not enable tracing: Destructive actions not "
	    "allowed; ");
	dtrap(W("-qw"), W("-n"), W("BEGIN { system(\"true\"); exit(0); }"));
	is_quiet("\n");
}
END_TEST

START_TEST(a_record_must_fit)
{
	dtrap(W("-b"), W("16"), W("-q"), W("-n"),
	    W("BEGIN { trace(1); trace(2); trace(3); trace(4); exit(0); }"));
	ends(1,
	    "could not enable tracing: Enabling exceeds size of buffer; a "
	    "record of BEGIN takes ");
	dtrap(W("-b"), W("1k"), W("-x"), W("bufpolicy=fill"), W("-q"), W("-n"),
	    W("BEGIN { exit(0); } END { trace(\"a\"); trace(\"b\"); }"),
	    W("-n"), W("END { trace(\"a\"); trace(\"b\"); }"));
	ends(1, "END enablings exceed size of principal buffer; -b ");
	dtrap(W("-b"), W("1k"), W("-q"), W("-n"), W("BEGIN { exit(0); }"));
	is_quiet("\n");
}
END_TEST

/* ---- output ---- */

START_TEST(output_goes_to_a_file)
{
	char text[64] = "";
	const char *file = path("output");

	for (int i = 0; i < 2; i++) {
		dtrap(W("-q"), W("-o"), W(file), W("-n"),
		    W("BEGIN { printf(\"x\"); exit(0); }"));
		is_quiet("");
	}
	FILE *f = fopen(file, "re");
	ck_assert_uint_gt(fread(text, 1, sizeof(text) - 1, f), 0);
	fclose(f);
	ck_assert_str_eq(text, "x\nx\n"); /* appended */
	dtrap(W("-o"), W(path("no/file")), W("-n"), W("BEGIN"));
	ends(1, "dtrap: failed to open output file ");
	dtrap(W("-q"), W("-o"), W("/dev/full"), W("-n"),
	    W("BEGIN { printf(\"x\"); exit(0); }"));
	ends(1, "dtrap: cannot write output: No space left on device\n");
}
END_TEST

START_TEST(probes_are_listed)
{
	dtrap(W("-l"));
	ck_assert_int_eq(status, 0);
	ck_assert_ptr_eq(strstr(out, "   ID   PROVIDER "), out);
	ck_assert_ptr_nonnull(strstr(out, " BEGIN\n"));
	ck_assert_ptr_nonnull(strstr(out, " syscall "));
	dtrap(W("-l"), W("-n"), W("BEGIN"));
	ck_assert_ptr_nonnull(strstr(out, " BEGIN\n"));
	ck_assert_ptr_null(strstr(out, " END\n"));
	ck_assert_ptr_null(strstr(out, "Argument"));
	dtrap(W("-lv"), W("-n"), W("BEGIN"));
	ck_assert_ptr_nonnull(strstr(out, "Argument Types"));
	dtrap(W("-l"), W("-n"), W("no:::such"));
	ck_assert_int_eq(status, 0);
	/* Stability is told on request. */
	dtrap(W("-ev"), W("-n"), W("BEGIN"));
	ck_assert_int_eq(status, 0);
	ck_assert_ptr_nonnull(strstr(out, "description BEGIN"));
	dtrap(W("-e"), W("-n"), W("BEGIN"));
	ck_assert_str_eq(out, "");
}
END_TEST

START_TEST(a_header_is_made)
{
	const char *s = script("prov.d", "provider p { probe a(int); };\n");
	const char *header = path("prov.h");

	dtrap(W("-h"), W("-s"), W(s), W("-o"), W(header));
	is_quiet("");
	ck_assert_int_eq(access(header, R_OK), 0);
	unlink(header);
	dtrap(W("-he"), W("-s"), W(s), W("-o"), W(header));
	is_quiet("");
	ck_assert_int_ne(access(header, R_OK), 0);
	dtrap(W("-h"), W("-32"), W("-s"), W(s), W("-o"), W(header));
	is_quiet("");
	dtrap(W("-h"), W("-s"), W(script("bad.d", "provider")), W("-o"),
	    W(header));
	ends(1, "failed to compile script");
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		without_a_word_it_shows_its_usage,
		what_it_is_and_what_it_does,
		an_unknown_option_is_bad_usage,
		one_thing_at_a_time,
		what_needs_a_kernel_is_refused,
		an_option_of_the_command_is_seen,
		pids_are_numbers,
		programs_of_32_bits_are_not_traced,
		nothing_to_do,
		options_have_values,
		options_come_from_the_environment,
		letters_are_options,
		a_description_is_named_without_its_body,
		how_long_a_name_is,
		that_nobody_is_traced_is_told,
		probes_are_counted,
		the_status_is_that_of_exit,
		every_kind_of_description,
		scripts_have_arguments,
		scripts_are_preprocessed_on_request,
		destructive_actions_must_be_allowed,
		a_record_must_fit,
		output_goes_to_a_file,
		probes_are_listed,
		a_header_is_made,
	};

	return suite_run("dtrap", setup, teardown, tests, ARRAY_SIZE(tests));
}
