/*
 * dlang/vm/spec.c through clauses: speculation(), speculate(), commit(),
 * discard().
 */
#include <check.h>
#include <string.h>

#include "dlang/base/base.h"
#include "t/fake/env.h"

static struct kit k;
static uint32_t probe[4]; /* speculate, commit, discard, speculation() */

/* Clauses: 0 { speculate(arg0); trace(arg1) }  1 { commit(arg0) }
 * 2 { discard(arg0) }  3 { trace(speculation()) } */
static void
start(uint32_t nspec, uint32_t specsize, uint32_t bufsize)
{
	kit_init(&k);
	k.opts.value[OPT_NSPEC] = nspec;
	k.opts.value[OPT_SPECSIZE] = specsize;
	k.sizes.bufsize = bufsize;
	kit_clause(&k, NULL, 32)->speculates = true;
	kit_act(&k, OP_SPECULATE, kit_load(&k, DIF_VAR_ARG0));
	kit_rec(&k, kit_load(&k, DIF_VAR_ARG1), 24, 8, 0);
	kit_clause(&k, NULL, 0)->commits = true;
	kit_act(&k, OP_COMMIT, kit_load(&k, DIF_VAR_ARG0));
	kit_clause(&k, NULL, 0);
	kit_act(&k, OP_DISCARD, kit_load(&k, DIF_VAR_ARG0));
	kit_clause(&k, NULL, 32);
	kit_rec(&k,
	    kit_difo(&k,
		KIT_TEXT(DIF_INSTR_INDEX(DIF_OP_CALL, DIF_SUBR_SPECULATION, 1),
		    DIF_INSTR(DIF_OP_RET, 0, 0, 1)),
		NULL, 0, NULL, 0),
	    24, 8, 0);
	kit_publish(&k);
	for (int i = 0; i < 4; i++)
		probe[i] = kit_probe(&k, 0, i, -1);
}

static void
teardown(void)
{
	kit_fini(&k);
}

static void
fire(int what, uint64_t arg0, uint64_t arg1)
{
	k.env.hit[0] = arg0;
	k.env.hit[1] = arg1;
	k.env.timestamp++;
	ecb_fire_probe(&k.env, probe[what]);
}

static uint64_t
word(const struct rec_hdr *r)
{
	uint64_t v;

	memcpy(&v, r + 1, 8);
	return v;
}

static uint64_t
create(void)
{
	fire(3, 0, 0);
	const struct rec_hdr *r = kit_record(&k);
	ck_assert_ptr_nonnull(r);
	ck_assert_uint_eq(r->epid, 4);
	return word(r);
}

static uint64_t
drops(enum drop_kind kind)
{
	return kit_lane(&k)->drops[kind];
}

START_TEST(ids_are_handed_out_and_come_back)
{
	start(2, 256, 4096);
	ck_assert_uint_eq(create(), 1);
	ck_assert_uint_eq(create(), 2);
	ck_assert_uint_eq(create(), 0);
	ck_assert_uint_eq(drops(DROP_SPEC_UNAVAIL), 1);
	fire(2, 1, 0);
	ck_assert_uint_eq(create(), 1);
	fire(1, 2, 0);
	ck_assert_uint_eq(create(), 2);
	ck_assert_ptr_null(kit_record(&k));
}
END_TEST

START_TEST(commit_shows_records_with_its_own_time)
{
	start(2, 256, 4096);
	create();
	fire(0, 1, 100);
	fire(0, 1, 101);
	ck_assert_ptr_null(kit_record(&k));
	k.env.cpu = 9;
	fire(1, 1, 0);
	for (uint64_t i = 100; i < 102; i++) {
		const struct rec_hdr *r = kit_record(&k);
		ck_assert_ptr_nonnull(r);
		ck_assert_uint_eq(r->epid, 1);
		ck_assert_uint_eq(word(r), i);
		ck_assert_uint_eq(r->timestamp, k.env.timestamp);
		ck_assert_uint_eq(r->cpu, 9);
		ck_assert_uint_eq(r->tid, 4243);
	}
	ck_assert_ptr_null(kit_record(&k));
	/* It is inactive now: nothing goes in or comes out. */
	fire(0, 1, 102);
	fire(1, 1, 0);
	ck_assert_ptr_null(kit_record(&k));
}
END_TEST

START_TEST(discard_drops_them)
{
	start(1, 256, 4096);
	create();
	fire(0, 1, 100);
	fire(2, 1, 0);
	ck_assert_uint_eq(create(), 1);
	fire(1, 1, 0);
	ck_assert_ptr_null(kit_record(&k));
}
END_TEST

