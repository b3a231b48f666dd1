/*
 * Declarations: converts specifiers and declarators to types, and enters what
 * they declare in the session's scopes.
 */
#include "dlang/cc/decl.h"

#include <string.h>

/* Array dimensions above this are refused; see OBJECT_MAX in sou.c. */
#define ARRAY_MAX (1ULL << 31)

/* ---- specifiers ---- */

/* The combinations of C, the most specific first. */
static const struct {
	unsigned words;
	const char *name;
} combos[] = {
	{ W_VOID, "void" },
	{ W_CHAR, "char" },
	{ W_SIGNED | W_CHAR, "signed char" },
	{ W_UNSIGNED | W_CHAR, "unsigned char" },
	{ W_SHORT, "short" },
	{ W_UNSIGNED | W_SHORT, "unsigned short" },
	{ W_INT, "int" },
	{ 0, "int" },
	{ W_UNSIGNED, "unsigned int" },
	{ W_LONG, "long" },
	{ W_UNSIGNED | W_LONG, "unsigned long" },
	{ W_LONG | W_LONGLONG, "long long" },
	{ W_UNSIGNED | W_LONG | W_LONGLONG, "unsigned long long" },
	{ W_FLOAT, "float" },
	{ W_DOUBLE, "double" },
	{ W_LONG | W_DOUBLE, "long double" },
};

#define W_LENGTHS (W_SHORT | W_LONG | W_LONGLONG)
#define W_SIGNS   (W_SIGNED | W_UNSIGNED)

/* Report words that cannot be combined, with the message for that pair. */
static int
check_words(struct comp *c, struct node *s)
{
	unsigned w = (unsigned)s->value & ~(unsigned)W_QUALS;
	bool named = s->a != NULL || s->name != NULL;
	const struct node *at = s->a != NULL ? s->a : s;

	if ((w & W_CHAR) != 0 && (w & W_LENGTHS) != 0)
		return comp_error(c, D_DECL_CHARATTR, s,
		    "invalid type declaration: short and long "
		    "may not be used with char type");
	if ((w & W_VOID) != 0 && (w & (W_LENGTHS | W_SIGNS)) != 0)
		return comp_error(c, D_DECL_VOIDATTR, s,
		    "invalid type declaration: attributes may not be used "
		    "with void type");
	if ((w & W_SIGNS) != 0 && (named || (w & (W_FLOAT | W_DOUBLE)) != 0))
		return comp_error(c, D_DECL_SIGNINT, at,
		    "invalid type declaration: signed and unsigned may only "
		    "be used with integer type");
	if ((w & W_LENGTHS) != 0 && named)
		return comp_error(c, D_DECL_LONGINT, at,
		    "invalid type declaration: long and long long may only "
		    "be used with integer or floating-point type");
	if ((w & W_BAD) != 0 || (named && w != 0) || (w & W_SIGNS) == W_SIGNS)
		return comp_error(
		    c, D_DECL_COMBO, at, "invalid type combination");
	return 0;
}

static int
basic_type(struct comp *c, struct node *s, struct type **out)
{
	unsigned w = (unsigned)s->value & ~(unsigned)(W_QUALS | W_BAD);

	if (w == 0 && (s->flags & (C_SELF | C_THIS)) != 0)
		w = W_INT; /* `self x;' */
	if (w == 0)
		return comp_error(c, D_DECL_IDENT, s,
		    "old-style declaration or incorrect type specified");
	/* `int' and `signed' add nothing to the other words. */
	if ((w & (W_LENGTHS | W_SIGNS)) != 0)
		w &= ~(unsigned)W_INT;
	if ((w & W_CHAR) == 0)
		w &= ~(unsigned)W_SIGNED;
	for (size_t i = 0; i < ARRAY_SIZE(combos); i++) {
		if (combos[i].words == w) {
			*out = types_lookup(c->cc->types, combos[i].name);
			return 0;
		}
	}
	if ((w & W_SHORT) != 0 && (w & W_LONG) != 0)
		return comp_error(c, D_UNKNOWN, s,
		    "failed to resolve type short long : Unknown type name");
	return comp_error(c, D_DECL_COMBO, s, "invalid type combination");
}

static struct type *
qualify(struct comp *c, struct type *t, unsigned words)
{
	static const struct {
		unsigned word;
		enum type_kind kind;
	} table[] = { { W_CONST, TYPE_CONST }, { W_VOLATILE, TYPE_VOLATILE } };

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		if ((words & table[i].word) == 0)
			continue;
		struct type *q = types_new(c->cc->types, table[i].kind);
		q->base = t;
		q->size = t->size;
		t = q;
	}
	return t;
}

