/*
 * Go's internal calling convention (cmd/compile/abi-internal.md, "Function call
 * argument and result passing"; amd64).
 *
 * A value is split into numbers and addresses, each of which is passed in a
 * register of its own. If there are not enough registers, or if the value
 * contains an array of several elements, the whole value is on the stack.
 * Arguments and results both begin with the first register. Without registers
 * this is Go's older convention.
 *
 * The caller's frame, above the return address, contains the arguments on the
 * stack, the results on the stack, and room for the arguments in registers.
 * Each of these three begins at a multiple of 8.
 */

#include "dlang/base/base.h"
#include "dlang/types.h"
#include "tracer/names/abi.h"

static const uint8_t int_regs[] = { UREG_RAX, UREG_RBX, UREG_RCX, UREG_RDI,
	UREG_RSI, UREG_R8, UREG_R9, UREG_R10, UREG_R11 };
#define FLOAT_REGS 15

/* The deepest nesting of objects that is examined; damaged debug information
 * may have more. */
#define DEPTH_MOST 32
#define PARTS_MOST 10000
/* The most bytes of arguments on the stack. */
#define STACK_MOST (1U << 24)

bool
abi_go_register(unsigned n, uint8_t *reg)
{
	if (n < ARRAY_SIZE(int_regs))
		*reg = int_regs[n];
	return n < ARRAY_SIZE(int_regs);
}

static const struct type *
resolve(const struct type *t)
{
	return type_resolve((struct type *)(uintptr_t)t);
}

/* The registers and the stack that are used so far, while the values of a
 * function get their places in order. */
struct assign {
	unsigned ints, floats; /* registers that are taken */
	bool no_registers;
	uint64_t stack; /* bytes that are taken there */
	bool lost;      /* the type of a value is not known: no place is known
			 * from there on */
	unsigned parts;
};

/* ---- one value ---- */

static uint64_t
align_of(struct assign *a, const struct type *t, unsigned depth)
{
	uint64_t align = 1;

	t = resolve(t);
	if (t == NULL || depth > DEPTH_MOST || a->parts++ > PARTS_MOST) {
		a->lost = true;
		return 1;
	}
	switch (t->kind) {
	case TYPE_STRUCT:
	case TYPE_UNION:
		for (size_t i = 0; i < t->nmembers && !a->lost; i++)
			align = MAX(
			    align, align_of(a, t->members[i].type, depth + 1));
		return align;
	case TYPE_ARRAY: return align_of(a, t->base, depth + 1);
	case TYPE_INT:
	case TYPE_ENUM:
	case TYPE_FLOAT:
	case TYPE_POINTER: return MIN(MAX(t->size, (uint64_t)1), 8);
	default: a->lost = true; return 1;
	}
}

/* A number or an address. False: no register is left. */
static bool
leaf(struct assign *a, const struct type *t, uint64_t off, struct argplace *p)
{
	unsigned reg;

	if ((t->size & (t->size - 1)) != 0 || t->size > 8 || off > UINT16_MAX ||
	    p->npieces == ARGPLACE_PIECES_MAX)
		return false;
	if (t->kind == TYPE_FLOAT) {
		if (a->floats == FLOAT_REGS)
			return false;
		reg = UREG_XMM(a->floats++, 0);
	} else {
		if (a->ints == ARRAY_SIZE(int_regs))
			return false;
		reg = int_regs[a->ints++];
	}
	p->piece[p->npieces++] = (struct argpiece){ .reg = (uint8_t)reg,
		.size = (uint8_t)t->size,
		.offset = (uint16_t)off };
	return true;
}

static bool
leaves(struct assign *a, const struct type *t, uint64_t off, unsigned depth,
    struct argplace *p)
{
	t = resolve(t);
	if (t == NULL || depth > DEPTH_MOST || a->parts++ > PARTS_MOST) {
		a->lost = true;
		return false;
	}
	switch (t->kind) {
	case TYPE_STRUCT:
		for (size_t i = 0; i < t->nmembers; i++)
			if (!leaves(a, t->members[i].type,
				off + t->members[i].offset, depth + 1, p))
				return false;
		return true;
	case TYPE_ARRAY:
		if (t->nelems > 1 && !t->complex)
			return false;
		for (uint64_t i = 0; i < t->nelems; i++)
			if (!leaves(a, t->base,
				off + i * resolve(t->base)->size, depth + 1, p))
				return false;
		return true;
	case TYPE_INT:
	case TYPE_ENUM:
	case TYPE_FLOAT:
	case TYPE_POINTER: return leaf(a, t, off, p);
	default: a->lost = true; return false;
	}
}

static void
on_stack(
    struct assign *a, const struct type *t, uint64_t align, struct argplace *p)
{
	*p = (struct argplace){ .kind = ARGPLACE_MEM, .reg = UREG_RSP };
	a->stack = ROUND_UP(a->stack, align);
	p->disp = (int32_t)(8 + a->stack);
	a->stack += t->size;
	a->lost |= a->stack > STACK_MOST;
}

