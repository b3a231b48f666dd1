/*
 * dlang/jit/x86_64/: each template and each encoding byte for byte beside what
 * GNU as makes of the same instructions as text, for all operands.
 *
 * All cases are assembled at once.  Before each stands its number.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/jit/x86_64/encode.c"
#include "dlang/jit/x86_64/write.c"
#include "t/fake/fixture.h"
#include "t/unit/suite.h"

#define MAGIC UINT64_C(0x6a69745f00000000)
#define ADDR  UINT64_C(0x10000000)

/* What the templates have written, and the text of the same. */
static uint8_t *ours;
static size_t nours;
static FILE *text;
static unsigned ncases;

static const char *const full[] = { "%rax", "%rcx", "%rdx", "%rbx", "%rsp",
	"%rbp", "%rsi", "%rdi", "%r8", "%r9", "%r10", "%r11", "%r12", "%r13",
	"%r14", "%r15" };
static const char *const half[] = { "%eax", "%ecx", "%edx", "%ebx", "%esp",
	"%ebp", "%esi", "%edi", "%r8d", "%r9d", "%r10d", "%r11d", "%r12d",
	"%r13d", "%r14d", "%r15d" };

/* Where the registers of DIF are, once more. */
static const unsigned home[] = { RAX, RSI, RDI, R8, R9, R10, R11, RBP };

#define AS(...) fprintf(text, __VA_ARGS__)

static void
begin_cases(void)
{
	text = fopen(fixture_path("cases.s"), "w");
	ck_assert_ptr_nonnull(text);
	ours = mem_alloc(32U << 20);
	nours = 0;
	ncases = 0;
}

static void
begin_case(struct emit *e, uint8_t *buf, size_t size)
{
	uint64_t mark = MAGIC | ++ncases;

	*e = (struct emit){ .buf = buf, .size = size, .addr = ADDR };
	memcpy(ours + nours, &mark, 8);
	nours += 8;
	AS(".quad %#" PRIx64 "\n", mark);
}

static void
end_case(const struct emit *e)
{
	memcpy(ours + nours, e->buf, e->len);
	nours += e->len;
}

/* The text of a case, for a message. */
static void
print_case(unsigned n)
{
	FILE *f = fopen(fixture_path("cases.s"), "r");
	char line[256], mark[64];
	bool in = false;

	snprintf(mark, sizeof(mark), ".quad %#" PRIx64 "\n", MAGIC | n);
	while (fgets(line, sizeof(line), f) != NULL) {
		if (line[0] == '.' && line[1] == 'q')
			in = strcmp(line, mark) == 0;
		else if (in)
			printf("\t%s", line);
	}
	fclose(f);
}

static void
end_cases(void)
{
	unsigned n = 0;
	size_t i = 0;

	fclose(text);
	fixture_sh("cd $DIR && as cases.s -o cases.o && "
		   "objcopy -O binary -j .text cases.o cases.bin");
	FILE *f = fopen(fixture_path("cases.bin"), "r");
	uint8_t *theirs = mem_zalloc(nours + 1);
	size_t size = fread(theirs, 1, nours + 1, f);
	fclose(f);
	for (; i < nours && ours[i] == theirs[i]; i++)
		if (i + 8 <= nours && memcmp(ours + i + 4, "_tij", 4) == 0)
			memcpy(&n, ours + i, 4);
	if (i < nours) {
		printf("as:\n");
		print_case(n);
	}
	ck_assert_msg(i == nours && size == nours,
	    "case %u of %u is written in another way", n, ncases);
	ck_assert_uint_gt(ncases, 0);
	mem_free(theirs);
	mem_free(ours);
}

/* ---- encodings ---- */

static void
encode_registers(struct emit *e)
{
	static const struct {
		unsigned op;
		const char *name;
	} ops[] = { { 0x01, "add" }, { 0x09, "or" }, { 0x21, "and" },
		{ 0x29, "sub" }, { 0x31, "xor" }, { OP_CMP, "cmp" },
		{ OP_TEST, "test" }, { OP_MOV_STORE, "mov" } };
	uint8_t buf[16];

	for (unsigned i = 0; i < ARRAY_SIZE(ops); i++)
		for (unsigned n = 0; n < 512; n++) {
			unsigned a = n & 15, b = n >> 4 & 15;
			bool wide = n >> 8 != 0;
			begin_case(e, buf, sizeof(buf));
			enc_rr(e, wide, ops[i].op, a, b);
			AS("%s %s,%s\n", ops[i].name, wide ? full[a] : half[a],
			    wide ? full[b] : half[b]);
			end_case(e);
		}
}

