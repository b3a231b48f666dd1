/*
 * dlang/vm/vm.c and vm_mem.c: arithmetic, comparison, branches, loads and stores, faults,
 * built-in variables, arguments.
 */
#include <check.h>
#include <string.h>

#include "dlang/base/base.h"
#include "dlang/vm/vm_impl.h"
#include "t/fake/env.h"

static struct kit k;

static void
setup(void)
{
	kit_init(&k);
}

static void
teardown(void)
{
	kit_fini(&k);
}

/* r1 = a, r2 = b, one instruction into r3, return it. */
static int
binary(unsigned op, uint64_t a, uint64_t b, uint64_t *value)
{
	const uint64_t ints[] = { a, b };

	return kit_run(&k,
	    kit_difo(&k,
		KIT_TEXT(DIF_INSTR_INDEX(DIF_OP_SETX, 0, 1),
		    DIF_INSTR_INDEX(DIF_OP_SETX, 1, 2), DIF_INSTR(op, 1, 2, 3),
		    DIF_INSTR(DIF_OP_RET, 0, 0, 3)),
		ints, 2, NULL, 0),
	    value);
}

START_TEST(arithmetic)
{
	static const struct {
		unsigned op;
		uint64_t a, b, r;
	} rows[] = {
		{ DIF_OP_OR, 0xf0, 0x0f, 0xff },
		{ DIF_OP_XOR, 0xff, 0x0f, 0xf0 },
		{ DIF_OP_AND, 0xff, 0x18, 0x18 },
		{ DIF_OP_SLL, 1, 63, 1ULL << 63 },
		{ DIF_OP_SLL, 1, 64, 1 },
		{ DIF_OP_SLL, 3, 65, 6 },
		{ DIF_OP_SRL, -1ULL, 60, 15 },
		{ DIF_OP_SRA, -16ULL, 2, -4ULL },
		{ DIF_OP_SUB, 1, 2, -1ULL },
		{ DIF_OP_ADD, -1ULL, 2, 1 },
		{ DIF_OP_MUL, 1ULL << 63, 2, 0 },
		{ DIF_OP_MUL, -3ULL, 5, -15ULL },
		{ DIF_OP_SDIV, -7ULL, 2, -3ULL },
		{ DIF_OP_SDIV, INT64_MIN, -1ULL, INT64_MIN },
		{ DIF_OP_UDIV, -7ULL, 2, 0x7ffffffffffffffcULL },
		{ DIF_OP_SREM, -7ULL, 2, -1ULL },
		{ DIF_OP_SREM, INT64_MIN, -1ULL, 0 },
		{ DIF_OP_UREM, 7, 4, 3 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t v;
		ck_assert_int_eq(
		    binary(rows[i].op, rows[i].a, rows[i].b, &v), 0);
		ck_assert_msg(v == rows[i].r, "row %zu: %#lx", i, v);
	}
}
END_TEST

START_TEST(division_by_zero_faults_at_its_instruction)
{
	static const unsigned ops[] = { DIF_OP_SDIV, DIF_OP_UDIV, DIF_OP_SREM,
		DIF_OP_UREM };

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		uint64_t v = 5;
		ck_assert_int_eq(binary(ops[i], 1, 0, &v), -1);
		ck_assert_uint_eq(v, 0);
		ck_assert_int_eq(k.env.fault.code, FLT_DIVZERO);
		ck_assert_int_eq(k.env.fault.offset, 8);
	}
}
END_TEST

static bool
branches(unsigned op, uint64_t a, uint64_t b)
{
	const uint64_t ints[] = { a, b, 1 };
	uint64_t v;

	ck_assert_int_eq(
	    kit_run(&k,
		kit_difo(&k,
		    KIT_TEXT(DIF_INSTR_INDEX(DIF_OP_SETX, 0, 1),
			DIF_INSTR_INDEX(DIF_OP_SETX, 1, 2),
			DIF_INSTR(DIF_OP_CMP, 1, 2, 0), DIF_INSTR_BRANCH(op, 5),
			DIF_INSTR(DIF_OP_RET, 0, 0, 0),
			DIF_INSTR_INDEX(DIF_OP_SETX, 2, 3),
			DIF_INSTR(DIF_OP_RET, 0, 0, 3)),
		    ints, 3, NULL, 0),
		&v),
	    0);
	return v;
}