int
decl_specs(struct comp *c, struct node *s, struct type **out)
{
	struct type *t = NULL;
	int error = check_words(c, s);

	if (error != 0)
		return error;
	if (s->a != NULL)
		error = decl_tag(c, s->a, &t);
	else if (s->name != NULL) {
		t = types_lookup(c->cc->types, s->name);
		if (t == NULL) {
			error = comp_error(c, D_DECL_IDENT, s,
			    "cannot find type: %s", s->name);
			hint_type(c, s->name);
		}
	} else
		error = basic_type(c, s, &t);
	if (error != 0)
		return error;
	ASSERT(t != NULL);
	*out = qualify(c, t, (unsigned)s->value);
	return 0;
}

/* ---- declarators ---- */

static int
array_of(struct comp *c, struct node *d, struct type *base, struct type **out)
{
	int64_t n;

	if (type_resolve(base)->kind == TYPE_VOID)
		return comp_error(
		    c, D_DECL_VOIDOBJ, d, "cannot declare array of void");
	if (check_expr(c, d->b) != 0)
		return -EINVAL;
	if (!check_const(d->b, &n) || n <= 0)
		return comp_error(c, D_DECL_ARRSUB, d->b,
		    "positive integral constant expression or tuple signature "
		    "expected as array declaration subscript");
	if ((uint64_t)n > ARRAY_MAX || base->size * (uint64_t)n > ARRAY_MAX)
		return comp_error(
		    c, D_DECL_ARRBIG, d->b, "array dimension too big");
	*out = types_array(c->cc->types, base, (uint64_t)n);
	return 0;
}

static int
check_param_class(struct comp *c, struct node *p)
{
	if (p->a != NULL && p->a->flags != 0)
		return comp_error(c, D_DECL_PARMCLASS, p,
		    "inappropriate storage class for function or associative "
		    "array parameter");
	return 0;
}

/* Declare one parameter.  Arrays become pointers if `decay'. */
int
decl_param(struct comp *c, struct node *p, bool decay, struct declared *out)
{
	struct type *base;

	if (check_param_class(c, p) != 0 || decl_specs(c, p->a, &base) != 0)
		return -EINVAL;
	if (decay && p->b != NULL && p->b->kind == N_DARRAY &&
	    p->b->list == NULL && p->b->b == NULL) {
		p->b->kind = N_DPOINTER; /* `char *argv[]' */
	}
	if (decl_declarator(c, p->b, base, out) != 0)
		return -EINVAL;
	if (decay && type_resolve(out->type)->kind == TYPE_ARRAY)
		out->type =
		    types_pointer(c->cc->types, type_resolve(out->type)->base);
	return 0;
}

static int
check_tuple_param(
    struct comp *c, struct node *p, const struct declared *m, size_t n)
{
	char buf[128];
	enum type_kind k = type_resolve(m->type)->kind;

	if (k == TYPE_VOID && m->name != NULL)
		return comp_error(c, D_DECL_PROTO_NAME, p,
		    "void parameter may not have a name: %s", m->name);
	if (k == TYPE_VOID || k == TYPE_FUNC || k == TYPE_DYN || m->assoc)
		return comp_error(c, D_DECL_PROTO_TYPE, p,
		    "array prototype may not use parameter of type %s: %s, "
		    "parameter #%zu",
		    type_name(m->type, buf, sizeof(buf)),
		    m->name != NULL ? m->name : "(anonymous)", n);
	return 0;
}

static int
tuple_of(struct comp *c, struct node *d, struct declared *out)
{
	size_t n = 0;

	for (struct node *p = d->list; p != NULL; p = p->next)
		n++;
	out->assoc = true;
	out->params = d->list;
	out->keys = arena_alloc(&c->cc->arena, n * sizeof(*out->keys));
	for (struct node *p = d->list; p != NULL; p = p->next) {
		struct declared m = { 0 };
		if (p->a == NULL)
			return comp_error(c, D_DECL_PROTO_VARARGS, p,
			    "array prototype may not use a variable-length "
			    "argument list");
		if (decl_param(c, p, false, &m) != 0 ||
		    check_tuple_param(c, p, &m, out->nkeys + 1) != 0)
			return -EINVAL;
		out->keys[out->nkeys++] = m.type;
	}
	return 0;
}

