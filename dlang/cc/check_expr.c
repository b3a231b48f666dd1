/*
 * Checks expressions: types, lvalues, and the operands of operators.
 *
 * check_expr() sets the type of a node and folds it.  A node with a type is not
 * checked again, so arguments of inlines can be checked before they are
 * inserted.
 */
#include <string.h>

#include "dlang/cc/check.h"
#include "dlang/cc/hint.h"
#include "dlang/cc/view.h"
#include "dlang/cc/oper.h"

/* ---- helpers ---- */

/* The node is changed in place, as it may be a member of a list. */
void
check_become_int(struct node *n, uint64_t value, struct type *type)
{
	n->kind = N_INT;
	n->value = value;
	n->type = type;
	n->a = n->b = n->c = n->list = NULL;
	n->flags = NF_CONST | NF_CANON;
}

static bool
pointers_fit(const struct node *a, const struct node *b)
{
	if (is_pointer(a) && is_pointer(b)) {
		struct type *x = pointee(a), *y = pointee(b);
		return x->kind == TYPE_VOID || y->kind == TYPE_VOID ||
		    type_equal(x, y) ||
		    (type_is_integer(x) && type_is_integer(y) &&
			x->size == y->size);
	}
	return (is_pointer(a) && is_zero(b)) || (is_pointer(b) && is_zero(a));
}

static bool
strings_fit(const struct node *a, const struct node *b)
{
	if ((type_is_string(a->type) && is_zero(b)) ||
	    (type_is_string(b->type) && is_zero(a)))
		return true; /* NULL */
	return (type_is_string(a->type) || type_is_string(b->type)) &&
	    type_is_stringlike(a->type) && type_is_stringlike(b->type);
}

static struct type *
promoted(struct comp *c, const struct node *n)
{
	return oper_is_promoted(n) ? c->cc->t_int : type_resolve(n->type);
}

/* The type in which an operation on two numbers is computed. */
static struct type *
common(struct comp *c, const struct node *a, const struct node *b)
{
	return promoted(c, oper_first_wins(a, b) ? a : b);
}

/* Set the type of an operator's numeric result.  An unsigned one is canonical
 * in its type.  So is a signed one unless it has overflowed, which is undefined
 * in C. */
static void
give_number(struct node *n, struct type *type)
{
	n->type = type;
	if (n->kind != N_ASSIGN && !type_dif(type).is_signed)
		n->flags |= NF_CANON;
}

int
check_incompatible(struct comp *c, const struct node *n, const struct node *a,
    const struct node *b, const char *suffix)
{
	char x[NAME_MAX_TEXT], y[NAME_MAX_TEXT];

	comp_error(c, D_OP_INCOMPAT, n,
	    "operands have incompatible types: \"%s\" %s%s \"%s\"",
	    type_name(a->type, x, sizeof(x)), oper_text(n->op), suffix,
	    type_name(b->type, y, sizeof(y)));
	return hint_operands(c, n->op, a, b);
}

bool
check_compatible(struct type *to, const struct node *from)
{
	struct node as = { .type = to, .kind = N_VAR };

	if (from->type == NULL || to == NULL)
		return false;
	enum type_kind t = type_resolve(to)->kind;
	enum type_kind f = kind_of(from);
	if (type_is_integer(to) && is_arith(from))
		return true;
	if (type_is_stringlike(to) && type_is_stringlike(from->type))
		return true;
	if (t == TYPE_SYMADDR || t == TYPE_USYMADDR || t == TYPE_STACK)
		return t == f;
	if (t == TYPE_STRUCT || t == TYPE_UNION || t == TYPE_FLOAT ||
	    t == TYPE_ARRAY)
		return type_equal(to, from->type) ||
		    (t == TYPE_ARRAY && f == TYPE_POINTER &&
			pointers_fit(&as, from));
	return t == TYPE_POINTER && (is_pointer(from) || is_zero(from)) &&
	    pointers_fit(&as, from);
}

/* ---- unary ---- */

static int
check_stringof(struct comp *c, struct node *n)
{
	char buf[NAME_MAX_TEXT];

	if (!type_is_stringlike(n->a->type) && !type_is_scalar(n->a->type) &&
	    !view_is_text(n->a->type))
		return comp_error(c, D_STRINGOF_TYPE, n,
		    "cannot apply stringof to a value of type %s",
		    type_name(n->a->type, buf, sizeof(buf)));
	n->type = c->cc->t_string;
	n->flags = NF_CANON;
	return 0;
}