START_TEST(comparisons_are_right_for_all_values)
{
	static const uint64_t values[] = { 0, 1, 2, INT64_MAX,
		(uint64_t)INT64_MIN, (uint64_t)INT64_MIN + 1, -1ULL, -2ULL };

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		for (size_t j = 0; j < ARRAY_SIZE(values); j++) {
			uint64_t a = values[i], b = values[j];
			int64_t x = (int64_t)a, y = (int64_t)b;
			ck_assert(branches(DIF_OP_BA, a, b));
			ck_assert(branches(DIF_OP_BE, a, b) == (a == b));
			ck_assert(branches(DIF_OP_BNE, a, b) == (a != b));
			ck_assert(branches(DIF_OP_BG, a, b) == (x > y));
			ck_assert(branches(DIF_OP_BGE, a, b) == (x >= y));
			ck_assert(branches(DIF_OP_BL, a, b) == (x < y));
			ck_assert(branches(DIF_OP_BLE, a, b) == (x <= y));
			ck_assert(branches(DIF_OP_BGU, a, b) == (a > b));
			ck_assert(branches(DIF_OP_BGEU, a, b) == (a >= b));
			ck_assert(branches(DIF_OP_BLU, a, b) == (a < b));
			ck_assert(branches(DIF_OP_BLEU, a, b) == (a <= b));
		}
}
END_TEST

/* Compare two addresses (0 for NULL) as strings: -1, 0, 1. */
static int
scmp(uint64_t a, uint64_t b)
{
	const uint64_t ints[] = { a, b, 1, -1ULL };
	uint64_t v;

	ck_assert_int_eq(kit_run(&k,
			     kit_difo(&k,
				 KIT_TEXT(DIF_INSTR_INDEX(DIF_OP_SETX, 0, 1),
				     DIF_INSTR_INDEX(DIF_OP_SETX, 1, 2),
				     DIF_INSTR(DIF_OP_SCMP, 1, 2, 0),
				     DIF_INSTR_BRANCH(DIF_OP_BG, 7),
				     DIF_INSTR_BRANCH(DIF_OP_BL, 9),
				     DIF_INSTR(DIF_OP_RET, 0, 0, 0),
				     DIF_INSTR(DIF_OP_NOP, 0, 0, 0),
				     DIF_INSTR_INDEX(DIF_OP_SETX, 2, 3),
				     DIF_INSTR(DIF_OP_RET, 0, 0, 3),
				     DIF_INSTR_INDEX(DIF_OP_SETX, 3, 3),
				     DIF_INSTR(DIF_OP_RET, 0, 0, 3)),
				 ints, 4, NULL, 0),
			     &v),
	    0);
	return (int)(int64_t)v;
}

START_TEST(strings_compare_as_unsigned_bytes)
{
	k.opts.value[OPT_STRSIZE] = 8;
	kit_publish(&k);
	uint64_t abc = fake_env_str(&k.target, 0, "abc");
	uint64_t abd = fake_env_str(&k.target, 16, "abd");
	uint64_t ab = fake_env_str(&k.target, 32, "ab");
	uint64_t high = fake_env_str(&k.target, 48, "\xff");
	uint64_t empty = fake_env_str(&k.target, 64, "");
	uint64_t long1 = fake_env_str(&k.target, 80, "12345678A");
	uint64_t long2 = fake_env_str(&k.target, 96, "12345678B");

	ck_assert_int_eq(scmp(abc, abc), 0);
	ck_assert_int_eq(scmp(abc, abd), -1);
	ck_assert_int_eq(scmp(abd, abc), 1);
	ck_assert_int_eq(scmp(ab, abc), -1);
	ck_assert_int_eq(scmp(high, abc), 1);
	ck_assert_int_eq(scmp(0, empty), 0);
	ck_assert_int_eq(scmp(empty, 0), 0);
	ck_assert_int_eq(scmp(0, abc), -1);
	ck_assert_int_eq(scmp(long1, long2), 0); /* only strsize bytes */
	ck_assert_uint_eq(k.env.scratch_used, 0);
}
END_TEST

