/*
 * Types of expressions, lvalues, and which operands an operator takes.
 *
 * check_expr() gives a node its type and folds it.  A node that has a type is
 * done and is not looked at again, which lets arguments of inlines be checked
 * before they are put in.
 */
#include <string.h>

#include "dlang/cc/check.h"

#define NAME_MAX_TEXT 160 /* of a type in a message */

/* ---- helpers ---- */

/* In place, as the node may be a member of a list. */
static void
become_int(struct node *n, uint64_t value, struct type *type)
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

/* The wider type; of two equally wide the unsigned one (d-language, integer
 * arithmetic types).  There is no promotion to int. */
static struct type *
wider(struct comp *c, const struct node *a, const struct node *b)
{
	struct type *x = type_resolve(a->type), *y = type_resolve(b->type);

	if (x->kind != TYPE_INT)
		x = c->cc->t_int;
	if (y->kind != TYPE_INT)
		y = c->cc->t_int;
	uint64_t rx = x->size * 16 + !x->is_signed;
	uint64_t ry = y->size * 16 + !y->is_signed;
	return rx >= ry ? x : y;
}

int
check_incompatible(struct comp *c, const struct node *n, const struct node *a,
    const struct node *b, const char *suffix)
{
	char x[NAME_MAX_TEXT], y[NAME_MAX_TEXT];

	return comp_error(c, D_OP_INCOMPAT, n,
	    "operands have incompatible types: \"%s\" %s%s \"%s\"",
	    type_name(a->type, x, sizeof(x)), oper_text(n->op), suffix,
	    type_name(b->type, y, sizeof(y)));
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

/* ---- members, elements ---- */

static int
check_struct(struct comp *c, struct node *n, const struct type *t)
{
	char buf[NAME_MAX_TEXT];

	if (t->kind == TYPE_FORWARD)
		return comp_error(c, D_OP_INCOMPLETE, n,
		    "operator %s cannot be applied to a forward declaration: "
		    "no %s definition is available",
		    oper_text(n->op), type_name(t, buf, sizeof(buf)));
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

static int
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
	if (m == NULL)
		return comp_error(c, D_TYPE_MEMBER, n,
		    "%s is not a member of %s", n->name,
		    type_name(t, buf, sizeof(buf)));
	n->type = m->type;
	n->value = offset;
	n->bit_offset = m->bit_offset;
	n->bit_size = m->bit_size;
	n->flags = NF_LVALUE | NF_WRITABLE | NF_CANON;
	if (m->bit_size != 0)
		n->flags |= NF_BITFIELD;
	return 0;
}

/* a[i] where a is a pointer, array or string in memory. */
static int
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
	if (t->kind == TYPE_VOID)
		return comp_error(
		    c, D_DEREF_VOID, n, "cannot dereference pointer to void");
	if (t->kind == TYPE_FUNC)
		return comp_error(c, D_DEREF_FUNC, n,
		    "cannot dereference pointer to function");
	if (t->kind == TYPE_FORWARD)
		return check_struct(c, n, t);
	struct type *at = type_resolve(n->a->type);
	if (at->kind == TYPE_ARRAY && i->kind == N_INT && at->nelems > 0 &&
	    i->value >= at->nelems)
		return comp_error(c, D_ARR_BOUNDS, i,
		    "index outside array bounds: %ld, max is %lu",
		    (long)i->value, (unsigned long)at->nelems);
	n->type = string ? t : type_resolve(n->a->type)->base;
	n->flags = NF_LVALUE | NF_WRITABLE | NF_CANON;
	return 0;
}

/* ---- unary ---- */

