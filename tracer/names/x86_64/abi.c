/*
 * System V ABI for x86-64, "3.2.3 Parameter Passing": an object is classified
 * by its eightbytes. Each is passed in the next register of its class, or the
 * whole object is passed in memory.
 *
 * Rust's own convention passes an object with one or two scalars as these
 * scalars, and a larger object by its address.
 */
#include "tracer/names/abi.h"

#include <string.h>

#include "dlang/base/base.h"
#include "dlang/types.h"

enum class {
	NONE,
	INTEGER,
	SSE,
	SSEUP,
	X87,
	X87UP,
	MEMORY,
	UNKNOWN, /* the type is only declared, or the register cannot be read
		  * (ymm, zmm) */
};

/* The deepest nesting of objects that is examined; damaged debug information
 * may have more. */
#define DEPTH_MOST 32
#define PARTS_MOST 10000

/* The classes of the two eightbytes of an object. */
struct classes {
	enum class of[2];
	bool indirect;  /* class MEMORY, but the address is passed */
	uint64_t align; /* of the object on the stack */
	unsigned parts; /* that were looked at */
};

static const struct type *
resolve(const struct type *t)
{
	return type_resolve((struct type *)(uintptr_t)t);
}

/* ---- classification ---- */

static void
merge(struct classes *c, uint64_t nth, enum class k)
{
	enum class *of = &c->of[nth < 2 ? nth : 1];

	if (nth >= 2)
		*of = MEMORY;
	else if (*of == k || k == NONE)
		return;
	else if (*of == NONE || k == UNKNOWN)
		*of = k;
	else if (*of == UNKNOWN)
		return;
	else if (*of == MEMORY || k == MEMORY)
		*of = MEMORY;
	else if (*of == INTEGER || k == INTEGER)
		*of = INTEGER;
	else if (*of >= X87 || k >= X87)
		*of = MEMORY;
	else
		*of = SSE;
}

static void
scalar(struct classes *c, const struct type *t, uint64_t off, enum class low,
    enum class high)
{
	c->align = MAX(c->align, t->size);
	if (t->size == 0)
		return;
	if (off % t->size != 0) /* packed */
		low = high = MEMORY;
	merge(c, off / 8, low);
	if (t->size > 8)
		merge(c, off / 8 + 1, high);
}

/* The x87 type has this name; other types of 16 bytes are in SSE registers
 * (_Float128). */
static bool
is_x87(const struct type *t)
{
	return t->size == 16 && t->name != NULL &&
	    strcmp(t->name, "long double") == 0;
}

static void classify_at(
    struct classes *c, const struct type *t, uint64_t off, unsigned depth);

static void
members(struct classes *c, const struct type *t, uint64_t off, unsigned depth)
{
	for (size_t i = 0; i < t->nmembers && c->of[0] != UNKNOWN; i++) {
		const struct type_member *m = &t->members[i];
		uint64_t bit = (off + m->offset) * 8 + m->bit_offset;

		if (m->bit_size == 0) {
			classify_at(c, m->type, off + m->offset, depth + 1);
			continue;
		}
		merge(c, bit / 64, INTEGER);
		merge(c, (bit + m->bit_size - 1) / 64, INTEGER);
		c->align = MAX(c->align, resolve(m->type)->size);
	}
}

static void
elements(struct classes *c, const struct type *t, uint64_t off, unsigned depth)
{
	const struct type *of = resolve(t->base);

	if (of == NULL || of->size == 0)
		return;
	/* An object in registers has at most 16 bytes. */
	for (uint64_t i = 0; i < t->nelems && i < 16 && c->of[0] != UNKNOWN;
	     i++)
		classify_at(c, t->base, off + i * of->size, depth + 1);
}

static void
vector(struct classes *c, const struct type *t, uint64_t off)
{
	if (t->size > 16) {
		merge(c, 0, UNKNOWN);
		return;
	}
	scalar(c, t, off, SSE, SSEUP);
}

static void
classify_at(
    struct classes *c, const struct type *t, uint64_t off, unsigned depth)
{
	t = resolve(t);
	if (t == NULL || depth > DEPTH_MOST || c->parts++ > PARTS_MOST) {
		merge(c, 0, UNKNOWN);
		return;
	}
	switch (t->kind) {
	case TYPE_INT:
	case TYPE_ENUM:
	case TYPE_POINTER: scalar(c, t, off, INTEGER, INTEGER); break;
	case TYPE_FLOAT:
		scalar(c, t, off, is_x87(t) ? X87 : SSE,
		    is_x87(t) ? X87UP : SSEUP);
		break;
	case TYPE_ARRAY:
		if (t->vector)
			vector(c, t, off);
		else
			elements(c, t, off, depth);
		break;
	case TYPE_STRUCT:
	case TYPE_UNION:
		c->indirect |= t->indirect;
		members(c, t, off, depth);
		break;
	default: merge(c, 0, UNKNOWN); break;
	}
}

