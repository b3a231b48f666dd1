/*
 * symbols/sdtarg: what compilers write for the arguments of static probes.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/sdtarg.h"

#define NOREG ARGLOC_NOREG

static int
symbol(void *ctx, const char *name, uint64_t *addr)
{
	*addr = 0x5000;
	return strcmp(name, "sym.1") == 0 ? 0 : -ENOENT;
}

static const struct sdt_place place = { .addr = 0x1000, .symbol = symbol };

static size_t
parse(const char *text, struct argloc *out)
{
	memset(out, 0xaa, 4 * sizeof(*out));
	return sdt_args(text, &place, out, 4);
}

START_TEST(each_form_is_understood)
{
	static const struct {
		const char *text;
		struct argloc want;
	} rows[] = {
#define REG(bytes, sign, r, sh)    \
	{ .kind = ARGLOC_REG,      \
		.size = bytes,     \
		.is_signed = sign, \
		.reg = r,          \
		.shift = sh }
#define CONST(bytes, sign, v)                                           \
	{                                                               \
		.kind = ARGLOC_CONST, .size = bytes, .is_signed = sign, \
		.disp = v                                               \
	}
#define MEM(bytes, sign, b, i, sc, d)                                 \
	{                                                             \
		.kind = ARGLOC_MEM, .size = bytes, .is_signed = sign, \
		.reg = b, .index = i, .scale = sc, .disp = d          \
	}
		{ "8@%rdi", REG(8, 0, UREG_RDI, 0) },
		{ "-8@%rsp", REG(8, 1, UREG_RSP, 0) },
		{ "-4@%esi", REG(4, 1, UREG_RSI, 0) },
		{ "4@%rsi", REG(4, 0, UREG_RSI, 0) },
		{ "2@%ax", REG(2, 0, UREG_RAX, 0) },
		{ "-1@%sil", REG(1, 1, UREG_RSI, 0) },
		{ "1@%bh", REG(1, 0, UREG_RBX, 8) },
		{ "8@%r8", REG(8, 0, UREG_R8, 0) },
		{ "4@%r15d", REG(4, 0, UREG_R15, 0) },
		{ "2@%r10w", REG(2, 0, UREG_R10, 0) },
		{ "1@%r9b", REG(1, 0, UREG_R9, 0) },
		/* Without a size: the operand's own. */
		{ "%cx", REG(2, 0, UREG_RCX, 0) },
		{ "%rbp", REG(8, 0, UREG_RBP, 0) },
		{ "$5", CONST(8, 0, 5) },
		{ "8@%rip", CONST(8, 0, 0x1001) },
		{ "-4@$-1", CONST(4, 1, -1) },
		{ "4@$-1", CONST(4, 0, 0xffffffff) },
		{ "-1@$255", CONST(1, 1, -1) },
		{ "-8@$0x10", CONST(8, 1, 16) },
		{ "8@$-9223372036854775808", CONST(8, 0, INT64_MIN) },
		{ "8@$18446744073709551615", CONST(8, 0, -1) },
		{ "8@$sym.1+2", CONST(8, 0, 0x5002) },
		{ "8@(%rdi)", MEM(8, 0, UREG_RDI, NOREG, 0, 0) },
		{ "-4@-20(%rbp)", MEM(4, 1, UREG_RBP, NOREG, 0, -20) },
		{ "8@12(%rbx,%rcx,4)", MEM(8, 0, UREG_RBX, UREG_RCX, 4, 12) },
		{ "8@(%rdx,%rcx)", MEM(8, 0, UREG_RDX, UREG_RCX, 1, 0) },
		{ "8@8(,%r9,8)", MEM(8, 0, NOREG, UREG_R9, 8, 8) },
		{ "4@sym.1(%rip)", MEM(4, 0, NOREG, NOREG, 0, 0x5000) },
		{ "4@sym.1+4(%rip)", MEM(4, 0, NOREG, NOREG, 0, 0x5004) },
		{ "4@4+sym.1(%rip)", MEM(4, 0, NOREG, NOREG, 0, 0x5004) },
		{ "4@sym.1-4(%rip)", MEM(4, 0, NOREG, NOREG, 0, 0x4ffc) },
		{ "4@-4+sym.1(%rip)", MEM(4, 0, NOREG, NOREG, 0, 0x4ffc) },
		{ "4@16(%rip)", MEM(4, 0, NOREG, NOREG, 0, 0x1011) },
		{ "4@sym.1(,%rax,4)", MEM(4, 0, NOREG, UREG_RAX, 4, 0x5000) },
		{ "8@sym.1", MEM(8, 0, NOREG, NOREG, 0, 0x5000) },
		{ "8@sym.1@GOTPCREL(%rip)",
		    { .kind = ARGLOC_CONST,
			.size = 8,
			.reg = NOREG,
			.index = NOREG,
			.disp = 0x5000 } },
	};
	struct argloc got[4];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ck_assert_uint_eq(parse(rows[i].text, got), 1);
		ck_assert_msg(
		    memcmp(&got[0], &rows[i].want, sizeof(got[0])) == 0,
		    "%s: kind %u size %u signed %u reg %u index %u scale %u "
		    "shift %u disp %ld",
		    rows[i].text, got[0].kind, got[0].size, got[0].is_signed,
		    got[0].reg, got[0].index, got[0].scale, got[0].shift,
		    (long)got[0].disp);
	}
}
END_TEST