static int
check_deref(struct comp *c, struct node *n)
{
	if (!is_pointer(n->a))
		return comp_error(c, D_DEREF_NONPTR, n,
		    "cannot dereference non-pointer type");
	struct type *t = pointee(n->a);
	if (t->kind == TYPE_VOID)
		return comp_error(
		    c, D_DEREF_VOID, n, "cannot dereference pointer to void");
	if (t->kind == TYPE_FUNC)
		return comp_error(c, D_DEREF_FUNC, n,
		    "cannot dereference pointer to function");
	if (t->kind == TYPE_FORWARD)
		return check_struct(c, n, t);
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

static int
check_address(struct comp *c, struct node *n)
{
	struct node *a = n->a;

	if ((a->flags & NF_BITFIELD) != 0)
		return comp_error(c, D_ADDROF_BITFIELD, n,
		    "cannot take address of bit-field");
	if (a->kind == N_AGG)
		return comp_error(c, D_ADDROF_VAR, n,
		    "cannot take address of dynamic variable");
	bool var = a->kind == N_VAR && a->ident->kind != ID_SYMBOL;
	bool keyed = a->kind == N_INDEX && a->ident != NULL;
	if (var || keyed)
		return comp_error(c, D_ADDROF_VAR, n,
		    "cannot take address of dynamic variable");
	if ((a->flags & NF_LVALUE) == 0)
		return comp_error(c, D_ADDROF_LVAL, n,
		    "unacceptable operand for unary & operator");
	n->type = types_pointer(c->cc->types, a->type);
	n->flags = NF_CANON | points(a);
	return 0;
}

static int
check_stringof(struct comp *c, struct node *n)
{
	char buf[NAME_MAX_TEXT];

	if (!type_is_stringlike(n->a->type) && !type_is_scalar(n->a->type))
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
	if (n->a->kind == N_AGG || !type_is_scalar(n->a->type))
		return comp_error(c, D_OP_SCALAR, n,
		    "operator %s requires operand of scalar type",
		    oper_text(n->op));
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
	n->type = n->a->type;
	return 0;
}

/* ---- binary ---- */

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

/* Is this a question whether a string is there: `s == NULL'? */
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
require(struct comp *c, struct node *n, bool ok, enum diag_tag tag,
    const char *what)
{
	if (ok)
		return 0;
	return comp_error(c, tag, n,
	    "operator %s%s requires operands of %s type", oper_text(n->op),
	    n->kind == N_ASSIGN ? "=" : "", what);
}

/* The operator of a binary node or of `op=', on operands that were checked. */
int
check_operator(struct comp *c, struct node *n)
{
	struct node *a = n->a, *b = n->b;
	int error;

	switch ((enum oper)n->op) {
	case O_ADD:
	case O_SUB:
		if (n->kind == N_ASSIGN && is_pointer(b) &&
		    (pointee(b)->kind == TYPE_VOID || pointee(b)->size == 0))
			return comp_error(c, D_OP_VFPTR, n,
			    "operator %s= requires left-hand scalar operand of "
			    "known size",
			    oper_text(n->op));
		if (check_pointer_arith(c, n, &error))
			return error;
		if (!is_arith(a) || !is_arith(b))
			return check_incompatible(
			    c, n, a, b, n->kind == N_ASSIGN ? "=" : "");
		break;
	case O_MUL:
	case O_DIV:
		error = require(
		    c, n, is_arith(a) && is_arith(b), D_OP_ARITH, "arithmetic");
		if (error != 0)
			return error;
		break;
	case O_LAND:
	case O_LXOR:
	case O_LOR:
		n->type = c->cc->t_int;
		n->flags = NF_CANON;
		return require(c, n,
		    type_is_scalar(a->type) && type_is_scalar(b->type),
		    D_OP_SCALAR, "scalar");
	case O_LT:
	case O_LE:
	case O_GT:
	case O_GE:
	case O_EQ:
	case O_NE: return check_compare(c, n);
	default:
		error = require(
		    c, n, is_arith(a) && is_arith(b), D_OP_INT, "integral");
		if (error != 0)
			return error;
		break;
	}
	bool shift = n->op == O_SHL || n->op == O_SHR;
	n->type = shift ? a->type : wider(c, a, b);
	return 0;
}

static bool
is_compare(unsigned op)
{
	return op >= O_LT && op <= O_NE;
}

/* `enum_value == TAG': a name that is no global is a tag of that enum. */
static int
bind_enum_tag(struct comp *c, struct node *n)
{
	struct type *t = type_resolve(n->a->type);

	if (!is_compare(n->op) || n->b->kind != N_NAME || t->kind != TYPE_ENUM)
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
		become_int(n->b, (uint64_t)t->enumerators[i].value, t);
		return 0;
	}
	return 0;
}

static int
check_binary(struct comp *c, struct node *n)
{
	if (check_expr(c, n->a) != 0 || bind_enum_tag(c, n) != 0 ||
	    check_expr(c, n->b) != 0)
		return -EINVAL;
	return check_operator(c, n);
}

/* ---- ?: and , ---- */

static int
check_cond(struct comp *c, struct node *n)
{
	struct node *x = n->b, *y = n->c;

	if (check_expr(c, n->a) != 0 || check_expr(c, x) != 0 ||
	    check_expr(c, y) != 0)
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
		n->type = wider(c, x, y);
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
	n->flags = (x->flags & y->flags & NF_CANON) |
	    ((x->flags | y->flags) & NF_POINTS);
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

static int
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

static int
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
	become_int(n, size, c->cc->t_size);
	return 0;
}

