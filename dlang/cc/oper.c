/*
 * Operators by their rows; see oper.h.
 */
#include "dlang/cc/oper.h"

static uint64_t
quotient(int64_t x, int64_t y)
{
	/* INT64_MIN / -1 does not fit, and would trap. */
	return y == -1 ? -(uint64_t)x : (uint64_t)(x / y);
}

static uint64_t
modulus(int64_t x, int64_t y)
{
	return y == -1 ? 0 : (uint64_t)(x % y);
}

#define OPER(name, takes, s_op, u_op, s_value, u_value)             \
	static uint64_t signed_##name(uint64_t x, uint64_t y)       \
	{                                                           \
		int64_t sx __attribute__((unused)) = (int64_t)x,    \
			   sy __attribute__((unused)) = (int64_t)y; \
		return (uint64_t)(s_value);                         \
	}                                                           \
	static uint64_t unsigned_##name(uint64_t x, uint64_t y)     \
	{                                                           \
		return (uint64_t)(u_value);                         \
	}
#include "dlang/cc/opers.def"
#undef OPER

static const struct row {
	enum oper_takes takes;
	enum dif_op op[2]; /* unsigned, signed */
	uint64_t (*value[2])(uint64_t x, uint64_t y);
} rows[] = {
#define OPER(name, takes, s_op, u_op, s_value, u_value)                \
	[O_##name] = { OPER_##takes, { DIF_OP_##u_op, DIF_OP_##s_op }, \
		{ unsigned_##name, signed_##name } },
#include "dlang/cc/opers.def"
#undef OPER
};

enum oper_takes
oper_takes(unsigned op)
{
	ASSERT(op < ARRAY_SIZE(rows));
	return rows[op].takes;
}

enum dif_op
oper_instruction(unsigned op, bool is_signed)
{
	ASSERT(op < ARRAY_SIZE(rows));
	return rows[op].op[is_signed];
}

bool
oper_is_promoted(const struct node *n)
{
	struct dif_type d = type_dif(n->type);

	if (!type_is_integer(n->type))
		return false;
	if ((n->flags & NF_BITFIELD) != 0 && n->bit_size < 32)
		return true;
	return d.size < 4 || (d.size == 4 && d.ckind == CTF_ENUM);
}

/* The size and sign of an operand after promotion. */
static struct dif_type
taken(const struct node *n)
{
	struct dif_type d = type_dif(n->type);

	if (oper_is_promoted(n)) {
		d.size = 4;
		d.is_signed = true;
	}
	return d;
}

static unsigned
rank(const struct node *n)
{
	struct dif_type d = taken(n);

	return d.size * 16 + !d.is_signed;
}

bool
oper_first_wins(const struct node *a, const struct node *b)
{
	return rank(a) >= rank(b);
}

bool
oper_is_signed(const struct node *n)
{
	bool first =
	    oper_takes(n->op) == OPER_SHIFT || oper_first_wins(n->a, n->b);

	return taken(first ? n->a : n->b).is_signed;
}

unsigned
oper_taken_in(const struct node *operand, const struct node *other)
{
	struct dif_type x = taken(operand), y = taken(other);
	bool known = operand->kind == N_INT && (int64_t)operand->value >= 0;

	if (!type_is_integer(operand->type) || !type_is_integer(other->type) ||
	    !x.is_signed || y.is_signed || y.size < x.size || known)
		return 0;
	return y.size;
}

bool
oper_may_outgrow(const struct node *n)
{
	const struct dif_type d = type_dif(n->type);

	if (!type_is_integer(n->type) || d.is_signed || d.size != 4)
		return false;
	switch ((enum oper)n->op) {
	case O_DIV:
	case O_MOD:
	case O_SHR:
	case O_AND:
	case O_PLUS: return false;
	default: return true;
	}
}

uint64_t
oper_extend(uint64_t v, unsigned size, bool is_signed)
{
	if (size >= 8 || size == 0)
		return v;
	unsigned shift = 64 - size * 8;
	return is_signed ? (uint64_t)((int64_t)(v << shift) >> shift) :
			   v << shift >> shift;
}

bool
oper_aligns(unsigned op)
{
	return op == O_DIV || op == O_MOD || oper_takes(op) == OPER_COMPARE;
}

uint64_t
oper_value(const struct node *n, uint64_t x, uint64_t y)
{
	if (oper_aligns(n->op)) {
		x = oper_extend(x, oper_taken_in(n->a, n->b), false);
		y = oper_extend(y, oper_taken_in(n->b, n->a), false);
	}
	return rows[n->op].value[oper_is_signed(n)](x, y);
}
