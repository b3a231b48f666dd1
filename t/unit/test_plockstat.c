/*
 * tracer/plockstat: what the command line means, which program it makes, and with
 * which status and message it ends, as far as nobody is traced.  The file is read
 * in below, and each command line is one call of its main() in a process of its
 * own.
 */
int plockstat_main(int argc, char **argv);
#define main plockstat_main
#include "tracer/plockstat.c"
#undef main

#include <check.h>

#define CALLS_MAIN plockstat_main
#include "t/unit/calls.h"
#include "t/unit/suite.h"

#define plockstat(...) \
	call((char *const[]){ (char *)"x/plockstat", __VA_ARGS__, NULL })

START_TEST(what_it_is_and_what_it_does)
{
	call((char *const[]){ W("x/plockstat"), NULL });
	ends(2, "Usage: plockstat [-ACHVjv] ");
	ends(2, "-d  who holds what now");
	ck_assert_str_eq(out, "");
	plockstat(W("--help"));
	ck_assert_int_eq(status, 0);
	ck_assert_ptr_eq(strstr(out, "Usage: plockstat [-ACHVjv] "), out);
	plockstat(W("--version"));
	is_quiet("plockstat of dtrap " DTRAP_VERSION "\n");
}
END_TEST

START_TEST(an_unknown_option_is_bad_usage)
{
	plockstat(W("-y"));
	ends(2, "plockstat: unknown option -y");
	ends(2, "--help tells more");
	plockstat(W("--jason=1"));
	ends(2, "plockstat: unknown option --jason\n");
	plockstat(W("--json=1"), W("-V"));
	ends(2, "plockstat: --json takes no argument\n");
	plockstat(W("--help=1"));
	ends(2, "plockstat: --help takes no argument\n");
	plockstat(W("-e"));
	ends(2, "plockstat: option -e needs an argument\n");
	/* The first that is wrong is told. */
	plockstat(W("-y"), W("-e"));
	ends(2, "unknown option -y");
	ck_assert_ptr_null(strstr(err, "needs an argument"));
}
END_TEST

START_TEST(numbers_have_limits)
{
	static const struct {
		const char *option, *value, *what;
	} bad[] = {
		{ "-e", "0", "time: 0" },
		{ "-e", "1000001", "time: 1000001" },
		{ "-e", "x", "time: x" },
		{ "-e", "1x", "time: 1x" },
		{ "-e", "", "time: " },
		{ "-n", "0", "count: 0" },
		{ "-n", "2147483648", "count: 2147483648" },
		{ "-s", "501", "depth: 501" },
		{ "-s", "-1", "depth: -1" },
		{ "-p", "0", "pid: 0" },
		{ "-p", "99999999999999999999", "pid: 99999999999999999999" },
	};
	char want[100];

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		plockstat(W("-V"), W(bad[i].option), W(bad[i].value));
		snprintf(
		    want, sizeof(want), "plockstat: invalid %s\n", bad[i].what);
		ck_assert_int_eq(status, 2);
		ck_assert_str_eq(err, want);
	}
	plockstat(W("-V"), W("-e"), W("1000000"), W("-s"), W("500"), W("-n"),
	    W("2147483647"));
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(options_of_dtrap)
{
	plockstat(W("-V"), W("-x"), W("strsize=1"));
	ends(2, "plockstat: failed to set -x strsize: Invalid value");
	plockstat(W("-V"), W("-x"), W("strsiz"));
	ends(2, "; did you mean strsize?\n");
	plockstat(W("-V"), W("-x"), W("strsize=100"));
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(what_is_wrong_in_a_library_is_told)
{
	char dir[] = "/tmp/test_plockstat.XXXXXX", text[64], path[64];

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/bad.d", dir);
	snprintf(text, sizeof(text), "libdir=%s", dir);
	FILE *f = fopen(path, "we");
	fputs("inline int", f);
	fclose(f);
	plockstat(W("-x"), text, W("true"));
	unlink(path);
	rmdir(dir);
	ends(1, "plockstat: line 1: syntax error");
}
END_TEST

START_TEST(one_thing_is_watched)
{
	plockstat(W("-C"));
	ends(2, "plockstat: there is nothing to watch: ");
	ends(2, "--help tells more");
	plockstat(W("-p"), W("2147483647"), W("true"));
	ends(2, "plockstat: -p 2147483647 and a command, true: only one");
	plockstat(W("-d"));
	ends(2, "plockstat: -d needs a process: -p PID\n");
	plockstat(W("-d"), W("true"));
	ends(2, "plockstat: -d needs a process: -p PID\n");
	/* A process that there is not. */
	plockstat(W("-d"), W("-p"), W("2147483647"));
	ck_assert_int_eq(status, 1);
	ck_assert_ptr_eq(strstr(err, "plockstat: "), err);
	ck_assert_ptr_null(strstr(err, "Usage"));
	plockstat(W("-p"), W("2147483647"));
	ck_assert_int_eq(status, 1);
	ck_assert_ptr_eq(strstr(err, "plockstat: "), err);
	plockstat(W("/none/such"));
	ck_assert_int_eq(status, 1);
}
END_TEST

static void
shows(const char *text, bool want)
{
	ck_assert_int_eq(status, 0);
	ck_assert_msg((strstr(err, text) != NULL) == want, "%s", text);
}

/* -V without a process: the program alone. */
START_TEST(contention_is_the_default)
{
	static const char *const words[][2] = { { "-V", "-V" },
		{ "-V", "-C" } };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		plockstat(W(words[i][0]), W(words[i][1]));
		shows("plockstat$target:::mutex-block\n{\n"
		      "\tself->mutex_block = timestamp;\n}\n\n"
		      "plockstat$target:::mutex-blocked\n"
		      "/self->mutex_block/\n{\n",
		    true);
		shows("plockstat$target:::mutex-spin\n", true);
		shows("plockstat$target:::rw-block\n/arg1 == 0/\n{\n"
		      "\tself->rw_reader_block = timestamp;\n",
		    true);
		shows("plockstat$target:::rw-blocked\n"
		      "/self->rw_writer_block && arg1 == 1/\n",
		    true);
		shows("\tself->rw_writer_block = 0;\n", true);
		shows("plockstat$target:::sem-blocked\n", true);
		shows("acquire", false);
		shows("tick", false);
	}
}
END_TEST