static int
load_at(unsigned op, uint64_t addr, uint64_t *v)
{
	return kit_run(&k,
	    kit_difo(&k,
		KIT_TEXT(DIF_INSTR_INDEX(DIF_OP_SETX, 0, 1),
		    DIF_INSTR(op, 1, 0, 2), DIF_INSTR(DIF_OP_RET, 0, 0, 2)),
		&addr, 1, NULL, 0),
	    v);
}

START_TEST(loads_extend_as_their_names_say)
{
	static const uint64_t word = 0x8182838485868788ULL;
	static const struct {
		unsigned op;
		uint64_t v;
	} rows[] = {
		{ DIF_OP_LDSB, 0xffffffffffffff88ULL },
		{ DIF_OP_LDSH, 0xffffffffffff8788ULL },
		{ DIF_OP_LDSW, 0xffffffff85868788ULL },
		{ DIF_OP_LDUB, 0x88 },
		{ DIF_OP_LDUH, 0x8788 },
		{ DIF_OP_LDUW, 0x85868788 },
		{ DIF_OP_LDX, word },
		{ DIF_OP_ULDSB, 0xffffffffffffff88ULL },
		{ DIF_OP_ULDUW, 0x85868788 },
		{ DIF_OP_RLDX, word },
	};

	kit_publish(&k);
	uint64_t addr = fake_env_put(&k.target, 3, &word, 8); /* odd: allowed */
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t v;
		ck_assert_int_eq(load_at(rows[i].op, addr, &v), 0);
		ck_assert_uint_eq(v, rows[i].v);
	}
}
END_TEST

START_TEST(bad_addresses_fault_with_the_address)
{
	kit_publish(&k);
	const uint64_t bad[] = { 0, 1, FAKE_MEM_BASE + FAKE_MEM_SIZE - 7,
		VMA(VMA_IMAGE, 0), VMA(VMA_IMAGE, k.image.size - 7),
		VMA(VMA_STORE, 0), VMA(VMA_STORE, k.store.size),
		VMA(VMA_STORE, 0xffffffff), -1ULL };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		uint64_t v = 1;
		ck_assert_int_eq(load_at(DIF_OP_LDX, bad[i], &v), -1);
		ck_assert_int_eq(k.env.fault.code, FLT_BADADDR);
		ck_assert_uint_eq(k.env.fault.value, bad[i]);
		ck_assert_int_eq(k.env.fault.offset, 4);
	}
	uint64_t v;
	ck_assert_int_eq(load_at(DIF_OP_LDUW, VMA(VMA_IMAGE, 4), &v), 0);
	ck_assert_uint_eq(v, IMAGE_VERSION);
}
END_TEST

/* One byte of a string is no byte of text: the address must be good still. */
START_TEST(strings_of_no_length_check_their_address)
{
	struct vm_str s;
	char c = 'x';

	kit_publish(&k);
	vm_begin(&k.env);
	ck_assert_int_eq(
	    vm_copy_str(&k.env, &c, VMA(VMA_STORE, k.store.size), 1), -1);
	ck_assert_int_eq(k.env.fault.code, FLT_BADADDR);
	k.env.fault.code = FLT_NONE;
	k.env.fault.code = FLT_NONE;
	/* The gap in front of scratch: nothing is there, not even a NUL. */
	uint64_t gap = VMA(VMA_STORE, k.env.at.scratch_ref - 8);
	char two[2];
	ck_assert_int_eq(vm_copy_str(&k.env, two, gap, sizeof(two)), -1);
	ck_assert_int_eq(k.env.fault.code, FLT_BADADDR);
	ck_assert_int_eq(vm_str(&k.env, VMA(VMA_IMAGE, 0xffffffff), 0, &s), -1);
	ck_assert_int_eq(k.env.fault.code, FLT_BADADDR);
	k.env.fault.code = FLT_NONE;
	ck_assert_int_eq(vm_copy_str(&k.env, &c, VMA(VMA_IMAGE, 4), 1), 0);
	ck_assert_int_eq(c, 0);
}
END_TEST

