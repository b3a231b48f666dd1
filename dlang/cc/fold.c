/*
 * Constant folding, in place: the type of an integer constant, and operators
 * with constant operands.
 */

#include "dlang/cc/cc_impl.h"
#include "dlang/cc/oper.h"

struct type *
fold_int_type(
    struct cc *cc, uint64_t value, bool decimal, bool u, unsigned longs)
{
	/* The order of d-language, integer constants. */
	struct type *const walk[] = { cc->t_int, cc->t_uint, cc->t_long,
		cc->t_ulong, cc->t_llong, cc->t_ullong };
	static const uint64_t limit[] = { INT32_MAX, UINT32_MAX, INT64_MAX,
		UINT64_MAX, INT64_MAX, UINT64_MAX };
	unsigned step = decimal || u ? 2 : 1;

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

static uint64_t
extend(uint64_t v, const struct type *t)
{
	struct dif_type d = type_dif(t);

	return oper_extend(v, d.size, d.is_signed);
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

/* Set the result of an operator: -1u is the largest unsigned int.  A signed
 * overflow of constants, which is undefined in C, makes the type wider, as for
 * a literal: 1 << 40 is a long. */
static void
become_result(struct comp *c, struct node *n, uint64_t value)
{
	uint64_t cut = extend(value, n->type);

	if (cut != value && type_dif(n->type).is_signed)
		n->type = c->cc->t_long;
	become_int(n, extend(value, n->type));
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
		become_result(c, n, oper_value(n, n->a->value, n->b->value));
	else if (is_const(n->a) && n->op == O_LAND && n->a->value == 0)
		become_int(n, 0);
	else if (is_const(n->a) && n->op == O_LOR && n->a->value != 0)
		become_int(n, 1);
	return 0;
}

static void
fold_unary(struct comp *c, struct node *n)
{
	if (!is_const(n->a) || !type_is_integer(n->a->type))
		return;
	switch ((enum oper)n->op) {
	case O_NEG: become_result(c, n, -n->a->value); break;
	case O_PLUS: become_int(n, n->a->value); break;
	case O_COMPL: become_result(c, n, ~n->a->value); break;
	case O_NOT: become_int(n, n->a->value == 0); break;
	default: break;
	}
}

static int
fold_cast(struct node *n)
{
	if (!is_const(n->b) || !type_is_scalar(n->type))
		return 0;
	become_int(n,
	    type_is_bool(n->type) ? n->b->value != 0 :
				    extend(n->b->value, n->type));
	return 0;
}

int
fold_expr(struct comp *c, struct node *n)
{
	switch ((enum node_kind)n->kind) {
	case N_BINARY: return fold_binary(c, n);
	case N_ASSIGN: return n->op != O_SET ? fold_binary(c, n) : 0;
	case N_UNARY: fold_unary(c, n); return 0;
	case N_CAST: return fold_cast(n);
	default: return 0; /* nothing to compute */
	}
}