START_TEST(zero_is_nothing_and_to_end_more_than_nspec_a_fault)
{
	start(2, 256, 4096);
	for (int i = 0; i < 3; i++) {
		fire(i, 0, 0);
		ck_assert_ptr_null(kit_record(&k));
	}
	fire(0, 3, 0);
	fire(0, (uint64_t)-1, 0);
	ck_assert_ptr_null(kit_record(&k));
	for (int i = 1; i < 3; i++) {
		fire(i, 3, 0);
		const struct rec_fault *f = kit_record(&k);
		ck_assert_ptr_nonnull(f);
		ck_assert_uint_eq(f->hdr.epid, EPID_FAULT);
		ck_assert_uint_eq(f->epid, i + 1);
		ck_assert_uint_eq(f->action, 1);
		ck_assert_uint_eq(f->code, FLT_ILLOP);
		/* Where the id came out: the last of two instructions. */
		ck_assert_int_eq(f->offset, 4);
		ck_assert_uint_eq(f->value, 3);
	}
}
END_TEST

START_TEST(a_full_speculation_drops)
{
	start(1, 64, 4096); /* 24 bytes each: the time comes later */
	create();
	for (uint64_t i = 0; i < 4; i++)
		fire(0, 1, i);
	ck_assert_uint_eq(drops(DROP_SPEC), 2);
	fire(1, 1, 0);
	ck_assert_uint_eq(word(kit_record(&k)), 0);
	ck_assert_uint_eq(word(kit_record(&k)), 1);
	ck_assert_ptr_null(kit_record(&k));
}
END_TEST

START_TEST(commit_is_all_or_nothing)
{
	start(1, 1024, 256);
	create();
	for (uint64_t i = 0; i < 7; i++)
		fire(0, 1, i);
	fire(3, 0, 0); /* one record in the principal buffer */
	fire(3, 0, 0);
	fire(1, 1, 0);
	ck_assert_uint_eq(drops(DROP_PRINCIPAL), 1);
	ck_assert_uint_eq(((const struct rec_hdr *)kit_record(&k))->epid, 4);
	ck_assert_uint_eq(((const struct rec_hdr *)kit_record(&k))->epid, 4);
	ck_assert_ptr_null(kit_record(&k));
	ck_assert_uint_eq(create(), 1); /* it is free again */
}
END_TEST

/* Whatever a program of the target has written to the size, a record begins at
 * a whole word. */
START_TEST(a_damaged_size_is_rounded)
{
	start(1, 256, 4096);
	create();
	fire(0, 1, 100);
	uint32_t *state_and_used = (uint32_t *)k.env.at.spec;
	ck_assert_uint_eq(state_and_used[1], 24);
	for (uint32_t bit = 1; bit < 8; bit *= 2) {
		state_and_used[1] |= bit;
		fire(0, 1, 100 + bit);
	}
	fire(1, 1, 0);
	ck_assert_uint_eq(word(kit_record(&k)), 100);
	ck_assert_uint_eq(word(kit_record(&k)), 101);
	ck_assert_uint_eq(word(kit_record(&k)), 102);
	ck_assert_uint_eq(word(kit_record(&k)), 104);
}
END_TEST

START_TEST(what_follows_speculate_zero_does_not_run)
{
	kit_init(&k);
	kit_agg(&k, AGG_COUNT, 0, 0);
	kit_clause(&k, NULL, 32)->speculates = true;
	kit_act(&k, OP_STOP, NULL);
	kit_act(&k, OP_SPECULATE, kit_const(&k, 0));
	kit_act(&k, OP_CHILL, kit_const(&k, 5));
	kit_publish(&k);
	probe[0] = kit_probe(&k, 0, 0, -1);
	fire(0, 0, 0);
	ck_assert_int_eq(k.target.control_op, OP_STOP);
	ck_assert_ptr_null(kit_record(&k));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("spec");
	TCase *tc = tcase_create("spec");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, ids_are_handed_out_and_come_back);
	tcase_add_test(tc, commit_shows_records_with_its_own_time);
	tcase_add_test(tc, discard_drops_them);
	tcase_add_test(tc, zero_is_nothing_and_to_end_more_than_nspec_a_fault);
	tcase_add_test(tc, a_full_speculation_drops);
	tcase_add_test(tc, commit_is_all_or_nothing);
	tcase_add_test(tc, a_damaged_size_is_rounded);
	tcase_add_test(tc, what_follows_speculate_zero_does_not_run);
	suite_add_tcase(s, tc);

	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
