/*
 * dlang/verify.c: one row for each rule, what is admitted and with what needs.
 */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "dlang/base/base.h"
#include "t/fake/env.h"

static struct kit k;

enum { GLOBAL = 0x500, GSTR, LOCAL, SELF, ASSOC, SELFASSOC };

static void
setup(void)
{
	kit_init(&k);
	kit_var(&k, DIF_GLOBAL, DIF_SCALAR, GLOBAL);
	kit_ref_var(&k, DIF_GLOBAL, DIF_SCALAR, GSTR, true, 64);
	kit_var(&k, DIF_LOCAL, DIF_SCALAR, LOCAL);
	kit_var(&k, DIF_THREAD, DIF_SCALAR, SELF);
	kit_var(&k, DIF_GLOBAL, DIF_ARRAY, ASSOC);
	kit_var(&k, DIF_THREAD, DIF_ARRAY, SELFASSOC);
}

static void
teardown(void)
{
	kit_fini(&k);
}

#define RET DIF_INSTR(DIF_OP_RET, 0, 0, 1)
#define I   DIF_INSTR
#define IX  DIF_INSTR_INDEX
#define BR  DIF_INSTR_BRANCH

/* The reason why this instruction, followed by nop and ret, is refused; NULL
 * when it is admitted.  Two integers, a string table of five bytes. */
static const char *
why(dif_instr i)
{
	static const uint64_t ints[2] = { 1, 2 };
	const char *reason = NULL;
	uint32_t at = 99;
	struct difo *d = kit_difo(
	    &k, KIT_TEXT(i, I(DIF_OP_NOP, 0, 0, 0), RET), ints, 2, "\0abc", 5);
	int error = verify_difo(&k.arena, d, &k.globals, &reason, &at);

	ck_assert_int_eq(error, reason != NULL ? -EINVAL : 0);
	ck_assert(d->verified == (reason == NULL));
	if (reason != NULL)
		ck_assert_uint_eq(at, 0);
	return reason;
}

START_TEST(what_is_admitted)
{
	/* clang-format off */
	static const dif_instr rows[] = {
		I(DIF_OP_ADD, 0, 7, 7), I(DIF_OP_NOT, 1, 0, 2),
		I(DIF_OP_MOV, 0, 0, 1), I(DIF_OP_CMP, 0, 1, 0),
		I(DIF_OP_TST, 1, 0, 0), BR(DIF_OP_BA, 1), BR(DIF_OP_BLEU, 2),
		I(DIF_OP_LDX, 1, 0, 1), I(DIF_OP_RLDX, 1, 0, 7),
		I(DIF_OP_RET, 0, 0, 0), I(DIF_OP_NOP, 0, 0, 0),
		IX(DIF_OP_SETX, 1, 1), IX(DIF_OP_SETS, 4, 1),
		I(DIF_OP_SCMP, 1, 2, 0), I(DIF_OP_LDGA, DIF_VAR_ARGS, 0, 1),
		I(DIF_OP_LDGA, DIF_VAR_UREGS, 7, 1),
		IX(DIF_OP_LDGS, DIF_VAR_PID, 1), IX(DIF_OP_LDGS, GLOBAL, 1),
		IX(DIF_OP_STGS, GLOBAL, 0), IX(DIF_OP_STGS, GSTR, 1),
		IX(DIF_OP_LDLS, LOCAL, 1), IX(DIF_OP_STLS, LOCAL, 1),
		IX(DIF_OP_LDTS, SELF, 1), IX(DIF_OP_STTS, SELF, 0),
		IX(DIF_OP_LDGAA, ASSOC, 1), IX(DIF_OP_STGAA, ASSOC, 1),
		IX(DIF_OP_LDTAA, SELFASSOC, 1), IX(DIF_OP_STTAA, SELFASSOC, 1),
		IX(DIF_OP_CALL, DIF_SUBR_STRLEN, 1),
		I(DIF_OP_PUSHTR, 1, 0, 1), I(DIF_OP_PUSHTR, 0, 7, 7),
		I(DIF_OP_PUSHTV, 0, 0, 1), I(DIF_OP_POPTS, 0, 0, 0),
		I(DIF_OP_FLUSHTS, 0, 0, 0), I(DIF_OP_ALLOCS, 1, 0, 1),
		I(DIF_OP_COPYS, 0, 1, 1), I(DIF_OP_STB, 0, 0, 1),
		I(DIF_OP_STX, 7, 0, 7),
	};
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		ck_assert_msg(
		    why(rows[i]) == NULL, "%08x: %s", rows[i], why(rows[i]));
}
END_TEST

