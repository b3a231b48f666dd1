/*
 * disasm: kinds, fields, lengths, refusals, and walking a function.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "disasm/func.h"
#include "dlang/base/base.h"
#include "dlang/uregs.h"

#define ADDR UINT64_C(0x555555554000)

/* Bytes from hex text; returns how many. */
static size_t
hex(const char *text, uint8_t *out)
{
	size_t n = 0;

	for (const char *p = text; *p != '\0'; p++) {
		char two[3] = { p[0], p[1], '\0' };
		if (*p == ' ')
			continue;
		out[n++] = (uint8_t)strtoul(two, NULL, 16);
		p++;
	}
	return n;
}

static int
decode(const char *text, struct insn *insn)
{
	uint8_t code[32];
	size_t n = hex(text, code);

	return insn_decode(code, n, ADDR, insn);
}

/* clang-format off */
static const struct {
	const char *bytes;
	int kind, cond;
	uint64_t target; /* from ADDR, for branches */
	int64_t imm;
} kinds[] = {
	{ "90",			INSN_NOP,	0, 0, 0 },
	{ "66 90",		INSN_NOP,	0, 0, 0 },
	{ "f3 90",		INSN_NOP,	0, 0, 0 },
	{ "41 90",		INSN_PLAIN,	0, 0, 0 },
	{ "66 2e 0f 1f 84 00 00 00 00 00", INSN_NOP, 0, 0, 0 },
	{ "0f 01 d0",		INSN_PLAIN,	0, 0, 0 },	/* xgetbv */
	{ "0f 01 ee",		INSN_PLAIN,	0, 0, 0 },	/* rdpkru */
	{ "0f 01 ec",		INSN_PLAIN,	0, 0, 0 },	/* without its prefix */
	{ "0f 18 08",		INSN_PLAIN,	0, 0, 0 },
	{ "f3 0f 1e fa",	INSN_LANDING,	0, 0, 0 },
	{ "f3 0f 1e fb",	INSN_LANDING,	0, 0, 0 },
	{ "f3 48 0f 1e c8",	INSN_PLAIN,	0, 0, 0 },	/* rdsspq */
	{ "eb 10",		INSN_JMP,	0, 0x12, 0 },
	{ "e9 fb ff ff ff",	INSN_JMP,	0, 0, 0 },
	{ "3e e9 00 01 00 00",	INSN_JMP,	0, 0x106, 0 },
	{ "74 05",		INSN_JCC,	4, 7, 0 },
	{ "0f 8f 00 10 00 00",	INSN_JCC,	15, 0x1006, 0 },
	{ "e2 fe",		INSN_LOOP,	LOOP_LOOP, 0, 0 },
	{ "e1 10",		INSN_LOOP,	LOOP_LOOPE, 0x12, 0 },
	{ "e0 10",		INSN_LOOP,	LOOP_LOOPNE, 0x12, 0 },
	{ "67 e3 10",		INSN_LOOP,	LOOP_JCXZ, 0x13, 0 },
	{ "e8 00 00 00 00",	INSN_CALL,	0, 5, 0 },
	{ "66 66 48 e8 10 00 00 00", INSN_CALL, 0, 0x18, 0 },
	{ "ff d0",		INSN_CALL_IND,	0, 0, 0 },
	{ "41 ff 14 24",	INSN_CALL_IND,	0, 0, 0 },
	{ "ff 25 10 00 00 00",	INSN_JMP_IND,	0, 0, 0 },
	{ "3e ff e0",		INSN_JMP_IND,	0, 0, 0 },
	{ "c3",			INSN_RET,	0, 0, 0 },
	{ "f3 c3",		INSN_RET,	0, 0, 0 },
	{ "c2 08 00",		INSN_RET,	0, 0, 8 },
	{ "c2 00 80",		INSN_RET,	0, 0, 0x8000 },
	{ "55",			INSN_PUSH_REG,	0, 0, 0 },
	{ "66 55",		INSN_PLAIN,	0, 0, 0 },
	{ "41 5f",		INSN_POP_REG,	0, 0, 0 },
	{ "c9",			INSN_LEAVE,	0, 0, 0 },
	{ "48 89 e5",		INSN_MOV_REG,	0, 0, 0 },
	{ "8b c3",		INSN_MOV_REG,	0, 0, 0 },
	{ "66 89 c3",		INSN_PLAIN,	0, 0, 0 },
	{ "48 89 03",		INSN_PLAIN,	0, 0, 0 },
	{ "48 8d 04 8b",	INSN_LEA,	0, 0, 0 },
	{ "48 83 ec 28",	INSN_ADD_SP,	0, 0, -0x28 },
	{ "48 83 c4 80",	INSN_ADD_SP,	0, 0, -0x80 },
	{ "48 81 ec 00 10 00 00", INSN_ADD_SP,	0, 0, -0x1000 },
	{ "83 ec 08",		INSN_PLAIN,	0, 0, 8 },
	{ "49 83 ec 08",	INSN_PLAIN,	0, 0, 8 },	/* r12 */
	{ "0f 05",		INSN_SYSCALL,	0, 0, 0 },
	{ "cc",			INSN_TRAP,	0, 0, 0 },
	{ "0f 0b",		INSN_UD,	0, 0, 0 },
	{ "0f b9 c0",		INSN_UD,	0, 0, 0 },
};

