/*
 * One step by CFI: cfi.c supplies the rules, this file evaluates them.
 *
 * Invariant: a step reads the frame and the stack, and writes only the caller's
 * frame.  An expression runs for a bounded number of operations on a bounded
 * stack of values.  An invalid expression makes the step fail.
 */

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "symbols/dwarf/entries.h"
#include "symbols/unwind/frame.h"

/* The longest expressions in use (PLT stubs, signal frames, stack alignment)
 * have about ten operations and need four values. */
#define EXPR_STEPS 256
#define EXPR_DEPTH 32

struct expr {
	struct unwinder *u;
	const struct frame *f;
	uint64_t bias;
	const uint64_t *cfa; /* NULL while the CFA itself is computed */
	uint64_t stack[EXPR_DEPTH];
	size_t depth;
	bool failed;
};

static void
push(struct expr *e, uint64_t v)
{
	if (e->depth == EXPR_DEPTH)
		e->failed = true;
	else
		e->stack[e->depth++] = v;
}

static uint64_t
pop(struct expr *e)
{
	if (e->depth == 0) {
		e->failed = true;
		return 0;
	}
	return e->stack[--e->depth];
}

static void
push_reg(struct expr *e, uint64_t reg, uint64_t offset)
{
	if (reg >= CFI_REGS || !frame_knows(e->f, (unsigned)reg))
		e->failed = true;
	else
		push(e, e->f->r[reg] + offset);
}

static void
push_memory(struct expr *e, uint64_t addr, uint64_t size)
{
	uint64_t v = 0;

	if (size == 0 || size > sizeof(v) || !unwind_read(e->u, addr, &v, size))
		e->failed = true;
	push(e, v);
}

/* Push a copy of the value that is `n' below the top. */
static void
push_pick(struct expr *e, uint64_t n)
{
	if (n >= e->depth)
		e->failed = true;
	else
		push(e, e->stack[e->depth - 1 - n]);
}

static void
rotate(struct expr *e, size_t n)
{
	uint64_t top;

	if (e->depth < n) {
		e->failed = true;
		return;
	}
	top = e->stack[e->depth - 1];
	for (size_t i = 1; i < n; i++)
		e->stack[e->depth - i] = e->stack[e->depth - i - 1];
	e->stack[e->depth - n] = top;
}

/* Operations with two operands.  False if `op' is another one. */
static bool
binary(struct expr *e, uint8_t op)
{
	uint64_t b, a;
	int64_t sa, sb;

	if (op != DW_OP_and && op != DW_OP_div && op != DW_OP_minus &&
	    op != DW_OP_mod && op != DW_OP_mul && op != DW_OP_or &&
	    op != DW_OP_plus && op != DW_OP_shl && op != DW_OP_shr &&
	    op != DW_OP_shra && op != DW_OP_xor &&
	    !(op >= DW_OP_eq && op <= DW_OP_ne))
		return false;
	b = pop(e);
	a = pop(e);
	sa = (int64_t)a;
	sb = (int64_t)b;
	switch (op) {
	case DW_OP_and: a &= b; break;
	case DW_OP_or: a |= b; break;
	case DW_OP_xor: a ^= b; break;
	case DW_OP_plus: a += b; break;
	case DW_OP_minus: a -= b; break;
	case DW_OP_mul: a *= b; break;
	case DW_OP_shl: a = b < 64 ? a << b : 0; break;
	case DW_OP_shr: a = b < 64 ? a >> b : 0; break;
	/* cppcheck-suppress shiftTooManyBitsSigned ; arithmetic, as meant */
	case DW_OP_shra: a = (uint64_t)(sa >> (b < 64 ? b : 63)); break;
	case DW_OP_div:
		/* -1 is handled separately, because the lowest number divided
		 * by it overflows. */
		if (b == 0)
			e->failed = true;
		else
			a = sb == -1 ? 0 - a : (uint64_t)(sa / sb);
		break;
	case DW_OP_mod:
		if (b == 0)
			e->failed = true;
		else
			a %= b;
		break;
	case DW_OP_eq: a = sa == sb; break;
	case DW_OP_ge: a = sa >= sb; break;
	case DW_OP_gt: a = sa > sb; break;
	case DW_OP_le: a = sa <= sb; break;
	case DW_OP_lt: a = sa < sb; break;
	case DW_OP_ne: a = sa != sb; break;
	}
	push(e, a);
	return true;
}

/* Operations that push a constant, a register or the CFA. */
static bool
leaf(struct expr *e, const Dwarf_Op *op)
{
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
		push(e, op->atom - DW_OP_lit0);
		return true;
	}
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		push_reg(e, op->atom - DW_OP_breg0, op->number);
		return true;
	}
	if (dwarf_op_is_constant(op->atom)) {
		push(e, op->number);
		return true;
	}
	switch (op->atom) {
	case DW_OP_addr: push(e, op->number + e->bias); return true;
	case DW_OP_bregx: push_reg(e, op->number, op->number2); return true;
	case DW_OP_call_frame_cfa:
		if (e->cfa == NULL)
			e->failed = true;
		else
			push(e, *e->cfa);
		return true;
	default: return false;
	}
}