/* ++ and --, before or after. */
static int
check_step(struct comp *c, struct node *n)
{
	if (check_target(c, n, n->a, c->cc->t_int64) != 0)
		return -EINVAL;
	if (n->a->kind == N_AGG || !type_is_scalar(n->a->type)) {
		comp_error(c, D_OP_SCALAR, n,
		    "operator %s requires operand of scalar type",
		    oper_text(n->op));
		return hint_step(c, n->a);
	}
	if (check_writable(c, n, n->a) != 0)
		return -EINVAL;
	if (is_pointer(n->a) && pointee(n->a)->size == 0)
		return comp_error(c, D_OP_VFPTR, n,
		    "operator %s requires operand of known size",
		    oper_text(n->op));
	n->type = n->a->type;
	n->flags = NF_CANON;
	return 0;
}

static int
check_unary(struct comp *c, struct node *n)
{
	const char *op = oper_text(n->op);

	if (n->op == O_INC || n->op == O_DEC)
		return check_step(c, n);
	if (n->op == O_ADDR && bind_untyped_address(c, n))
		return 0;
	if (check_expr(c, n->a) != 0)
		return -EINVAL;
	n->flags = 0;
	switch ((enum oper)n->op) {
	case O_DEREF: return check_deref(c, n);
	case O_ADDR: return check_address(c, n);
	case O_STRINGOF: return check_stringof(c, n);
	case O_COMPL:
		if (!is_arith(n->a))
			return comp_error(c, D_OP_INT, n,
			    "operator ~ requires an operand of integral type");
		break;
	case O_NOT:
		if (!type_is_scalar(n->a->type))
			return comp_error(c, D_OP_SCALAR, n,
			    "operator ! requires an operand of scalar type");
		n->type = c->cc->t_int;
		n->flags = NF_CANON;
		return 0;
	default:
		if (!is_arith(n->a))
			return comp_error(c, D_OP_ARITH, n,
			    "operator %s requires an operand of arithmetic "
			    "type",
			    op);
	}
	give_number(n, promoted(c, n->a));
	return 0;
}

/* ---- binary ---- */

/* string + integer, integer + string, string - integer: the string from there
 * on; false if it is none of these. */
static bool
check_string_arith(struct comp *c, struct node *n)
{
	bool a = type_is_string(n->a->type), b = type_is_string(n->b->type);

	if (n->kind == N_ASSIGN ||
	    !((a && is_arith(n->b)) || (b && is_arith(n->a) && n->op == O_ADD)))
		return false;
	n->type = c->cc->t_string;
	n->flags = NF_CANON;
	return true;
}

/* pointer + integer, integer + pointer, pointer - integer, pointer - pointer;
 * false if it is none of these. */
static bool
check_pointer_arith(struct comp *c, struct node *n, int *error)
{
	struct node *a = n->a, *b = n->b;
	struct node *p = is_pointer(a) ? a : b;

	*error = 0;
	if (!is_pointer(a) && !(is_pointer(b) && n->op == O_ADD))
		return false;
	if (pointee(p)->kind == TYPE_VOID || pointee(p)->kind == TYPE_FUNC ||
	    pointee(p)->size == 0) {
		*error = check_incompatible(c, n, a, b, "");
		return true;
	}
	if (is_pointer(a) && is_pointer(b)) {
		if (n->op != O_SUB || !pointers_fit(a, b))
			*error = check_incompatible(c, n, a, b, "");
		n->type = c->cc->t_ptrdiff;
		return true;
	}
	if (!is_arith(p == a ? b : a))
		*error = check_incompatible(c, n, a, b, "");
	n->type = types_pointer(c->cc->types, type_resolve(p->type)->base);
	n->flags |= p->flags & NF_POINTS;
	return true;
}

/* Is this a test whether a string exists: `s == NULL'? */
static bool
null_string(const struct node *n)
{
	return (n->op == O_EQ || n->op == O_NE) &&
	    ((type_is_string(n->a->type) && is_zero(n->b)) ||
		(type_is_string(n->b->type) && is_zero(n->a)));
}

static int
check_compare(struct comp *c, struct node *n)
{
	struct node *a = n->a, *b = n->b;
	enum type_kind ka = kind_of(a), kb = kind_of(b);
	bool fits = (is_arith(a) && is_arith(b)) || strings_fit(a, b) ||
	    pointers_fit(a, b) ||
	    (ka == kb && (ka == TYPE_SYMADDR || ka == TYPE_USYMADDR)) ||
	    null_string(n);

	if (!fits)
		return check_incompatible(c, n, a, b, "");
	n->type = c->cc->t_int;
	n->flags = NF_CANON;
	return 0;
}

static int
wants(struct comp *c, struct node *n, enum diag_tag tag, const char *what)
{
	comp_error(c, tag, n, "operator %s%s requires operands of %s type",
	    oper_text(n->op), n->kind == N_ASSIGN ? "=" : "", what);
	return hint_operands(c, n->op, n->a, n->b);
}

