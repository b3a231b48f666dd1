/*
 * Command lines of -c: words as a shell makes them, nothing expanded.
 */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "dlang/base/base.h"
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

int
main(void)
{
	Suite *s = suite_create("targets_split");
	TCase *tc = tcase_create("targets_split");

	tcase_add_loop_test(tc, splits, 0, (int)ARRAY_SIZE(rows));
	suite_add_tcase(s, tc);

	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