static void
encode_memory(struct emit *e)
{
	static const int32_t disps[] = { 0, 1, -1, 127, 128, -128, -129, 4096,
		INT32_MAX, INT32_MIN };
	uint8_t buf[16];

	for (unsigned n = 0; n < 16 * 16 * ARRAY_SIZE(disps); n++) {
		unsigned a = n & 15, b = n >> 4 & 15;
		int32_t d = disps[n >> 8];
		begin_case(e, buf, sizeof(buf));
		enc_rm(e, true, OP_MOV_LOAD, a, b, d);
		AS("mov %d(%s),%s\n", d, full[b], full[a]);
		end_case(e);
		begin_case(e, buf, sizeof(buf));
		enc_rm(e, false, OP_MOV_STORE, a, b, d);
		AS("mov %s,%d(%s)\n", half[a], d, full[b]);
		end_case(e);
		begin_case(e, buf, sizeof(buf));
		enc_mi8(e, a & 1, 0x83, 7, b, d, (int)a - 8);
		AS("cmp%c $%d,%d(%s)\n", a & 1 ? 'q' : 'l', (int)a - 8, d,
		    full[b]);
		end_case(e);
		begin_case(e, buf, sizeof(buf));
		enc_mi32(e, a & 1, 0xc7, 0, b, d, 77 - (int32_t)a * 9999999);
		AS("mov%c $%d,%d(%s)\n", a & 1 ? 'q' : 'l',
		    77 - (int32_t)a * 9999999, d, full[b]);
		end_case(e);
	}
}

static const uint64_t values[] = { 0, 1, 127, 128, 255, INT32_MAX, 0x80000000,
	UINT32_MAX, 0x100000000, INT64_MAX, (uint64_t)INT64_MIN, (uint64_t)-1,
	(uint64_t)-128, (uint64_t)-129, (uint64_t)INT32_MIN,
	(uint64_t)INT32_MIN - 1, 0x123456789abcdef0 };

/* A register becomes a value. */
static void
as_set(unsigned reg, uint64_t v)
{
	if (v == 0)
		AS("xor %s,%s\n", half[reg], half[reg]);
	else if (v <= UINT32_MAX)
		AS("mov $%" PRIu64 ",%s\n", v, half[reg]);
	else if ((int64_t)v == (int32_t)v)
		AS("mov $%" PRId64 ",%s\n", (int64_t)v, full[reg]);
	else
		AS("movabs $%" PRId64 ",%s\n", (int64_t)v, full[reg]);
}

START_TEST(encodings)
{
	struct emit e;
	uint8_t buf[16];

	encode_registers(&e);
	encode_memory(&e);
	for (unsigned r = 0; r < 16; r++) {
		for (unsigned i = 0; i < ARRAY_SIZE(values); i++) {
			begin_case(&e, buf, sizeof(buf));
			enc_set(&e, r, values[i]);
			as_set(r, values[i]);
			end_case(&e);
		}
		begin_case(&e, buf, sizeof(buf));
		emit_push(&e, r);
		emit_pop(&e, r);
		enc_move_stack(&e, (int32_t)r * 24 - 200);
		AS("push %s\npop %s\nlea %d(%%rsp),%%rsp\n", full[r], full[r],
		    (int)r * 24 - 200);
		end_case(&e);
	}
	end_cases();
}
END_TEST

/* ---- templates ---- */

static uint64_t ints[ARRAY_SIZE(values)];
static struct jit_point points[8];
static dif_instr instrs[8];
static struct img_difo difo;
static struct jit_plan plan;
static uint8_t live; /* registers that are used later */

/* The addresses of the helpers, in order: far away, or near ADDR. */
#define FAR  UINT64_C(0x7f1122334400)
#define NEAR (ADDR + 0x12345)
static struct vm_helpers helpers;
static uint64_t base;

#define HELPER(name) (base + offsetof(struct vm_helpers, name))