static int
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
	become_int(n, offset, c->cc->t_size);
	return 0;
}

/* ---- names ---- */

/* Replace a use of an inline by its body, parameters bound to `args'. */
static int
expand_inline(
    struct comp *c, struct node *n, struct ident *id, struct node *args)
{
	struct node *arg = args;
	struct node *body = comp_copy(c, id->body);

	if (body == NULL)
		return -EINVAL;
	for (size_t i = 0; i < id->nformals; i++, arg = arg->next)
		id->formals[i]->body = arg;
	struct ident **params = c->params;
	size_t nparams = c->nparams;
	c->params = id->formals;
	c->nparams = id->nformals;
	int error = check_expr(c, body);
	c->params = params;
	c->nparams = nparams;
	for (size_t i = 0; i < id->nformals; i++)
		id->formals[i]->body = NULL;
	if (error != 0)
		return error;
	if (body->kind == N_INT && type_equal(body->type, id->type)) {
		/* Its name is gone when the clause is looked at. */
		if ((id->flags & IDF_ATTR) != 0 && stab_name(c, n, id) != 0)
			return -EINVAL;
		struct node *next = n->next;
		struct span span = n->span;
		*n = *body;
		n->span = span;
		n->next = next;
		return 0;
	}
	n->kind = N_INLINE;
	n->a = body;
	n->list = NULL;
	n->ident = id;
	n->type = id->type;
	n->flags = NF_CANON | (body->flags & NF_POINTS);
	return 0;
}

int
check_var(struct comp *c, struct node *n)
{
	struct ident *id = n->ident;

	if (n->kind != N_VAR)
		return check_expr(c, n); /* a parameter or enumerator */
	switch (id->kind) {
	case ID_SCALAR:
	case ID_PARAM: break;
	case ID_BUILTIN: n->type = id->type; break;
	case ID_SYMBOL:
		if (n->type == NULL)
			return comp_error(c, D_SYM_NOTYPES, n,
			    "no symbolic type information is available for %s",
			    id->name);
		break;
	default:
		if (id->kind == ID_INLINE && id->nformals == 0)
			return expand_inline(c, n, id, NULL);
		return comp_error(c, D_IDENT_BADREF, n,
		    "%s '%s' may not be referenced as scalar",
		    ident_kind_name(id), id->name);
	}
	if ((id->flags & IDF_ALLOCA) != 0)
		n->flags |= NF_ALLOCA;
	if (n->type == NULL)
		return comp_error(c, D_IDENT_UNDEF, n,
		    "failed to resolve %s: Unknown variable name", id->name);
	return 0;
}

static int
check_name(struct comp *c, struct node *n)
{
	int error = bind_expr(c, n, false);

	return error != 0 ? error : check_var(c, n);
}

/* ---- name[...] ---- */

static int
check_tuple(struct comp *c, struct node *n, struct ident *id)
{
	struct proto p = {
		.args = id->keys, .nargs = id->nkeys, .nrequired = id->nkeys
	};

	for (struct node *k = n->list; k != NULL; k = k->next)
		if (check_expr(c, k) != 0)
			return -EINVAL;
	return check_args(c, n, id, &p, "[ ]");
}

static int
check_assoc(struct comp *c, struct node *n, struct ident *id)
{
	if (check_tuple(c, n, id) != 0)
		return -EINVAL;
	n->ident = id;
	n->type = id->type;
	n->flags = NF_LVALUE | NF_WRITABLE | NF_CANON;
	return 0;
}

/* An argument whose declared type is not the one the probe has. */
static int
translate_arg(struct comp *c, struct node *n, int64_t index, struct type *to)
{
	char x[NAME_MAX_TEXT], y[NAME_MAX_TEXT];
	struct node *value = comp_copy(c, n);

	if (value == NULL)
		return -EINVAL;
	n->list = n->a = NULL;
	n->ident = NULL;
	n->b = value;
	n->type = to;
	if (type_is_scalar(to) && check_compatible(to, value)) {
		n->kind = N_CAST;
		n->flags = NF_CANON;
		return 0;
	}
	n->kind = N_XLATE;
	n->extra = xlate_find(c, to, value->type);
	if (n->extra == NULL)
		return comp_error(c, D_ARGS_XLATOR, n,
		    "translator for args[%ld] from %s to %s is not defined",
		    (long)index, type_name(value->type, x, sizeof(x)),
		    type_name(to, y, sizeof(y)));
	return 0;
}