START_TEST(what_is_refused)
{
	/* clang-format off */
	static const struct {
		dif_instr i;
		const char *why;
	} rows[] = {
		{ I(DIF_OP_ADD, 8, 0, 1), "invalid register 8" },
		{ I(DIF_OP_ADD, 0, 255, 1), "invalid register 255" },
		{ I(DIF_OP_ADD, 0, 0, 8), "invalid register 8" },
		{ I(DIF_OP_ADD, 1, 2, 0), "cannot write to %r0" },
		{ I(DIF_OP_MOV, 1, 0, 0), "cannot write to %r0" },
		{ IX(DIF_OP_SETX, 0, 0), "cannot write to %r0" },
		{ IX(DIF_OP_LDGS, GLOBAL, 0), "cannot write to %r0" },
		{ IX(DIF_OP_CALL, DIF_SUBR_RAND, 0), "cannot write to %r0" },
		{ I(DIF_OP_LDX, 1, 0, 0), "cannot write to %r0" },
		{ I(DIF_OP_LDX, 9, 0, 1), "invalid register 9" },
		{ I(DIF_OP_STX, 1, 0, 0), "cannot write to 0 address" },
		{ I(DIF_OP_COPYS, 1, 1, 0), "cannot write to 0 address" },
		{ I(DIF_OP_MOV, 1, 1, 1), "non-zero reserved bits" },
		{ I(DIF_OP_NOT, 1, 1, 1), "non-zero reserved bits" },
		{ I(DIF_OP_ALLOCS, 1, 1, 1), "non-zero reserved bits" },
		{ I(DIF_OP_LDX, 1, 1, 1), "non-zero reserved bits" },
		{ I(DIF_OP_STX, 1, 1, 1), "non-zero reserved bits" },
		{ I(DIF_OP_CMP, 1, 1, 1), "non-zero reserved bits" },
		{ I(DIF_OP_TST, 1, 1, 0), "non-zero reserved bits" },
		{ I(DIF_OP_TST, 1, 0, 1), "non-zero reserved bits" },
		{ I(DIF_OP_RET, 1, 0, 1), "non-zero reserved bits" },
		{ I(DIF_OP_NOP, 0, 0, 1), "non-zero reserved bits" },
		{ I(DIF_OP_POPTS, 1, 0, 0), "non-zero reserved bits" },
		{ I(DIF_OP_FLUSHTS, 0, 1, 0), "non-zero reserved bits" },
		{ I(DIF_OP_PUSHTV, 0, 1, 1), "non-zero reserved bits" },
		{ BR(DIF_OP_BA, 3), "invalid branch target 3" },
		{ BR(DIF_OP_BE, 0xffffff), "invalid branch target 16777215" },
		{ BR(DIF_OP_BA, 0), "backward branch to 0" },
		{ IX(DIF_OP_SETX, 2, 1), "invalid integer ref 2" },
		{ IX(DIF_OP_SETS, 5, 1), "invalid string ref 5" },
		{ I(DIF_OP_LDGA, 4, 1, 1), "invalid array 4" },
		{ I(DIF_OP_LDGA, 255, 1, 1), "invalid array 255" },
		{ I(DIF_OP_LDTA, 0, 1, 1), "invalid array 0" },
		{ IX(DIF_OP_LDGS, 0, 1), "invalid variable 0" },
		{ IX(DIF_OP_LDGS, 0x123, 1), "invalid variable 291" },
		{ IX(DIF_OP_LDGS, DIF_VAR_ZONENAME, 1), "invalid variable 281" },
		{ IX(DIF_OP_LDGS, 0x50f, 1), "invalid variable 1295" },
		{ IX(DIF_OP_LDGS, LOCAL, 1), "invalid variable 1282" },
		{ IX(DIF_OP_LDGS, ASSOC, 1), "invalid variable 1284" },
		{ IX(DIF_OP_LDGAA, GLOBAL, 1), "invalid variable 1280" },
		{ IX(DIF_OP_LDTAA, ASSOC, 1), "invalid variable 1284" },
		{ IX(DIF_OP_LDTS, GLOBAL, 1), "invalid variable 1280" },
		{ IX(DIF_OP_LDLS, DIF_VAR_PID, 1), "invalid variable 278" },
		{ IX(DIF_OP_STGS, DIF_VAR_PID, 1), "invalid variable 278" },
		{ IX(DIF_OP_STTS, 0xffff, 1), "invalid variable 65535" },
		{ IX(DIF_OP_CALL, 250, 1), "invalid subr 250" },
		{ IX(DIF_OP_CALL, DIF_SUBR_GETF, 1), "invalid subr 51" },
		{ I(DIF_OP_PUSHTR, 2, 1, 1), "invalid ref type" },
		{ I(DIF_OP_PUSHTV, 1, 0, 1), "invalid val type" },
		{ I(0, 0, 0, 0), "invalid opcode 0" },
		{ I(DIF_OP_XLATE, 0, 0, 1), "invalid opcode 78" },
		{ I(DIF_OP_XLARG, 0, 0, 1), "invalid opcode 79" },
		{ I(81, 0, 0, 1), "invalid opcode 81" },
		{ I(255, 0, 0, 1), "invalid opcode 255" },
	};
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		ck_assert_pstr_eq(why(rows[i].i), rows[i].why);
}
END_TEST