static int
check_func_param(
    struct comp *c, struct node *p, const struct declared *m, size_t n)
{
	if (m->assoc || type_resolve(m->type)->kind == TYPE_DYN)
		return comp_error(c, D_DECL_PROTO_TYPE, p,
		    "function prototype may not use parameter of type dynamic "
		    "variable: %s, parameter #%zu",
		    m->name != NULL ? m->name : "(anonymous)", n + 1);
	if (type_resolve(m->type)->kind != TYPE_VOID)
		return 0;
	if (m->name != NULL)
		return comp_error(c, D_DECL_PROTO_NAME, p,
		    "void parameter may not have a name: %s", m->name);
	if (p->next != NULL || n > 0)
		return comp_error(
		    c, D_DECL_PROTO_VOID, p, "void must be sole parameter");
	return 0;
}

static int
function_of(
    struct comp *c, struct node *d, struct type *base, struct type **out)
{
	struct type *t = types_new(c->cc->types, TYPE_FUNC);
	size_t n = 0;

	for (struct node *p = d->list; p != NULL; p = p->next)
		n++;
	t->base = base;
	t->members = arena_alloc(&c->cc->arena, n * sizeof(*t->members));
	for (struct node *p = d->list; p != NULL; p = p->next) {
		struct declared m = { 0 };
		if (p->a == NULL) {
			t->varargs = true;
			continue;
		}
		if (decl_param(c, p, true, &m) != 0 ||
		    check_func_param(c, p, &m, t->nmembers) != 0)
			return -EINVAL;
		if (type_resolve(m.type)->kind != TYPE_VOID)
			t->members[t->nmembers++] =
			    (struct type_member){ .name = m.name,
				    .type = m.type };
	}
	*out = t;
	return 0;
}

static int
apply_array(struct comp *c, struct node *d, struct declared *out)
{
	if (out->assoc)
		return comp_error(c, D_DECL_DYNOBJ, d,
		    "cannot declare array of associative arrays");
	if (d->list != NULL)
		return tuple_of(c, d, out);
	out->bare_array = true;
	if (d->b == NULL && out->external) {
		out->type = types_array(c->cc->types, out->type, 0);
		return 0;
	}
	if (d->b == NULL) {
		const struct node *at = d;
		while (at->a != NULL)
			at = at->a;
		return comp_error(c, D_DECL_ARRNULL, d,
		    "array declaration requires array dimension or tuple "
		    "signature: %s",
		    at->name != NULL ? at->name : "");
	}
	return array_of(c, d, out->type, &out->type);
}

int
decl_declarator(
    struct comp *c, struct node *d, struct type *base, struct declared *out)
{
	int error = 0;

	out->type = base;
	for (; d != NULL && error == 0; d = d->a) {
		switch (d->kind) {
		case N_DPOINTER:
			out->type = types_pointer(c->cc->types, out->type);
			break;
		case N_DARRAY: error = apply_array(c, d, out); break;
		case N_DFUNC:
			error = function_of(c, d, out->type, &out->type);
			break;
		case N_DNAME:
			out->name = d->name;
			out->at = d;
			break;
		}
	}
	return error;
}

int
decl_type(struct comp *c, struct node *tn, struct type **out)
{
	struct declared m = { 0 };
	struct type *base;

	if (decl_specs(c, tn->a, &base) != 0 ||
	    decl_declarator(c, tn->b, base, &m) != 0)
		return -EINVAL;
	if (m.assoc)
		return comp_error(c, D_DECL_DYNOBJ, tn,
		    "an associative array cannot be used as a type");
	*out = m.type;
	return 0;
}

int
decl_object(struct comp *c, const struct declared *d)
{
	struct type *t = type_resolve(d->type);
	char buf[128];

	while (t->kind == TYPE_ARRAY)
		t = type_resolve(t->base);
	if (t->kind == TYPE_VOID)
		return comp_error(c, D_DECL_VOIDOBJ, d->at,
		    "cannot have void object: %s", d->name);
	if (t->kind == TYPE_FORWARD)
		return comp_error(c, D_DECL_INCOMPLETE, d->at,
		    "incomplete struct/union/enum %s: %s",
		    type_name(d->type, buf, sizeof(buf)), d->name);
	return 0;
}

/* ---- what is declared ---- */

static int
redeclared(struct comp *c, const struct declared *d, const struct ident *old)
{
	char now[128], before[128];

	if (old->kind != ID_SCALAR && old->kind != ID_ASSOC)
		return comp_error(c, D_DECL_IDRED, d->at,
		    "%s identifier redeclared: %s",
		    old->line > 0 ? ident_kind_name(old) : "built-in", d->name);
	type_name(d->type, now, sizeof(now));
	if (old->type == NULL)
		snprintf(before, sizeof(before), "unknown");
	else
		type_name(old->type, before, sizeof(before));
	return comp_error(c, D_DECL_IDRED, d->at,
	    "identifier redeclared: %s\n\t current: %s\n\tprevious: %s "
	    "(line %d)",
	    d->name, now, before, old->line);
}