/* Encodings in which the length is the difficulty. */
static const struct {
	const char *bytes;
	unsigned len, disp_at; /* disp_at: of the rip-relative field, or 0 */
} lengths[] = {
	{ "48 b8 88 77 66 55 44 33 22 11",		10, 0 },
	{ "66 b8 34 12",				4, 0 },
	{ "a1 88 77 66 55 44 33 22 11",			9, 0 },
	{ "67 a1 44 33 22 11",				6, 0 },
	{ "c8 20 00 00",				4, 0 },
	{ "f6 05 10 00 00 00 03",			7, 2 },
	{ "f6 15 10 00 00 00",				6, 2 },
	{ "f7 05 10 00 00 00 03 00 00 00",		10, 2 },
	{ "66 f7 05 10 00 00 00 03 00",			9, 3 },
	{ "48 c7 05 10 00 00 00 05 00 00 00",		11, 3 },
	{ "c5 f8 77",					3, 0 },
	{ "c5 f5 74 05 10 00 00 00",			8, 4 },
	{ "c4 e3 7d 39 0d 10 00 00 00 01",		10, 5 },
	{ "c4 e2 71 40 84 8b 10 00 00 00",		10, 0 },
	{ "c5 fd 70 0d 10 00 00 00 1b",			9, 4 },
	/* EVEX: disp8 is one byte, however it is scaled */
	{ "62 f1 fe 48 6f 48 01",			7, 0 },
	{ "62 e1 fe 48 6f 0d 10 00 00 00",		10, 6 },
	{ "62 f3 75 40 3e 0d 10 00 00 00 02",		11, 6 },
	{ "62 f3 6d 48 25 0d 10 00 00 00 55",		11, 6 },
	{ "62 b1 7d 20 74 c1",				6, 0 },
	{ "8f e8 78 c2 ec 0e",				6, 0 },	/* XOP vprotd */
	{ "8f ea 78 10 c0 01 02 03 04",			9, 0 },	/* XOP bextr */
	{ "8f ea 78 10 05 01 02 03 04 05 06 07 08",	13, 5 },
	{ "8f 05 10 00 00 00",				6, 2 },	/* pop */
	{ "0f 01 f9",					3, 0 },	/* rdtscp */
	{ "0f 38 f9 08",				4, 0 },	/* movdiri */
	{ "66 0f ae f0",				4, 0 },	/* tpause */
	{ "0f 1c 00",					3, 0 },	/* cldemote */
	{ "f3 48 0f ae e8",				5, 0 },	/* incsspq */
	{ "66 0f 3a 63 0d 10 00 00 00 0c",		10, 5 },
	{ "0f c7 f0",					3, 0 },	/* rdrand */
	{ "d9 bd 10 00 00 00",				6, 0 },
	{ "f2 0f 38 f1 05 10 00 00 00",			9, 5 },
	{ "2e 2e 2e 2e 2e 2e 2e 2e 2e 2e 2e 2e 2e 90",	14, 0 },
};