/* The operator of a binary node or of `op=', on operands that were checked. */
int
check_operator(struct comp *c, struct node *n)
{
	struct node *a = n->a, *b = n->b;
	int error;

	bool numbers = is_arith(a) && is_arith(b);
	switch (oper_takes(n->op)) {
	case OPER_SUM:
		if (n->kind == N_ASSIGN && is_pointer(b) &&
		    (pointee(b)->kind == TYPE_VOID || pointee(b)->size == 0))
			return comp_error(c, D_OP_VFPTR, n,
			    "operator %s= requires left-hand scalar operand of "
			    "known size",
			    oper_text(n->op));
		if (check_string_arith(c, n))
			return 0;
		if (check_pointer_arith(c, n, &error))
			return error;
		if (!numbers)
			return check_incompatible(
			    c, n, a, b, n->kind == N_ASSIGN ? "=" : "");
		break;
	case OPER_ARITH:
		if (!numbers)
			return wants(c, n, D_OP_ARITH, "arithmetic");
		break;
	case OPER_INT:
		if (!numbers)
			return wants(c, n, D_OP_INT, "integral");
		break;
	case OPER_SHIFT:
		if (!numbers)
			return wants(c, n, D_OP_INT, "integral");
		give_number(n, promoted(c, a));
		return 0;
	case OPER_COMPARE: return check_compare(c, n);
	case OPER_LOGIC:
		n->type = c->cc->t_int;
		n->flags = NF_CANON;
		return type_is_scalar(a->type) && type_is_scalar(b->type) ?
		    0 :
		    wants(c, n, D_OP_SCALAR, "scalar");
	}
	give_number(n, common(c, a, b));
	return 0;
}

/* `enum_value == TAG': a name that is not a global variable is a tag of that
 * enum. */
static int
bind_enum_tag(struct comp *c, struct node *n)
{
	struct type *t = type_resolve(n->a->type);

	if (oper_takes(n->op) != OPER_COMPARE || n->b->kind != N_NAME ||
	    t->kind != TYPE_ENUM)
		return 0;
	struct ident *global = scope_global(c->cc, n->b->name);
	for (size_t i = 0; i < t->nenumerators; i++) {
		if (strcmp(t->enumerators[i].name, n->b->name) != 0)
			continue;
		if (global != NULL && global->kind != ID_ENUM)
			return comp_error(c, D_IDENT_AMBIG, n,
			    "ambiguous use of operator %s: %s is both an enum "
			    "tag and a global variable",
			    oper_text(n->op), n->b->name);
		check_become_int(n->b, (uint64_t)t->enumerators[i].value, t);
		return 0;
	}
	return 0;
}

static int
check_binary(struct comp *c, struct node *n)
{
	if (check_expr(c, n->a) != 0 || bind_enum_tag(c, n) != 0)
		return -EINVAL;
	if (check_expr(c, n->b) != 0)
		return hint_quotes(c, n->op, n->a, n->b);
	return check_operator(c, n);
}

/* ---- ?: and , ---- */

/* Does an expression change what others mean when it is looked at?  At least
 * these kinds do not. */
static int
leaves_traces(struct node *n, void *ctx)
{
	switch ((enum node_kind)n->kind) {
	case N_INT:
	case N_SELF:
	case N_THIS:
	case N_MEMBER:
	case N_BINARY:
	case N_COND:
	case N_COMMA:
	case N_CAST:
	case N_TYPENAME:
	case N_SPECS:
	case N_DNAME:
	case N_SIZEOF: return 0;
	case N_UNARY: return n->op == O_INC || n->op == O_DEC;
	case N_NAME: return strchr(n->name, '`') != NULL;
	default: return 1;
	}
}

/* The constant condition selects n, not `other'. If both are numbers, n gets
 * their common type, as if the condition were not constant.  Otherwise `other'
 * need not fit. */
static int
match_unchosen(struct comp *c, struct node *n, struct node *other)
{
	struct diags *diags = c->diags, ignored;

	if (check_expr(c, n) != 0)
		return -EINVAL;
	if (!is_arith(n) || node_walk(other, leaves_traces, NULL) != 0)
		return 0;
	diags_init(&ignored);
	c->diags = &ignored;
	int error = check_expr(c, other);
	c->diags = diags;
	diags_fini(&ignored);
	if (error != 0 || !is_arith(other))
		return 0;
	struct type *type = common(c, n, other);
	if (type_equal(type, n->type) && (n->flags & NF_BITFIELD) == 0)
		return 0;
	struct node *value = arena_alloc(&c->cc->arena, sizeof(*value));
	*value = *n;
	n->kind = N_CAST;
	n->type = type;
	n->a = NULL;
	n->b = value;
	n->flags = NF_CANON;
	return 0;
}