static bool
same_declaration(const struct declared *d, const struct ident *old)
{
	if (old->kind != (d->assoc ? ID_ASSOC : ID_SCALAR) ||
	    old->type == NULL || !type_equal(old->type, d->type) ||
	    old->nkeys != d->nkeys)
		return false;
	for (size_t i = 0; i < d->nkeys; i++)
		if (!type_equal(old->keys[i], d->keys[i]))
			return false;
	return true;
}

static int
declare_variable(struct comp *c, const struct declared *d, enum dif_scope scope)
{
	struct ident *old = scope_lookup(c, scope, d->name);

	if (scope == DIF_LOCAL && d->assoc)
		return comp_error(c, D_DECL_LOCASSC, d->at,
		    "associative arrays may not be declared as local "
		    "variables: %s",
		    d->name);
	if (old != NULL)
		return same_declaration(d, old) ? 0 : redeclared(c, d, old);
	if (decl_object(c, d) != 0)
		return -EINVAL;
	struct ident *id = scope_variable(
	    c, scope, d->name, d->assoc ? ID_ASSOC : ID_SCALAR, &d->at->span);
	if (id == NULL)
		return -EINVAL;
	id->type = d->type;
	id->keys = d->keys;
	id->nkeys = d->nkeys;
	id->keys_known = d->assoc;
	return scope_settle(c, id, d->at);
}

static int
declare_symbol(struct comp *c, const struct declared *d)
{
	struct ident *old = scope_global(c->cc, d->name);

	if (old != NULL) {
		if (old->type != NULL && type_equal(old->type, d->type))
			return 0;
		/* A prototype of a built-in function has no effect. */
		if (type_resolve(d->type)->kind == TYPE_FUNC &&
		    (old->kind == ID_SUBR || old->kind == ID_ACTION))
			return 0;
		return redeclared(c, d, old);
	}
	if (d->assoc)
		return comp_error(c, D_DECL_DYNOBJ, d->at,
		    "an associative array cannot be external: %s", d->name);
	struct ident *id = ident_new(c->cc, d->name, ID_SYMBOL);
	id->type = d->type;
	id->span = d->at->span;
	id->line = d->at->span.line;
	hash_set_str(&c->cc->globals, id->name, id);
	return 0;
}

static int
declare_typedef(struct comp *c, const struct declared *d)
{
	struct cc *cc = c->cc;
	struct type *old = types_lookup(cc->types, d->name);

	if (d->assoc)
		return comp_error(c, D_DECL_DYNOBJ, d->at,
		    "an associative array cannot be a type: %s", d->name);
	if (scope_global(cc, d->name) != NULL ||
	    (old != NULL && !type_equal(old, d->type)))
		return comp_error(
		    c, D_DECL_IDRED, d->at, "typedef redeclared: %s", d->name);
	if (old != NULL)
		return 0;
	struct type *t = types_new(cc->types, TYPE_TYPEDEF);
	t->name = d->name;
	t->base = d->type;
	t->size = d->type->size;
	types_define(cc->types, d->name, t);
	return 0;
}

static int
check_class(struct comp *c, const struct node *specs)
{
	if ((specs->flags & C_TWICE) != 0)
		return comp_error(c, D_DECL_CLASS, specs,
		    "only one storage class allowed in a declaration");
	if ((specs->flags & (C_AUTO | C_REGISTER | C_STATIC)) != 0)
		return comp_error(c, D_DECL_BADCLASS, specs,
		    "specified storage class not appropriate in D");
	return 0;
}

static int
declare_one(struct comp *c, struct node *d, struct type *base, unsigned class)
{
	struct declared m = { .external = (class & C_EXTERN) != 0 };

	if (decl_declarator(c, d, base, &m) != 0)
		return -EINVAL;
	ASSERT(m.name != NULL); /* the grammar wants one */
	if (strchr(m.name, '`') != NULL)
		return comp_error(c, D_DECL_SCOPE, m.at,
		    "D scoping operator may not be used in a declaration name "
		    "(%s)",
		    m.name);
	if ((class & C_TYPEDEF) != 0)
		return declare_typedef(c, &m);
	if (types_lookup(c->cc->types, m.name) != NULL &&
	    (class & (C_SELF | C_THIS)) == 0)
		return comp_error(c, D_DECL_IDRED, m.at,
		    "identifier redeclared: %s is a type", m.name);
	if ((class & C_EXTERN) != 0 || type_resolve(m.type)->kind == TYPE_FUNC)
		return declare_symbol(c, &m);
	return declare_variable(c, &m,
	    (class & C_SELF) != 0     ? DIF_THREAD :
		(class & C_THIS) != 0 ? DIF_LOCAL :
					DIF_GLOBAL);
}