static const struct {
	const char *bytes;
	int err;
} nothing[] = {
	{ "06", -EILSEQ }, { "0f 0a", -EILSEQ }, { "ea 00 00 00 00 00 00",
	-EILSEQ }, { "60", -EILSEQ }, { "8d c0", -EILSEQ },
	{ "c7 c8 00 00 00 00", -EILSEQ }, { "ff f8", -EILSEQ },
	{ "66 e8 00 00 00 00", -EILSEQ },	/* length depends on the maker */
	{ "40 40 90", -EILSEQ }, { "48 c5 f8 77", -EILSEQ },
	{ "f3 c5 f8 77", -EILSEQ }, { "c4 e4 78 10 c0", -EILSEQ },
	{ "62 f9 7c 48 10 c0", -EILSEQ },
	{ "2e 2e 2e 2e 2e 2e 2e 2e 2e 2e 2e 2e 2e 2e 2e 90", -EILSEQ },
	{ "", -ENODATA }, { "48", -ENODATA }, { "48 8b", -ENODATA },
	{ "48 8b 05 00 00 00", -ENODATA }, { "0f", -ENODATA },
	{ "0f 38", -ENODATA }, { "c5", -ENODATA }, { "c4 e2", -ENODATA },
	{ "62 f1 fe", -ENODATA }, { "62 f1 fe 48 6f", -ENODATA },
	{ "8b 04", -ENODATA }, { "e8 00 00 00", -ENODATA },
	{ "66 66", -ENODATA },
};

static const struct {
	const char *bytes, *why;
} refused[] = {
	{ "c7 f8 00 00 00 00", "transaction begin" },
	{ "cd 80", "software interrupt" },
	{ "f1", "software interrupt" },
	{ "f4", "hlt" },
	{ "cb", "far return" },
	{ "ca 08 00", "far return" },
	{ "48 cf", "interrupt return" },
	{ "ff 2d 00 00 00 00", "far transfer" },
	{ "ff 18", "far transfer" },
	{ "0f 34", "sysenter" },
	{ "66 c3", "16-bit return" },
	{ "66 ff e0", "16-bit branch" },
	{ "66 74 10", "16-bit branch" },
	{ "67 48 8b 05 00 00 00 00", "32-bit pc-relative operand" },
};
/* clang-format on */

START_TEST(kinds_are_told_apart)
{
	struct insn insn;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const char *b = kinds[i].bytes;
		uint8_t code[32];
		ck_assert_msg(decode(b, &insn) == 0, "%s", b);
		ck_assert_msg(
		    insn.kind == kinds[i].kind, "%s: kind %d", b, insn.kind);
		ck_assert_msg(
		    insn.len == hex(b, code), "%s: length %d", b, insn.len);
		ck_assert_msg(insn.cond == kinds[i].cond, "%s", b);
		ck_assert_msg(insn.refuse == NULL, "%s: %s", b, insn.refuse);
		ck_assert_msg(
		    insn.imm == kinds[i].imm, "%s: imm %ld", b, (long)insn.imm);
		if (insn.kind >= INSN_JMP && insn.kind <= INSN_CALL &&
		    insn.kind != INSN_JMP_IND)
			ck_assert_msg(insn.target == ADDR + kinds[i].target,
			    "%s: target %#lx", b, (long)insn.target);
	}
}
END_TEST

