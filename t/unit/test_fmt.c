/*
 * dlang/fmt: formats taken apart.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/str.h"
#include "dlang/fmt.h"

static struct arena arena;

static struct fmt *
parse(const char *text)
{
	const char *error = NULL;
	struct fmt *f = NULL;

	ck_assert_msg(
	    fmt_parse(&arena, text, &f, &error) == 0, "%s: %s", text, error);
	return f;
}

START_TEST(literals_and_tail)
{
	struct fmt *f = parse("a%%b %d c%s%%");

	ck_assert_uint_eq(f->nconvs, 2);
	ck_assert_str_eq(f->convs[0].literal, "a%b ");
	ck_assert_uint_eq(f->convs[0].literal_len, 4);
	ck_assert_str_eq(f->convs[1].literal, " c");
	ck_assert_str_eq(f->tail, "%");
	ck_assert_uint_eq(f->tail_len, 1);
	ck_assert_str_eq(f->text, "a%%b %d c%s%%");

	f = parse("");
	ck_assert_uint_eq(f->nconvs, 0);
	ck_assert_str_eq(f->tail, "");
}
END_TEST

START_TEST(every_letter_has_its_class)
{
	static const struct {
		char letter;
		enum fmt_class class;
	} rows[] = {
#define FMT_CONV(letter, class) { letter, FMT_##class },
#include "dlang/fmt.def"
#undef FMT_CONV
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[] = { '%', rows[i].letter, '\0' };
		struct fmt *f = parse(text);
		ck_assert_uint_eq(f->nconvs, 1);
		ck_assert_int_eq(f->convs[0].letter, rows[i].letter);
		ck_assert_int_eq(f->convs[0].class, rows[i].class);
		ck_assert_int_eq(f->convs[0].width, -1);
		ck_assert_int_eq(f->convs[0].prec, -1);
		ck_assert_uint_eq(f->convs[0].flags, 0);
	}
}
END_TEST

START_TEST(flags_width_precision)
{
	struct fmt_conv c = parse("%-+ #0'?12.5d")->convs[0];

	ck_assert_uint_eq(c.flags,
	    FMT_LEFT | FMT_PLUS | FMT_SPACE | FMT_ALT | FMT_ZERO | FMT_GROUP |
		FMT_PTRW);
	ck_assert_int_eq(c.width, 12);
	ck_assert_int_eq(c.prec, 5);

	c = parse("%*.*s")->convs[0];
	ck_assert(c.dyn_width && c.dyn_prec);
	ck_assert_int_eq(c.width, -1);
	ck_assert_int_eq(c.prec, -1);

	c = parse("%.s")->convs[0];
	ck_assert_int_eq(c.prec, -1);
}
END_TEST

START_TEST(lengths)
{
	static const struct {
		const char *text;
		enum fmt_mod mod;
	} rows[] = {
		{ "%hd", FMT_MOD_H },
		{ "%lu", FMT_MOD_L },
		{ "%llx", FMT_MOD_LL },
		{ "%Lf", FMT_MOD_LD },
		{ "%ls", FMT_MOD_L },
		{ "%wc", FMT_MOD_W },
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		ck_assert_int_eq(
		    parse(rows[i].text)->convs[0].mod, rows[i].mod);
}
END_TEST

START_TEST(aggregations)
{
	struct fmt_conv c = parse("%@d")->convs[0];

	ck_assert_int_eq(c.class, FMT_AGG);
	ck_assert_int_eq(c.letter, 'd');
	c = parse("%-@8lld|")->convs[0];
	ck_assert_int_eq(c.class, FMT_AGG);
	ck_assert_uint_eq(c.flags, FMT_LEFT);
	ck_assert_int_eq(c.width, 8);
	ck_assert_int_eq(c.mod, FMT_MOD_LL);
	c = parse("%@-8u")->convs[0];
	ck_assert_int_eq(c.letter, 'u');
	ck_assert_uint_eq(c.flags, FMT_LEFT);
	c = parse("%8@x")->convs[0];
	ck_assert_int_eq(c.class, FMT_AGG);
	ck_assert_int_eq(c.letter, 'x');

	/* Alone, and text follows. */
	struct fmt *f = parse("%@\n");
	ck_assert_int_eq(f->convs[0].class, FMT_AGG);
	ck_assert_int_eq(f->convs[0].letter, 0);
	ck_assert_str_eq(f->tail, "\n");
	f = parse("%@ dogs, %@");
	ck_assert_uint_eq(f->nconvs, 2);
	ck_assert_str_eq(f->convs[1].literal, " dogs, ");
	ck_assert_str_eq(f->tail, "");
}
END_TEST

START_TEST(errors_name_the_conversion)
{
	static const struct {
		const char *text, *error;
	} rows[] = {
		{ "%d %",
		    "format conversion #2 name expected "
		    "before end of format string" },
		{ "%-5",
		    "format conversion #1 name expected "
		    "before end of format string" },
		{ "%n", "format conversion #1 is undefined: %n" },
		{ "%t", "format conversion #1 is undefined: %t" },
		{ "%zd", "format conversion #1 is undefined: %z" },
		{ "%s%s%\001", "format conversion #3 is undefined: %\\001" },
		{ "%1$d",
		    "format conversion #1 uses unsupported "
		    "positional format (%n$)" },
		{ "%*1$d",
		    "format conversion #1 uses unsupported "
		    "positional format (%n$)" },
		{ "%**d",
		    "format conversion #1 has more than one '*' "
		    "specified for the output width" },
		{ "%.**d",
		    "format conversion #1 has more than one '*' "
		    "specified for the output precision" },
		{ "%.3.3d",
		    "format conversion #1 has more than one '.' "
		    "specified" },
		{ "%-%",
		    "format conversion #1 cannot be combined with "
		    "other format flags: %%" },
		{ "%hs",
		    "format conversion #1 cannot have length \"h\" "
		    "before %s" },
		{ "%lld%Ld",
		    "format conversion #2 cannot have length \"L\" "
		    "before %d" },
		{ "%8@s",
		    "format conversion #1 cannot print an aggregation: "
		    "%@s" },
		{ "%99999999999d",
		    "format conversion #1 has a width larger "
		    "than 16777216" },
		{ "%.70000000d",
		    "format conversion #1 has a precision larger "
		    "than 16777216" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *error = NULL;
		struct fmt *f;
		ck_assert_int_eq(
		    fmt_parse(&arena, rows[i].text, &f, &error), -EINVAL);
		ck_assert_str_eq(error, rows[i].error);
	}
}
END_TEST

static void
setup(void)
{
	arena_init(&arena);
}

static void
teardown(void)
{
	arena_fini(&arena);
}

int
main(void)
{
	Suite *s = suite_create("fmt");
	TCase *tc = tcase_create("fmt");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, literals_and_tail);
	tcase_add_test(tc, every_letter_has_its_class);
	tcase_add_test(tc, flags_width_precision);
	tcase_add_test(tc, lengths);
	tcase_add_test(tc, aggregations);
	tcase_add_test(tc, errors_name_the_conversion);
	suite_add_tcase(s, tc);

	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
