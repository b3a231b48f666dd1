/*
 * Writes the machine code of a DIFO; see dlang/jit/jit.h.
 *
 *	rbx		the environment
 *	rsi rdi r8 r9 r10 r11 rbp	%r1 .. %r7; %r0 has no register
 *	rax rcx rdx	for the templates
 *
 * rbp is the only one of these that a helper does not change: before a call,
 * the others that are used later are saved on the stack:
 *
 *	rsp ->	%r1 .. %r6 during a call
 *		the operands of the last comparison, if they are not in the flags
 *		where the result is to be stored
 *		the tuple stack, struct vm_tuple
 *
 * The parts that are not used do not exist.
 *
 * A fault jumps to code behind the function's end, which sets its offset.
 */
#include "dlang/base/base.h"
#include "dlang/jit/x86_64/code.h"

#define FAULT_CODE   (int32_t) offsetof(struct vm_env, fault.code)
#define FAULT_OFFSET (int32_t) offsetof(struct vm_env, fault.offset)
#define FAULT_VALUE  (int32_t) offsetof(struct vm_env, fault.value)
#define ENV_LANE     (int32_t) offsetof(struct vm_env, at.lane)
#define ENV_EPID     (int32_t) offsetof(struct vm_env, epid)

static_assert(FAULT_OFFSET == FAULT_CODE + 4, "both are set by one store");

#define TUPLE_BYTES_EACH (int32_t)sizeof(struct vm_tuple)

/* The most bytes of an instruction's code, and of a fault's. */
#define ROOM_FOR_ONE   256U
#define ROOM_FOR_FAULT 32U

#define mapped         code_mapped

const uint8_t code_mapped[DIF_REGS] = { RAX, RSI, RDI, R8, R9, R10, R11, RBP };

bool
jit_possible(void)
{
	return true;
}

/* ---- pieces ---- */

/* The register that has the value of a DIF register: its own, or `work', which
 * becomes 0. */
static unsigned
value(struct code *c, unsigned r, unsigned work)
{
	if (r != 0)
		return mapped[r];
	enc_set(&c->e, work, 0);
	return work;
}

void
code_move(struct code *c, unsigned to, unsigned from)
{
	if (to != from)
		enc_rr(&c->e, true, OP_MOV_STORE, from, to);
}

/* The value of a DIF register to a machine register. */
static void
fetch(struct code *c, unsigned to, unsigned r)
{
	code_move(c, to, value(c, r, to));
}

/* A jump to a place that is not known yet.  The jumps to one place are a list:
 * each has the offset of the one before where its distance will be. */
static void
jump_ahead(struct code *c, uint32_t *list)
{
	emit_u32(&c->e, *list);
	*list = (uint32_t)(c->e.len - 4);
}

void
code_jump_if(struct code *c, unsigned cc, uint32_t *list)
{
	emit_u8(&c->e, 0x0f);
	emit_u8(&c->e, 0x80U | cc);
	jump_ahead(c, list);
}

void
code_jump(struct code *c, uint32_t *list)
{
	emit_u8(&c->e, 0xe9);
	jump_ahead(c, list);
}

void
code_call(struct code *c, uint32_t *list)
{
	emit_u8(&c->e, 0xe8);
	jump_ahead(c, list);
}

