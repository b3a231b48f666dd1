/*
 * See gen.h.  Integers are chosen from a table of values that sit on edges:
 * sizes, signs, addresses in the fake target, in the image and in the store.
 */
#include "t/fake/gen.h"

#include <string.h>

#include "dlang/base/base.h"

uint32_t
gen_u8(struct gen *g)
{
	if (g->left == 0)
		return 0;
	g->left--;
	return *g->p++;
}

uint32_t
gen_u32(struct gen *g)
{
	uint32_t v = 0;

	for (int i = 0; i < 4; i++)
		v = v << 8 | gen_u8(g);
	return v;
}

static const uint64_t ints[] = {
	0,
	1,
	2,
	3,
	7,
	8,
	10,
	16,
	36,
	64,
	100,
	255,
	256,
	4096,
	65535,
	65536,
	-1ULL,
	-2ULL,
	-8ULL,
	INT64_MAX,
	(uint64_t)INT64_MIN,
	UINT32_MAX,
	INT32_MAX,
	(uint64_t)INT32_MIN,
	1ULL << 32,
	FAKE_MEM_BASE,
	FAKE_MEM_BASE + 1,
	FAKE_MEM_BASE + 64,
	FAKE_MEM_BASE + 128,
	FAKE_MEM_BASE + FAKE_MEM_SIZE - 4,
	FAKE_MEM_BASE + FAKE_MEM_SIZE,
	VMA(VMA_IMAGE, 0),
	VMA(VMA_IMAGE, 8),
	VMA(VMA_IMAGE, 0xfffff),
	VMA(VMA_STORE, 0),
	VMA(VMA_STORE, 64),
	VMA(VMA_STORE, 256),
	VMA(VMA_STORE, 9000),
	VMA(VMA_STORE, 9600),
	VMA(VMA_STORE, 20000),
	VMA(VMA_STORE, 0xffffffff),
	VMA_TAG >> 1,
};

static const char strs[] =
    "\0abc\0/usr//lib/../bin/x/\0a,b;;c\0"
    "{\"a\": [1, {\"b\": \"t\\\"x\"}, true], \"c\": {}}\0"
    "a[1].b\0,;\0-42\0  0x1f\0c\0/\0..\0abcabcabc\0";

static const uint32_t built_ins[] = { DIF_VAR_TIMESTAMP, DIF_VAR_EPID,
	DIF_VAR_ID, DIF_VAR_ARG0, DIF_VAR_ARG1, DIF_VAR_ARG9, DIF_VAR_PROBEFUNC,
	DIF_VAR_PROBENAME, DIF_VAR_PID, DIF_VAR_EXECNAME, DIF_VAR_CPU,
	DIF_VAR_ERRNO };

/* One of each kind: 0x500.. scalar and by reference, in each scope. */
static const struct {
	enum dif_scope scope;
	enum dif_kind kind;
	int ref; /* 0 word, 1 string, 2 struct */
} vars[] = {
	{ DIF_GLOBAL, DIF_SCALAR, 0 },
	{ DIF_GLOBAL, DIF_SCALAR, 1 },
	{ DIF_GLOBAL, DIF_SCALAR, 2 },
	{ DIF_THREAD, DIF_SCALAR, 0 },
	{ DIF_THREAD, DIF_SCALAR, 1 },
	{ DIF_LOCAL, DIF_SCALAR, 0 },
	{ DIF_LOCAL, DIF_SCALAR, 1 },
	{ DIF_LOCAL, DIF_SCALAR, 2 },
	{ DIF_GLOBAL, DIF_ARRAY, 0 },
	{ DIF_GLOBAL, DIF_ARRAY, 1 },
	{ DIF_THREAD, DIF_ARRAY, 0 },
	{ DIF_THREAD, DIF_ARRAY, 2 },
};

#define STRSIZE 64

