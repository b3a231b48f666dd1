/*
 * Constants: the type of an integer constant, and operators whose operands are
 * constants, in place.  The machine computes in 64 bits and so does this: a
 * result is cut to its type only where it is converted.
 */
#include <string.h>

#include "dlang/cc/cc_impl.h"

struct type *
fold_int_type(
    struct cc *cc, uint64_t value, bool decimal, bool u, unsigned longs)
{
	/* The order of d-language, integer constants. */
	struct type *const walk[] = { cc->t_int, cc->t_uint, cc->t_long,
		cc->t_ulong, cc->t_llong, cc->t_ullong };
	static const uint64_t limit[] = { INT32_MAX, UINT32_MAX, INT64_MAX,
		UINT64_MAX, INT64_MAX, UINT64_MAX };
	unsigned step = decimal ? 2 : 1;

	for (unsigned i = (u ? 1 : 0) + 2 * longs; i < ARRAY_SIZE(walk);
	     i += step)
		if (value <= limit[i])
			return walk[i];
	return NULL;
}

bool
check_const(const struct node *n, int64_t *value)
{
	if (n->kind != N_INT)
		return false;
	*value = (int64_t)n->value;
	return true;
}

static bool
is_const(const struct node *n)
{
	return n != NULL && n->kind == N_INT;
}

/* The value as a register that holds this type would have it. */
static uint64_t
extend(uint64_t v, const struct type *t)
{
	struct dif_type d = type_dif(t);

	if (d.size >= 8 || d.size == 0)
		return v;
	unsigned shift = 64 - d.size * 8;
	return d.is_signed ? (uint64_t)((int64_t)(v << shift) >> shift) :
			     v << shift >> shift;
}

static void
become_int(struct node *n, uint64_t value)
{
	n->kind = N_INT;
	n->value = value;
	n->a = n->b = n->c = n->list = NULL;
	n->flags = NF_CONST;
	if (extend(value, n->type) == value)
		n->flags |= NF_CANON;
}

/* An operator's result.  A signed overflow of constants, which C leaves open,
 * makes the type wider, as it does for a literal: 1 << 40 is a long. */
static void
become_result(struct comp *c, struct node *n, uint64_t value)
{
	struct dif_type d = type_dif(n->type);

	if (d.is_signed && d.size == 4 && extend(value, n->type) != value)
		n->type = c->cc->t_long;
	become_int(n, value);
}

/* The type in which a binary operator of these operands compares. */
static bool
both_signed(const struct node *a, const struct node *b)
{
	struct dif_type x = type_dif(a->type), y = type_dif(b->type);
	unsigned rx = x.size * 16 + !x.is_signed,
		 ry = y.size * 16 + !y.is_signed;

	return rx >= ry ? x.is_signed : y.is_signed;
}

static uint64_t
divide(uint64_t x, uint64_t y, bool is_signed, bool rem)
{
	if (!is_signed)
		return rem ? x % y : x / y;
	/* The one signed quotient that does not fit would trap. */
	if ((int64_t)y == -1)
		return rem ? 0 : -x;
	return rem ? (uint64_t)((int64_t)x % (int64_t)y) :
		     (uint64_t)((int64_t)x / (int64_t)y);
}

static uint64_t
compute(const struct node *n, uint64_t x, uint64_t y)
{
	bool s = both_signed(n->a, n->b);
	bool less = s ? (int64_t)x < (int64_t)y : x < y;

	switch ((enum oper)n->op) {
	case O_ADD: return x + y;
	case O_SUB: return x - y;
	case O_MUL: return x * y;
	case O_DIV: return divide(x, y, type_dif(n->type).is_signed, false);
	case O_MOD: return divide(x, y, type_dif(n->type).is_signed, true);
	case O_SHL: return x << (y & 63);
	case O_SHR:
		return type_dif(n->a->type).is_signed ?
		    (uint64_t)((int64_t)x >> (y & 63)) :
		    x >> (y & 63);
	case O_LT: return less;
	case O_LE: return less || x == y;
	case O_GT: return !less && x != y;
	case O_GE: return !less;
	case O_EQ: return x == y;
	case O_NE: return x != y;
	case O_AND: return x & y;
	case O_XOR: return x ^ y;
	case O_OR: return x | y;
	case O_LAND: return x && y;
	case O_LXOR: return !x != !y;
	case O_LOR: return x || y;
	default: return 0; /* not a binary operator */
	}
}

static bool
divides(const struct node *n)
{
	return n->op == O_DIV || n->op == O_MOD;
}

static int
fold_binary(struct comp *c, struct node *n)
{
	if (divides(n) && is_const(n->b) && n->b->value == 0)
		return comp_error(
		    c, D_DIV_ZERO, n, "expression contains division by zero");
	if (is_const(n->a) && is_const(n->b) && n->kind == N_BINARY &&
	    type_is_integer(n->type))
		become_result(c, n, compute(n, n->a->value, n->b->value));
	else if (is_const(n->a) && n->op == O_LAND && n->a->value == 0)
		become_int(n, 0);
	else if (is_const(n->a) && n->op == O_LOR && n->a->value != 0)
		become_int(n, 1);
	return 0;
}

/* -1u is the largest unsigned int, which equals a 64-bit number of that
 * value. */
static uint64_t
wrap(uint64_t v, const struct type *t)
{
	return type_dif(t).is_signed ? v : extend(v, t);
}

static void
fold_unary(struct comp *c, struct node *n)
{
	if (!is_const(n->a) || !type_is_integer(n->a->type))
		return;
	switch ((enum oper)n->op) {
	case O_NEG: become_result(c, n, wrap(-n->a->value, n->type)); break;
	case O_PLUS: become_int(n, n->a->value); break;
	case O_COMPL: become_int(n, wrap(~n->a->value, n->type)); break;
	case O_NOT: become_int(n, n->a->value == 0); break;
	default: break;
	}
}

static void
fold_cond(struct node *n)
{
	if (!is_const(n->a))
		return;
	struct node *taken = n->a->value != 0 ? n->b : n->c;
	struct node *next = n->next;
	struct type *type = n->type;
	if (type_equal(taken->type, type)) {
		*n = *taken;
		n->next = next;
		return;
	}
	n->kind = N_CAST;
	n->a = n->c = n->list = NULL;
	n->b = taken;
}

static int
fold_cast(struct node *n)
{
	if (n->kind == N_CAST && is_const(n->b) && type_is_scalar(n->type))
		become_int(n, extend(n->b->value, n->type));
	return 0;
}

int
fold_expr(struct comp *c, struct node *n)
{
	switch ((enum node_kind)n->kind) {
	case N_BINARY: return fold_binary(c, n);
	case N_ASSIGN: return n->op != O_SET ? fold_binary(c, n) : 0;
	case N_UNARY: fold_unary(c, n); return 0;
	case N_COND: fold_cond(n); return fold_cast(n);
	case N_CAST: return fold_cast(n);
	default: return 0; /* nothing to compute */
	}
}