/* The rules that apply to the object as a whole. */
static void
finish(struct classes *c, uint64_t size)
{
	if (c->of[0] == UNKNOWN || c->of[1] == UNKNOWN) {
		c->of[0] = UNKNOWN;
		return;
	}
	if (c->indirect || size > 16 || c->of[0] == MEMORY ||
	    c->of[1] == MEMORY || (c->of[1] == X87UP && c->of[0] != X87))
		c->of[0] = c->of[1] = MEMORY;
	if (c->of[1] == SSEUP && c->of[0] != SSE)
		c->of[1] = SSE;
}

static struct classes
classify(const struct type *t)
{
	struct classes c = { .align = 8 };

	t = resolve(t);
	classify_at(&c, t, 0, 0);
	finish(&c, t != NULL ? t->size : 0);
	return c;
}

/* ---- Rust: the scalars of an object ---- */

struct leaves {
	const struct type *of[2];
	uint64_t off[2];
	unsigned n; /* more than 2: too many */
	unsigned parts;
};

static void
leaves_at(struct leaves *l, const struct type *t, uint64_t off, unsigned depth)
{
	t = resolve(t);
	if (t == NULL || depth > DEPTH_MOST || l->n > 2 ||
	    l->parts++ > PARTS_MOST)
		l->n = 3;
	else if (t->kind == TYPE_STRUCT)
		for (size_t i = 0; i < t->nmembers && l->n <= 2; i++)
			leaves_at(l, t->members[i].type,
			    off + t->members[i].offset, depth + 1);
	else if (t->kind == TYPE_ARRAY || t->kind == TYPE_UNION)
		l->n = t->size > 0 ? 3 : l->n;
	else if (t->size > 0 && l->n < 2) {
		l->of[l->n] = t;
		l->off[l->n++] = off;
	} else if (t->size > 0) {
		l->n = 3;
	}
}

static enum class leaf_class(const struct type *t) {
	return t->size > 8        ? UNKNOWN :
	    t->kind == TYPE_FLOAT ? SSE :
				    INTEGER;
}

/* An object that is not one or two words at the places of eightbytes is passed
 * by its address if it is large. Otherwise the place is not known. */
static struct classes
classify_rust(const struct type *t)
{
	struct classes c = { .align = 8 };
	struct leaves l = { .n = 0 };

	t = resolve(t);
	leaves_at(&l, t, 0, 0);
	if (t == NULL || t->kind == TYPE_FORWARD)
		c.of[0] = UNKNOWN;
	else if (t->size == 0)
		c.of[0] = NONE;
	else if (t->size > 16) {
		c.of[0] = c.of[1] = MEMORY;
		c.indirect = true;
	} else if (l.n == 1 && l.of[0]->size == t->size) {
		c.of[0] = leaf_class(l.of[0]);
	} else if (l.n == 2 && l.off[0] == 0 && l.off[1] == 8) {
		c.of[0] = leaf_class(l.of[0]);
		c.of[1] = leaf_class(l.of[1]);
	} else if (l.n == 2 && l.off[0] == 8 && l.off[1] == 0) {
		c.of[0] = leaf_class(l.of[1]);
		c.of[1] = leaf_class(l.of[0]);
	} else {
		c.of[0] = UNKNOWN;
	}
	if (c.of[1] == UNKNOWN)
		c.of[0] = UNKNOWN;
	return c;
}

static struct classes
classes_of(const struct type *t, enum abi abi)
{
	return abi == ABI_RUST ? classify_rust(t) : classify(t);
}

/* ---- places ---- */

/* For each class of registers, how many are used. */
struct taken {
	const uint8_t *regs;
	unsigned nregs, used;
	unsigned vecs, vecs_used;
};

/* The next eight bytes of an object. */
static void
add_eightbyte(struct argplace *p, unsigned reg)
{
	p->piece[p->npieces] = (struct argpiece){
		.reg = (uint8_t)reg,
		.size = 8,
		.offset = (uint16_t)(8 * p->npieces),
	};
	p->npieces++;
}

/* One register, or two. */
static bool
in_registers(struct taken *k, const struct classes *c, struct argplace *p)
{
	unsigned ints = 0, vecs = 0;

	for (int i = 0; i < 2; i++) {
		ints += c->of[i] == INTEGER;
		vecs += c->of[i] == SSE;
	}
	if (k->used + ints > k->nregs || k->vecs_used + vecs > k->vecs)
		return false;
	p->npieces = 0;
	for (int i = 0; i < 2; i++) {
		if (c->of[i] == INTEGER)
			add_eightbyte(p, k->regs[k->used++]);
		else if (c->of[i] == SSE)
			add_eightbyte(p, UREG_XMM(k->vecs_used++, 0));
		else if (c->of[i] == SSEUP)
			add_eightbyte(p, UREG_XMM(k->vecs_used - 1, 1));
		else if (i == 0) /* padding: not looked at */
			add_eightbyte(p, k->regs[0]);
	}
	p->reg = p->piece[0].reg;
	return true;
}