static int
store_at(unsigned op, uint64_t addr, uint64_t value)
{
	const uint64_t ints[] = { addr, value };
	uint64_t v;

	return kit_run(&k,
	    kit_difo(&k,
		KIT_TEXT(DIF_INSTR_INDEX(DIF_OP_SETX, 0, 1),
		    DIF_INSTR_INDEX(DIF_OP_SETX, 1, 2), DIF_INSTR(op, 2, 0, 1),
		    DIF_INSTR(DIF_OP_RET, 0, 0, 0)),
		ints, 2, NULL, 0),
	    &v);
}

START_TEST(stores_reach_scratch_and_variables_only)
{
	kit_ref_var(&k, DIF_GLOBAL, DIF_SCALAR, 0x500, false, 16);
	kit_ref_var(&k, DIF_LOCAL, DIF_SCALAR, 0x501, false, 16);
	kit_publish(&k);
	vm_begin(&k.env);
	struct store_hdr *h = store_hdr(&k.store);
	struct lane *l = kit_lane(&k);
	const uint64_t bad[] = { 0, FAKE_MEM_BASE, VMA(VMA_IMAGE, 64),
		VMA(VMA_STORE, 8), VMA(VMA_STORE, h->statics_ref + 24),
		VMA(VMA_STORE, h->statics_ref + 17), VMA(VMA_STORE, h->dyn_ref),
		VMA(VMA_STORE, h->lanes_ref),
		VMA(VMA_STORE, l->scratch_ref), /* nothing allocated */
		VMA(VMA_STORE, l->buf_ref), VMA(VMA_STORE, l->agg_ref) };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ck_assert_int_eq(store_at(DIF_OP_STX, bad[i], 1), -1);
		ck_assert_int_eq(k.env.fault.code, FLT_BADADDR);
		ck_assert_uint_eq(k.env.fault.value, bad[i]);
	}
	uint64_t v;
	ck_assert_int_eq(
	    store_at(DIF_OP_STX, VMA(VMA_STORE, h->statics_ref + 16), 77), 0);
	ck_assert_int_eq(
	    load_at(DIF_OP_LDX, VMA(VMA_STORE, h->statics_ref + 16), &v), 0);
	ck_assert_uint_eq(v, 77);
	ck_assert_int_eq(
	    store_at(DIF_OP_STB, VMA(VMA_STORE, l->locals_ref + 23), 0x1ff), 0);
	ck_assert_int_eq(k.store.base[l->locals_ref + 23], 0xff);
}
END_TEST

