/*
 * Operators on types: casts, sizeof, offsetof.
 */
#include <string.h>

#include "dlang/cc/check.h"

/* ---- casts and sizes ---- */

static bool
can_cast(struct type *to, const struct node *from)
{
	enum type_kind t = type_resolve(to)->kind, f = kind_of(from);

	if (t == TYPE_VOID)
		return true;
	if (is_action(from))
		return false;
	if (t == TYPE_STRING)
		return type_is_stringlike(from->type) ||
		    type_is_scalar(from->type);
	if (t == TYPE_POINTER)
		return type_is_scalar(from->type) || f == TYPE_STRING ||
		    f == TYPE_ARRAY || f == TYPE_FUNC;
	if (type_is_integer(to))
		return type_is_scalar(from->type) || f == TYPE_ARRAY ||
		    f == TYPE_SYMADDR || f == TYPE_USYMADDR || f == TYPE_FUNC;
	return type_equal(to, from->type);
}

int
check_cast(struct comp *c, struct node *n)
{
	char x[NAME_MAX_TEXT], y[NAME_MAX_TEXT];
	struct type *to;

	if (decl_type(c, n->a, &to) != 0 || check_expr(c, n->b) != 0)
		return -EINVAL;
	if (is_translated(n->b) && !type_equal(to, n->b->type))
		return comp_error(c, D_CAST_INVAL, n,
		    "invalid cast expression: \"%s\" to \"%s\"",
		    is_pointer(n->b) ? "pointer to translated data" :
				       "translated data",
		    type_name(to, y, sizeof(y)));
	if (!can_cast(to, n->b))
		return comp_error(c, D_CAST_INVAL, n,
		    "invalid cast expression: \"%s\" to \"%s\"",
		    type_name(n->b->type, x, sizeof(x)),
		    type_name(to, y, sizeof(y)));
	n->type = to;
	n->flags = NF_CANON | (n->b->flags & NF_POINTS);
	return 0;
}

int
check_sizeof(struct comp *c, struct node *n)
{
	struct type *t;
	uint64_t size;

	if (n->b != NULL) {
		if (decl_type(c, n->b, &t) != 0)
			return -EINVAL;
	} else {
		if (check_expr(c, n->a) != 0)
			return -EINVAL;
		if ((n->a->flags & NF_BITFIELD) != 0)
			return comp_error(c, D_SIZEOF_BITFIELD, n,
			    "cannot apply sizeof to a bit-field");
		t = n->a->type;
	}
	struct type *r = type_resolve(t);
	size = n->a != NULL && n->a->kind == N_STRING ? strlen(n->a->name) + 1 :
							r->size;
	if (r->kind == TYPE_VOID || r->kind == TYPE_FUNC ||
	    r->kind == TYPE_FORWARD || r->kind == TYPE_DYN ||
	    r->kind == TYPE_STACK)
		return comp_error(c, D_SIZEOF_TYPE, n,
		    "cannot apply sizeof to an operand of unknown size");
	check_become_int(n, size, c->cc->t_size);
	return 0;
}

int
check_offsetof(struct comp *c, struct node *n)
{
	uint64_t offset = 0;
	struct type *t;

	if (decl_type(c, n->a, &t) != 0)
		return -EINVAL;
	struct type *r = type_resolve(t);
	if (r->kind != TYPE_STRUCT && r->kind != TYPE_UNION)
		return comp_error(c, D_OFFSETOF_TYPE, n,
		    "offsetof operand must be a struct or union type");
	const struct type_member *m = type_member(r, n->name, &offset);
	if (m == NULL)
		return comp_error(c, D_UNKNOWN, n,
		    "failed to determine offset of %s: Member name not found",
		    n->name);
	if (m->bit_size != 0)
		return comp_error(c, D_OFFSETOF_BITFIELD, n,
		    "cannot take offset of a bit-field: %s", n->name);
	check_become_int(n, offset, c->cc->t_size);
	return 0;
}