START_TEST(lengths_and_pc_relative_fields)
{
	struct insn insn;

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		const char *b = lengths[i].bytes;
		ck_assert_msg(decode(b, &insn) == 0, "%s", b);
		ck_assert_msg(
		    insn.len == lengths[i].len, "%s: length %d", b, insn.len);
		ck_assert_msg(
		    insn.rip_relative == (lengths[i].disp_at != 0), "%s", b);
		ck_assert_msg(insn.disp_at == lengths[i].disp_at, "%s: at %d",
		    b, insn.disp_at);
		ck_assert_msg(insn_agreed(&insn), "%s: Capstone differs", b);
	}
}
END_TEST

START_TEST(what_is_no_instruction)
{
	struct insn insn;

	for (size_t i = 0; i < ARRAY_SIZE(nothing); i++)
		ck_assert_msg(decode(nothing[i].bytes, &insn) == nothing[i].err,
		    "%s", nothing[i].bytes);
}
END_TEST

START_TEST(what_must_not_be_displaced)
{
	struct insn insn;

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		ck_assert_msg(decode(refused[i].bytes, &insn) == 0, "%s",
		    refused[i].bytes);
		ck_assert_msg(insn.refuse != NULL, "%s", refused[i].bytes);
		ck_assert_str_eq(insn.refuse, refused[i].why);
	}
}
END_TEST

START_TEST(operands_are_found)
{
	struct insn insn;

	/* lea r9, [r12 + rax*4 + 0x12345678] */
	ck_assert_int_eq(decode("4d 8d 8c 84 78 56 34 12", &insn), 0);
	ck_assert_int_eq(insn.reg, UREG_R9);
	ck_assert_int_eq(insn.base, UREG_R12);
	ck_assert_int_eq(insn.index, UREG_RAX);
	ck_assert_int_eq(insn.scale, 4);
	ck_assert_int_eq(insn.disp, 0x12345678);
	ck_assert_int_eq(insn.opsize, 8);
	/* lea eax, [rsp - 8]: no index */
	ck_assert_int_eq(decode("8d 44 24 f8", &insn), 0);
	ck_assert_int_eq(insn.base, UREG_RSP);
	ck_assert_int_eq(insn.index, INSN_NOREG);
	ck_assert_int_eq(insn.disp, -8);
	ck_assert_int_eq(insn.opsize, 4);
	/* lea rax, [r12*8 + 0x10]: no base, and r12 can be an index */
	ck_assert_int_eq(decode("4a 8d 04 e5 10 00 00 00", &insn), 0);
	ck_assert_int_eq(insn.base, INSN_NOREG);
	ck_assert_int_eq(insn.index, UREG_R12);
	ck_assert_int_eq(insn.scale, 8);
	/* call qword ptr fs:[rip + 0x10] */
	ck_assert_int_eq(decode("64 ff 15 10 00 00 00", &insn), 0);
	ck_assert(insn.mem && insn.rip_relative);
	ck_assert_int_eq(insn.segment, 0x64);
	ck_assert_int_eq(insn.disp, 0x10);
	ck_assert_int_eq(insn.disp_at, 3);
	/* call [r13 + 0]: not rip-relative, whatever its ModRM ends in */
	ck_assert_int_eq(decode("41 ff 55 00", &insn), 0);
	ck_assert(insn.mem && !insn.rip_relative);
	ck_assert_int_eq(insn.base, UREG_R13);
	/* mov r14d, esp: both directions of the opcode */
	ck_assert_int_eq(decode("41 89 e6", &insn), 0);
	ck_assert_int_eq(insn.reg, UREG_R14);
	ck_assert_int_eq(insn.reg2, UREG_RSP);
	ck_assert_int_eq(insn.opsize, 4);
	ck_assert_int_eq(decode("44 8b f4", &insn), 0);
	ck_assert_int_eq(insn.reg, UREG_R14);
	ck_assert_int_eq(insn.reg2, UREG_RSP);
	/* push r8, pop rdx */
	ck_assert_int_eq(decode("41 50", &insn), 0);
	ck_assert_int_eq(insn.reg, UREG_R8);
	ck_assert_int_eq(decode("5a", &insn), 0);
	ck_assert_int_eq(insn.reg, UREG_RDX);
}
END_TEST

