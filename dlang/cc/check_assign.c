/*
 * Checks assignments: whether the destination can be written, the types, and
 * variables that are declared by their first assignment.
 */
#include <string.h>

#include "dlang/cc/check.h"

/* An assignment to a built-in variable probably was meant as a comparison. */
static int
refuse_built_in(struct comp *c, const struct node *n)
{
	bool sets = n->kind == N_ASSIGN && n->op == O_SET;

	comp_error(c, D_OP_WRITE, n,
	    "operator %s can only be applied to a writable variable",
	    n->kind == N_ASSIGN && !sets ? "op=" : oper_text(n->op));
	return sets ? diag_hint(c->diags, "did you mean ==?") : -EINVAL;
}

static bool
is_built_in(const struct node *to)
{
	return to->kind == N_VAR &&
	    (to->ident->kind == ID_BUILTIN || to->ident->kind == ID_ARRAY ||
		to->ident->kind == ID_PARAM);
}

int
check_writable(struct comp *c, const struct node *n, const struct node *to)
{
	enum type_kind k = kind_of(to);

	if (is_built_in(to))
		return refuse_built_in(c, n);
	if (to->kind == N_INLINE || (to->flags & NF_LVALUE) != 0)
		if ((to->flags & NF_WRITABLE) == 0)
			return comp_error(c, D_OP_WRITE, n,
			    "operator %s can only be applied to a writable "
			    "variable",
			    oper_text(n->op));
	if ((to->flags & NF_LVALUE) == 0)
		return comp_error(c, D_OP_LVAL, n,
		    "operator %s requires modifiable lvalue as an operand",
		    oper_text(n->op));
	if (k == TYPE_ARRAY || k == TYPE_FUNC) {
		char buf[NAME_MAX_TEXT];
		return comp_error(c, D_OP_ARRFUN, n,
		    "operator %s may not be applied to operand of type \"%s\"",
		    oper_text(n->op), type_name(to->type, buf, sizeof(buf)));
	}
	return 0;
}

/* Is this a name that is not declared yet?  Then this assignment declares
 * it. */
static bool
is_new(struct comp *c, const struct node *to)
{
	if (to->type != NULL)
		return false;
	if (to->kind == N_INDEX)
		return is_new(c, to->a);
	if (to->kind == N_NAME) {
		for (size_t i = 0; i < c->nparams; i++)
			if (strcmp(c->params[i]->name, to->name) == 0)
				return false;
		return strchr(to->name, '`') == NULL &&
		    scope_global(c->cc, to->name) == NULL;
	}
	if (to->kind != N_MEMBER)
		return false;
	if (to->a->kind == N_SELF)
		return scope_lookup(c, DIF_THREAD, to->name) == NULL;
	if (to->a->kind == N_THIS)
		return scope_lookup(c, DIF_LOCAL, to->name) == NULL;
	return false;
}

/* The type that a variable gets from its first value. */
static int
first_type(struct comp *c, const struct node *n, const struct node *from,
    struct type **out)
{
	char buf[NAME_MAX_TEXT];
	enum type_kind k = kind_of(from);

	if (k == TYPE_VOID || k == TYPE_DYN || k == TYPE_STACK ||
	    is_action(from))
		return comp_error(c, D_OP_INCOMPAT, n,
		    "operands have incompatible types: \"<DYN>\" = \"%s\"",
		    type_name(from->type, buf, sizeof(buf)));
	if (k == TYPE_ARRAY || k == TYPE_FUNC)
		return comp_error(c, D_OP_ARRFUN, n,
		    "operator = may not be applied to operand of type \"%s\"",
		    type_name(from->type, buf, sizeof(buf)));
	if (k == TYPE_FORWARD)
		return comp_error(c, D_OP_INCOMPLETE, n,
		    "operator = cannot be applied to a forward declaration");
	*out = from->type;
	return 0;
}

/* The first use of an array defines the types of its keys. */
static int
take_keys(struct comp *c, struct node *n, struct ident *id)
{
	size_t count = 0;

	for (struct node *k = n->list; k != NULL; k = k->next)
		count++;
	id->keys = arena_alloc(&c->cc->arena, count * sizeof(*id->keys));
	id->nkeys = 0;
	for (struct node *k = n->list; k != NULL; k = k->next) {
		if (check_expr(c, k) != 0 ||
		    check_key(c, k, "array", id->nkeys + 1) != 0)
			return -EINVAL;
		id->keys[id->nkeys++] = k->type;
	}
	id->keys_known = true;
	return 0;
}

static int
declare_target(struct comp *c, struct node *to, struct type *type)
{
	struct node *name = to->kind == N_INDEX ? to->a : to;

	if (to->kind == N_INDEX) {
		if (name->kind == N_INDEX)
			return comp_error(c, D_ARR_BADREF, to,
			    "improper attempt to reference a "
			    "multi-dimensional array");
		if (name->kind == N_MEMBER && name->a->kind == N_THIS)
			return comp_error(c, D_ARR_LOCAL, to,
			    "local variables may not be used as associative "
			    "arrays: %s",
			    name->name);
		/* Check the keys first: they must not use the variable that is
		 * being declared. */
		for (struct node *k = to->list; k != NULL; k = k->next)
			if (check_expr(c, k) != 0)
				return -EINVAL;
	}
	if (bind_expr(c, name, true) != 0)
		return -EINVAL;
	struct ident *id = name->ident;
	name->type = id->type = type;
	if (to->kind == N_INDEX) {
		id->kind = ID_ASSOC;
		id->var->kind = DIF_ARRAY;
		if (take_keys(c, to, id) != 0)
			return -EINVAL;
	}
	return scope_settle(c, id, to);
}