START_TEST(what_is_not_understood_is_one_argument)
{
	static const struct {
		const char *text;
		uint8_t size;
	} bad[] = {
		{ "8@%xmm0", 8 },
		{ "8f@%xmm0", 8 },
		{ "-4f@8(%rsp)", 4 },
		{ "8@%r16", 8 },
		{ "8@%r7", 8 },
		{ "8@%r8x", 8 },
		{ "8@%r8dd", 8 },
		{ "8@%", 8 },
		{ "8@$", 8 },
		{ "8@", 8 },
		{ "3@%rax", 0 },
		{ "16@%rax", 0 },
		{ "8x@%rax", 0 },
		{ "0@%rax", 0 },
		{ "-99999999999999999999@%rax", 0 },
		{ "8@%fs:16", 8 },
		{ "8@(%eax)", 8 },
		{ "8@(%rax,%rbx,3)", 8 },
		{ "8@(%rax,%rbx,16)", 8 },
		{ "8@(%rax,%rbx,)", 8 },
		{ "8@(%rip,%rax)", 8 },
		{ "8@4(%rax", 8 },
		{ "8@4%rax)", 8 },
		{ "8@(", 8 },
		{ "8@nosuch(%rip)", 8 },
		{ "8@sym.1+sym.1(%rip)", 8 },
		{ "8@-sym.1(%rip)", 8 },
	};
	struct argloc got[4];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char *text = NULL;
		ck_assert_int_gt(asprintf(&text, "%s -4@$7", bad[i].text), 0);
		ck_assert_uint_eq(parse(text, got), 2);
		ck_assert_msg(
		    got[0].kind == ARGLOC_NONE && got[0].size == bad[i].size,
		    "%s: kind %u size %u", text, got[0].kind, got[0].size);
		ck_assert_uint_eq(got[1].kind, ARGLOC_CONST);
		ck_assert_int_eq(got[1].disp, 7);
		free(text);
	}
}
END_TEST

START_TEST(the_number_of_arguments_is_theirs_or_the_callers)
{
	char text[400];
	struct argloc got[4];

	ck_assert_uint_eq(parse("", got), 0);
	ck_assert_uint_eq(parse("   ", got), 0);
	ck_assert_uint_eq(parse(" 8@%rax\t8@%rbx ", got), 2);
	ck_assert_uint_eq(parse("$1 $2 $3 $4 $5", got), 4);
	ck_assert_int_eq(got[3].disp, 4);

	/* Longer than any operand; what follows is not lost. */
	memset(text, '1', sizeof(text));
	memcpy(text + sizeof(text) - 4, " $9", 4);
	ck_assert_uint_eq(parse(text, got), 2);
	ck_assert_uint_eq(got[0].kind, ARGLOC_NONE);
	ck_assert_int_eq(got[1].disp, 9);
}
END_TEST

START_TEST(without_symbols_those_operands_are_missing)
{
	const struct sdt_place nowhere = { .addr = 0 };
	struct argloc got;

	ck_assert_uint_eq(sdt_args("8@sym.1(%rip)", &nowhere, &got, 1), 1);
	ck_assert_uint_eq(got.kind, ARGLOC_NONE);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("symbols/sdtarg");
	TCase *tc = tcase_create("sdtarg");
	SRunner *r = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_test(tc, each_form_is_understood);
	tcase_add_test(tc, what_is_not_understood_is_one_argument);
	tcase_add_test(tc, the_number_of_arguments_is_theirs_or_the_callers);
	tcase_add_test(tc, without_symbols_those_operands_are_missing);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
