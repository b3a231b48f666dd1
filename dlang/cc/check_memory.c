/*
 * Checks accesses to memory: members, elements, *p and &x.
 */
#include "dlang/cc/check.h"

/* ---- members, elements ---- */

static int
check_struct(struct comp *c, struct node *n, const struct type *t)
{
	char buf[NAME_MAX_TEXT];

	if (t->kind == TYPE_FORWARD) {
		type_name(t, buf, sizeof(buf));
		comp_error(c, D_OP_INCOMPLETE, n,
		    "operator %s cannot be applied to a forward declaration: "
		    "no %s definition is available",
		    oper_text(n->op), buf);
		return hint_tag(c, buf);
	}
	if (t->kind != TYPE_STRUCT && t->kind != TYPE_UNION)
		return comp_error(c, D_OP_SOU, n,
		    n->op == O_ARROW ?
			"operator %s cannot be applied to pointer to type "
			"\"%s\"; must be applied to a struct or union "
			"pointer" :
			"operator %s cannot be applied to type \"%s\"; must "
			"be applied to a struct or union",
		    oper_text(n->op), type_name(t, buf, sizeof(buf)));
	return 0;
}

/* Can a pointer to t be dereferenced? */
static int
check_object(struct comp *c, struct node *n, const struct type *t)
{
	if (t->kind == TYPE_VOID)
		return comp_error(
		    c, D_DEREF_VOID, n, "cannot dereference pointer to void");
	if (t->kind == TYPE_FUNC)
		return comp_error(c, D_DEREF_FUNC, n,
		    "cannot dereference pointer to function");
	if (t->kind == TYPE_FORWARD)
		return check_struct(c, n, t);
	return 0;
}

int
check_member(struct comp *c, struct node *n)
{
	char buf[NAME_MAX_TEXT];
	uint64_t offset = 0;

	if (n->a->kind == N_SELF || n->a->kind == N_THIS) {
		int error = bind_expr(c, n, false);
		return error != 0 ? error : check_var(c, n);
	}
	if (check_expr(c, n->a) != 0)
		return -EINVAL;
	/* An inline may stand for a translated object. */
	if (n->a->kind == N_INLINE && n->a->a->kind == N_XLATE)
		n->a = n->a->a;
	if (n->a->kind == N_XLATE)
		return xlate_member(c, n);
	struct type *t = type_resolve(n->a->type);
	if (n->op == O_ARROW) {
		if (!is_pointer(n->a))
			return comp_error(c, D_OP_PTR, n,
			    "operator -> must be applied to a pointer");
		t = pointee(n->a);
	}
	if (check_struct(c, n, t) != 0)
		return -EINVAL;
	const struct type_member *m = type_member(t, n->name, &offset);
	if (m == NULL) {
		comp_error(c, D_TYPE_MEMBER, n, "%s is not a member of %s",
		    n->name, type_name(t, buf, sizeof(buf)));
		return hint_member(c, t, n->name);
	}
	n->type = m->type;
	n->value = offset;
	n->bit_offset = m->bit_offset;
	n->bit_size = m->bit_size;
	n->flags = NF_LVALUE | NF_WRITABLE | NF_CANON;
	if (m->bit_size != 0)
		n->flags |= NF_BITFIELD;
	return 0;
}

/* A member of a translator has the size that its struct declares, whatever the
 * value is. */
static struct type *
declared_type(const struct node *n)
{
	return n->kind == N_INLINE && n->extra != NULL ? n->extra : n->type;
}

/* a[i], if a is a pointer, array or string in memory. */
int
check_element(struct comp *c, struct node *n)
{
	char buf[NAME_MAX_TEXT];
	struct node *i = n->list;

	if (check_expr(c, n->a) != 0)
		return -EINVAL;
	bool string = type_is_string(n->a->type);
	if (!is_pointer(n->a) && !string) {
		if (n->a->kind == N_VAR)
			return comp_error(c, D_ARR_BADREF, n,
			    "cannot access %s %s as an associative array",
			    ident_kind_name(n->a->ident), n->a->ident->name);
		return comp_error(c, D_OP_PTR, n,
		    "operator [ ] cannot be applied to type %s",
		    type_name(n->a->type, buf, sizeof(buf)));
	}
	if (i->next != NULL && n->a->kind == N_VAR)
		return comp_error(c, D_ARR_BADREF, n,
		    "cannot access %s %s as an associative array",
		    ident_kind_name(n->a->ident), n->a->ident->name);
	if (i->next != NULL)
		return comp_error(c, D_PROTO_LEN, n,
		    "array prototype mismatch: one index expected");
	if (check_expr(c, i) != 0)
		return -EINVAL;
	if (!is_arith(i))
		return comp_error(
		    c, D_OP_INT, i, "array index must be of integral type");
	struct type *t = string ? c->cc->t_char : pointee(n->a);
	if (check_object(c, n, t) != 0)
		return -EINVAL;
	struct type *at = type_resolve(declared_type(n->a));
	if (at->kind == TYPE_ARRAY && i->kind == N_INT && at->nelems > 0 &&
	    i->value >= at->nelems)
		return comp_error(c, D_ARR_BOUNDS, i,
		    "index outside array bounds: %ld, max is %lu",
		    (long)i->value, (unsigned long)at->nelems);
	n->type = string ? t : type_resolve(n->a->type)->base;
	n->flags = NF_LVALUE | NF_WRITABLE | NF_CANON;
	return 0;
}

/* ---- * and & ---- */

int
check_deref(struct comp *c, struct node *n)
{
	if (!is_pointer(n->a))
		return comp_error(c, D_DEREF_NONPTR, n,
		    "cannot dereference non-pointer type");
	struct type *t = pointee(n->a);
	if (check_object(c, n, t) != 0)
		return -EINVAL;
	n->type = type_resolve(n->a->type)->base;
	n->flags = NF_LVALUE | NF_WRITABLE | NF_CANON;
	return 0;
}

/* Of something in memory: where the pointer points that leads to it. */
static uint32_t
points(const struct node *n)
{
	while ((n->kind == N_INDEX || n->kind == N_MEMBER ||
		   (n->kind == N_UNARY && n->op == O_DEREF)) &&
	    n->a->type != NULL && kind_of(n->a) != TYPE_POINTER)
		n = n->a;
	return n->a != NULL ? n->a->flags & NF_POINTS : 0;
}

int
check_address(struct comp *c, struct node *n)
{
	struct node *a = n->a;

	if ((a->flags & NF_BITFIELD) != 0)
		return comp_error(c, D_ADDROF_BITFIELD, n,
		    "cannot take address of bit-field");
	if (a->kind == N_AGG)
		return comp_error(c, D_ADDROF_VAR, n,
		    "cannot take address of dynamic variable");
	bool var = a->kind == N_VAR && a->ident->kind != ID_SYMBOL &&
	    a->ident->kind != ID_LOCAL;
	bool keyed = a->kind == N_INDEX && a->ident != NULL;
	if (var || keyed)
		return comp_error(c, D_ADDROF_VAR, n,
		    "cannot take address of dynamic variable");
	if ((a->flags & NF_LVALUE) == 0)
		return comp_error(c, D_ADDROF_LVAL, n,
		    "unacceptable operand for unary & operator");
	if (a->kind == N_VAR && a->ident->kind == ID_LOCAL &&
	    bind_local(c, a, a->ident->name, true) != 0)
		return -EINVAL;
	n->type = types_pointer(c->cc->types, a->type);
	n->flags = NF_CANON | points(a);
	return 0;
}
