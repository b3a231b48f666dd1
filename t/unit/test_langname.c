/*
 * symbols/langname: a name has one word, and text.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/langname.h"
#include "symbols/symbolise.h"

static uint64_t
word(const char *function, const char *file, int line, bool note)
{
	const struct lang_name n = {
		.function = function, .file = file, .line = line, .note = note
	};

	return langname_word(&n);
}

START_TEST(equal_names_are_equal_words)
{
	uint64_t a = word("f", "x.py", 3, true);
	char other[] = "f";

	ck_assert_uint_ne(a, 0);
	ck_assert(a & LANG_FRAME);
	ck_assert_uint_eq(word(other, "x.py", 3, true), a);
	ck_assert_uint_ne(word("f", "x.py", 4, true), a);
	ck_assert_uint_ne(word("f", "x.py", 3, false), a);
	ck_assert_uint_ne(word("f", NULL, 3, true), a);
	ck_assert_uint_ne(word("g", "x.py", 3, true), a);
	/* What parts the members of a key is in no member. */
	ck_assert_uint_ne(
	    word("f\nx", "y", 0, false), word("f", "x\ny", 0, false));
	ck_assert_uint_eq(word("", "x.py", 3, true), 0);
	for (int i = 0; i < 1000; i++)
		word("many", NULL, i, false);
	ck_assert_uint_eq(word("f", "x.py", 3, true), a);
	langname_reset();
	ck_assert_ptr_null(langname_of(a));
}
END_TEST

/* A frame of another host: its name has the form of symbolise.h. */
START_TEST(native_names_lose_their_offset)
{
	static const struct {
		const char *whole, *plain;
	} rows[] = {
		{ "libc.so.6`malloc+0x12", "libc.so.6`malloc" },
		{ "a.out`main", "a.out`main" },
		{ "a.out`sub_1139-0x40", "a.out`sub_1139" },
		{ "a.out`f+0x1 (f.c:12)", "a.out`f" },
		{ "a.out`operator+(int)+0x10", "a.out`operator+(int)" },
		{ "a.out`0x1139", "a.out`0x1139" },
		{ "0x7f00", "0x7f00" },
	};
	char text[64];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t a = langname_word(&(struct lang_name){
		    .function = rows[i].whole, .native = true });
		ck_assert_str_eq(
		    symbolise_frame(0, a, 0, 0, text, sizeof(text)),
		    rows[i].whole);
		ck_assert_str_eq(
		    symbolise_frame(0, a, 0, SYM_NO_OFFSET, text, sizeof(text)),
		    rows[i].plain);
		ck_assert_str_eq(
		    symbolise_then(0, a, 0, text, sizeof(text)), rows[i].whole);
		ck_assert_uint_ne(word(rows[i].whole, NULL, 0, false), a);
	}
	langname_reset();
}
END_TEST

START_TEST(no_name_behind_other_words)
{
	uint64_t a = word("f", NULL, 0, false);

	ck_assert_str_eq(langname_of(a)->function, "f");
	ck_assert_ptr_null(langname_of(a + 1));
	ck_assert_ptr_null(langname_of(LANG_FRAME));
	ck_assert_ptr_null(langname_of(a & ~LANG_FRAME));
	ck_assert_ptr_null(langname_of(0));
	langname_reset();
}
END_TEST

START_TEST(long_names_are_cut)
{
	char text[4 * LANG_NAME_BYTES];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	const struct lang_name *n = langname_of(word(text, text, 1, false));
	ck_assert_uint_eq(strlen(n->function), LANG_NAME_BYTES);
	ck_assert_uint_eq(strlen(n->file), LANG_NAME_BYTES);
	langname_reset();
}
END_TEST

static void
check_text(uint64_t w, unsigned flags, const char *want)
{
	char buf[64];

	ck_assert_str_eq(
	    symbolise_frame(0, w, 0, flags, buf, sizeof(buf)), want);
}

START_TEST(names_as_text)
{
	uint64_t note = word("f", "x.py", 3, true);
	uint64_t own = word("C.m", "C.java", 0, false);

	check_text(note, SYM_PLAIN, "@f (x.py:3)");
	check_text(note, SYM_NO_OFFSET, "f");
	check_text(own, SYM_PLAIN, "C.m (C.java)");
	check_text(word("plain", NULL, 7, false), SYM_LINE, "plain");
	langname_reset();
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("langname");
	TCase *tc = tcase_create("langname");

	tcase_add_test(tc, equal_names_are_equal_words);
	tcase_add_test(tc, native_names_lose_their_offset);
	tcase_add_test(tc, no_name_behind_other_words);
	tcase_add_test(tc, long_names_are_cut);
	tcase_add_test(tc, names_as_text);
	suite_add_tcase(s, tc);

	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