START_TEST(scratch_is_zeroed_aligned_and_ends)
{
	static const uint64_t ints[] = { 13, 4096, 0x4141414141414141ULL };
	uint64_t v;

	/* Two blocks; store into the second; the distance is 16. */
	ck_assert_int_eq(kit_run(&k,
			     kit_difo(&k,
				 KIT_TEXT(DIF_INSTR_INDEX(DIF_OP_SETX, 0, 1),
				     DIF_INSTR(DIF_OP_ALLOCS, 1, 0, 2),
				     DIF_INSTR(DIF_OP_ALLOCS, 1, 0, 3),
				     DIF_INSTR_INDEX(DIF_OP_SETX, 2, 4),
				     DIF_INSTR(DIF_OP_STX, 4, 0, 3),
				     DIF_INSTR(DIF_OP_COPYS, 3, 1, 2),
				     DIF_INSTR(DIF_OP_LDX, 2, 0, 5),
				     DIF_INSTR(DIF_OP_SUB, 3, 2, 3),
				     DIF_INSTR(DIF_OP_ADD, 3, 5, 3),
				     DIF_INSTR(DIF_OP_RET, 0, 0, 3)),
				 ints, 3, NULL, 0),
			     &v),
	    0);
	ck_assert_uint_eq(v, 0x4141414141414141ULL + 16);
	struct difo *all = kit_difo(&k,
	    KIT_TEXT(DIF_INSTR_INDEX(DIF_OP_SETX, 1, 1),
		DIF_INSTR(DIF_OP_ALLOCS, 1, 0, 2),
		DIF_INSTR(DIF_OP_RET, 0, 0, 2)),
	    ints, 2, NULL, 0);
	ck_assert_int_eq(kit_run(&k, all, &v), -1);
	ck_assert_int_eq(k.env.fault.code, FLT_NOSCRATCH);
	vm_begin(&k.env);
	ck_assert_int_eq(kit_run(&k, all, &v), 0);
	ck_assert_uint_eq(v, VMA(VMA_STORE, kit_lane(&k)->scratch_ref));
}
END_TEST

START_TEST(absurd_sizes_are_no_scratch)
{
	static const uint64_t sizes[] = { -1ULL, -7ULL, 1ULL << 32, 1ULL << 63,
		4097 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		uint64_t v;
		ck_assert_int_eq(
		    kit_run(&k,
			kit_difo(&k,
			    KIT_TEXT(DIF_INSTR_INDEX(DIF_OP_SETX, 0, 1),
				DIF_INSTR(DIF_OP_ALLOCS, 1, 0, 2),
				DIF_INSTR(DIF_OP_RET, 0, 0, 2)),
			    &sizes[i], 1, NULL, 0),
			&v),
		    -1);
		ck_assert_int_eq(k.env.fault.code, FLT_NOSCRATCH);
	}
}
END_TEST

START_TEST(tuple_stack_overflows_at_the_ninth)
{
	dif_instr text[11];
	uint64_t v;

	for (int i = 0; i < 9; i++)
		text[i] = DIF_INSTR(DIF_OP_PUSHTV, DIF_TYPE_CTF, 0, 0);
	text[8] = DIF_INSTR(DIF_OP_POPTS, 0, 0, 0);
	text[9] = DIF_INSTR(DIF_OP_PUSHTV, DIF_TYPE_CTF, 0, 0);
	text[10] = DIF_INSTR(DIF_OP_RET, 0, 0, 0);
	ck_assert_int_eq(
	    kit_run(&k, kit_difo(&k, text, 11, NULL, 0, NULL, 0), &v), 0);
	text[8] = DIF_INSTR(DIF_OP_NOP, 0, 0, 0);
	ck_assert_int_eq(
	    kit_run(&k, kit_difo(&k, text, 11, NULL, 0, NULL, 0), &v), -1);
	ck_assert_int_eq(k.env.fault.code, FLT_TUPOFLOW);
	ck_assert_int_eq(k.env.fault.offset, 36);
}
END_TEST

static uint64_t
array_at(unsigned id, uint64_t n)
{
	uint64_t v = 0;

	(void)kit_run(&k,
	    kit_difo(&k,
		KIT_TEXT(DIF_INSTR_INDEX(DIF_OP_SETX, 0, 1),
		    DIF_INSTR(DIF_OP_LDGA, id, 1, 2),
		    DIF_INSTR(DIF_OP_RET, 0, 0, 2)),
		&n, 1, NULL, 0),
	    &v);
	return v;
}

