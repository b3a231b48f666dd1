/*
 * dlang/base: glob, hash, vec, str, arena, nearest.
 */
#include <check.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dlang/base/arena.h"
#include "dlang/base/fault.h"
#include "dlang/base/glob.h"
#include "dlang/base/hash.h"
#include "dlang/base/nearest.h"
#include "dlang/base/show.h"
#include "dlang/base/str.h"
#include "dlang/base/vec.h"

START_TEST(glob_matches_as_probe_descriptions_do)
{
	static const struct {
		const char *pattern, *text;
		int match;
	} rows[] = {
		{ "", "anything", 1 },
		{ "malloc", "malloc", 1 },
		{ "malloc", "mallocx", 0 },
		{ "mal*", "malloc", 1 },
		{ "*loc", "malloc", 1 },
		{ "*l*l*", "malloc", 1 },
		{ "*l*l*l*", "malloc", 0 },
		{ "m?lloc", "malloc", 1 },
		{ "m?lloc", "mlloc", 0 },
		{ "[a-m]alloc", "malloc", 1 },
		{ "[!a-l]alloc", "malloc", 1 },
		{ "[!a-m]alloc", "malloc", 0 },
		{ "[]]x", "]x", 1 },
		{ "[x", "[x", 1 },
		{ "a\\*b", "a*b", 1 },
		{ "a\\*b", "axb", 0 },
		{ "*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 0 },
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		ck_assert_msg(
		    glob_match(rows[i].pattern, rows[i].text) == rows[i].match,
		    "%s against %s", rows[i].pattern, rows[i].text);
}
END_TEST

START_TEST(hash_keeps_what_it_is_given)
{
	struct hash h = { 0 };
	static int values[5000];

	for (int round = 0; round < 3; round++) {
		for (uint64_t i = 0; i < 5000; i++)
			ck_assert_ptr_null(hash_set(&h, i * 16, &values[i]));
		for (uint64_t i = 0; i < 5000; i += 2)
			ck_assert_ptr_eq(hash_remove(&h, i * 16), &values[i]);
		for (uint64_t i = 0; i < 5000; i++)
			ck_assert_ptr_eq(
			    hash_get(&h, i * 16), i % 2 ? &values[i] : NULL);
		ck_assert_uint_eq(h.count, 2500);
		size_t seen = 0;
		hash_foreach(e, &h) {
			hash_remove(&h, e->key);
			seen++;
		}
		ck_assert_uint_eq(seen, 2500);
		ck_assert_uint_eq(h.count, 0);
	}
	hash_fini(&h);
}
END_TEST

START_TEST(hash_strings_are_compared_by_content)
{
	struct hash h = { 0 };
	char key[] = "name", same[] = "name";

	hash_set_str(&h, key, key);
	ck_assert_ptr_eq(hash_get_str(&h, same), key);
	ck_assert_ptr_null(hash_get_str(&h, "other"));
	hash_fini(&h);
}
END_TEST

START_TEST(vec_and_str_grow)
{
	VEC(int) v = { 0 };
	struct str s = { 0 };

	ck_assert_str_eq(str_c(&s), "");
	for (int i = 0; i < 1000; i++) {
		*vec_push(&v) = i;
		str_printf(&s, "%d,", i);
	}
	int n = 0;
	vec_foreach(p, &v)
		ck_assert_int_eq(*p, n++);
	ck_assert_int_eq(n, 1000);
	ck_assert_uint_eq(s.len, 10 * 2 + 90 * 3 + 900 * 4);
	char *text = str_take(&s);
	ck_assert_int_eq(strncmp(text, "0,1,2,", 6), 0);
	mem_free(text);
	vec_fini(&v);
	str_fini(&s);
}
END_TEST

START_TEST(intern_makes_equal_texts_one)
{
	struct intern in = { 0 };
	char a[] = "libc.so.6", b[] = "libc.so.6";

	ck_assert_ptr_eq(intern(&in, a), intern(&in, b));
	ck_assert_ptr_ne(intern(&in, a), intern(&in, "a.out"));
	intern_fini(&in);
}
END_TEST

START_TEST(arena_gives_zeroed_aligned_memory)
{
	struct arena a;

	arena_init(&a);
	for (size_t n = 1; n < 200000; n = n * 3 + 1) {
		unsigned char *p = arena_alloc(&a, n);
		ck_assert_uint_eq((uintptr_t)p % 16, 0);
		for (size_t i = 0; i < n; i++)
			ck_assert_uint_eq(p[i], 0);
		memset(p, 0xff, n);
	}
	ck_assert_str_eq(arena_printf(&a, "%d %s", 7, "x"), "7 x");
	arena_fini(&a);
}
END_TEST

START_TEST(utf8_has_as_many_bytes_as_it_needs)
{
	static const struct {
		uint32_t c;
		const char *bytes;
	} rows[] = {
		{ 'a', "a" },
		{ 0x7f, "\x7f" },
		{ 0x80, "\xc2\x80" },
		{ 0x7ff, "\xdf\xbf" },
		{ 0x800, "\xe0\xa0\x80" },
		{ 0xffff, "\xef\xbf\xbf" },
		{ 0x10000, "\xf0\x90\x80\x80" },
		{ 0x10ffff, "\xf4\x8f\xbf\xbf" },
	};
	char buf[5];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t n = utf8_put(rows[i].c, buf);

		buf[n] = '\0';
		ck_assert_str_eq(buf, rows[i].bytes);
	}
}
END_TEST

/* The points that a child passes before the knob ends it; -1: it does not. */
static int
points_passed(const char *knob_text)
{
	int passed[2], status, n = 0;
	char c;

	ck_assert_int_eq(pipe(passed), 0);
	pid_t pid = fork();
	if (pid == 0) {
		setenv("DTRAP_KILL", knob_text, 1);
		for (int i = 0; i < 5; i++) {
			fault_kill("step");
			fault_kill("step-two");
			if (write(passed[1], "", 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	close(passed[1]);
	while (read(passed[0], &c, 1) == 1)
		n++;
	close(passed[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		ck_assert_int_eq(WTERMSIG(status), SIGKILL);
	return WIFSIGNALED(status) ? n : -1;
}

static jmp_buf way_out;

static void
jump_out(const char *why)
{
	longjmp(way_out, 1);
}

/* False if the statement ran out of memory at its first allocation. */
#define RUNS_THROUGH(statement)                                  \
	(base_panic_hook(jump_out), fault_set(FAULT_ALLOC, 1),   \
	    setjmp(way_out) == 0 ?                               \
		((statement), fault_set(FAULT_ALLOC, 0), true) : \
		false)

/* The emergency exit walks through them. */
START_TEST(what_cannot_grow_stays_as_it_is)
{
	static VEC(unsigned) v;
	static struct hash h;
	static struct str s;
	static unsigned lost;
	static unsigned i; /* outlives longjmp() */

	for (i = 1; i <= 500; i++) {
		lost += !RUNS_THROUGH(*vec_push(&v) = i);
		if (v.len == i - 1)
			*vec_push(&v) = i;
		ck_assert_uint_eq(v.len, i);
		for (unsigned k = 0; k < i; k++)
			ck_assert_uint_eq(v.at[k], k + 1);

		lost += !RUNS_THROUGH(hash_set(&h, i, &lost));
		ck_assert_uint_le(h.count, i);
		for (unsigned k = 1; k < i; k++)
			ck_assert_ptr_eq(hash_get(&h, k), &lost);
		hash_foreach(e, &h)
			ck_assert_uint_le(e->key, i);
		hash_set(&h, i, &lost);

		lost += !RUNS_THROUGH(str_addc(&s, 'x'));
		ck_assert_uint_eq(strlen(str_c(&s)), s.len);
		if (s.len == i - 1)
			str_addc(&s, 'x');
		ck_assert_uint_eq(s.len, i);
	}
	ck_assert_uint_ge(lost, 3 * 4);
	base_panic_hook(NULL);
	vec_fini(&v);
	hash_fini(&h);
	str_fini(&s);
}
END_TEST

START_TEST(hash_grows_beforehand)
{
	struct hash h = { 0 };

	for (uint64_t i = 1; i <= 100; i++)
		hash_set(&h, i, &h);
	for (uint64_t i = 1; i <= 50; i++)
		hash_remove(&h, i);
	for (uint64_t n = 1; n < 1000; n += 61) {
		hash_reserve(&h, n);
		fault_set(FAULT_ALLOC, 1);
		for (uint64_t i = 0; i < n; i++)
			hash_set(&h, n * 1000 + i, &h);
		fault_set(FAULT_ALLOC, 0);
		for (uint64_t i = 0; i < n; i++)
			ck_assert_ptr_eq(hash_get(&h, n * 1000 + i), &h);
	}
	ck_assert_ptr_eq(hash_get(&h, 51), &h);
	ck_assert_ptr_null(hash_get(&h, 50));
	hash_fini(&h);
}
END_TEST

START_TEST(fault_kills_at_the_passage_that_is_named)
{
	ck_assert_int_eq(points_passed("step:1"), 0);
	ck_assert_int_eq(points_passed("step-two:3"), 2);
	ck_assert_int_eq(points_passed("step:6"), -1);
	ck_assert_int_eq(points_passed("ste:1"), -1);
	ck_assert_int_eq(points_passed("step-twofold:1"), -1);
	ck_assert_int_eq(points_passed("step"), -1);
}
END_TEST

START_TEST(what_others_chose_is_shown)
{
	static const struct {
		const char *from, *text, *name;
	} rows[] = {
		{ "a z~", "a z~", "a z~" },
		{ "\303\251\342\202\254\360\237\224\245",
		    "\303\251\342\202\254\360\237\224\245",
		    "\303\251\342\202\254\360\237\224\245" },
		{ "a\nb\tc", "a\nb\tc", "a\\nb\\tc" },
		{ "\001\a\b\v\f\r\033[m\177",
		    "\\001\\a\\b\\v\\f\\r\\033[m\\177",
		    "\\001\\a\\b\\v\\f\\r\\033[m\\177" },
		/* C1 controls, in UTF-8 and alone; the blank after them */
		{ "\302\233\302\200|\233|\302\240",
		    "\\302\\233\\302\\200|\\233|\302\240",
		    "\\302\\233\\302\\200|\\233|\302\240" },
		/* an escape and a C1 control in more bytes than they need */
		{ "\300\233|\340\200\233|\360\200\202\233",
		    "\\300\\233|\\340\\200\\233|\\360\\200\\202\\233",
		    "\\300\\233|\\340\\200\\233|\\360\\200\\202\\233" },
		/* half a pair; above the last; cut short; alone */
		{ "\355\240\200|\364\220\200\200|\342\202|\200",
		    "\\355\\240\\200|\\364\\220\\200\\200|\\342\\202|\\200",
		    "\\355\\240\\200|\\364\\220\\200\\200|\\342\\202|\\200" },
		/* what ends lines and turns the direction of text */
		{ "\342\200\256\342\201\247\342\200\250\330\234",
		    "\342\200\256\342\201\247\342\200\250\330\234",
		    "\\342\\200\\256\\342\\201\\247\\342\\200\\250"
		    "\\330\\234" },
	};
	struct str s = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t n = strlen(rows[i].from);
		str_add_shown(&s, SHOW_TEXT, rows[i].from, n);
		ck_assert_str_eq(str_c(&s), rows[i].text);
		str_clear(&s);
		str_add_shown(&s, SHOW_NAME, rows[i].from, n);
		ck_assert_str_eq(str_c(&s), rows[i].name);
		str_clear(&s);
	}
	str_add_shown(&s, SHOW_TEXT, "a\0b", 3);
	ck_assert_str_eq(str_c(&s), "a\\000b");
	str_fini(&s);
}
END_TEST

/* What is offered for a name, as `a b c'. */
static void
expect_hint(const char *want, const char *offered, const char *hint)
{
	struct nearest n;
	char *names = strdup(offered), *rest = NULL;

	nearest_init(&n, want);
	for (char *s = strtok_r(names, " ", &rest); s != NULL;
	     s = strtok_r(NULL, " ", &rest))
		nearest_offer(&n, s);
	ck_assert_str_eq(nearest_hint(&n), hint);
	ck_assert_int_eq(nearest_found(&n), *hint != '\0');
	nearest_fini(&n);
	free(names);
}

START_TEST(names_have_a_distance)
{
	char same[300], other[300];

	ck_assert_uint_eq(nearest_distance("read", "read", 0), 0);
	ck_assert_uint_eq(nearest_distance("raed", "read", 9), 2);
	ck_assert_uint_eq(nearest_distance("rea", "read", 9), 2);
	ck_assert_uint_eq(nearest_distance("reead", "read", 9), 2);
	ck_assert_uint_eq(nearest_distance("xead", "read", 9), 2);
	ck_assert_uint_eq(nearest_distance("Read", "read", 9), 1);
	ck_assert_uint_eq(nearest_distance("end-code", "end_code", 9), 1);
	ck_assert_uint_eq(nearest_distance("raed", "ready", 9), 4);
	ck_assert_uint_eq(nearest_distance("abcd", "badc", 9), 4);
	ck_assert_uint_eq(nearest_distance("", "ab", 9), 4);
	ck_assert_uint_eq(nearest_distance("write", "read", 3), 4);
	ck_assert_uint_eq(nearest_distance("raed", "read", 1), 2);
	/* What is too long is equal or is not near. */
	memset(same, 'a', sizeof(same));
	same[sizeof(same) - 1] = '\0';
	strcpy(other, same);
	ck_assert_uint_eq(nearest_distance(same, other, 8), 0);
	other[0] = 'b';
	ck_assert_uint_eq(nearest_distance(same, other, 8), 9);
	other[255] = same[255] = '\0';
	ck_assert_uint_eq(nearest_distance(same, other, 8), 2);
}
END_TEST

START_TEST(the_nearest_name_is_found)
{
	expect_hint("execnam", "pid execname tid", "; did you mean execname?");
	expect_hint("execnam", "pid tid", "");
	expect_hint("execnam", "", "");
	/* The nearer drives out the farther, whatever the order. */
	expect_hint("execnam", "exename execname", "; did you mean execname?");
	expect_hint("execnam", "execname exename", "; did you mean execname?");
	/* Equally near, in order, each once, and no more than three. */
	expect_hint("fgts", "fputs fgets", "; did you mean fgets?");
	expect_hint("reed", "read reef", "; did you mean read or reef?");
	expect_hint("reed", "reef read reel read",
	    "; did you mean read, reef or reel?");
	expect_hint("reed", "seed reel deed reef read",
	    "; did you mean deed, read or reef?");
	/* Unfinished. */
	expect_hint("wait", "waitid wait4 write", "; did you mean wait4?");
	expect_hint("exec", "execname execargs exit",
	    "; did you mean execargs or execname?");
	expect_hint("wait", "wait4 wai", "; did you mean wai or wait4?");
	expect_hint("wa", "wait4", "");
	/* Short names have little to be recognised by. */
	expect_hint("x", "y X", "; did you mean X?");
	expect_hint("x", "y", "");
	expect_hint("ti", "tid pid", "; did you mean tid?");
	expect_hint("xyz", "uid", "");
	expect_hint("EXECNAME", "execname", "; did you mean execname?");
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("base");
	TCase *tc = tcase_create("base");

	tcase_add_test(tc, what_others_chose_is_shown);
	tcase_add_test(tc, utf8_has_as_many_bytes_as_it_needs);
	tcase_add_test(tc, glob_matches_as_probe_descriptions_do);
	tcase_add_test(tc, hash_keeps_what_it_is_given);
	tcase_add_test(tc, hash_strings_are_compared_by_content);
	tcase_add_test(tc, vec_and_str_grow);
	tcase_add_test(tc, intern_makes_equal_texts_one);
	tcase_add_test(tc, what_cannot_grow_stays_as_it_is);
	tcase_add_test(tc, hash_grows_beforehand);
	tcase_add_test(tc, fault_kills_at_the_passage_that_is_named);
	tcase_add_test(tc, arena_gives_zeroed_aligned_memory);
	tcase_add_test(tc, names_have_a_distance);
	tcase_add_test(tc, the_nearest_name_is_found);
	suite_add_tcase(s, tc);

	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