/* The reason why the whole is refused, and where. */
static const char *
refused(struct difo *d, uint32_t *at)
{
	const char *reason = NULL;

	verify_difo(&k.arena, d, &k.globals, &reason, at);
	return reason;
}

START_TEST(shape_of_the_whole)
{
	uint32_t at;
	struct difo *d = kit_difo(
	    &k, KIT_TEXT(RET, I(DIF_OP_NOP, 0, 0, 0)), NULL, 0, NULL, 0);
	static const uint32_t sizes[] = { 0, 1, 2, 4, 8 };

	ck_assert_pstr_eq(
	    refused(d, &at), "expected 'ret' as last DIF instruction");
	d = kit_difo(&k, KIT_TEXT(RET), NULL, 0, NULL, 0);
	d->len = 0;
	ck_assert_ptr_nonnull(refused(d, &at));
	d = kit_difo(&k, KIT_TEXT(RET), NULL, 0, "abc", 3);
	ck_assert_pstr_eq(refused(d, &at), "string table does not end");
	d = kit_difo(&k, KIT_TEXT(RET), NULL, 0, NULL, 0);
	for (uint32_t size = 0; size < 20; size++) {
		bool ok = false;
		for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
			ok = ok || sizes[i] == size;
		d->rtype.size = size;
		ck_assert_pstr_eq(
		    refused(d, &at), ok ? NULL : "bad return size");
	}
	d->rtype.flags = DIF_BY_REF;
	ck_assert_ptr_null(refused(d, &at));
	/* A later instruction is named. */
	d = kit_difo(&k,
	    KIT_TEXT(I(DIF_OP_NOP, 0, 0, 0), BR(DIF_OP_BA, 1), RET), NULL, 0,
	    NULL, 0);
	ck_assert_pstr_eq(refused(d, &at), "backward branch to 1");
	ck_assert_uint_eq(at, 1);
}
END_TEST