static int
check_args_array(struct comp *c, struct node *n, int64_t index)
{
	const struct world *w = c->cc->world;
	struct world_arg arg = { 0 };

	if (c->desc == NULL)
		return comp_error(c, D_ARGS_NONE, n,
		    "args[ ] may not be referenced outside of a probe clause");
	int count =
	    w->ops->nargs != NULL ? w->ops->nargs(w->ctx, c->desc) : -ENOENT;
	if (count == -ENOTUNIQ)
		return comp_error(c, D_ARGS_MULTI, n,
		    "args[ ] may not be referenced because probe description "
		    "%s:%s:%s:%s matches an unstable set of probes",
		    c->desc->prov, c->desc->mod, c->desc->func, c->desc->name);
	if (index < 0 || index >= (count < 0 ? 0 : count))
		return comp_error(c, D_ARGS_IDX, n,
		    "index %ld is out of range for %s:%s:%s:%s args[ ]",
		    (long)index, c->desc->prov, c->desc->mod, c->desc->func,
		    c->desc->name);
	if (w->ops->arg(w->ctx, c->desc, (unsigned)index, c->cc->types, &arg) !=
		0 ||
	    arg.native == NULL)
		return comp_error(c, D_ARGS_TYPE, n,
		    "failed to resolve native type for args[%ld]", (long)index);
	n->value = arg.source;
	n->type = arg.native;
	n->flags = 0;
	if (arg.translated != NULL && !type_equal(arg.translated, arg.native))
		return translate_arg(c, n, index, arg.translated);
	return 0;
}

/* args[n], uregs[n] */
static int
check_builtin_array(struct comp *c, struct node *n, struct ident *id)
{
	struct node *i = n->list;
	char buf[NAME_MAX_TEXT];
	int64_t index;

	if (i->next != NULL)
		return comp_error(c, D_PROTO_LEN, n,
		    "%s[ ] prototype mismatch: 2 args passed, 1 expected",
		    id->name);
	if (check_expr(c, i) != 0)
		return -EINVAL;
	bool constant = check_const(i, &index);
	n->ident = id;
	n->flags = 0;
	if (!constant)
		return comp_error(c, D_PROTO_ARG, n,
		    "%s[ ] argument #1 is incompatible with prototype:\n"
		    "\tprototype: integer constant\n\t argument: %s",
		    id->name, type_name(i->type, buf, sizeof(buf)));
	if (id->id == DIF_VAR_ARGS)
		return check_args_array(c, n, index);
	if (index < 0 || index >= UREG_D_COUNT)
		return comp_error(c, D_UNKNOWN, n,
		    "%s[]: index out of bounds (%ld)", id->name, (long)index);
	n->type = id->type;
	n->flags = NF_CANON;
	return 0;
}

static int
check_inline_call(struct comp *c, struct node *n, struct ident *id)
{
	if (check_tuple(c, n, id) != 0)
		return -EINVAL;
	return expand_inline(c, n, id, n->list);
}

/* An aggregation with keys; only the statement that assigns it, and actions,
 * know what to do with one. */
static int
check_agg_index(struct comp *c, struct node *n)
{
	if (n->a->kind == N_INDEX)
		return comp_error(c, D_AGG_MDIM, n,
		    "improper attempt to reference @%s as a "
		    "multi-dimensional array",
		    n->a->a->name);
	n->type = c->cc->t_dyn;
	return 0;
}

static int
check_index(struct comp *c, struct node *n)
{
	struct node *a = n->a;

	if (a->kind == N_AGG || (a->kind == N_INDEX && a->a->kind == N_AGG))
		return check_agg_index(c, n);
	if (bind_expr(c, a, false) != 0)
		return -EINVAL;
	if (a->kind != N_VAR)
		return check_element(c, n);
	struct ident *id = a->ident;
	switch (id->kind) {
	case ID_ASSOC: return check_assoc(c, n, id);
	case ID_ARRAY: return check_builtin_array(c, n, id);
	case ID_INLINE:
		if (id->nformals > 0)
			return check_inline_call(c, n, id);
		break;
	case ID_SUBR:
	case ID_ACTION:
	case ID_AGGFUNC:
		return comp_error(c, D_ARR_BADREF, n,
		    "cannot access %s %s as an associative array",
		    ident_kind_name(id), id->name);
	default: break;
	}
	if (id->scope == DIF_LOCAL && id->kind == ID_SCALAR &&
	    id->type != NULL && !type_is_byref(id->type) && !is_pointer(a))
		return comp_error(c, D_ARR_LOCAL, n,
		    "local variables may not be used as associative arrays: "
		    "%s",
		    id->name);
	int error = check_var(c, a);
	return error != 0 ? error : check_element(c, n);
}

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