START_TEST(uregs_follow_the_documented_numbers)
{
	ck_assert_uint_eq(array_at(DIF_VAR_UREGS, 0), 0x100 + UREG_R15);
	ck_assert_uint_eq(array_at(DIF_VAR_UREGS, 20), 0x100 + UREG_SS);
	ck_assert_uint_eq(array_at(DIF_VAR_UREGS, 21), 0x100 + UREG_DS);
	ck_assert_uint_eq(array_at(DIF_VAR_UREGS, 22), 0x100 + UREG_ES);
	ck_assert_uint_eq(array_at(DIF_VAR_UREGS, 23), 0x100 + UREG_FS);
	ck_assert_uint_eq(array_at(DIF_VAR_UREGS, 24), 0x100 + UREG_GS);
	ck_assert_uint_eq(array_at(DIF_VAR_UREGS, 25), 0);
	ck_assert_int_eq(k.env.fault.code, FLT_NONE);
	ck_assert_uint_eq(array_at(DIF_VAR_UREGS, 26), 0);
	ck_assert_int_eq(k.env.fault.code, FLT_ILLOP);
	/* The compiler's own code names every register by its number. */
	ck_assert_uint_eq(
	    array_at(DIF_VAR_UREGS, UREG_RAW + UREG_GS), 0x100 + UREG_GS);
	ck_assert_uint_eq(array_at(DIF_VAR_UREGS, UREG_RAW + UREG_XMM(3, 1)),
	    0xf0000000 + UREG_XMM(3, 1));
	ck_assert_int_eq(k.env.fault.code, FLT_NONE);
	ck_assert_uint_eq(array_at(DIF_VAR_UREGS, UREG_RAW + UREG_ALL), 0);
	ck_assert_int_eq(k.env.fault.code, FLT_ILLOP);
	ck_assert_uint_eq(array_at(DIF_VAR_UREGS, -1ULL), 0);
	ck_assert_int_eq(k.env.fault.code, FLT_ILLOP);
}
END_TEST

START_TEST(registers_at_hand_are_not_asked_for)
{
	struct uregs regs = { .r = { [UREG_RDI] = 7, [UREG_GS] = 9 } };

	k.env.regs = &regs;
	ck_assert_uint_eq(array_at(DIF_VAR_UREGS, UREG_RAW + UREG_RDI), 7);
	ck_assert_uint_eq(array_at(DIF_VAR_UREGS, UREG_RAW + UREG_GS), 9);
	ck_assert_uint_eq(array_at(DIF_VAR_UREGS, UREG_RAW + UREG_XMM(3, 1)),
	    0xf0000000 + UREG_XMM(3, 1));
}
END_TEST

START_TEST(arguments_without_a_site_are_words_of_the_hit)
{
	kit_publish(&k);
	for (uint64_t i = 0; i < VM_ARGS; i++)
		k.env.hit[i] = 50 + i;
	for (uint32_t i = 0; i < VM_ARGS; i++) {
		uint64_t v;
		ck_assert_int_eq(
		    kit_run(&k, kit_load(&k, DIF_VAR_ARG0 + i), &v), 0);
		ck_assert_uint_eq(v, 50 + i);
	}
	ck_assert_uint_eq(array_at(DIF_VAR_ARGS, 3), 53);
	ck_assert_uint_eq(array_at(DIF_VAR_ARGS, 10), 0);
	ck_assert_uint_eq(array_at(DIF_VAR_ARGS, -1ULL), 0);
}
END_TEST

