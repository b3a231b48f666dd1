/*
 * tracer/typename: types by the text that a file has of them.
 */
#include <check.h>
#include <stdlib.h>

#include "dlang/types.h"
#include "tracer/names/typename.h"

static struct types *ts;

static void
setup(void)
{
	ts = types_create(256);
}

static void
teardown(void)
{
	types_destroy(ts);
}

static const char *
shown(const char *text)
{
	static char buf[128];
	const struct type *t = typename_parse(ts, text);

	return t != NULL ? type_name(t, buf, sizeof(buf)) : "none";
}

START_TEST(types_are_found_by_their_text)
{
	static const char *const rows[][2] = {
		{ "int", "int" },
		{ "unsigned long", "unsigned long" },
		{ " uint64_t", "uint64_t" },
		{ "char *", "char *" },
		{ "char*", "char *" },
		{ "const char **", "char **" },
		{ "char *const", "char *" },
		{ "volatile int", "int" },
		{ "userland char *", "char *" },
		{ "char *const*", "char **" },
		{ "char * *", "char **" },
		{ "char * const", "char *" },
		{ "int [4]", "int [4]" },
		{ "int [10]", "int [10]" },
		{ "int [2] [3]", "int [2][3]" },
		{ "char *[2][3]", "char *[2][3]" },
		{ "int [1][2][3][4][5][6][7][8]",
		    "int [1][2][3][4][5][6][7][8]" },
		{ "string", "char *" },
		{ "struct nobody *", "struct nobody *" },
		{ "union nobody **", "union nobody **" },
		{ "enum nobody *", "enum nobody *" },
		{ "nobody_t *", "void *" },
		{ "constant *", "void *" },
		/* No type, or none that is known. */
		{ "", "none" },
		{ "*", "void *" },
		{ "nobody_t", "none" },
		{ "int [0]", "none" },
		{ "int [", "none" },
		{ "int [1][1][1][1][1][1][1][1][1]", "none" },
		{ "int [99999999999]", "none" },
		{ "int (*)(void)", "none" },
		{ "int x", "none" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_str_eq(shown(rows[i][0]), rows[i][1]);
	ck_assert_ptr_null(typename_parse(ts, NULL));
}
END_TEST

START_TEST(an_unknown_struct_is_one_type)
{
	const struct type *a = typename_parse(ts, "struct nobody");
	const struct type *b = typename_parse(ts, "struct nobody");

	ck_assert_ptr_nonnull(a);
	ck_assert_int_eq(a->kind, TYPE_FORWARD);
	ck_assert_ptr_eq(a, b);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("tracer/typename");
	TCase *tc = tcase_create("typename");
	SRunner *r = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, types_are_found_by_their_text);
	tcase_add_test(tc, an_unknown_struct_is_one_type);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