static void
set_helpers(uint64_t at)
{
	base = at;
	for (size_t i = 0; i < sizeof(helpers); i += 8) {
		uint64_t addr = at + i;
		memcpy((uint8_t *)&helpers + i, &addr, 8);
	}
}

static void
setup(void)
{
	memset(points, 0, sizeof(points));
	memset(&plan, 0, sizeof(plan));
	memcpy(ints, values, sizeof(values));
	difo = (struct img_difo){ .len = 8, .strs_ref = 0x1230 };
	plan = (struct jit_plan){ .d = &difo,
		.text = instrs,
		.ints = ints,
		.points = points,
		.used = 0xfe,
		.tuple = DIF_TUPLE,
		.calls = true };
	live = 0;
	set_helpers(FAR);
	begin_cases();
}

static void
teardown(void)
{
}

/* The frame: %r1 .. %r6, the operands of a comparison, the place of the result,
 * tuples. */
#define CONDS 48

static int
tuples(void)
{
	return plan.conds_kept ? 72 : 56;
}

/* A case: the template of an instruction, which is the second. */
static void
template_case(dif_instr i)
{
	static uint8_t buf[1024];
	struct code c = { .p = &plan, .helpers = &helpers, .n = 1 };

	instrs[1] = i;
	for (unsigned r = 0; r < DIF_REGS; r++) {
		plan.first[r] = live & 1U << r ? 0 : UINT32_MAX;
		plan.last[r] = live & 1U << r ? UINT32_MAX : 0;
	}
	lay_frame(&c);
	c.point = &points[1];
	begin_case(&c.e, buf, sizeof(buf));
	const struct template *t = &templates[DIF_OP_OF(i)];
	t->write(&c, i, t->arg);
	for (unsigned n = 0; n < 8; n++)
		points[n].pending = 0;
	end_case(&c.e);
	vec_fini(&c.faults);
}

/* The register that has the value of a register of DIF. */
static const char *
as_value(unsigned r, unsigned work)
{
	if (r == 0)
		as_set(work, 0);
	return full[r == 0 ? work : home[r]];
}

static void
as_move(const char *to, const char *from)
{
	if (strcmp(to, from) != 0)
		AS("mov %s,%s\n", from, to);
}

static void
as_fetch(unsigned to, unsigned r)
{
	as_move(full[to], as_value(r, to));
}

static void
as_save(bool back, unsigned result)
{
	for (unsigned r = 1; r <= 6; r++) {
		if (!(live & 1U << r) || r == result)
			continue;
		if (back)
			AS("mov %u(%%rsp),%s\n", 8 * (r - 1), full[home[r]]);
		else
			AS("mov %s,%u(%%rsp)\n", full[home[r]], 8 * (r - 1));
	}
}

/* A jump whose target is not known yet. */
static void
as_jump(const char *name)
{
	AS("{disp32} %s .+%d\n", name, strcmp(name, "jmp") == 0 ? 5 : 6);
}

static void
as_call(uint64_t addr)
{
	AS("mov %%rbx,%%rdi\n");
	as_set(RAX, addr);
	AS("call *%%rax\ncmpl $-1,%d(%%rbx)\n",
	    (int)offsetof(struct vm_env, fault.code));
	as_jump("jne");
}

static void
each_rrr(void (*expect)(unsigned, unsigned, unsigned, unsigned op),
    const uint8_t *ops, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned r = 0; r < 8 * 8 * 7; r++) {
			unsigned a = r & 7, b = r >> 3 & 7, d = 1 + (r >> 6);
			template_case(DIF_INSTR(ops[i], a, b, d));
			expect(a, b, d, ops[i]);
		}
}

static const char *
alu_name(unsigned op)
{
	switch (op) {
	case DIF_OP_OR: return "or";
	case DIF_OP_XOR: return "xor";
	case DIF_OP_AND: return "and";
	case DIF_OP_ADD: return "add";
	case DIF_OP_SUB: return "sub";
	case DIF_OP_MUL: return "imul";
	case DIF_OP_SLL: return "shl";
	case DIF_OP_SRL: return "shr";
	default: return "sar";
	}
}

static void
expect_alu(unsigned a, unsigned b, unsigned d, unsigned op)
{
	const char *x = as_value(a, RAX), *y = as_value(b, RCX);

	if (d == b) {
		AS("%s %s,%s\n", alu_name(op), x, y);
		return;
	}
	as_move(full[home[d]], x);
	AS("%s %s,%s\n", alu_name(op), y, full[home[d]]);
}