START_TEST(holding_is_on_request)
{
	plockstat(W("-VH"));
	shows("plockstat$target:::mutex-acquire\n/arg1 == 0/\n{\n"
	      "\tself->mutex_hold[arg0] = timestamp;\n}\n\n"
	      "plockstat$target:::mutex-release\n"
	      "/self->mutex_hold[arg0] && arg1 == 0/\n",
	    true);
	shows("rw-acquire\n/arg1 == 1/\n{\n\tself->rw_writer_hold[arg0]", true);
	shows("rw-acquire\n/arg1 == 0/\n{\n\tself->rw_reader_hold[arg0]", true);
	shows("block", false);
	plockstat(W("-VA"));
	shows("mutex-acquire", true);
	shows("mutex-block", true);
	plockstat(W("-VHC"));
	shows("mutex-acquire", true);
	shows("mutex-block", true);
}
END_TEST

START_TEST(stacks_are_as_deep_as_that)
{
	char want[100];

	plockstat(W("-V"));
	snprintf(want, sizeof(want),
	    "@mutex_block[arg0, ustack(%d)] = quantize(timestamp - "
	    "self->mutex_block);",
	    1 + LOCK_FRAMES_OWN);
	shows(want, true);
	plockstat(W("-V"), W("-s"), W("7"));
	snprintf(want, sizeof(want),
	    "@mutex_block_ns[arg0, ustack(%d)] = sum(timestamp - "
	    "self->mutex_block);",
	    7 + LOCK_FRAMES_OWN);
	shows(want, true);
	plockstat(W("-V"), W("-e"), W("5"));
	shows("tick-5s\n{\n\texit(0);\n}\n", true);
}
END_TEST

START_TEST(a_command_is_quoted)
{
	char *const words[] = { W("a b"), W("it's"), W(""), NULL };
	char *const one[] = { W("ls"), NULL };
	char *line = quoted(words);

	ck_assert_str_eq(line, "'a b' 'it'\\''s' ''");
	free(line);
	line = quoted(one);
	ck_assert_str_eq(line, "'ls'");
	free(line);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		what_it_is_and_what_it_does,
		an_unknown_option_is_bad_usage,
		numbers_have_limits,
		options_of_dtrap,
		what_is_wrong_in_a_library_is_told,
		one_thing_is_watched,
		contention_is_the_default,
		holding_is_on_request,
		stacks_are_as_deep_as_that,
		a_command_is_quoted,
	};

	return suite_run("plockstat", NULL, NULL, tests, ARRAY_SIZE(tests));
}