int
check_choice(struct comp *c, struct node *n)
{
	while (n->kind == N_COND) {
		if (check_expr(c, n->a) != 0)
			return -EINVAL;
		if (n->a->kind != N_INT)
			break;
		struct node *next = n->next;
		*n = n->a->value != 0 ? *n->b : *n->c;
		n->next = next;
	}
	return 0;
}

static int
check_cond(struct comp *c, struct node *n)
{
	struct node *x = n->b, *y = n->c;

	if (check_expr(c, n->a) != 0)
		return -EINVAL;
	if (n->a->kind == N_INT) {
		struct node *next = n->next;
		bool first = n->a->value != 0;
		*n = first ? *x : *y;
		n->next = next;
		return match_unchosen(c, n, first ? y : x);
	}
	if (check_expr(c, x) != 0 || check_expr(c, y) != 0)
		return -EINVAL;
	if (!type_is_scalar(n->a->type))
		return comp_error(c, D_OP_SCALAR, n,
		    "operator ?: expression must be of scalar type");
	if (is_action(x) || is_action(y))
		return comp_error(c, D_OP_ACT, n,
		    "action cannot be used in a conditional context");
	if (kind_of(x) == TYPE_DYN || kind_of(y) == TYPE_DYN)
		return comp_error(c, D_OP_DYN, n,
		    "operator ?: operands cannot be of dynamic type");
	if (is_arith(x) && is_arith(y))
		n->type = common(c, x, y);
	else if (strings_fit(x, y))
		n->type = c->cc->t_string;
	else if (pointers_fit(x, y))
		n->type = is_pointer(x) && pointee(x)->kind != TYPE_VOID ?
		    x->type :
		    is_pointer(y) ? y->type :
				    x->type;
	else if (type_equal(x->type, y->type))
		n->type = x->type;
	else
		return comp_error(c, D_OP_INCOMPAT, n,
		    "operator ?: operands must have compatible types");
	n->flags = NF_CANON | ((x->flags | y->flags) & NF_POINTS);
	if ((is_scratch(x) && never_scratch(y) && !is_zero(y)) ||
	    (is_scratch(y) && never_scratch(x) && !is_zero(x)))
		n->flags |= NF_MIXED;
	return 0;
}

static int
check_comma(struct comp *c, struct node *n)
{
	if (check_expr(c, n->a) != 0 || check_expr(c, n->b) != 0)
		return -EINVAL;
	if (is_action(n->a) || is_action(n->b))
		return comp_error(
		    c, D_OP_ACT, n, "operator , operands cannot be actions");
	if (kind_of(n->a) == TYPE_DYN || kind_of(n->b) == TYPE_DYN)
		return comp_error(c, D_OP_DYN, n,
		    "operator , operands cannot be of dynamic type");
	n->type = n->b->type;
	n->flags = n->b->flags & (NF_CANON | NF_POINTS);
	return 0;
}

/* ---- all ---- */

static int
check_agg_alone(struct comp *c, struct node *n)
{
	n->type = c->cc->t_dyn;
	return 0;
}

static int
check_string(struct comp *c, struct node *n)
{
	n->type = c->cc->t_string;
	n->flags = NF_CANON;
	return 0;
}

static int
check_scope_word(struct comp *c, struct node *n)
{
	return comp_error(c, D_SYNTAX, n, "syntax error near \"%s\"",
	    n->kind == N_SELF ? "self" : "this");
}

static int
check_int(struct comp *c, struct node *n)
{
	return 0;
}

int
check_expr(struct comp *c, struct node *n)
{
	static int (*const table[N_COUNT])(struct comp *, struct node *) = {
		[N_INT] = check_int,
		[N_STRING] = check_string,
		[N_NAME] = check_name,
		[N_VAR] = check_var,
		[N_AGG] = check_agg_alone,
		[N_SELF] = check_scope_word,
		[N_THIS] = check_scope_word,
		[N_MEMBER] = check_member,
		[N_INDEX] = check_index,
		[N_CALL] = check_call,
		[N_UNARY] = check_unary,
		[N_POSTFIX] = check_step,
		[N_BINARY] = check_binary,
		[N_ASSIGN] = check_assign,
		[N_COND] = check_cond,
		[N_COMMA] = check_comma,
		[N_CAST] = check_cast,
		[N_SIZEOF] = check_sizeof,
		[N_OFFSETOF] = check_offsetof,
		[N_XLATE] = xlate_check,
	};

	if (n->type != NULL)
		return 0;
	ASSERT(table[n->kind] != NULL);
	int error = table[n->kind](c, n);
	return error != 0 ? error : fold_expr(c, n);
}

int
check_with(
    struct comp *c, struct node *n, struct ident **params, size_t nparams)
{
	struct ident **outer = c->params;
	size_t nouter = c->nparams;

	c->params = params;
	c->nparams = nparams;
	int error = check_expr(c, n);
	c->params = outer;
	c->nparams = nouter;
	return error;
}
