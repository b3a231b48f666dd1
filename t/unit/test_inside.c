/*
 * Which clauses can be run inside the target.
 */
#include <check.h>

#include "dlang/image/inside.h"
#include "t/fake/env.h"

static struct kit k;
static struct str why;
static int second; /* the number of another clause on the site; -1: none */

static const struct argloc places[] = {
	{ ARGLOC_REG, 8, 0, UREG_RDI, 0, 0, 0, 0, 0 },
	{ ARGLOC_MEM, 8, 0, UREG_RSP, ARGLOC_NOREG, 0, 0, 0, 8 },
	{ ARGLOC_REG, 8, 0, UREG_FS_BASE, 0, 0, 0, 0, 0 },
	{ ARGLOC_SUM, 8, 0, UREG_RSP, ARGLOC_NOREG, 0, 0, 0, 8 },
	{ ARGLOC_HIT, 8, 0, 0, 0, 0, 0, 0, 0 },
};

#define TP 5

static void
up(void)
{
	second = -1;
	kit_init(&k);
	kit_agg(&k, AGG_COUNT, 0, 0);
	kit_var(&k, DIF_GLOBAL, DIF_SCALAR, 0x500);
}

static void
down(void)
{
	str_fini(&why);
	kit_fini(&k);
}

/* An act of an expression whose value is not recorded. */
static void
asks(struct difo *d)
{
	kit_act(&k, OP_EXPR, d);
}

static struct difo *
array(uint32_t id, uint64_t n)
{
	return kit_difo(&k,
	    KIT_TEXT(DIF_INSTR_INDEX(DIF_OP_SETX, 0, 1),
		DIF_INSTR(DIF_OP_LDGA, id, 1, 2),
		DIF_INSTR(DIF_OP_RET, 0, 0, 2)),
	    &n, 1, NULL, 0);
}

/* Publish, with clause 0 and the second one on a site; why it is not run inside, "" when it is. */
static const char *
answer(bool clock)
{
	struct inside in = { k.image, clock };

	if (k.store.base == NULL) {
		kit_publish(&k);
		image_add_site(k.im, kit_probe(&k, 0, 0, second, -1), TP,
		    image_add_args(k.im, places, ARRAY_SIZE(places)),
		    ARRAY_SIZE(places));
		in.image = k.image;
	}
	str_clear(&why);
	bool ok = inside_tracepoint(&in, TP, &why);
	ck_assert_int_eq(ok, why.len == 0);
	return str_c(&why);
}

START_TEST(counts_and_records_can)
{
	kit_clause(&k, kit_load(&k, DIF_VAR_ARG0), 32);
	kit_rec(&k, kit_load(&k, DIF_VAR_TID), 24, 8, 0);
	asks(kit_load(&k, DIF_VAR_ARG0 + 1)); /* in memory */
	asks(kit_load(&k, DIF_VAR_ARG0 + 3));
	asks(kit_load(&k, DIF_VAR_ARG0 + 9)); /* there is none: 0 */
	asks(kit_load(&k, DIF_VAR_CPU));
	asks(array(DIF_VAR_UREGS, UREG_RAW + UREG_RBX));
	asks(array(DIF_VAR_ARGS, 0));
	kit_act(&k, OP_AGG, NULL)->arg = 1;
	ck_assert_str_eq(answer(true), "");
	ck_assert_str_eq(answer(false), "the process cannot read the clock");
}
END_TEST

/* A number that no tracepoint has: nothing there has to be asked for. */
START_TEST(what_is_no_tracepoint_can)
{
	kit_clause(&k, NULL, 0);
	kit_act(&k, OP_AGG, NULL)->arg = 1;
	answer(true);
	const struct inside in = { k.image, true };
	ck_assert(inside_tracepoint(&in, 0, &why));
	ck_assert(inside_tracepoint(&in, UINT32_MAX, &why));
}
END_TEST

START_TEST(without_a_clock_counts_can)
{
	kit_clause(&k, NULL, 0);
	kit_act(&k, OP_AGG, NULL)->arg = 1;
	ck_assert_str_eq(answer(false), "");
}
END_TEST

#define REFUSED(name, difo, text)                       \
	START_TEST(name)                                \
	{                                               \
		kit_clause(&k, NULL, 0);                \
		asks(difo);                             \
		ck_assert_str_eq(answer(true), (text)); \
	}                                               \
	END_TEST