START_TEST(arguments_by_location)
{
	static const int32_t minus = -5;
	uint64_t stack, v;

	kit_publish(&k);
	stack = fake_env_put(&k.target, 64, &minus, sizeof(minus));
	k.target.regs[UREG_RSP] = stack - 8;
	k.target.regs[UREG_RDI] = 0xfedcba9876543210ULL;
	k.target.regs[UREG_RBX] = stack - 8;
	k.target.regs[UREG_RCX] = 2;
	k.env.hit[7] = 0xabcd;
	/* clang-format off */
	const struct argloc args[] = {
		{ ARGLOC_REG, 8, 0, UREG_RDI, 0, 0, 0, 0, 0 },
		{ ARGLOC_REG, 1, 0, UREG_RDI, 0, 0, 8, 0, 0 },
		{ ARGLOC_REG, 4, 1, UREG_RDI, 0, 0, 32, 0, 0 },
		{ ARGLOC_CONST, 8, 1, 0, 0, 0, 0, 0, -9 },
		{ ARGLOC_MEM, 4, 1, UREG_RBX, UREG_RCX, 4, 0, 0, 0 },
		{ ARGLOC_MEM, 4, 0, ARGLOC_NOREG, ARGLOC_NOREG, 1, 0, 0, (int64_t)stack },
		{ ARGLOC_STACK, 4, 1, 0, 0, 0, 0, 0, 8 },
		{ ARGLOC_STACK, 8, 0, 0, 0, 0, 0, 0, 1 << 20 },
		{ ARGLOC_HIT, 2, 1, 0, 0, 0, 0, 0, 7 },
		{ ARGLOC_ZERO, 8, 0, 0, 0, 0, 0, 0, 0 },
	};
	static const uint64_t want[] = { 0xfedcba9876543210ULL, 0x32,
		0xfffffffffedcba98ULL, -9ULL, -5ULL, 0xfffffffb, -5ULL, 0,
		0xffffffffffffabcdULL, 0 };
	/* clang-format on */
	k.env.args = args;
	k.env.nargs = ARRAY_SIZE(args);
	for (uint32_t i = 0; i < ARRAY_SIZE(args); i++) {
		ck_assert_uint_eq(array_at(DIF_VAR_ARGS, i), want[i]);
		ck_assert_int_eq(k.env.fault.code, FLT_NONE);
	}
	ck_assert_uint_eq(array_at(DIF_VAR_ARGS, ARRAY_SIZE(args)), 0);

	const struct argloc bad[] = {
		{ ARGLOC_NONE, 8, 0, 0, 0, 0, 0, 0, 0 },
		{ ARGLOC_MEM, 4, 0, ARGLOC_NOREG, ARGLOC_NOREG, 1, 0, 0, 16 },
	};
	k.env.args = bad;
	k.env.nargs = 1;
	ck_assert_int_eq(kit_run(&k, kit_load(&k, DIF_VAR_ARG0), &v), -1);
	ck_assert_int_eq(k.env.fault.code, FLT_ILLOP);
	k.env.nargs = 2;
	ck_assert_int_eq(kit_run(&k, kit_load(&k, DIF_VAR_ARG1), &v), -1);
	ck_assert_int_eq(k.env.fault.code, FLT_BADADDR);
	ck_assert_uint_eq(k.env.fault.value, 16);
	ck_assert_int_eq(kit_run(&k, kit_load(&k, DIF_VAR_ARG2), &v), 0);
	ck_assert_uint_eq(v, 0);
}
END_TEST