static void
expect_sub(unsigned a, unsigned b, unsigned d, unsigned op)
{
	const char *x = as_value(a, RAX), *y = as_value(b, RCX);
	const char *to = d == b ? "%rax" : full[home[d]];

	as_move(to, x);
	AS("sub %s,%s\n", y, to);
	as_move(full[home[d]], to);
}

static void
expect_shift(unsigned a, unsigned b, unsigned d, unsigned op)
{
	as_fetch(RCX, b);
	as_fetch(home[d], a);
	AS("%s %%cl,%s\n", alu_name(op), full[home[d]]);
}

static void
expect_division(unsigned a, unsigned b, unsigned d, unsigned op)
{
	bool rem = op == DIF_OP_SREM || op == DIF_OP_UREM;

	as_fetch(RCX, b);
	as_fetch(RAX, a);
	AS("test %%rcx,%%rcx\n");
	as_jump("je");
	AS("xor %%edx,%%edx\n");
	if (op == DIF_OP_SDIV || op == DIF_OP_SREM)
		AS("cmp $-1,%%rcx\njne 1f\nneg %%rax\njmp 2f\n"
		   "1: cqo\nidiv %%rcx\n2:\n");
	else
		AS("div %%rcx\n");
	as_move(full[home[d]], rem ? "%rdx" : "%rax");
}

START_TEST(arithmetic)
{
	static const uint8_t alus[] = { DIF_OP_OR, DIF_OP_XOR, DIF_OP_AND,
		DIF_OP_ADD, DIF_OP_MUL };
	static const uint8_t subs[] = { DIF_OP_SUB };
	static const uint8_t shifts[] = { DIF_OP_SLL, DIF_OP_SRL, DIF_OP_SRA };
	static const uint8_t divs[] = { DIF_OP_SDIV, DIF_OP_SREM, DIF_OP_UDIV,
		DIF_OP_UREM };

	each_rrr(expect_alu, alus, ARRAY_SIZE(alus));
	each_rrr(expect_sub, subs, ARRAY_SIZE(subs));
	each_rrr(expect_shift, shifts, ARRAY_SIZE(shifts));
	each_rrr(expect_division, divs, ARRAY_SIZE(divs));
	for (unsigned r = 0; r < 8 * 7; r++) {
		unsigned a = r & 7, d = 1 + (r >> 3);
		template_case(DIF_INSTR(DIF_OP_NOT, a, 0, d));
		as_fetch(home[d], a);
		AS("not %s\n", full[home[d]]);
		template_case(DIF_INSTR(DIF_OP_MOV, a, 0, d));
		as_fetch(home[d], a);
	}
	end_cases();
}
END_TEST

START_TEST(constants)
{
	for (unsigned d = 1; d < DIF_REGS; d++) {
		for (unsigned i = 0; i < ARRAY_SIZE(values); i++) {
			template_case(DIF_INSTR_INDEX(DIF_OP_SETX, i, d));
			as_set(home[d], values[i]);
		}
		template_case(DIF_INSTR_INDEX(DIF_OP_SETS, 0x45, d));
		as_set(home[d], UINT64_C(0xd7a9000000001275));
	}
	static const uint8_t nothing[] = { DIF_OP_NOP, DIF_OP_POPTS,
		DIF_OP_FLUSHTS };
	for (unsigned i = 0; i < ARRAY_SIZE(nothing); i++)
		template_case(DIF_INSTR(nothing[i], 0, 0, 0));
	end_cases();
}
END_TEST

static void
as_keep(const char *a, const char *b)
{
	AS("mov %s,%d(%%rsp)\nmov %s,%d(%%rsp)\n", a, CONDS, b, CONDS + 8);
}