START_TEST(constants_and_hints_are_told)
{
	struct insn insn;
	uint64_t value = 0;
	uint8_t reg = 0;

	/* mov eax, 0xca; mov r8d, 0xca; mov rdi, -1; mov r9, imm64 */
	ck_assert_int_eq(decode("b8 ca 00 00 00", &insn), 0);
	ck_assert(insn_constant(&insn, &reg, &value));
	ck_assert(reg == UREG_RAX && value == 0xca);
	ck_assert_int_eq(decode("41 b8 ca 00 00 00", &insn), 0);
	ck_assert(insn_constant(&insn, &reg, &value));
	ck_assert(reg == UREG_R8 && value == 0xca);
	ck_assert_int_eq(decode("48 c7 c7 ff ff ff ff", &insn), 0);
	ck_assert(insn_constant(&insn, &reg, &value));
	ck_assert(reg == UREG_RDI && value == UINT64_MAX);
	ck_assert_int_eq(decode("bf ff ff ff ff", &insn), 0);
	ck_assert(insn_constant(&insn, &reg, &value));
	ck_assert(reg == UREG_RDI && value == 0xffffffff);
	ck_assert_int_eq(decode("49 b9 01 00 00 00 02 00 00 00", &insn), 0);
	ck_assert(insn_constant(&insn, &reg, &value));
	ck_assert(reg == UREG_R9 && value == 0x200000001);
	/* To memory, a byte, another register, part of a register. */
	static const char *const others[] = { "c7 07 01 00 00 00", "b0 01",
		"89 c7", "66 b8 01 00", "0f b8 c0" };
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (decode(others[i], &insn) == 0)
			ck_assert_msg(!insn_constant(&insn, &reg, &value), "%s",
			    others[i]);
	ck_assert_int_eq(decode("f3 90", &insn), 0);
	ck_assert(insn_is_pause(&insn));
	ck_assert_int_eq(decode("90", &insn), 0);
	ck_assert(!insn_is_pause(&insn));
	ck_assert_int_eq(decode("66 90", &insn), 0);
	ck_assert(!insn_is_pause(&insn));
}
END_TEST

START_TEST(registers_used_are_never_missed)
{
	/* Bits that must be there; more is allowed, but for the last rows. */
	static const struct {
		const char *bytes;
		uint16_t used;
	} rows[] = {
		{ "4c 8b 3d 00 00 00 00", 1 << 15 },
		{ "4d 8b 34 cb", 1 << 14 | 1 << 11 | 1 << 1 },
		{ "4e 8b 34 d9", 1 << 14 | 1 << 11 | 1 << 1 },
		{ "48 0f b1 0d 00 00 00 00", 1 << 1 | 1 << 0 },
		{ "c4 62 b0 f2 05 00 00 00 00", 1 << 8 | 1 << 9 },
		{ "c4 62 ab f7 0d 00 00 00 00", 1 << 9 | 1 << 10 },
		{ "0f a2", 0xf },
		{ "49 87 c0", 1 << 8 | 1 },
		{ "41 b9 01 00 00 00", 1 << 9 },
		{ "0f 05", 1 << 11 | 1 << 1 },
		{ "ff 35 00 00 00 00", 1 << 4 },
		{ "48 8b 25 00 00 00 00", 1 << 4 },
		{ "48 39 25 00 00 00 00", 1 << 4 },
		{ "c4 e2 d8 f2 05 00 00 00 00", 1 << 4 },
	};
	struct insn insn;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		ck_assert_int_eq(decode(rows[i].bytes, &insn), 0);
		ck_assert_msg((insn.gpr_used & rows[i].used) == rows[i].used,
		    "%s: %#x", rows[i].bytes, insn.gpr_used);
	}
	/* xmm4 and /4 are not rsp. */
	ck_assert_int_eq(decode("0f 28 25 00 00 00 00", &insn), 0);
	ck_assert_int_eq(insn.gpr_used & 1 << 4, 0);
	ck_assert_int_eq(decode("83 25 00 00 00 00 05", &insn), 0);
	ck_assert_int_eq(insn.gpr_used & 1 << 4, 0);
}
END_TEST