/* Sums as values, and memory that a pointer in memory leads to. */
START_TEST(arguments_by_sum_and_by_pointer)
{
	static const int16_t minus = -7;
	uint64_t slot, there, v;

	kit_publish(&k);
	there = fake_env_put(&k.target, 128, &minus, sizeof(minus));
	slot = fake_env_put(&k.target, 64, &there, sizeof(there));
	k.target.regs[UREG_RBP] = slot + 24;
	k.target.regs[UREG_RAX] = 0x1ffffffffULL;
	/* clang-format off */
	const struct argloc args[] = {
		{ ARGLOC_SUM, 8, 0, UREG_RBP, ARGLOC_NOREG, 1, 0, 0, -24 },
		{ ARGLOC_SUM, 8, 1, UREG_RBP, UREG_RAX, 8, 0, 0, 1 },
		{ ARGLOC_SUM, 4, 1, ARGLOC_NOREG, UREG_RAX, 1, 0, 0, 0 },
		{ ARGLOC_SUM, 8, 0, ARGLOC_NOREG, ARGLOC_NOREG, 1, 0, 0, 77 },
		{ ARGLOC_VIA, 2, 1, UREG_RBP, ARGLOC_NOREG, 1, 0, 0, ARGLOC_VIA_DISP(-24, 0) },
		{ ARGLOC_VIA, 1, 0, UREG_RBP, ARGLOC_NOREG, 1, 0, 0, ARGLOC_VIA_DISP(-24, 1) },
		{ ARGLOC_VIA_SUM, 8, 0, UREG_RBP, ARGLOC_NOREG, 1, 0, 0, ARGLOC_VIA_DISP(-24, -5) },
	};
	/* clang-format on */
	const uint64_t want[] = { slot, slot + 24 + 8 * 0x1ffffffffULL + 1, -1,
		77, -7ULL, 0xff, there - 5 };
	k.env.args = args;
	k.env.nargs = ARRAY_SIZE(args);
	for (uint32_t i = 0; i < ARRAY_SIZE(args); i++) {
		ck_assert_uint_eq(array_at(DIF_VAR_ARGS, i), want[i]);
		ck_assert_int_eq(k.env.fault.code, FLT_NONE);
	}
	/* Neither the pointer nor what it points to need be there. */
	k.target.regs[UREG_RBP] = 100;
	k.env.args = &args[4];
	k.env.nargs = 1;
	ck_assert_int_eq(kit_run(&k, kit_load(&k, DIF_VAR_ARG0), &v), -1);
	ck_assert_int_eq(k.env.fault.code, FLT_BADADDR);
	ck_assert_uint_eq(k.env.fault.value, 76);
	k.target.regs[UREG_RBP] = slot + 24;
	there = 4096;
	fake_env_put(&k.target, 64, &there, sizeof(there));
	ck_assert_int_eq(kit_run(&k, kit_load(&k, DIF_VAR_ARG0), &v), -1);
	ck_assert_int_eq(k.env.fault.code, FLT_BADADDR);
	ck_assert_uint_eq(k.env.fault.value, 4096);
}
END_TEST

START_TEST(built_ins_come_from_where_the_table_says)
{
	uint64_t v;

	kit_publish(&k);
	ck_assert_int_eq(kit_run(&k, kit_load(&k, DIF_VAR_PID), &v), 0);
	ck_assert_uint_eq(v, 4242);
	ck_assert_int_eq(kit_run(&k, kit_load(&k, DIF_VAR_TIMESTAMP), &v), 0);
	ck_assert_uint_eq(v, 123456789);
	ck_assert_int_eq(kit_run(&k, kit_load(&k, DIF_VAR_EXECNAME), &v), 0);
	ck_assert_str_eq((char *)k.store.base + VMA_REF(v), "victim");
	ck_assert_uint_eq(k.env.scratch_used, 264); /* strsize and NUL */
	ck_assert_int_eq(kit_run(&k, kit_load(&k, DIF_VAR_ERRNO), &v), -1);
	ck_assert_int_eq(k.env.fault.code, FLT_ILLOP);
	ck_assert_int_eq(kit_run(&k, kit_load(&k, DIF_VAR_IPL), &v), 0);
	ck_assert_uint_eq(v, 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("vm");
	TCase *tc = tcase_create("vm");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, arithmetic);
	tcase_add_test(tc, division_by_zero_faults_at_its_instruction);
	tcase_add_test(tc, comparisons_are_right_for_all_values);
	tcase_add_test(tc, strings_compare_as_unsigned_bytes);
	tcase_add_test(tc, loads_extend_as_their_names_say);
	tcase_add_test(tc, bad_addresses_fault_with_the_address);
	tcase_add_test(tc, strings_of_no_length_check_their_address);
	tcase_add_test(tc, stores_reach_scratch_and_variables_only);
	tcase_add_test(tc, scratch_is_zeroed_aligned_and_ends);
	tcase_add_test(tc, absurd_sizes_are_no_scratch);
	tcase_add_test(tc, tuple_stack_overflows_at_the_ninth);
	tcase_add_test(tc, uregs_follow_the_documented_numbers);
	tcase_add_test(tc, registers_at_hand_are_not_asked_for);
	tcase_add_test(tc, arguments_without_a_site_are_words_of_the_hit);
	tcase_add_test(tc, arguments_by_location);
	tcase_add_test(tc, arguments_by_sum_and_by_pointer);
	tcase_add_test(tc, built_ins_come_from_where_the_table_says);
	suite_add_tcase(s, tc);

	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