static bool
unary(struct expr *e, const Dwarf_Op *op)
{
	uint64_t v;

	switch (op->atom) {
	case DW_OP_nop: return true;
	case DW_OP_dup: push_pick(e, 0); return true;
	case DW_OP_over: push_pick(e, 1); return true;
	case DW_OP_pick: push_pick(e, op->number); return true;
	case DW_OP_drop: pop(e); return true;
	case DW_OP_swap: rotate(e, 2); return true;
	case DW_OP_rot: rotate(e, 3); return true;
	case DW_OP_deref: push_memory(e, pop(e), 8); return true;
	case DW_OP_deref_size: push_memory(e, pop(e), op->number); return true;
	case DW_OP_plus_uconst: push(e, pop(e) + op->number); return true;
	case DW_OP_neg: push(e, 0 - pop(e)); return true;
	case DW_OP_not: push(e, ~pop(e)); return true;
	case DW_OP_abs:
		v = pop(e);
		push(e, (int64_t)v < 0 ? 0 - v : v);
		return true;
	default: return false;
	}
}

/* The index of the operation to which a branch leads; n if it leads out of the
 * expression, which ends it. */
static size_t
branch_target(const Dwarf_Op *ops, size_t n, size_t from)
{
	/* The distance is from the operation after the branch, which is 3 bytes
	 * long. */
	uint64_t to =
	    ops[from].offset + 3 + (uint64_t)(int64_t)(int16_t)ops[from].number;
	size_t i = 0;

	while (i < n && ops[i].offset != to)
		i++;
	return i;
}

static bool
evaluate(struct expr *e, const Dwarf_Op *ops, size_t n, uint64_t *out)
{
	size_t i = 0;

	for (int steps = 0; i < n && !e->failed; steps++) {
		const Dwarf_Op *op = &ops[i];

		if (steps == EXPR_STEPS)
			return false;
		if (op->atom == DW_OP_stack_value)
			break;
		if (op->atom == DW_OP_skip ||
		    (op->atom == DW_OP_bra && pop(e) != 0))
			i = branch_target(ops, n, i);
		else if (op->atom == DW_OP_bra || leaf(e, op) || unary(e, op) ||
		    binary(e, op->atom))
			i++;
		else
			return false;
	}
	*out = pop(e);
	return !e->failed;
}

/* A function of its own, because its local variables cost more to set up than
 * the other rules take. */
static bool
expr_value(struct unwinder *u, const struct frame *f, uint64_t bias,
    const struct cfi_rule *r, const uint64_t *cfa, uint64_t *out)
{
	struct expr e = { .u = u, .f = f, .bias = bias, .cfa = cfa };

	return evaluate(&e, r->ops, r->op_count, out);
}

/* The value that a rule yields.  False if it cannot be computed. */
static bool
rule_value(struct unwinder *u, const struct frame *f, uint64_t bias,
    const struct cfi_rule *r, const uint64_t *cfa, uint64_t *out)
{
	/* The rule for the CFA itself cannot depend on it. */
	if (cfa == NULL && (r->kind == CFI_CFA_PLUS || r->kind == CFI_AT_CFA))
		return false;
	switch ((enum cfi_kind)r->kind) {
	case CFI_UNDEFINED: return false;
	case CFI_SAME: *out = f->r[r->of]; return frame_knows(f, r->of);
	case CFI_REG:
		*out = f->r[r->reg] + (uint64_t)r->offset;
		return frame_knows(f, r->reg);
	case CFI_CFA_PLUS: *out = *cfa + (uint64_t)r->offset; return true;
	case CFI_AT_CFA:
		return unwind_read(u, *cfa + (uint64_t)r->offset, out, 8);
	case CFI_EXPR: return expr_value(u, f, bias, r, cfa, out);
	case CFI_AT_EXPR:
		return expr_value(u, f, bias, r, cfa, out) &&
		    unwind_read(u, *out, out, 8);
	}
	return false;
}

enum step
unwind_cfi_step(struct unwinder *u, const struct frame *f, struct frame *caller)
{
	uint64_t pc = f->r[CFI_PC] - (f->exact ? 0 : 1), cfa, v;
	const struct load *l = addrspace_load_at(u->as, pc);
	const struct cfi_row *row;
	bool outermost = true;

	if (l == NULL || !l->seen)
		return STEP_FAIL;
	row = cfi_row(l->object, pc - l->bias);
	/* No call instruction precedes the first instruction that an entry
	 * covers.  The address was pushed as a return address, as a coroutine
	 * of makecontext() has one: use the row of the address itself. */
	if (row == NULL && !f->exact)
		row = cfi_row(l->object, pc + 1 - l->bias);
	if (row == NULL || !rule_value(u, f, l->bias, &row->cfa, NULL, &cfa))
		return STEP_FAIL;
	*caller = (struct frame){ .exact = row->signal };
	frame_set(caller, CFI_SP, cfa);
	for (unsigned i = 0; i < row->count; i++) {
		const struct cfi_rule *r = &row->rules[i];

		if (r->of == CFI_PC)
			outermost = r->kind == CFI_UNDEFINED;
		if (rule_value(u, f, l->bias, r, &cfa, &v))
			frame_set(caller, r->of, v);
	}
	if (outermost)
		return STEP_END;
	return frame_knows(caller, CFI_PC) ? STEP_OK : STEP_FAIL;
}