void
gen_globals(struct kit *k)
{
	k->opts.value[OPT_STRSIZE] = STRSIZE;
	k->opts.value[OPT_NSPEC] = 2;
	k->opts.value[OPT_SPECSIZE] = 256;
	k->sizes.bufsize = 2048;
	k->sizes.aggsize = 4096;
	k->sizes.dynvarsize = 4096;
	k->sizes.scratch = 1024;
	for (uint32_t i = 0; i < ARRAY_SIZE(vars); i++) {
		uint32_t id = DIF_VAR_USER + i;
		if (vars[i].ref == 0)
			kit_var(k, vars[i].scope, vars[i].kind, id);
		else
			kit_ref_var(k, vars[i].scope, vars[i].kind, id,
			    vars[i].ref == 1, vars[i].ref == 1 ? STRSIZE : 24);
	}
	for (int func = AGG_COUNT; func <= AGG_QUANTIZE; func++)
		kit_agg(k, (enum dif_agg)func, 8, 0);
	kit_agg(k, AGG_LQUANTIZE, 0, LQUANTIZE_ENCODE(-10, 20, 3));
	kit_agg(k, AGG_LLQUANTIZE, 0, LLQUANTIZE_ENCODE(10, 0, 6, 20));
}

/* The variable that an opcode could name, if the choice is a good one. */
static uint32_t
var_id(struct gen *g, uint32_t op)
{
	uint32_t n = gen_u8(g);

	if (op == DIF_OP_LDGS && n & 0x80)
		return built_ins[n % ARRAY_SIZE(built_ins)];
	enum dif_scope scope = DIF_GLOBAL;
	enum dif_kind kind = DIF_SCALAR;
	if (op == DIF_OP_LDTS || op == DIF_OP_STTS || op == DIF_OP_LDTAA ||
	    op == DIF_OP_STTAA)
		scope = DIF_THREAD;
	if (op == DIF_OP_LDLS || op == DIF_OP_STLS)
		scope = DIF_LOCAL;
	if (op >= DIF_OP_LDGAA && op <= DIF_OP_STTAA)
		kind = DIF_ARRAY;
	uint32_t i = n % ARRAY_SIZE(vars);
	while (vars[i].scope != scope || vars[i].kind != kind)
		i = (i + 1) % ARRAY_SIZE(vars);
	return DIF_VAR_USER + i;
}

static dif_instr
instruction(struct gen *g, uint32_t at, uint32_t len)
{
	static const enum dif_form forms[] = {
#define DIF_OP(n, NAME, text, form) [n] = DIF_FORM_##form,
#include "dlang/dif_ops.def"
#undef DIF_OP
	};
	uint32_t op = 1 + gen_u8(g) % (DIF_OP_RLDX);
	uint32_t regs = gen_u8(g), more = gen_u8(g);
	uint32_t r1 = regs & 7, r2 = regs >> 3 & 7, rd = 1 + more % 7;

	switch (forms[op]) {
	case DIF_FORM_RRR:
	case DIF_FORM_COPY: return DIF_INSTR(op, r1, r2, rd);
	case DIF_FORM_RR:
	case DIF_FORM_LOAD:
	case DIF_FORM_STORE: return DIF_INSTR(op, r1, 0, rd);
	case DIF_FORM_CMP: return DIF_INSTR(op, r1, r2, 0);
	case DIF_FORM_TST: return DIF_INSTR(op, r1, 0, 0);
	case DIF_FORM_BRANCH:
		return DIF_INSTR_BRANCH(op, at + 1 + more % (len - at - 1));
	case DIF_FORM_RET: return DIF_INSTR(DIF_OP_NOP, 0, 0, 0);
	case DIF_FORM_NONE: return DIF_INSTR(op, 0, 0, 0);
	case DIF_FORM_SETX:
		return DIF_INSTR_INDEX(op, gen_u8(g) % ARRAY_SIZE(ints), rd);
	case DIF_FORM_SETS:
		return DIF_INSTR_INDEX(op, gen_u8(g) % sizeof(strs), rd);
	case DIF_FORM_LDARRAY: return DIF_INSTR(DIF_OP_LDGA, regs % 3, r2, rd);
	case DIF_FORM_LDVAR:
	case DIF_FORM_STVAR: return DIF_INSTR_INDEX(op, var_id(g, op), rd);
	case DIF_FORM_CALL:
		return DIF_INSTR_INDEX(op, gen_u8(g) % DIF_SUBR_COUNT, rd);
	case DIF_FORM_PUSHREF: return DIF_INSTR(op, more >> 7, r2, rd);
	case DIF_FORM_PUSHVAL: return DIF_INSTR(op, 0, 0, rd);
	case DIF_FORM_XLATE: break;
	}
	return DIF_INSTR(DIF_OP_NOP, 0, 0, 0);
}