/* Inlines and constants are replaced by their values, so assignments to them
 * are refused before that. */
static int
refuse_constant(struct comp *c, const struct node *n, const struct node *to)
{
	const struct ident *id = to->kind == N_NAME && to->type == NULL ?
	    scope_global(c->cc, to->name) :
	    NULL;

	if (id == NULL || (id->kind != ID_INLINE && id->kind != ID_ENUM))
		return 0;
	return comp_error(c, D_OP_WRITE, n,
	    "operator %s can only be applied to a writable variable",
	    oper_text(n->op));
}

int
check_target(
    struct comp *c, const struct node *n, struct node *to, struct type *type)
{
	if (refuse_constant(c, n, to) != 0)
		return -EINVAL;
	if (is_new(c, to) && declare_target(c, to, type) != 0)
		return -EINVAL;
	return check_expr(c, to);
}

static bool
assignable(const struct node *to, const struct node *from)
{
	enum type_kind k = kind_of(to);

	/* The value 0 frees a variable of any type. */
	if (is_zero(from) &&
	    (k == TYPE_STRING || k == TYPE_STRUCT || k == TYPE_UNION))
		return k == TYPE_STRING || to->kind == N_VAR ||
		    to->kind == N_INDEX;
	if (is_action(from) && k != TYPE_SYMADDR && k != TYPE_USYMADDR)
		return false;
	return check_compatible(to->type, from);
}

bool
never_scratch(const struct node *n)
{
	if (is_scratch(n))
		return false;
	switch ((enum node_kind)n->kind) {
	case N_CAST:
	case N_INLINE: return never_scratch(n->kind == N_CAST ? n->b : n->a);
	case N_BINARY:
	case N_COMMA: return never_scratch(n->a) && never_scratch(n->b);
	case N_COND: return never_scratch(n->b) && never_scratch(n->c);
	case N_VAR:
	case N_INT:
	case N_STRING: return true;
	default: return false;
	}
}

/* A variable cannot have both pointers to scratch memory and other pointers,
 * because scratch memory is gone at the next firing. */
static int
check_alloca(struct comp *c, const struct node *n)
{
	struct ident *id = n->a->ident;

	if (n->a->kind != N_VAR || kind_of(n->a) != TYPE_POINTER ||
	    (n->b->kind == N_INT && n->b->value == 0))
		return 0;
	if ((n->b->flags & NF_MIXED) != 0)
		return comp_error(c, D_ALLOCA_INCOMPAT, n,
		    "ternary conditional with alloca and non-alloca branches "
		    "cannot be assigned to a variable");
	uint32_t mine = is_scratch(n->b) ? IDF_ALLOCA :
	    never_scratch(n->b)          ? IDF_NOALLOCA :
					   0;
	uint32_t other = IDF_ALLOCA | IDF_NOALLOCA;
	if (mine != 0 && (id->flags & other & ~mine) != 0)
		return comp_error(c, D_ALLOCA_INCOMPAT, &c->clause_begin,
		    "%s: cannot reuse the same identifier for both alloca and "
		    "non-alloca allocations",
		    id->name);
	id->flags |= mine;
	return 0;
}

/* A variable whose first use is `op=' begins with 0. True after a diagnostic:
 * if the right side is an action, which has no value, the variable is reported
 * as undeclared. */
static bool
no_first_value(struct comp *c, struct node *n)
{
	if (check_expr(c, n->b) != 0)
		return true;
	if (!is_action(n->b))
		return false;
	comp_error(c, D_VAR_UNDEF, n,
	    "%s has not yet been declared or assigned",
	    n->a->kind == N_INDEX ? n->a->a->name : n->a->name);
	return true;
}

static bool
is_logical(const struct node *n)
{
	return n->kind == N_BINARY &&
	    (n->op == O_LAND || n->op == O_LOR || n->op == O_LXOR);
}

int
check_assign(struct comp *c, struct node *n)
{
	struct type *first = c->cc->t_int64;
	struct node *base = n->a->kind == N_INDEX ? n->a->a : n->a;

	if (base->kind == N_AGG)
		return comp_error(c, D_CG_DYN, n,
		    "an aggregation may only be assigned by a statement: @%s",
		    base->name);
	if (refuse_constant(c, n, n->a) != 0)
		return -EINVAL;
	if (is_new(c, n->a)) {
		if (n->op == O_SET &&
		    (check_expr(c, n->b) != 0 ||
			first_type(c, n, n->b, &first) != 0))
			return -EINVAL;
		if (n->op != O_SET && no_first_value(c, n))
			return -EINVAL;
		if (declare_target(c, n->a, first) != 0)
			return -EINVAL;
	}
	if (check_expr(c, n->a) != 0)
		return -EINVAL;
	/* In `execname = "x" && y' the error is the =, not the &&. */
	if (is_built_in(n->a) && is_logical(n->b))
		return refuse_built_in(c, n);
	if (check_expr(c, n->b) != 0 || check_writable(c, n, n->a) != 0)
		return -EINVAL;
	if (n->op != O_SET) {
		if (check_operator(c, n) != 0)
			return -EINVAL;
	} else if (!assignable(n->a, n->b))
		return check_incompatible(c, n, n->a, n->b, "");
	if (n->op == O_SET && check_alloca(c, n) != 0)
		return -EINVAL;
	n->type = n->a->type;
	n->flags = NF_CANON | (n->b->flags & NF_POINTS);
	return 0;
}
