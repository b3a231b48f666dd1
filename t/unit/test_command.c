/*
 * tracer/drive/command: command lines of -c, as words that a shell makes of them,
 * with nothing expanded; the program that such a line names; and its environment.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dlang/base/base.h"
#include "dlang/base/mem.h"
#include "tracer/base/state.h"
#include "tracer/drive/targets.h"

/* What `cmd' is split into, each word in brackets; an error as "!reason". */
static const char *
split(const char *cmd)
{
	static char text[512];
	const char *why = NULL;
	char **argv;

	text[0] = '\0';
	int r = targets_split(cmd, &argv, &why);
	if (r != 0) {
		ck_assert_int_eq(r, -EINVAL);
		strcat(strcpy(text, "!"), why);
		return text;
	}
	for (char **p = argv; *p != NULL; p++)
		strcat(strcat(strcat(text, "["), *p), "]");
	targets_free_argv(argv);
	return text;
}

static const struct {
	const char *cmd, *words;
} rows[] = {
	/* clang-format off */
	{ "one", "[one]" },
	{ " \t\n\v\f\rone  two\n", "[one][two]" },
	{ "'one two'", "[one two]" },
	{ "\"one two\"three", "[one twothree]" },
	{ "a'b c'\"d e\"f", "[ab cd ef]" },
	{ "'' \"\" x''", "[][][x]" },
	{ "'\\' x", "[\\][x]" },
	{ "a\\ b \\' \\\"", "[a b]['][\"]" },
	{ "\"\\\" \\\\ \\$ \\` \\x\"", "[\" \\ $ ` \\x]" },
	{ "'\"' \"'\"", "[\"][']" },
	{ "end\\", "[end\\]" },
	{ "a\\\nb \"c\\\nd\" '\\\n'", "[ab][cd][\\\n]" },
	{ "a \\\n b\\\n", "[a][b]" },
	{ "$HOME * ~ `x` > a;b #c", "[$HOME][*][~][`x`][>][a;b][#c]" },
	{ "\"\xc3\xa9 \xff\"", "[\xc3\xa9 \xff]" },
	{ "", "!the command is empty" },
	{ " \t ", "!the command is empty" },
	{ "'", "!a quote is not closed" },
	{ "one two 'three", "!a quote is not closed" },
	{ "\"a\\\"", "!a quote is not closed" },
	/* clang-format on */
};

START_TEST(splits)
{
	ck_assert_str_eq(split(rows[_i].cmd), rows[_i].words);
}
END_TEST

/* ---- the program ---- */

static char dir[] = "/tmp/test_command.XXXXXX";

/* In a new folder: a/tool and b/tool are programs, a/text is not one. */
static void
make_programs(void)
{
	static const struct {
		const char *path;
		mode_t mode;
	} files[] = { { "a/tool", 0755 }, { "b/tool", 0755 },
		{ "b/other", 0755 }, { "a/text", 0644 }, { "here", 0755 } };

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	mkdir("a", 0755);
	mkdir("b", 0755);
	mkdir("a/folder", 0755);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		close(open(files[i].path, O_CREAT | O_WRONLY, files[i].mode));
}

static void
remove_programs(void)
{
	char command[64];

	snprintf(command, sizeof(command), "/bin/rm -r %s", dir);
	ck_assert_int_eq(setenv("PATH", "/bin:/usr/bin", 1), 0);
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(system(command), 0);
}

/* NULL: none. */
static void
finds(const char *path, const char *name, const char *want)
{
	if (path != NULL)
		setenv("PATH", path, 1);
	else
		unsetenv("PATH");
	char *found = targets_find_program(name);
	if (want == NULL)
		ck_assert_ptr_null(found);
	else
		ck_assert_str_eq(found, want);
	mem_free(found);
}

START_TEST(the_first_folder_that_has_it)
{
	finds("a:b", "tool", "a/tool");
	finds("b:a", "tool", "b/tool");
	finds("none:b", "tool", "b/tool");
	finds("a:b", "other", "b/other");
	finds("a:b", "none", NULL);
	finds("a", "other", NULL);
	/* Neither a folder nor a file that may not be executed. */
	finds("a", "folder", NULL);
	finds("a", "text", NULL);
}
END_TEST

/* As execvp() has it. */
START_TEST(a_field_that_is_empty_is_the_present_folder)
{
	finds(":a", "here", "here");
	finds("a::b", "here", "here");
	finds("a:", "here", "here");
	finds("", "here", "here");
	finds("a:b", "here", NULL);
}
END_TEST

START_TEST(without_a_path_there_is_the_usual_one)
{
	finds(NULL, "here", NULL);
	finds(NULL, "sh", "/bin/sh");
}
END_TEST

START_TEST(a_path_is_itself)
{
	finds("a", "b/tool", "b/tool");
	finds("a", "b/none", NULL);
	finds("a", "./here", "./here");
	finds("a", "a/text", NULL);
}
END_TEST

START_TEST(environments)
{
	static const char *const set[] = { "setenv=ONE=1", "setenv=ONE=2",
		"setenv=NONE", "setenv=OLD=a=b", "unsetenv=GONE",
		"unsetenv=GO" };
	struct state st = { 0 };
	char text[256] = "";

	clearenv();
	setenv("OLD", "x", 1);
	setenv("OLDER", "y", 1);
	setenv("GONE", "z", 1);
	setenv("GOING", "w", 1);
	options_init(&st.opts);
	for (size_t i = 0; i < ARRAY_SIZE(set); i++)
		ck_assert_int_eq(option_parse(&st.opts, set[i], false), 0);
	char **env = targets_env(&st);
	for (char **e = env; *e != NULL; e++)
		strcat(strcat(text, *e), " ");
	ck_assert_str_eq(text, "OLDER=y GOING=w ONE=2 NONE= OLD=a=b ");
	targets_free_argv(env);
	options_fini(&st.opts);
	ck_assert_str_eq(getenv("OLD"), "x"); /* ours is as it was */
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("command");
	TCase *tc = tcase_create("command");

	tcase_add_loop_test(tc, splits, 0, (int)ARRAY_SIZE(rows));
	tcase_add_test(tc, environments);
	suite_add_tcase(s, tc);
	tc = tcase_create("programs");
	tcase_add_checked_fixture(tc, make_programs, remove_programs);
	tcase_add_test(tc, the_first_folder_that_has_it);
	tcase_add_test(tc, a_field_that_is_empty_is_the_present_folder);
	tcase_add_test(tc, without_a_path_there_is_the_usual_one);
	tcase_add_test(tc, a_path_is_itself);
	suite_add_tcase(s, tc);

	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