/* A text under construction; what does not fit is left out. */
struct text {
	dif_instr at[64];
	uint32_t n, len;
};

static void
emit(struct text *t, dif_instr i)
{
	if (t->n < t->len - 1)
		t->at[t->n++] = i;
}

static void
emit_int(struct text *t, uint32_t index, uint32_t reg)
{
	emit(t, DIF_INSTR_INDEX(DIF_OP_SETX, index, reg));
}

/* A string constant, or one in the target. */
static void
emit_str(struct text *t, struct gen *g, uint32_t reg)
{
	uint32_t n = gen_u8(g);

	if (n & 0x80)
		emit_int(t, 25 + n % 4, reg);
	else
		emit(t, DIF_INSTR_INDEX(DIF_OP_SETS, n % sizeof(strs), reg));
}

static void
emit_args(struct text *t, struct gen *g, uint32_t shape)
{
	emit(t, DIF_INSTR(DIF_OP_FLUSHTS, 0, 0, 0));
	for (uint32_t i = 0; i < 1 + (shape & 3); i++, shape >>= 1) {
		if (shape & 4) {
			emit_int(t, gen_u8(g) % 25, 1);
			emit(t, DIF_INSTR(DIF_OP_PUSHTV, 0, 0, 1));
		} else {
			emit_str(t, g, 1);
			emit(t, DIF_INSTR(DIF_OP_PUSHTR, 1, 0, 1));
		}
	}
}

/* A piece of program that makes sense; its result in r2 .. r5. */
static void
emit_idiom(struct text *t, struct gen *g)
{
	static const uint8_t stores[] = { DIF_OP_STGS, DIF_OP_STTS, DIF_OP_STLS,
		DIF_OP_STGAA, DIF_OP_STTAA };
	static const uint8_t loads[] = { DIF_OP_LDGS, DIF_OP_LDTS, DIF_OP_LDLS,
		DIF_OP_LDGAA, DIF_OP_LDTAA };
	uint32_t what = gen_u8(g), shape = gen_u8(g), rd = 2 + (what >> 6);

	switch (what % 8) {
	case 0: emit_int(t, shape % ARRAY_SIZE(ints), rd); break;
	case 1:
		emit(t,
		    DIF_INSTR(DIF_OP_OR + shape % 8, 2 + (shape & 3),
			2 + (shape >> 2 & 3), rd));
		break;
	case 2: /* load from the target */
		emit_int(t, 25 + shape % 4, 1);
		emit(t, DIF_INSTR(DIF_OP_LDSB + (shape >> 2) % 7, 1, 0, rd));
		break;
	case 3:
		emit_args(t, g, shape);
		emit(t,
		    DIF_INSTR_INDEX(
			DIF_OP_CALL, gen_u8(g) % DIF_SUBR_COUNT, rd));
		break;
	case 4:
		emit_args(t, g, shape);
		emit_str(t, g, 1);
		emit(t,
		    DIF_INSTR_INDEX(
			stores[shape % 5], var_id(g, stores[shape % 5]), 1));
		break;
	case 5:
		emit_args(t, g, shape);
		emit(t,
		    DIF_INSTR_INDEX(
			loads[shape % 5], var_id(g, loads[shape % 5]), rd));
		break;
	case 6: /* scratch: store and load back */
		emit_int(t, 6, 1);
		emit(t, DIF_INSTR(DIF_OP_ALLOCS, 1, 0, 6));
		emit(t, DIF_INSTR(DIF_OP_STB + shape % 4, rd, 0, 6));
		emit(t, DIF_INSTR(DIF_OP_LDX, 6, 0, rd));
		break;
	case 7:
		emit(t, DIF_INSTR(DIF_OP_CMP, 2 + (shape & 3), rd, 0));
		if (t->n < t->len - 1)
			emit(t,
			    DIF_INSTR_BRANCH(DIF_OP_BA + shape % 11,
				t->n + 1 + (shape >> 4) % (t->len - t->n - 1)));
		break;
	}
}