REFUSED(other_registers_cannot, kit_load(&k, DIF_VAR_ARG0 + 2),
    "argument 2 is in a register that a jump does not save")
REFUSED(words_of_the_hit_cannot, array(DIF_VAR_ARGS, 4),
    "argument 4 is known only to the tracer")
REFUSED(vectors_cannot, array(DIF_VAR_UREGS, UREG_RAW + UREG_XMM(0, 0)),
    "a register that a jump does not save")
REFUSED(segments_cannot, array(DIF_VAR_UREGS, UREG_CS),
    "a register that a jump does not save")
REFUSED(globals_cannot, kit_load(&k, 0x500), "for global variables")
REFUSED(the_kernel_cannot, kit_load(&k, DIF_VAR_UID),
    "for what the kernel knows of the process")

/* A number of an argument that is not the same on every way. */
START_TEST(unknown_arguments_cannot)
{
	uint64_t n[] = { 0, 3 };

	kit_clause(&k, NULL, 0);
	asks(kit_difo(&k,
	    KIT_TEXT(DIF_INSTR_INDEX(DIF_OP_SETX, 0, 1),
		DIF_INSTR(DIF_OP_TST, 1, 0, 0), DIF_INSTR_BRANCH(DIF_OP_BE, 4),
		DIF_INSTR_INDEX(DIF_OP_SETX, 1, 1),
		DIF_INSTR(DIF_OP_LDGA, DIF_VAR_ARGS, 1, 2),
		DIF_INSTR(DIF_OP_RET, 0, 0, 2)),
	    n, 2, NULL, 0));
	ck_assert_str_eq(answer(true),
	    "argument 2 is in a register that a jump does not save");
}
END_TEST

/* Actions that need the tracer do not keep their predicate from running inside;
 * those without a predicate do. */
START_TEST(a_predicate_can_alone)
{
	kit_clause(&k, kit_load(&k, DIF_VAR_ARG0), 0);
	asks(kit_load(&k, 0x500));
	kit_clause(&k, kit_load(&k, DIF_VAR_ARG0 + 3), 32);
	kit_rec(&k, kit_load(&k, DIF_VAR_TID), 24, 8, 0);
	kit_act(&k, OP_EXIT, kit_const(&k, 0));
	second = 1;
	ck_assert_str_eq(answer(false), "");
	kit_probe(&k, IMG_PROBE_ERROR, 0, -1);
	ck_assert_str_eq(answer(true), "ERROR: for global variables");
}
END_TEST

START_TEST(a_predicate_has_to_be_able)
{
	kit_clause(&k, kit_load(&k, DIF_VAR_ARG0 + 2), 0);
	asks(kit_load(&k, 0x500));
	ck_assert_str_eq(answer(true),
	    "argument 2 is in a register that a jump does not save");
}
END_TEST

START_TEST(a_predicate_with_a_clock)
{
	kit_clause(&k, kit_load(&k, DIF_VAR_TIMESTAMP), 0);
	asks(kit_load(&k, 0x500));
	ck_assert_str_eq(answer(true), "");
	ck_assert_str_eq(answer(false), "the process cannot read the clock");
}
END_TEST

/* Kept records are the tracer's, and so are the actions of their clause. */
START_TEST(kept_records_are_left_to_the_tracer)
{
	ck_assert_int_eq(option_set(&k.opts, "bufpolicy", "fill", false), 0);
	kit_clause(&k, kit_load(&k, DIF_VAR_ARG0), 32);
	kit_rec(&k, kit_load(&k, DIF_VAR_TID), 24, 8, 0);
	ck_assert_str_eq(answer(true), "");
	/* ERROR's predicate is not enough. */
	kit_probe(&k, IMG_PROBE_ERROR, 0, -1);
	ck_assert_str_eq(answer(true), "ERROR: for its records");
}
END_TEST

/* What the program records faster than it is read would be lost. */
START_TEST(records_are_the_tracers_by_default)
{
	ck_assert_int_eq(option_set(&k.opts, "fastpath", "auto", false), 0);
	kit_clause(&k, NULL, 32);
	kit_rec(&k, kit_load(&k, DIF_VAR_TID), 24, 8, 0);
	ck_assert_str_eq(answer(true), "for its records");
}
END_TEST