static void
compare_cases(unsigned a, unsigned b)
{
	template_case(DIF_INSTR(DIF_OP_CMP, a, b, 0));
	const char *x = as_value(a, RAX), *y = as_value(b, RCX);
	if (plan.conds_kept)
		as_keep(x, y);
	else
		AS("cmp %s,%s\n", y, x);
	template_case(DIF_INSTR(DIF_OP_BOUND, a, b, 0));
	x = as_value(a, RAX), y = as_value(b, RCX);
	AS("cmp %s,%s\n", y, x);
	as_jump("jae");
	template_case(DIF_INSTR(DIF_OP_SCMP, a, b, 0));
	as_save(false, 0);
	as_fetch(RDX, b);
	as_fetch(RSI, a);
	as_call(HELPER(compare));
	as_save(true, 0);
	if (!plan.conds_kept) {
		AS("test %%eax,%%eax\n");
		return;
	}
	AS("xor %%ecx,%%ecx\nxor %%edx,%%edx\ntest %%eax,%%eax\n"
	   "setg %%cl\nsetl %%dl\n");
	as_keep("%rcx", "%rdx");
}

static void
test_case(unsigned a)
{
	template_case(DIF_INSTR(DIF_OP_TST, a, 0, 0));
	const char *x = as_value(a, RCX);
	if (!plan.conds_kept) {
		AS("test %s,%s\n", x, x);
		return;
	}
	AS("xor %%eax,%%eax\ntest %s,%s\nsetne %%al\nxor %%ecx,%%ecx\n", x, x);
	as_keep("%rax", "%rcx");
}

START_TEST(comparisons)
{
	for (unsigned kept = 0; kept < 2; kept++) {
		plan.conds_kept = kept != 0;
		for (unsigned r = 0; r < 64; r++) {
			live = (uint8_t)(r * 37);
			compare_cases(r & 7, r >> 3);
		}
		for (unsigned r = 0; r < 8; r++)
			test_case(r);
	}
	end_cases();
}
END_TEST

/* Behind cmp, tst and scmp: the jump of each branch; "" if it never jumps. */
static const struct {
	uint8_t op;
	const char *cmp, *tst, *scmp;
} branches[] = {
	{ DIF_OP_BE, "je", "je", "je" },
	{ DIF_OP_BNE, "jne", "jne", "jne" },
	{ DIF_OP_BG, "jg", "jne", "jg" },
	{ DIF_OP_BGU, "ja", "jne", "jg" },
	{ DIF_OP_BGE, "jge", "jmp", "jge" },
	{ DIF_OP_BGEU, "jae", "jmp", "jge" },
	{ DIF_OP_BL, "jl", "", "jl" },
	{ DIF_OP_BLU, "jb", "", "jl" },
	{ DIF_OP_BLE, "jle", "je", "jle" },
	{ DIF_OP_BLEU, "jbe", "je", "jle" },
	{ DIF_OP_BA, "jmp", "jmp", "jmp" },
};

START_TEST(jumps)
{
	static const uint8_t after[] = { DIF_OP_CMP, DIF_OP_TST, DIF_OP_SCMP };

	for (unsigned i = 0; i < ARRAY_SIZE(branches) * 3; i++) {
		unsigned b = i / 3;
		const char *names[] = { branches[b].cmp, branches[b].tst,
			branches[b].scmp };
		points[1].cond = after[i % 3];
		template_case(DIF_INSTR_BRANCH(branches[b].op, 5));
		if (names[i % 3][0] != 0)
			as_jump(names[i % 3]);
	}
	plan.conds_kept = true;
	points[1].cond = 0;
	for (unsigned i = 0; i < ARRAY_SIZE(branches); i++) {
		template_case(DIF_INSTR_BRANCH(branches[i].op, 5));
		if (branches[i].op != DIF_OP_BA)
			AS("mov %d(%%rsp),%%rax\ncmp %d(%%rsp),%%rax\n", CONDS,
			    CONDS + 8);
		as_jump(branches[i].cmp);
		/* To the next one there is no jump. */
		template_case(DIF_INSTR_BRANCH(branches[i].op, 2));
	}
	for (unsigned r = 0; r < DIF_REGS; r++) {
		template_case(DIF_INSTR(DIF_OP_RET, 0, 0, r));
		as_fetch(RAX, r);
		as_jump("jmp");
		difo.len = 2;
		template_case(DIF_INSTR(DIF_OP_RET, 0, 0, r));
		as_fetch(RAX, r);
		difo.len = 8;
	}
	end_cases();
}
END_TEST