struct difo *
gen_difo(struct kit *k, struct gen *g, bool raw)
{
	struct text t = { .len = 2 + gen_u8(g) % 62 };

	while (t.n < t.len - 1)
		if (raw)
			emit(&t, gen_u32(g));
		else if (gen_u8(g) % 64 == 63)
			emit(&t, instruction(g, t.n, t.len));
		else
			emit_idiom(&t, g);
	t.at[t.n] =
	    raw ? gen_u32(g) : DIF_INSTR(DIF_OP_RET, 0, 0, 2 + (gen_u8(g) & 3));
	return kit_difo(
	    k, t.at, t.len, ints, ARRAY_SIZE(ints), strs, sizeof(strs));
}

static struct difo *
admitted(struct kit *k, struct gen *g)
{
	const char *why;
	uint32_t at;
	struct difo *d = gen_difo(k, g, false);

	return verify_difo(&k->arena, d, &k->globals, &why, &at) == 0 ? d :
									NULL;
}

#define REC_SIZE 256

static void
gen_act(struct kit *k, struct gen *g)
{
	struct difo *d = admitted(k, g);
	uint32_t what = gen_u8(g), place = 24 + 8 * (gen_u8(g) % 16);
	struct prog_act *a;

	if (d == NULL)
		return;
	switch (what % 10) {
	case 0: kit_rec(k, d, 0, 0, 0); break;
	case 1: kit_rec(k, d, place, 1U << (what >> 6), 0); break;
	case 2: kit_rec(k, d, place, 1 + (what >> 2), ACT_F_STRING); break;
	case 3: kit_rec(k, d, place, 1 + (what >> 2), ACT_F_BYREF); break;
	case 4:
	case 5:
		kit_rec(k, d, 0, 8, ACT_F_KEY);
		a = kit_act(k, OP_AGG, d);
		a->arg = 1 + what % 7;
		break;
	case 6:
		a = kit_act(k, OP_AGG, d);
		a->arg = 8 + (what & 1);
		a->difo2 = what & 0x40 ? d : NULL;
		break;
	case 7:
		a = kit_act(k, what & 0x80 ? OP_STACK : OP_JSTACK, NULL);
		a->off = place;
		a->arg = 1 + (what >> 5);
		break;
	case 8: kit_act(k, OP_SYM, d)->off = place; break;
	case 9: kit_act(k, what & 0x80 ? OP_COMMIT : OP_DISCARD, d); break;
	}
}

void
gen_clause(struct kit *k, struct gen *g)
{
	uint32_t shape = gen_u8(g), n = 1 + (shape & 7);
	struct prog_clause *c =
	    kit_clause(k, shape & 8 ? admitted(k, g) : NULL, REC_SIZE);

	if (shape & 0x30) {
		struct difo *d = admitted(k, g);
		if (d != NULL) {
			kit_act(k, OP_SPECULATE, d);
			c->speculates = true;
		}
	}
	for (uint32_t i = 0; i < n; i++)
		gen_act(k, g);
}