START_TEST(nor_is_there_another_way_without_a_predicate)
{
	ck_assert_int_eq(option_set(&k.opts, "bufpolicy", "ring", false), 0);
	kit_clause(&k, NULL, 32);
	kit_rec(&k, kit_load(&k, DIF_VAR_TID), 24, 8, 0);
	ck_assert_str_eq(answer(true), "for its records");
}
END_TEST

START_TEST(needs_of_actions_are_said_first)
{
	ck_assert_int_eq(option_set(&k.opts, "bufpolicy", "ring", false), 0);
	kit_clause(&k, NULL, 32);
	kit_rec(&k, kit_load(&k, DIF_VAR_TID), 24, 8, 0);
	asks(kit_load(&k, 0x500));
	ck_assert_str_eq(answer(true), "for global variables");
}
END_TEST

/* strtok(NULL, ""). */
static struct difo *
tokens(void)
{
	static const uint64_t zero = 0;

	return kit_difo(&k,
	    KIT_TEXT(DIF_INSTR_INDEX(DIF_OP_SETX, 0, 1),
		DIF_INSTR_INDEX(DIF_OP_SETS, 0, 2),
		DIF_INSTR(DIF_OP_PUSHTR, DIF_TYPE_STRING, 0, 1),
		DIF_INSTR(DIF_OP_PUSHTR, DIF_TYPE_STRING, 0, 2),
		DIF_INSTR_INDEX(DIF_OP_CALL, DIF_SUBR_STRTOK, 1),
		DIF_INSTR(DIF_OP_RET, 0, 0, 1)),
	    &zero, 1, NULL, 0);
}

/* this->x = alloca(8) */
START_TEST(a_predicate_keeps_no_pointer)
{
	static const uint64_t eight = 8;

	kit_var(&k, DIF_LOCAL, DIF_SCALAR, 0x501);
	kit_clause(&k,
	    kit_difo(&k,
		KIT_TEXT(DIF_INSTR_INDEX(DIF_OP_SETX, 0, 1),
		    DIF_INSTR(DIF_OP_ALLOCS, 1, 0, 1),
		    DIF_INSTR_INDEX(DIF_OP_STLS, 0x501, 1),
		    DIF_INSTR(DIF_OP_RET, 0, 0, 1)),
		&eight, 1, NULL, 0),
	    0);
	asks(kit_load(&k, 0x500));
	ck_assert_str_eq(answer(true), "the predicate may keep a pointer");
}
END_TEST

START_TEST(strtok_stays_in_one_place)
{
	kit_clause(&k, kit_load(&k, DIF_VAR_ARG0), 0);
	asks(kit_load(&k, 0x500));
	kit_clause(&k, NULL, 0);
	asks(tokens());
	second = 1;
	ck_assert_str_eq(answer(true), "for strtok()");
}
END_TEST

/* Any clause may fault, and then ERROR's run where it did. */
START_TEST(error_has_to_be_able)
{
	kit_clause(&k, NULL, 0);
	kit_act(&k, OP_AGG, NULL)->arg = 1;
	kit_clause(&k, NULL, 0);
	asks(kit_load(&k, DIF_VAR_ARG0 + 2));
	kit_clause(&k, NULL, 0);
	asks(kit_load(&k, 0x500));
	ck_assert_str_eq(answer(true), "");
	kit_probe(&k, IMG_PROBE_ERROR, 1, -1);
	ck_assert_str_eq(answer(true), "");
	kit_probe(&k, IMG_PROBE_ERROR, 2, -1);
	ck_assert_str_eq(answer(true), "ERROR: for global variables");
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = { counts_and_records_can,
		what_is_no_tracepoint_can, without_a_clock_counts_can,
		other_registers_cannot, words_of_the_hit_cannot, vectors_cannot,
		segments_cannot, globals_cannot, the_kernel_cannot,
		unknown_arguments_cannot, error_has_to_be_able,
		a_predicate_can_alone, a_predicate_has_to_be_able,
		a_predicate_with_a_clock, kept_records_are_left_to_the_tracer,
		records_are_the_tracers_by_default,
		nor_is_there_another_way_without_a_predicate,
		needs_of_actions_are_said_first, strtok_stays_in_one_place,
		a_predicate_keeps_no_pointer };
	Suite *s = suite_create("inside");
	TCase *tc = tcase_create("inside");

	tcase_add_checked_fixture(tc, up, down);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(tc, tests[i]);
	suite_add_tcase(s, tc);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