int
decl_process(struct comp *c, struct node *n)
{
	struct type *base;

	if (check_class(c, n->a) != 0 || decl_specs(c, n->a, &base) != 0)
		return -EINVAL;
	if (n->list == NULL && n->a->a == NULL)
		return comp_error(c, D_DECL_USELESS, n, "useless declaration");
	for (struct node *d = n->list; d != NULL; d = d->next)
		if (declare_one(c, d, base, n->a->flags) != 0)
			return -EINVAL;
	return 0;
}

/* ---- inlines ---- */

static int
inline_formals(struct comp *c, const struct declared *d, struct ident *id)
{
	struct cc *cc = c->cc;

	id->formals = arena_alloc(&cc->arena, d->nkeys * sizeof(*id->formals));
	for (struct node *p = d->params; p != NULL; p = p->next) {
		const struct node *name = p->b;
		while (name != NULL && name->kind != N_DNAME)
			name = name->a;
		if (name == NULL || name->name == NULL)
			return comp_error(c, D_DECL_PROTO_NAME, p,
			    "parameter declaration requires a name");
		for (size_t i = 0; i < id->nformals; i++)
			if (strcmp(id->formals[i]->name, name->name) == 0)
				return comp_error(c, D_DECL_PROTO_FORM, p,
				    "parameter %s is already declared in %s "
				    "prototype",
				    name->name, d->name);
		struct ident *f = ident_new(cc, name->name, ID_PARAM);
		f->type = d->keys[id->nformals];
		id->formals[id->nformals++] = f;
	}
	return 0;
}

/* Check the body once here, with parameters that have no value, and again at
 * each use. */
static int
check_inline_body(
    struct comp *c, struct node *n, const struct declared *d, struct ident *id)
{
	struct node *body = comp_copy(c, n->c);
	char want[128], got[128];

	if (body == NULL)
		return -EINVAL;
	int error = check_with(c, body, id->formals, id->nformals);
	if (error != 0)
		return error;
	if (!check_compatible(d->type, body))
		return comp_error(c, D_OP_INCOMPAT, n,
		    "inline %s definition uses incompatible types: \"%s\" = "
		    "\"%s\"",
		    d->name, type_name(d->type, want, sizeof(want)),
		    type_name(body->type, got, sizeof(got)));
	return 0;
}

int
decl_inline(struct comp *c, struct node *n)
{
	struct declared d = { 0 };
	struct type *base;

	if ((n->a->flags & C_TWICE) != 0)
		return check_class(c, n->a);
	if (n->a->flags != 0)
		return comp_error(c, D_DECL_BADCLASS, n->a,
		    "specified storage class not appropriate for inline "
		    "declaration");
	if (n->b == NULL)
		return comp_error(
		    c, D_DECL_USELESS, n, "inline declaration requires a name");
	if (decl_specs(c, n->a, &base) != 0 ||
	    decl_declarator(c, n->b, base, &d) != 0)
		return -EINVAL;
	ASSERT(d.name != NULL); /* the grammar wants one */
	if (d.bare_array)
		return comp_error(c, D_DECL_ARRNULL, n->b,
		    "inline declaration requires a tuple signature: %s",
		    d.name);
	if (strchr(d.name, '`') != NULL)
		return comp_error(c, D_DECL_SCOPE, d.at,
		    "D scoping operator may not be used in a declaration name "
		    "(%s)",
		    d.name);
	if (decl_object(c, &d) != 0)
		return -EINVAL;
	struct ident *old = scope_global(c->cc, d.name);
	if (old != NULL)
		return comp_error(c, D_DECL_IDRED, n,
		    "identifier redefined: %s\n\t current: inline definition"
		    "\n\tprevious: %s %s",
		    d.name,
		    old->kind == ID_INLINE && old->nformals == 0 ?
			"scalar" :
			ident_kind_name(old),
		    old->kind == ID_INLINE ? "inline" : "");
	struct ident *id = ident_new(c->cc, d.name, ID_INLINE);
	id->type = d.type;
	id->keys = d.keys;
	id->nkeys = d.nkeys;
	id->body = n->c;
	id->span = n->span;
	id->line = n->span.line;
	if (inline_formals(c, &d, id) != 0 ||
	    check_inline_body(c, n, &d, id) != 0)
		return -EINVAL;
	hash_set_str(&c->cc->globals, id->name, id);
	return 0;
}