/* ---- func ---- */

struct walked {
	unsigned n;
	uint64_t offset[16];
	int exit[16];
	unsigned stop_at;
};

static int
note(void *ctx, const struct func_insn *fi)
{
	struct walked *w = ctx;

	w->offset[w->n] = fi->offset;
	w->exit[w->n] = fi->exit;
	return ++w->n == w->stop_at;
}

START_TEST(a_function_is_walked_to_its_ends)
{
	/* 0 push; 1 je +2 (in); 3 jne out; 9 ret; a jmp start; c jmp *rax;
	 * e rep ret; 10 jmp out, short; 12 ret 8 */
	static const char text[] = "55 74 02 0f 85 00 01 00 00 c3 eb f4 ff e0 "
				   "f3 c3 eb 70 c2 08 00";
	static const uint64_t offsets[] = { 0, 1, 3, 9, 10, 12, 14, 16, 18 };
	static const int exits[] = { FUNC_STAYS, FUNC_STAYS, FUNC_TAIL_JCC,
		FUNC_RET, FUNC_STAYS, FUNC_STAYS, FUNC_RET, FUNC_TAIL_JMP,
		FUNC_RET };
	struct walked w = { 0 };
	uint8_t code[64];
	uint64_t stop;
	size_t n = hex(text, code);

	ck_assert_int_eq(
	    func_walk(code, n, ADDR, note, &w, &stop), FUNC_COMPLETE);
	ck_assert_uint_eq(stop, n);
	ck_assert_uint_eq(w.n, ARRAY_SIZE(offsets));
	for (unsigned i = 0; i < w.n; i++) {
		ck_assert_uint_eq(w.offset[i], offsets[i]);
		ck_assert_int_eq(w.exit[i], exits[i]);
	}
}
END_TEST

START_TEST(a_walk_ends_where_it_must)
{
	struct walked w = { 0 };
	uint8_t code[64];
	uint64_t stop;
	size_t n = hex("55 90 06 90 c3", code);

	ck_assert_int_eq(
	    func_walk(code, n, ADDR, note, &w, &stop), FUNC_UNDECODABLE);
	ck_assert_uint_eq(stop, 2);
	ck_assert_uint_eq(w.n, 2);
	w = (struct walked){ .stop_at = 1 };
	ck_assert_int_eq(
	    func_walk(code, n, ADDR, note, &w, &stop), FUNC_STOPPED);
	ck_assert_uint_eq(stop, 0);
	/* The last instruction is cut off by the symbol's size. */
	n = hex("55 48 8b", code);
	w = (struct walked){ 0 };
	ck_assert_int_eq(
	    func_walk(code, n, ADDR, note, &w, NULL), FUNC_UNDECODABLE);
	ck_assert_uint_eq(w.n, 1);
	ck_assert_int_eq(
	    func_walk(code, 0, ADDR, note, &w, NULL), FUNC_COMPLETE);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("disasm");
	TCase *t = tcase_create("disasm");

	tcase_add_test(t, kinds_are_told_apart);
	tcase_add_test(t, lengths_and_pc_relative_fields);
	tcase_add_test(t, what_is_no_instruction);
	tcase_add_test(t, what_must_not_be_displaced);
	tcase_add_test(t, operands_are_found);
	tcase_add_test(t, constants_and_hints_are_told);
	tcase_add_test(t, registers_used_are_never_missed);
	tcase_add_test(t, a_function_is_walked_to_its_ends);
	tcase_add_test(t, a_walk_ends_where_it_must);
	suite_add_tcase(s, t);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