static const struct {
	uint8_t op[3];
	unsigned size;
	const char *extend;
} loads[] = {
	{ { DIF_OP_LDSB, DIF_OP_ULDSB, DIF_OP_RLDSB }, 1, "movsbq %al" },
	{ { DIF_OP_LDSH, DIF_OP_ULDSH, DIF_OP_RLDSH }, 2, "movswq %ax" },
	{ { DIF_OP_LDSW, DIF_OP_ULDSW, DIF_OP_RLDSW }, 4, "movslq %eax" },
	{ { DIF_OP_LDUB, DIF_OP_ULDUB, DIF_OP_RLDUB }, 1, "mov %rax" },
	{ { DIF_OP_LDUH, DIF_OP_ULDUH, DIF_OP_RLDUH }, 2, "mov %rax" },
	{ { DIF_OP_LDUW, DIF_OP_ULDUW, DIF_OP_RLDUW }, 4, "mov %rax" },
	{ { DIF_OP_LDX, DIF_OP_ULDX, DIF_OP_RLDX }, 8, "mov %rax" },
};

static const struct {
	uint8_t op;
	unsigned size;
} stores[] = { { DIF_OP_STB, 1 }, { DIF_OP_STH, 2 }, { DIF_OP_STW, 4 },
	{ DIF_OP_STX, 8 } };

static void
load_cases(unsigned n)
{
	unsigned a = n & 7, d = 1 + (n >> 3) % 7;

	for (unsigned i = 0; i < ARRAY_SIZE(loads) * 3; i++) {
		template_case(DIF_INSTR(loads[i / 3].op[i % 3], a, 0, d));
		as_save(false, d);
		as_fetch(RSI, a);
		as_set(RDX, loads[i / 3].size);
		as_call(HELPER(load));
		AS("%s,%s\n", loads[i / 3].extend, full[home[d]]);
		as_save(true, d);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(stores); i++) {
		template_case(DIF_INSTR(stores[i].op, a, 0, d));
		as_save(false, 0);
		as_fetch(RDX, a);
		as_fetch(RSI, d);
		as_set(RCX, stores[i].size);
		as_call(HELPER(store));
		as_save(true, 0);
	}
	template_case(DIF_INSTR(DIF_OP_ALLOCS, a, 0, d));
	as_save(false, d);
	as_fetch(RSI, a);
	as_call(HELPER(alloc));
	as_move(full[home[d]], "%rax");
	as_save(true, d);
}

START_TEST(memory)
{
	for (unsigned n = 0; n < 56; n++) {
		live = (uint8_t)(n * 73);
		load_cases(n);
	}
	for (unsigned n = 0; n < 8 * 8 * 7; n++) {
		unsigned a = n & 7, b = n >> 3 & 7, d = 1 + (n >> 6);
		live = (uint8_t)(n * 73);
		template_case(DIF_INSTR(DIF_OP_COPYS, a, b, d));
		as_save(false, 0);
		as_fetch(RDX, b);
		as_fetch(RCX, d);
		as_fetch(RSI, a);
		as_call(HELPER(copy));
		as_save(true, 0);
	}
	end_cases();
}
END_TEST

static const struct {
	uint8_t load, store;
	enum dif_scope scope;
	bool array;
} vars[] = {
	{ DIF_OP_LDGS, DIF_OP_STGS, DIF_GLOBAL, false },
	{ DIF_OP_LDTS, DIF_OP_STTS, DIF_THREAD, false },
	{ DIF_OP_LDLS, DIF_OP_STLS, DIF_LOCAL, false },
	{ DIF_OP_LDGAA, DIF_OP_STGAA, DIF_GLOBAL, true },
	{ DIF_OP_LDTAA, DIF_OP_STTAA, DIF_THREAD, true },
};

static void
as_variable(unsigned i)
{
	as_set(RSI, vars[i].scope);
	as_set(RDX, 0x503);
	if (vars[i].array) {
		AS("lea %d(%%rsp),%%rcx\n", tuples());
		as_set(R8, (unsigned)points[1].depth);
	} else {
		as_set(RCX, 0);
		as_set(R8, 0);
	}
}

