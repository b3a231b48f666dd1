/*
 * tracer/prov/pid: which names of probes are offsets.
 */
#include <check.h>
#include <stdint.h>

#include "tracer/prov/pid/pid_impl.h"

START_TEST(an_offset_is_a_hexadecimal_number)
{
	uint64_t v = 77;

	ck_assert(pid_parse_hex("0", &v));
	ck_assert_uint_eq(v, 0);
	ck_assert(pid_parse_hex("1f", &v));
	ck_assert_uint_eq(v, 0x1f);
	ck_assert(pid_parse_hex("ABCDEF", &v));
	ck_assert_uint_eq(v, 0xabcdef);
	ck_assert(pid_parse_hex("ffffffffffffffff", &v));
	ck_assert_uint_eq(v, UINT64_MAX);
}
END_TEST

START_TEST(other_names_are_none)
{
	static const char *const names[] = { "", "entry", "return", "-1", "+1",
		" 1", "1 ", "g", "1g", "10000000000000000" };
	uint64_t v;

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		ck_assert_msg(!pid_parse_hex(names[i], &v), "%s", names[i]);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("pid_offset");
	TCase *t = tcase_create("pid_offset");
	SRunner *r;
	int failed;

	tcase_add_test(t, an_offset_is_a_hexadecimal_number);
	tcase_add_test(t, other_names_are_none);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