static void
value(struct assign *a, const struct type *t, struct argplace *p)
{
	struct assign before = *a;
	uint64_t align = align_of(a, t, 0);

	*p = (struct argplace){ .kind = ARGPLACE_UNKNOWN };
	t = resolve(t);
	if (a->lost)
		return;
	if (t->size == 0) {
		a->stack = ROUND_UP(a->stack, align);
		p->kind = ARGPLACE_EMPTY;
		return;
	}
	if (!a->no_registers && leaves(a, t, 0, 0, p)) {
		p->kind = type_is_byref(t) ? ARGPLACE_PIECES : ARGPLACE_REG;
		p->reg = p->piece[0].reg;
		return;
	}
	if (a->lost)
		return;
	before.parts = a->parts;
	*a = before;
	on_stack(a, t, align, p);
}

/* ---- a function ---- */

static bool
is_register(const struct argplace *p)
{
	return p->kind == ARGPLACE_PIECES || p->kind == ARGPLACE_REG;
}

/* A word that nothing tells of. */
static const struct type word = { .kind = TYPE_INT, .size = 8 };

static void
add_room(struct assign *a, uint64_t *room, const struct type *t)
{
	*room = ROUND_UP(*room, align_of(a, t, 0));
	*room += resolve(t)->size;
}

/* Compute the places of all values, with a word before parameter `hidden'
 * (counted from 0) that the debug information omits. Returns the width of all
 * on the stack, or -1. */
static int64_t
assign_all(const struct abi_go *go, size_t hidden, struct argplace *params,
    struct argplace *results)
{
	struct assign a = { .no_registers = go->stack };
	struct argplace p;
	uint64_t room = 0;

	for (size_t i = 0; i <= go->fn->nmembers; i++) {
		if (i == hidden) {
			value(&a, &word, &p);
			if (is_register(&p))
				add_room(&a, &room, &word);
		}
		if (i == go->fn->nmembers)
			break;
		value(&a, go->fn->members[i].type, &params[i]);
		if (is_register(&params[i]))
			add_room(&a, &room, go->fn->members[i].type);
	}
	a.stack = ROUND_UP(a.stack, 8);
	a.ints = a.floats = 0;
	for (size_t i = 0; i < go->nresults; i++)
		value(&a, go->results[i].type, &results[i]);
	return a.lost ? -1 :
			(int64_t)(ROUND_UP(a.stack, 8) + ROUND_UP(room, 8));
}

/* Does the place in the debug information contradict this one? */
static bool
agrees(const struct argplace *said, const struct argplace *p)
{
	if (said->kind == ARGPLACE_UNKNOWN || p->kind == ARGPLACE_UNKNOWN ||
	    p->kind == ARGPLACE_EMPTY)
		return true;
	if (said->kind == ARGPLACE_MEM)
		return p->kind != ARGPLACE_MEM || p->disp == said->disp;
	if (!is_register(p) || said->npieces != p->npieces)
		return false;
	for (unsigned i = 0; i < p->npieces; i++)
		if (said->piece[i].reg != p->piece[i].reg)
			return false;
	return true;
}

static bool
all_agree(const struct abi_go *go, const struct argplace *params)
{
	for (size_t i = 0; i < go->fn->nmembers; i++)
		if (!agrees(&go->said[i], &params[i]))
			return false;
	return true;
}

/* If several parameters are omitted, only those places are certain that the
 * debug information gives, and results in registers. */
static void
keep_what_is_said(
    const struct abi_go *go, struct argplace *params, struct argplace *results)
{
	for (size_t i = 0; i < go->fn->nmembers; i++) {
		const struct argplace *said = &go->said[i];
		struct argplace *p = &params[i];

		if (p->kind == ARGPLACE_EMPTY)
			continue;
		if (said->kind == ARGPLACE_UNKNOWN ||
		    (said->kind == ARGPLACE_PIECES &&
			(!is_register(p) || said->npieces != p->npieces))) {
			p->kind = ARGPLACE_UNKNOWN;
			continue;
		}
		if (said->kind == ARGPLACE_MEM) {
			*p = *said;
			continue;
		}
		for (unsigned k = 0; k < p->npieces; k++)
			p->piece[k].reg = said->piece[k].reg;
		p->reg = p->piece[0].reg;
	}
	for (size_t i = 0; i < go->nresults; i++)
		if (results[i].kind == ARGPLACE_MEM)
			results[i].kind = ARGPLACE_UNKNOWN;
}

/* An omitted word between two parameters is assumed only if the debug
 * information gives the places of both. A parameter without a value needs no
 * place. */
static bool
is_said(const struct abi_go *go, const struct argplace *params, size_t hidden)
{
	size_t next = hidden, last = hidden;

	while (next < go->fn->nmembers && params[next].kind == ARGPLACE_EMPTY)
		next++;
	while (last > 0 && params[last - 1].kind == ARGPLACE_EMPTY)
		last--;
	return (next == go->fn->nmembers ||
		   go->said[next].kind != ARGPLACE_UNKNOWN) &&
	    (last == 0 || go->said[last - 1].kind != ARGPLACE_UNKNOWN);
}

void
abi_go(
    const struct abi_go *go, struct argplace *params, struct argplace *results)
{
	/* Try without an omitted word, then with one before the first
	 * parameter, before the second, and so on. */
	for (size_t i = 0; i <= go->fn->nmembers + 1; i++) {
		size_t hidden = i == 0 ? SIZE_MAX : i - 1;
		int64_t width = assign_all(go, hidden, params, results);

		if ((go->width < 0 || width == go->width || width < 0) &&
		    (hidden == SIZE_MAX || is_said(go, params, hidden)) &&
		    all_agree(go, params))
			return;
	}
	assign_all(go, SIZE_MAX, params, results);
	keep_what_is_said(go, params, results);
}