static void
variable_cases(unsigned d)
{
	for (unsigned i = 0; i < ARRAY_SIZE(vars); i++) {
		template_case(DIF_INSTR_INDEX(vars[i].load, 0x503, d));
		as_save(false, d);
		as_variable(i);
		as_call(HELPER(var_load));
		as_move(full[home[d]], "%rax");
		as_save(true, d);
		template_case(DIF_INSTR_INDEX(vars[i].store, 0x503, d));
		as_save(false, 0);
		as_fetch(R9, d);
		as_variable(i);
		as_call(HELPER(var_store));
		as_save(true, 0);
	}
	template_case(DIF_INSTR_INDEX(DIF_OP_LDGS, DIF_VAR_EPID, d));
	AS("mov %d(%%rbx),%s\n", (int)offsetof(struct vm_env, epid),
	    half[home[d]]);
	template_case(DIF_INSTR_INDEX(DIF_OP_LDGS, DIF_VAR_PID, d));
	as_save(false, d);
	as_set(RSI, 0x116);
	as_call(HELPER(builtin));
	as_move(full[home[d]], "%rax");
	as_save(true, d);
	template_case(DIF_INSTR_INDEX(DIF_OP_CALL, 14, d));
	as_save(false, d);
	as_set(RSI, 14);
	AS("lea %d(%%rsp),%%rdx\n", tuples());
	as_set(RCX, (unsigned)points[1].depth);
	as_call(HELPER(call));
	as_move(full[home[d]], "%rax");
	as_save(true, d);
}

static void
array_cases(unsigned r)
{
	unsigned index = r & 7, d = 1 + (r >> 3);

	for (unsigned i = 0; i < 2; i++) {
		template_case(
		    DIF_INSTR(i == 0 ? DIF_OP_LDGA : DIF_OP_LDTA, 2, index, d));
		as_save(false, d);
		as_fetch(RDX, index);
		as_set(RSI, 2);
		as_call(HELPER(array));
		as_move(full[home[d]], "%rax");
		as_save(true, d);
	}
}

START_TEST(variables)
{
	for (unsigned n = 0; n < 4 * 9; n++) {
		points[1].depth = (int8_t)(n % 9);
		plan.conds_kept = n & 1;
		live = (uint8_t)(n * 59);
		for (unsigned d = 1; d < DIF_REGS; d++)
			variable_cases(d);
	}
	for (unsigned r = 0; r < 56; r++)
		array_cases(r);
	end_cases();
}
END_TEST

/* A call of a helper within reach. */
START_TEST(near_calls)
{
	set_helpers(NEAR);
	template_case(DIF_INSTR(DIF_OP_ALLOCS, 2, 0, 3));
	AS("1: mov %%rdi,%%rsi\nmov %%rbx,%%rdi\n"
	   "call 1b+%" PRIu64 "\ncmpl $-1,%d(%%rbx)\n",
	    HELPER(alloc) - ADDR, (int)offsetof(struct vm_env, fault.code));
	as_jump("jne");
	AS("mov %%rax,%%r8\n");
	end_cases();
}
END_TEST

static void
push_case(unsigned r, unsigned size, unsigned kind)
{
	int at = tuples() + 24 * points[1].depth;
	const char *x = as_value(r, RAX);

	AS("mov %s,%d(%%rsp)\n", x, at);
	x = as_value(size, RCX);
	AS("mov %s,%d(%%rsp)\n", x, at + 8);
	AS("movl $%u,%d(%%rsp)\n", kind, at + 16);
}

START_TEST(tuple_stack)
{
	for (unsigned n = 0; n < 8 * 64; n++) {
		unsigned r = n >> 3 & 7, size = n >> 6 & 7;
		points[1].depth = (int8_t)(n & 7);
		template_case(DIF_INSTR(DIF_OP_PUSHTV, 0, 0, r));
		push_case(r, 0, TUPLE_VALUE);
		template_case(
		    DIF_INSTR(DIF_OP_PUSHTR, DIF_TYPE_STRING, size, r));
		push_case(r, size, TUPLE_STRING);
		template_case(DIF_INSTR(DIF_OP_PUSHTR, DIF_TYPE_CTF, size, r));
		push_case(r, size, TUPLE_BYTES);
	}
	points[1].depth = DIF_TUPLE;
	template_case(DIF_INSTR(DIF_OP_PUSHTV, 0, 0, 1));
	AS("test %%rsp,%%rsp\n");
	as_jump("jne");
	end_cases();
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = { encodings, arithmetic, constants,
		comparisons, jumps, memory, variables, near_calls,
		tuple_stack };

	fixture_setup();
	int failed =
	    suite_run("jit_code", setup, teardown, tests, ARRAY_SIZE(tests));
	fixture_teardown();
	return failed;
}