/* The place of a list is here. */
void
code_land(struct code *c, uint32_t list)
{
	while (list != 0) {
		const uint8_t *at = c->e.buf + list;
		uint32_t before = at[0] | (uint32_t)at[1] << 8 |
		    (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
		emit_patch_rel32(&c->e, list, list + 4, emit_pc(&c->e));
		list = before;
	}
}

/* A jump over a few bytes; code_land_near() says where to. */
size_t
code_jump_near(struct code *c, unsigned opcode)
{
	emit_u8(&c->e, opcode);
	emit_u8(&c->e, 0);
	return c->e.len;
}

void
code_land_near(struct code *c, size_t from)
{
	c->e.buf[from - 1] = (uint8_t)(c->e.len - from);
}

void
code_jump_back(struct code *c, size_t to)
{
	emit_u8(&c->e, 0xe9);
	emit_u32(&c->e, 0);
	emit_patch_rel32(&c->e, c->e.len - 4, c->e.len, c->e.addr + to);
}

static void
fault_if(struct code *c, unsigned cc, enum fault_kind kind)
{
	uint32_t none = 0;

	if (c->body != NULL) {
		code_jump_if(c, cc, &c->gives_up);
		return;
	}
	code_jump_if(c, cc, &none);
	*vec_push(&c->faults) = (struct fault_jump){ c->e.len - 4, c->n, kind };
}

/* ---- calls ---- */

static void
save(struct code *c, unsigned opcode)
{
	uint8_t live = jit_live(c->p, c->n);

	for (unsigned r = 1; r < DIF_REGS; r++)
		if (live & 1U << r && mapped[r] != RBP)
			enc_rm(&c->e, true, opcode, mapped[r], RSP,
			    (int32_t)(8 * (r - 1)));
}

static void
call_address(struct code *c, uint64_t addr)
{
	if (emit_reaches(emit_pc(&c->e) + 5, addr)) {
		emit_u8(&c->e, 0xe8);
		emit_u32(&c->e, (uint32_t)(addr - (emit_pc(&c->e) + 4)));
		return;
	}
	enc_set(&c->e, RAX, addr);
	emit_bytes(&c->e, "\xff\xd0", 2); /* call rax */
}

/* Call a helper; its other arguments are in place.  A fault is looked for. */
#define CALL(c, helper) \
	call_helper((c), (uint64_t)(uintptr_t)(c)->helpers->helper)

static void
call_helper(struct code *c, uint64_t addr)
{
	code_move(c, RDI, RBX);
	call_address(c, addr);
	enc_mi8(&c->e, false, 0x83, 7, RBX, FAULT_CODE, FLT_NONE); /* cmp */
	fault_if(c, CC_NE, FAULT_SET);
}

/* lea reg, the tuple stack */
static void
tuple_address(struct code *c, unsigned reg)
{
	enc_rm(&c->e, true, OP_LEA, reg, RSP, c->tuple);
}

/* ---- templates: arithmetic ---- */

/* An operation that does not ask for the order of its operands: the first is in
 * the result's register.  Returns the register of the second. */
static unsigned
second(struct code *c, dif_instr i)
{
	unsigned a = value(c, DIF_R1(i), RAX), b = value(c, DIF_R2(i), RCX);
	unsigned d = mapped[DIF_RD(i)];

	if (d == b)
		return a;
	code_move(c, d, a);
	return b;
}

static void
alu(struct code *c, dif_instr i, unsigned op)
{
	unsigned b = second(c, i);

	enc_rr(&c->e, true, op, b, mapped[DIF_RD(i)]);
}

static void
sub(struct code *c, dif_instr i, unsigned op)
{
	unsigned a = value(c, DIF_R1(i), RAX), b = value(c, DIF_R2(i), RCX);
	unsigned d = mapped[DIF_RD(i)];
	unsigned to = d == b ? RAX : d;

	code_move(c, to, a);
	enc_rr(&c->e, true, op, b, to);
	code_move(c, d, to);
}

static void
mul(struct code *c, dif_instr i, unsigned arg)
{
	unsigned b = second(c, i);

	enc_rr(&c->e, true, OP_0F(0xaf), mapped[DIF_RD(i)], b);
}

static void
shift(struct code *c, dif_instr i, unsigned more)
{
	unsigned d = mapped[DIF_RD(i)];

	fetch(c, RCX, DIF_R2(i));
	fetch(c, d, DIF_R1(i));
	enc_rr(&c->e, true, 0xd3, more, d);
}

/* The operands in rax and rcx; rcx is not 0. */
static void
division(struct code *c, dif_instr i)
{
	fetch(c, RCX, DIF_R2(i));
	fetch(c, RAX, DIF_R1(i));
	enc_rr(&c->e, true, OP_TEST, RCX, RCX);
	fault_if(c, CC_E, FAULT_ZERO);
}

static void
udiv(struct code *c, dif_instr i, unsigned result)
{
	division(c, i);
	enc_set(&c->e, RDX, 0);
	enc_rr(&c->e, true, 0xf7, 6, RCX);
	code_move(c, mapped[DIF_RD(i)], result);
}

/* INT64_MIN / -1 would trap. */
static void
sdiv(struct code *c, dif_instr i, unsigned result)
{
	division(c, i);
	enc_set(&c->e, RDX, 0);
	enc_ri8(&c->e, true, 0x83, 7, RCX, -1); /* cmp rcx, -1 */
	size_t divides = code_jump_near(c, 0x70U | CC_NE);
	enc_rr(&c->e, true, 0xf7, 3, RAX); /* neg rax */
	size_t over = code_jump_near(c, 0xeb);
	code_land_near(c, divides);
	emit_bytes(&c->e, "\x48\x99", 2);  /* cqo */
	enc_rr(&c->e, true, 0xf7, 7, RCX); /* idiv rcx */
	code_land_near(c, over);
	code_move(c, mapped[DIF_RD(i)], result);
}

static void
complement(struct code *c, dif_instr i, unsigned arg)
{
	unsigned d = mapped[DIF_RD(i)];

	fetch(c, d, DIF_R1(i));
	enc_rr(&c->e, true, 0xf7, 2, d);
}

static void
mov(struct code *c, dif_instr i, unsigned arg)
{
	fetch(c, mapped[DIF_RD(i)], DIF_R1(i));
}

static void
nop(struct code *c, dif_instr i, unsigned arg)
{
}

static void
setx(struct code *c, dif_instr i, unsigned arg)
{
	enc_set(&c->e, mapped[DIF_RD(i)], c->p->ints[DIF_INDEX(i)]);
}

static void
sets(struct code *c, dif_instr i, unsigned arg)
{
	enc_set(&c->e, mapped[DIF_RD(i)],
	    VMA(VMA_IMAGE, c->p->d->strs_ref + DIF_INDEX(i)));
}

/* ---- templates: comparisons and branches ---- */

static void
keep_cond(struct code *c, unsigned a, unsigned b)
{
	enc_rm(&c->e, true, OP_MOV_STORE, a, RSP, c->conds);
	enc_rm(&c->e, true, OP_MOV_STORE, b, RSP, c->conds + 8);
}

static void
cmp(struct code *c, dif_instr i, unsigned arg)
{
	unsigned a = value(c, DIF_R1(i), RAX), b = value(c, DIF_R2(i), RCX);

	if (c->p->conds_kept)
		keep_cond(c, a, b);
	else
		enc_rr(&c->e, true, OP_CMP, b, a);
}

/* Whether it is 0 is compared with 0: see fitting(). */
static void
tst(struct code *c, dif_instr i, unsigned arg)
{
	unsigned a = value(c, DIF_R1(i), RCX);

	if (c->p->conds_kept)
		enc_set(&c->e, RAX, 0);
	enc_rr(&c->e, true, OP_TEST, a, a);
	if (!c->p->conds_kept)
		return;
	enc_rr(&c->e, false, OP_0F(0x90U | CC_NE), 0, RAX);
	enc_set(&c->e, RCX, 0);
	keep_cond(c, RAX, RCX);
}

static void
scmp(struct code *c, dif_instr i, unsigned arg)
{
	save(c, OP_MOV_STORE);
	fetch(c, RDX, DIF_R2(i));
	fetch(c, RSI, DIF_R1(i));
	CALL(c, compare);
	save(c, OP_MOV_LOAD);
	if (!c->p->conds_kept) {
		enc_rr(&c->e, false, OP_TEST, RAX, RAX);
		return;
	}
	/* 1 or 0 is compared with 0 or 1. */
	enc_set(&c->e, RCX, 0);
	enc_set(&c->e, RDX, 0);
	enc_rr(&c->e, false, OP_TEST, RAX, RAX);
	enc_rr(&c->e, false, OP_0F(0x90U | CC_G), 0, RCX);
	enc_rr(&c->e, false, OP_0F(0x90U | CC_L), 0, RDX);
	keep_cond(c, RCX, RDX);
}

#define CC_ALWAYS 16U
#define CC_NEVER  17U

/* The condition that a branch tests behind a comparison by the opcode `after'.
 * tst compares 0 or 1 with 0, and scmp numbers that have a sign; unsigned and
 * signed branches do the same. */
static unsigned
fitting(unsigned after, unsigned cc)
{
	static const uint8_t order[] = { [CC_A] = CC_G,
		[CC_AE] = CC_GE,
		[CC_B] = CC_L,
		[CC_BE] = CC_LE,
		[CC_E] = CC_E,
		[CC_NE] = CC_NE,
		[CC_G] = CC_G,
		[CC_GE] = CC_GE,
		[CC_L] = CC_L,
		[CC_LE] = CC_LE };

	if (after == DIF_OP_CMP)
		return cc;
	cc = order[cc];
	if (after == DIF_OP_SCMP)
		return cc;
	switch (cc) {
	case CC_G: return CC_NE;
	case CC_LE: return CC_E;
	case CC_GE: return CC_ALWAYS;
	case CC_L: return CC_NEVER;
	}
	return cc;
}

static void
always(struct code *c, dif_instr i, unsigned arg)
{
	if (DIF_LABEL(i) != c->n + 1)
		code_jump(c, &c->p->points[DIF_LABEL(i)].pending);
}

static void
branch(struct code *c, dif_instr i, unsigned cc)
{
	uint32_t *list = &c->p->points[DIF_LABEL(i)].pending;

	if (DIF_LABEL(i) == c->n + 1)
		return;
	if (c->p->conds_kept) {
		enc_rm(&c->e, true, OP_MOV_LOAD, RAX, RSP, c->conds);
		enc_rm(&c->e, true, OP_CMP_LOAD, RAX, RSP, c->conds + 8);
	} else {
		cc = fitting(c->point->cond, cc);
	}
	if (cc == CC_ALWAYS)
		code_jump(c, list);
	else if (cc != CC_NEVER)
		code_jump_if(c, cc, list);
}

static void
bound(struct code *c, dif_instr i, unsigned arg)
{
	unsigned a = value(c, DIF_R1(i), RAX), b = value(c, DIF_R2(i), RCX);

	enc_rr(&c->e, true, OP_CMP, b, a);
	fault_if(c, CC_AE, FAULT_INDEX);
}

static void
ret(struct code *c, dif_instr i, unsigned arg)
{
	fetch(c, RAX, DIF_RD(i));
	if (c->n != c->p->d->len - 1)
		code_jump(c, &c->ends);
}

/* ---- templates: memory ---- */

#define IS_SIGNED 16U
#define SIGNED(n) ((n) | IS_SIGNED)

static void
load(struct code *c, dif_instr i, unsigned how)
{
	static const uint16_t extends[] = {
		[1] = OP_0F(0xbe), [2] = OP_0F(0xbf), [4] = 0x63
	};
	unsigned size = how & ~IS_SIGNED, d = mapped[DIF_RD(i)];

	save(c, OP_MOV_STORE);
	fetch(c, RSI, DIF_R1(i));
	enc_set(&c->e, RDX, size);
	CALL(c, load);
	if (how & IS_SIGNED)
		enc_rr(&c->e, true, extends[size], d, RAX);
	else
		code_move(c, d, RAX);
	save(c, OP_MOV_LOAD);
}

static void
store(struct code *c, dif_instr i, unsigned size)
{
	save(c, OP_MOV_STORE);
	fetch(c, RDX, DIF_R1(i));
	fetch(c, RSI, DIF_RD(i));
	enc_set(&c->e, RCX, size);
	CALL(c, store);
	save(c, OP_MOV_LOAD);
}

static void
allocs(struct code *c, dif_instr i, unsigned arg)
{
	save(c, OP_MOV_STORE);
	fetch(c, RSI, DIF_R1(i));
	CALL(c, alloc);
	code_move(c, mapped[DIF_RD(i)], RAX);
	save(c, OP_MOV_LOAD);
}

static void
copys(struct code *c, dif_instr i, unsigned arg)
{
	save(c, OP_MOV_STORE);
	fetch(c, RDX, DIF_R2(i));
	fetch(c, RCX, DIF_RD(i));
	fetch(c, RSI, DIF_R1(i));
	CALL(c, copy);
	save(c, OP_MOV_LOAD);
}

/* ---- templates: variables, tuples, subroutines ---- */

#define SCALAR(scope) (unsigned)(scope)
#define ARRAY(scope)  ((unsigned)(scope) | IS_ARRAY)
#define IS_ARRAY      16U

static void
ldarray(struct code *c, dif_instr i, unsigned arg)
{
	if (c->body != NULL) {
		body_member(c, mapped[DIF_RD(i)], DIF_R1(i));
		return;
	}
	save(c, OP_MOV_STORE);
	fetch(c, RDX, DIF_R2(i));
	enc_set(&c->e, RSI, DIF_R1(i));
	CALL(c, array);
	code_move(c, mapped[DIF_RD(i)], RAX);
	save(c, OP_MOV_LOAD);
}

/* The arguments scope, id, key and nkeys. */
static void
variable(struct code *c, uint32_t id, unsigned how)
{
	enc_set(&c->e, RSI, how & ~IS_ARRAY);
	enc_set(&c->e, RDX, id);
	if (how & IS_ARRAY) {
		tuple_address(c, RCX);
		enc_set(&c->e, R8, (uint8_t)c->point->depth);
	} else {
		enc_set(&c->e, RCX, 0);
		enc_set(&c->e, R8, 0);
	}
}

static void
ldvar(struct code *c, dif_instr i, unsigned how)
{
	if (c->body != NULL) {
		body_load_var(
		    c, mapped[DIF_RD(i)], (enum dif_scope)how, DIF_INDEX(i));
		return;
	}
	save(c, OP_MOV_STORE);
	variable(c, DIF_INDEX(i), how);
	CALL(c, var_load);
	code_move(c, mapped[DIF_RD(i)], RAX);
	save(c, OP_MOV_LOAD);
}

static void
stvar(struct code *c, dif_instr i, unsigned how)
{
	if (c->body != NULL) {
		body_store_var(c, value(c, DIF_RD(i), RAX), (enum dif_scope)how,
		    DIF_INDEX(i));
		return;
	}
	save(c, OP_MOV_STORE);
	fetch(c, R9, DIF_RD(i));
	variable(c, DIF_INDEX(i), how);
	CALL(c, var_store);
	save(c, OP_MOV_LOAD);
}

static void
ldgs(struct code *c, dif_instr i, unsigned arg)
{
	uint32_t id = DIF_INDEX(i);

	if (c->body != NULL) {
		body_builtin(c, mapped[DIF_RD(i)], id);
		return;
	}
	if (id >= DIF_VAR_USER) {
		ldvar(c, i, SCALAR(DIF_GLOBAL));
		return;
	}
	if (id == DIF_VAR_EPID) {
		enc_rm(&c->e, false, OP_MOV_LOAD, mapped[DIF_RD(i)], RBX,
		    ENV_EPID);
		return;
	}
	save(c, OP_MOV_STORE);
	enc_set(&c->e, RSI, id);
	CALL(c, builtin);
	code_move(c, mapped[DIF_RD(i)], RAX);
	save(c, OP_MOV_LOAD);
}

static void
call(struct code *c, dif_instr i, unsigned arg)
{
	if (c->body != NULL) { /* copyinstr() of what has just been pushed */
		fetch(c, mapped[DIF_RD(i)], DIF_RD(c->p->text[c->n - 1]));
		return;
	}
	save(c, OP_MOV_STORE);
	enc_set(&c->e, RSI, DIF_INDEX(i));
	tuple_address(c, RDX);
	enc_set(&c->e, RCX, (uint8_t)c->point->depth);
	CALL(c, call);
	code_move(c, mapped[DIF_RD(i)], RAX);
	save(c, OP_MOV_LOAD);
}

/* Push the value of a DIF register, with the size in another. */
static void
push(struct code *c, unsigned r, unsigned size, enum vm_tuple_kind kind)
{
	int32_t at = c->tuple + c->point->depth * TUPLE_BYTES_EACH;

	if (c->point->depth == DIF_TUPLE) {
		/* Always: rsp is not 0. */
		enc_rr(&c->e, true, OP_TEST, RSP, RSP);
		fault_if(c, CC_NE, FAULT_TUPLE);
		return;
	}
	enc_rm(&c->e, true, OP_MOV_STORE, value(c, r, RAX), RSP,
	    at + (int32_t)offsetof(struct vm_tuple, value));
	enc_rm(&c->e, true, OP_MOV_STORE, value(c, size, RCX), RSP,
	    at + (int32_t)offsetof(struct vm_tuple, size));
	enc_mi32(&c->e, false, 0xc7, 0, RSP,
	    at + (int32_t)offsetof(struct vm_tuple, kind), (int32_t)kind);
}

static void
pushtr(struct code *c, dif_instr i, unsigned arg)
{
	push(c, DIF_RD(i), DIF_R2(i),
	    DIF_R1(i) == DIF_TYPE_STRING ? TUPLE_STRING : TUPLE_BYTES);
}

static void
pushtv(struct code *c, dif_instr i, unsigned arg)
{
	if (c->body != NULL)
		return;
	push(c, DIF_RD(i), 0, TUPLE_VALUE);
}

/* ---- the whole ---- */

static const struct template
{
	void (*write)(struct code *, dif_instr, unsigned arg);
	uint16_t arg;
	bool calls;
}
templates[DIF_OP_COUNT] = {
#define INLINE false
#define CALLS  true
#define JIT_OP(NAME, template, arg, calls) \
	[DIF_OP_##NAME] = { template, (uint16_t)(arg), calls },
#include "dlang/jit/x86_64/ops.def"
#undef JIT_OP
#undef INLINE
#undef CALLS
};

/* Each opcode has a row. */
enum {
#define JIT_OP(NAME, template, arg, calls) ROW_##NAME,
#include "dlang/jit/x86_64/ops.def"
#undef JIT_OP
	ROWS,
#define DIF_OP(n, NAME, text, form) NEEDED_##NAME = ROW_##NAME,
#include "dlang/dif_ops.def"
#undef DIF_OP
};

bool
jit_op_calls(uint32_t op)
{
	return templates[op].calls;
}

static void
lay_frame(struct code *c)
{
	const struct jit_plan *p = c->p;

	c->conds = p->calls ? 8 * (DIF_REGS - 2) : 0;
	c->result = c->conds + (p->conds_kept ? 16 : 0);
	c->tuple = c->result + 8;
	c->frame = c->tuple + p->tuple * TUPLE_BYTES_EACH;
	/* With the return address, rbx and rbp: a multiple of 16. */
	c->frame += p->used & 1U << 7 ? 8 * (c->frame / 8 % 2 == 0) :
					8 * (c->frame / 8 % 2 != 0);
}

static void
begin(struct code *c)
{
	const struct jit_plan *p = c->p;

	emit_push(&c->e, RBX);
	if (p->used & 1U << 7)
		emit_push(&c->e, RBP);
	enc_move_stack(&c->e, -c->frame);
	code_move(c, RBX, RDI);
	enc_rm(&c->e, true, OP_MOV_STORE, RDX, RSP, c->result);
	enc_mi8(&c->e, true, 0x83, 7, RBX, ENV_LANE, 0); /* cmp */
}

/* Without a lane, jump to *list; otherwise there is no fault so far. */
static void
begin_run(struct code *c, uint32_t *list)
{
	const struct jit_plan *p = c->p;

	code_jump_if(c, CC_E, list);
	enc_mi32(&c->e, true, 0xc7, 0, RBX, FAULT_CODE, -1);
	enc_mi32(&c->e, true, 0xc7, 0, RBX, FAULT_VALUE, 0);
	if (p->conds_kept) {
		enc_set(&c->e, RAX, 0);
		keep_cond(c, RAX, RAX);
	}
}

/* The result of the function is in eax. */
static void
leave(struct code *c)
{
	enc_move_stack(&c->e, c->frame);
	if (c->p->used & 1U << 7)
		emit_pop(&c->e, RBP);
	emit_pop(&c->e, RBX);
	emit_u8(&c->e, 0xc3);
}

/* Store rax as the value, and return eax = `result'. */
static void
finish(struct code *c, int32_t result)
{
	enc_rm(&c->e, true, OP_MOV_LOAD, RCX, RSP, c->result);
	enc_rm(&c->e, true, OP_MOV_STORE, RAX, RCX, 0);
	enc_set(&c->e, RAX, (uint32_t)result);
	leave(c);
}

static void
set_fault(struct code *c, enum dif_fault code)
{
	enc_mi32(&c->e, false, 0xc7, 0, RBX, FAULT_CODE, code);
}

static void
write_fault(struct code *c, const struct fault_jump *f, uint32_t *list)
{
	dif_instr i = c->p->text[f->n];

	emit_patch_rel32(&c->e, f->at, f->at + 4, emit_pc(&c->e));
	switch (f->kind) {
	case FAULT_SET: break;
	case FAULT_ZERO: set_fault(c, FLT_DIVZERO); break;
	case FAULT_TUPLE: set_fault(c, FLT_TUPOFLOW); break;
	case FAULT_INDEX:
		enc_rm(&c->e, true, OP_MOV_STORE, value(c, DIF_R1(i), RAX), RBX,
		    FAULT_VALUE);
		set_fault(c, FLT_BADINDEX);
		break;
	}
	enc_set(&c->e, RAX, f->n * (uint32_t)sizeof(dif_instr));
	code_jump(c, list);
}

static void
write_faults(struct code *c)
{
	uint32_t list = 0;

	if (c->faults.len == 0)
		return;
	vec_foreach(f, &c->faults)
		write_fault(c, f, &list);
	code_land(c, list);
	enc_rm(&c->e, false, OP_MOV_STORE, RAX, RBX, FAULT_OFFSET);
	enc_set(&c->e, RAX, 0);
	finish(c, -1);
}

/* As vm_run(), which then leaves the value alone. */
static void
write_no_lane(struct code *c, uint32_t list)
{
	code_land(c, list);
	enc_set(&c->e, RSI, FLT_ILLOP);
	enc_set(&c->e, RDX, 0);
	code_move(c, RDI, RBX);
	call_address(c, (uint64_t)(uintptr_t)c->helpers->fault);
	enc_set(&c->e, RAX, (uint32_t)-1);
	leave(c);
}

bool
code_text(struct code *c)
{
	const struct jit_plan *p = c->p;

	for (unsigned r = 1; r < DIF_REGS; r++)
		if (p->zeroed & 1U << r)
			enc_set(&c->e, mapped[r], 0);
	for (c->n = 0; c->n < p->d->len; c->n++) {
		dif_instr i = p->text[c->n];
		const struct template *t = &templates[DIF_OP_OF(i)];
		c->point = &p->points[c->n];
		if (p->starts != NULL)
			p->starts[c->n] = (uint32_t)c->e.len;
		if (!c->point->reached)
			continue;
		if (c->e.size - c->e.len < ROOM_FOR_ONE)
			return false;
		code_land(c, c->point->pending);
		t->write(c, i, t->arg);
	}
	return true;
}

size_t
jit_write(struct jit_plan *p, const struct jit_place *place, uint8_t *buf,
    size_t size, const char **why)
{
	struct code c = {
		.e = { .buf = buf, .size = size, .addr = place->addr },
		.p = p,
		.helpers = place->helpers
	};
	uint32_t no_lane = 0;
	bool fits = size >= ROOM_FOR_ONE;

	if (fits) {
		lay_frame(&c);
		begin(&c);
		begin_run(&c, &no_lane);
		fits = code_text(&c);
	}
	if (fits &&
	    c.e.size - c.e.len >=
		2 * ROOM_FOR_ONE + c.faults.len * ROOM_FOR_FAULT) {
		code_land(&c, c.ends);
		finish(&c, 0);
		write_faults(&c);
		write_no_lane(&c, no_lane);
	} else {
		*why = "its machine code is too long";
		c.e.len = 0;
	}
	vec_fini(&c.faults);
	return c.e.len;
}