/* In the caller's frame, above the return address. */
static struct argplace
on_stack(uint64_t *depth, uint64_t size, uint64_t align)
{
	struct argplace p = { .kind = ARGPLACE_MEM, .reg = UREG_RSP };

	*depth = ROUND_UP(*depth, MAX(align, 8));
	p.disp = (int32_t)(8 + *depth);
	*depth += ROUND_UP(size, 8);
	return p;
}

static const uint8_t arg_regs[] = { UREG_RDI, UREG_RSI, UREG_RDX, UREG_RCX,
	UREG_R8, UREG_R9 };

/* An object that is passed by its address; the address is an argument
 * itself. */
static struct argplace
by_address(struct taken *k, uint64_t *depth)
{
	struct argplace p = { .kind = ARGPLACE_MEM };

	if (k->used < k->nregs) {
		p.reg = k->regs[k->used++];
		return p;
	}
	p = on_stack(depth, 8, 8);
	p.kind = ARGPLACE_AT;
	return p;
}

/* The most bytes of arguments on the stack. */
#define STACK_MOST (1U << 24)

static bool
arg_place(struct taken *k, uint64_t *depth, const struct type *t, enum abi abi,
    struct argplace *p)
{
	struct classes c = classes_of(t, abi);
	bool object = type_is_byref(t);

	*p = (struct argplace){ .kind = ARGPLACE_EMPTY };
	if (c.of[0] == UNKNOWN || *depth > STACK_MOST)
		return false;
	if (c.of[0] == NONE && c.of[1] == NONE)
		return true;
	if (c.indirect) {
		*p = by_address(k, depth);
		return true;
	}
	if (c.of[0] != MEMORY && c.of[0] != X87 && in_registers(k, &c, p))
		p->kind = object ? ARGPLACE_PIECES : ARGPLACE_REG;
	else
		*p = on_stack(depth, resolve(t)->size, c.align);
	return true;
}

/* A complex number of C and an array have the same type here; only a complex
 * number can be a result. */
static bool
is_complex_x87(const struct type *t)
{
	return t->kind == TYPE_ARRAY && t->nelems == 2 && t->size == 32 &&
	    is_x87(resolve(t->base));
}

static enum class result_class(const struct type *fn, enum abi abi) {
	const struct type *t = resolve(fn->base);

	if (t == NULL || t->kind == TYPE_VOID) return t == NULL ? UNKNOWN :
								  NONE;
	return is_complex_x87(t) ? X87 : classes_of(t, abi).of[0];
}

size_t
abi_args(const struct type *fn, enum abi abi, struct argplace *places)
{
	struct taken k = {
		.regs = arg_regs, .nregs = ARRAY_SIZE(arg_regs), .vecs = 8
	};
	uint64_t depth = 0;

	switch (result_class(fn, abi)) {
	case UNKNOWN: return 0; /* in memory or not */
	case MEMORY: k.used++; break;
	default: break;
	}
	for (size_t i = 0; i < fn->nmembers; i++)
		if (!arg_place(
			&k, &depth, fn->members[i].type, abi, &places[i]))
			return i;
	return fn->nmembers;
}

static const uint8_t result_regs[] = { UREG_RAX, UREG_RDX };

static void
in_x87(struct argplace *p, unsigned n)
{
	p->kind = ARGPLACE_PIECES;
	for (unsigned i = 0; i < n; i++) {
		add_eightbyte(p, UREG_ST(i, 0));
		add_eightbyte(p, UREG_ST(i, 1));
	}
}

bool
abi_result(const struct type *fn, enum abi abi, struct argplace *place)
{
	struct taken k = {
		.regs = result_regs, .nregs = ARRAY_SIZE(result_regs), .vecs = 2
	};
	const struct type *t = resolve(fn->base);

	*place = (struct argplace){ .kind = ARGPLACE_EMPTY };
	if (t == NULL || t->kind == TYPE_VOID)
		return false;
	if (is_complex_x87(t)) {
		in_x87(place, 2);
		return true;
	}
	struct classes c = classes_of(t, abi);
	switch (c.of[0]) {
	case UNKNOWN: return false;
	case MEMORY:
		*place =
		    (struct argplace){ .kind = ARGPLACE_MEM, .reg = UREG_RAX };
		return true;
	case X87: in_x87(place, 1); return true;
	default: break;
	}
	if (c.of[0] == NONE && c.of[1] == NONE)
		return true;
	in_registers(&k, &c, place);
	place->kind = type_is_byref(t) ? ARGPLACE_PIECES : ARGPLACE_REG;
	return true;
}
