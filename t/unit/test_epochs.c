/*
 * symbols/epochs: which load was where, as objects come and go.
 */
#include <check.h>

#include "symbols/addrspace.h"
#include "symbols/epochs.h"

static struct load a = { .start = 0x1000, .end = 0x2000 };
static struct load b = { .start = 0x1800, .end = 0x2800 };
static struct load c = { .start = 0x4000, .end = 0x5000 };
static struct epochs e;

static void
setup(void)
{
	epochs_init(&e, 5, 0);
}

static void
teardown(void)
{
	epochs_fini(&e);
}

START_TEST(one_stamp_as_long_as_places_are_their_own)
{
	epochs_came(&e, &a, 1);
	epochs_came(&e, &c, 2);
	epochs_gone(&e, &a, 3);
	ck_assert(!epochs_contested(&e, &c));
	/* A load that comes back to where it was contests nobody. */
	ck_assert(!epochs_contested(&e, &a));
	epochs_came(&e, &a, 4);
	ck_assert_uint_eq(e.spans.len, 2);
	ck_assert_uint_eq(epochs_now(&e), 5);
	ck_assert_uint_eq(epochs_first(&e), 5);
	ck_assert_ptr_eq(epochs_load(&e, 5, 0x1000), &a);
	ck_assert_ptr_eq(epochs_load(&e, 5, 0x4fff), &c);
	ck_assert_ptr_null(epochs_load(&e, 5, 0x2000));
}
END_TEST

START_TEST(a_new_stamp_when_a_place_is_taken_over)
{
	epochs_came(&e, &a, 1);
	epochs_gone(&e, &a, 2);
	ck_assert(epochs_contested(&e, &b));
	epochs_begin(&e, 9, 3);
	epochs_came(&e, &b, 3);
	epochs_came(&e, &c, 3);
	ck_assert_uint_eq(epochs_now(&e), 9);
	ck_assert_uint_eq(epochs_first(&e), 5);
	ck_assert_ptr_eq(epochs_load(&e, 5, 0x1900), &a);
	ck_assert_ptr_eq(epochs_load(&e, 9, 0x1900), &b);
	/* Nobody was there then: the one that came first. */
	ck_assert_ptr_eq(epochs_load(&e, 5, 0x2100), &b);
	ck_assert_ptr_eq(epochs_load(&e, 5, 0x4000), &c);
}
END_TEST

START_TEST(turns_in_one_place)
{
	uint32_t stamp = 5, stamps[8], generation = 0;
	struct load *who[8];

	for (int i = 0; i < 8; i++) {
		struct load *l = i % 2 != 0 ? &b : &a;
		generation++;
		if (i > 0) {
			epochs_gone(&e, i % 2 != 0 ? &a : &b, generation);
			ck_assert(epochs_contested(&e, l));
			stamp += 3;
			epochs_begin(&e, stamp, generation);
		}
		epochs_came(&e, l, generation);
		stamps[i] = stamp;
		who[i] = l;
	}
	for (int i = 0; i < 8; i++)
		ck_assert_ptr_eq(epochs_load(&e, stamps[i], 0x1900), who[i]);
}
END_TEST

START_TEST(those_of_an_earlier_stamp_contest_nothing)
{
	epochs_came(&e, &a, 1);
	epochs_gone(&e, &a, 2);
	epochs_begin(&e, 9, 3);
	epochs_came(&e, &b, 3);
	epochs_gone(&e, &b, 4);
	/* Under stamp 9 nobody else was there. */
	ck_assert(!epochs_contested(&e, &b));
	ck_assert(epochs_contested(&e, &a));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("symbols/epochs");
	TCase *tc = tcase_create("epochs");
	SRunner *r = srunner_create(s);

	suite_add_tcase(s, tc);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, one_stamp_as_long_as_places_are_their_own);
	tcase_add_test(tc, a_new_stamp_when_a_place_is_taken_over);
	tcase_add_test(tc, turns_in_one_place);
	tcase_add_test(tc, those_of_an_earlier_stamp_contest_nothing);
	srunner_run_all(r, CK_NORMAL);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