START_TEST(variables_are_as_the_session_says)
{
	struct difo_var v = { .name = "s",
		.id = GSTR,
		.kind = DIF_SCALAR,
		.scope = DIF_GLOBAL,
		.type = { DIF_TYPE_STRING, CTF_UNKNOWN, DIF_BY_REF, 0, 64 } };
	struct difo *d = kit_difo(&k, KIT_TEXT(RET), NULL, 0, NULL, 0);
	uint32_t at;

	d->vars = &v;
	d->nvars = 1;
	ck_assert_pstr_eq(refused(d, &at), NULL);
	v.type.size = 65;
	ck_assert_pstr_eq(refused(d, &at), "1281 changed variable type size");
	v.type.flags = 0;
	ck_assert_pstr_eq(refused(d, &at), "1281 changed variable type flags");
	v.kind = DIF_ARRAY;
	ck_assert_pstr_eq(refused(d, &at), "1281 changed variable kind");
	v.id = 0x600;
	ck_assert_pstr_eq(refused(d, &at), "invalid variable 1536");
	v.id = DIF_VAR_PID;
	ck_assert_pstr_eq(refused(d, &at), NULL);

	struct prog_var *p =
	    kit_ref_var(&k, DIF_GLOBAL, DIF_SCALAR, 0x600, false, 16385);
	v = (struct difo_var){ .name = "x",
		.id = 0x600,
		.kind = DIF_SCALAR,
		.scope = DIF_GLOBAL,
		.type = p->type };
	ck_assert_pstr_eq(refused(d, &at), "oversized by-ref static");
	p->type.size = v.type.size = 16384;
	ck_assert_pstr_eq(refused(d, &at), NULL);
	p->type.size = v.type.size = 0;
	ck_assert_pstr_eq(refused(d, &at), "zero-sized variable");

	/* Strings are as large as the largest strsize. */
	p->type.kind = v.type.kind = DIF_TYPE_STRING;
	p->type.size = v.type.size = (1 << 20) + 1;
	ck_assert_pstr_eq(refused(d, &at), NULL);
	p->type.size = v.type.size = (1 << 20) + 2;
	ck_assert_pstr_eq(refused(d, &at), "oversized by-ref static");
}
END_TEST

static uint32_t
needs(dif_instr i, bool *destructive)
{
	const char *reason;
	uint32_t at;
	struct difo *d = kit_difo(&k, KIT_TEXT(i, RET), NULL, 0, NULL, 0);

	ck_assert_int_eq(verify_difo(&k.arena, d, &k.globals, &reason, &at), 0);
	*destructive = d->destructive;
	return d->needs;
}

START_TEST(needs_are_collected)
{
	bool w;

	ck_assert_uint_eq(needs(I(DIF_OP_ADD, 1, 1, 1), &w), 0);
	ck_assert_uint_eq(
	    needs(IX(DIF_OP_LDGS, DIF_VAR_ARG3, 1), &w), NEED_ARG);
	ck_assert_uint_eq(needs(IX(DIF_OP_LDGS, DIF_VAR_PID, 1), &w), NEED_ID);
	ck_assert_uint_eq(
	    needs(IX(DIF_OP_LDGS, DIF_VAR_EXECNAME, 1), &w), NEED_COMM);
	ck_assert_uint_eq(
	    needs(I(DIF_OP_LDGA, DIF_VAR_UREGS, 1, 1), &w), NEED_REGS);
	ck_assert_uint_eq(needs(I(DIF_OP_LDUB, 1, 0, 1), &w), NEED_MEM);
	ck_assert_uint_eq(needs(IX(DIF_OP_STGS, GLOBAL, 1), &w), NEED_GLOBAL);
	ck_assert_uint_eq(
	    needs(IX(DIF_OP_STGS, GSTR, 1), &w), NEED_GLOBAL | NEED_MEM);
	ck_assert(!w);
	ck_assert_uint_eq(needs(IX(DIF_OP_CALL, DIF_SUBR_COPYOUT, 1), &w),
	    NEED_MEM | NEED_POKE);
	ck_assert(w);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("verify");
	TCase *tc = tcase_create("verify");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, what_is_admitted);
	tcase_add_test(tc, what_is_refused);
	tcase_add_test(tc, shape_of_the_whole);
	tcase_add_test(tc, variables_are_as_the_session_says);
	tcase_add_test(tc, needs_are_collected);
	suite_add_tcase(s, tc);

	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
