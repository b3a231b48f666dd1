/*
 * Checks format strings against the arguments of printf() and the keys of
 * printa().
 */
#include <string.h>

#include "dlang/cc/check.h"
#include "dlang/cc/hint.h"

/* Does the conversion accept a value of this type? */
static bool
conv_takes(const struct fmt_conv *v, const struct type *t)
{
	bool integer = type_is_integer(t);
	bool scalar = type_is_scalar(t);
	enum type_kind k = t->kind;

	if (integer && (v->class == FMT_INT || v->class == FMT_SINT)) {
		switch (v->mod) {
		case FMT_MOD_H: return t->size == 2;
		case FMT_MOD_L:
		case FMT_MOD_LL: return t->size == 8;
		case FMT_MOD_NONE:
		case FMT_MOD_LD:
		case FMT_MOD_W: return true;
		}
	}
	switch (v->class) {
	case FMT_INT:
	case FMT_SINT: return false;
	case FMT_CHAR: return integer;
	case FMT_STR:
		return k == TYPE_STRING ||
		    (k == TYPE_ARRAY && type_is_stringlike(t));
	case FMT_PTR: return scalar;
	case FMT_FLOAT: return k == TYPE_FLOAT;
	case FMT_SYM: return scalar || k == TYPE_SYMADDR;
	case FMT_USYM: return scalar || k == TYPE_USYMADDR;
	case FMT_HOST: return scalar || type_is_stringlike(t);
	case FMT_PORT: return integer && t->size == 2;
	case FMT_TIME: return integer && t->size == 8;
	case FMT_STACK: return k == TYPE_STACK;
	case FMT_AGG: return false;
	}
	return false;
}

static const char *
conv_prototype(const struct fmt_conv *v)
{
	switch (v->class) {
	case FMT_INT:
	case FMT_SINT:
		return v->mod == FMT_MOD_H ? "short" :
		    v->mod == FMT_MOD_L    ? "long" :
		    v->mod == FMT_MOD_LL   ? "long long" :
					     "char, short, int, long, or "
					     "long long";
	case FMT_CHAR: return "char, int";
	case FMT_STR: return "char [] or string (or use stringof)";
	case FMT_PTR: return "pointer or integer";
	case FMT_FLOAT: return "float, double, or long double";
	case FMT_SYM:
	case FMT_USYM: return "pointer or integer";
	case FMT_HOST: return "string or pointer";
	case FMT_PORT: return "uint16_t";
	case FMT_TIME: return "int64_t";
	case FMT_STACK: return "stack";
	case FMT_AGG: return "aggregation";
	}
	return "";
}

static int
wrong_conv(struct comp *c, const struct node *n, const struct node *arg,
    const struct fmt_conv *v, size_t nconv, size_t narg, const struct type *t)
{
	char buf[NAME_MAX_TEXT];

	comp_error(c, D_PRINTF_ARG_TYPE, arg,
	    "%s( ) argument #%zu is incompatible with conversion #%zu "
	    "prototype:\n\tconversion: %%%c\n\t prototype: %s\n\t  argument: "
	    "%s",
	    n->ident->name, narg, nconv, v->letter, conv_prototype(v),
	    arg->kind == N_AGG && t == arg->type ?
		"aggregation" :
		type_name(t, buf, sizeof(buf)));
	return hint_value(c, v->class, arg, t != arg->type);
}

/* `*' uses a value of its own, number narg, which must be an integer.  t is
 * NULL if there is none. */
static int
check_star(struct comp *c, const struct node *n, const struct node *at,
    const struct fmt_conv *v, size_t nconv, const char *star, size_t narg,
    const struct type *t)
{
	char buf[NAME_MAX_TEXT];

	if (t == NULL)
		return comp_error(c, D_PRINTF_DYN_PROTO, n,
		    "%s( ) prototype mismatch: conversion #%zu (%%%c) is "
		    "missing a corresponding \"%s\" argument",
		    n->ident->name, nconv, v->letter, star);
	if (!type_is_integer(t))
		return comp_error(c, D_PRINTF_DYN_TYPE, at,
		    "%s( ) argument #%zu is incompatible with conversion #%zu "
		    "prototype:\n\tconversion: %% %s %c\n\t prototype: int\n\t  "
		    "argument: %s",
		    n->ident->name, narg, nconv, star, v->letter,
		    type_name(t, buf, sizeof(buf)));
	return 0;
}

static int
check_dynamic(struct comp *c, const struct node *n, const struct fmt_conv *v,
    size_t nconv, const char *star, struct node **arg, size_t *narg)
{
	struct node *a = *arg;

	if (check_star(c, n, a, v, nconv, star, *narg,
		a != NULL ? a->type : NULL) != 0 ||
	    a == NULL)
		return -EINVAL;
	*arg = a->next;
	(*narg)++;
	return 0;
}

static int
check_conv(struct comp *c, struct node *n, const struct fmt_conv *v,
    size_t nconv, struct node **arg, size_t *narg)
{
	if (v->dyn_width && check_dynamic(c, n, v, nconv, "*", arg, narg) != 0)
		return -EINVAL;
	if (v->dyn_prec && check_dynamic(c, n, v, nconv, ".*", arg, narg) != 0)
		return -EINVAL;
	if (v->class == FMT_AGG)
		return comp_error(c, D_PRINTF_AGG_CONV, n,
		    "%%@ conversion requires an aggregation and is not for "
		    "use with %s( )",
		    n->ident->name);
	struct node *a = *arg;
	if (a == NULL)
		return comp_error(c, D_PRINTF_ARG_PROTO, n,
		    "%s( ) prototype mismatch: conversion #%zu (%%%c) is "
		    "missing a corresponding value argument",
		    n->ident->name, nconv, v->letter);
	if (!conv_takes(v, type_resolve(a->type)))
		return wrong_conv(c, n, a, v, nconv, *narg, a->type);
	*arg = a->next;
	(*narg)++;
	return 0;
}

static int
parse_format(struct comp *c, struct node *n, struct node *text)
{
	char buf[NAME_MAX_TEXT];
	const char *why = "";
	struct fmt *f;

	if (text != NULL && !type_is_stringlike(text->type))
		return check_wrong_arg(
		    c, text, n->ident->name, "( )", 1, c->cc->t_string);
	if (text == NULL || text->kind != N_STRING)
		return comp_error(c, D_PRINTF_ARG_FMT, text != NULL ? text : n,
		    "%s( ) argument #1 is incompatible with prototype:\n"
		    "\tprototype: string constant\n\t argument: %s",
		    n->ident->name,
		    text != NULL ? type_name(text->type, buf, sizeof(buf)) :
				   "none");
	if (fmt_parse(&c->prog->arena, text->name, &f, &why) != 0)
		return comp_error(c, D_SYNTAX, text, "%s", why);
	n->extra = f;
	return 0;
}

int
check_printf(struct comp *c, struct node *n)
{
	struct node *arg = n->list;
	size_t narg = 2;

	if (arg == NULL)
		return check_mismatch(c, D_PROTO_LEN, n, "at least 1");
	if (check_list(c, n->list) != 0 || parse_format(c, n, arg) != 0)
		return -EINVAL;
	if (n->ident->id == ACT_FREOPEN && strcmp(arg->name, ".") == 0)
		return comp_error(c, D_FREOPEN_INVALID, arg,
		    "freopen( ) argument #1 cannot be \".\"");
	const struct fmt *f = n->extra;
	arg = arg->next;
	for (size_t i = 0; i < f->nconvs; i++)
		if (check_conv(c, n, &f->convs[i], i + 1, &arg, &narg) != 0)
			return -EINVAL;
	if (arg != NULL)
		return comp_error(c, D_PRINTF_ARG_EXTRA, arg,
		    "%s( ) prototype mismatch: only %zu arguments required by "
		    "this format string",
		    n->ident->name, narg - 2);
	return 0;
}

/* ---- printa ---- */

static int
check_same_keys(struct comp *c, const struct node *a, const struct node *b)
{
	const struct ident *x = a->ident, *y = b->ident;
	char s[NAME_MAX_TEXT], t[NAME_MAX_TEXT];

	if (x->nkeys != y->nkeys)
		return comp_error(c, D_PRINTA_AGGKEY, b,
		    "printa( ): @%s and @%s do not have matching key "
		    "signatures: @%s has %zu key%s, @%s has %zu key%s",
		    x->name, y->name, x->name, x->nkeys,
		    x->nkeys == 1 ? "" : "s", y->name, y->nkeys,
		    y->nkeys == 1 ? "" : "s");
	for (size_t i = 0; i < x->nkeys; i++)
		if (!type_equal(x->keys[i], y->keys[i]) &&
		    !(type_is_integer(x->keys[i]) &&
			type_is_integer(y->keys[i])))
			return comp_error(c, D_PRINTA_AGGPROTO, b,
			    "printa( ): @%s[ ] key #%zu is incompatible with "
			    "@%s:\n%9s key #%zu: %s\n%9s key #%zu: %s",
			    y->name, i + 1, x->name, x->name, i + 1,
			    type_name(x->keys[i], s, sizeof(s)), y->name, i + 1,
			    type_name(y->keys[i], t, sizeof(t)));
	return 0;
}

static int
check_dynamic_key(struct comp *c, const struct node *n, const struct node *agg,
    size_t *key, size_t nconv, const struct fmt_conv *v, const char *star)
{
	const struct ident *id = agg->ident;

	if (check_star(c, n, agg, v, nconv, star, *key + 2,
		*key < id->nkeys ? id->keys[*key] : NULL) != 0)
		return -EINVAL;
	(*key)++;
	return 0;
}

/* Conversions other than %@ use the keys, from left to right. */
static int
check_printa_format(struct comp *c, struct node *n, const struct node *agg)
{
	const struct fmt *f = n->extra;
	const struct ident *id = agg->ident;
	size_t key = 0;

	for (size_t i = 0; i < f->nconvs; i++) {
		const struct fmt_conv *v = &f->convs[i];
		if (v->dyn_width &&
		    check_dynamic_key(c, n, agg, &key, i + 1, v, "*") != 0)
			return -EINVAL;
		if (v->dyn_prec &&
		    check_dynamic_key(c, n, agg, &key, i + 1, v, ".*") != 0)
			return -EINVAL;
		if (v->class == FMT_AGG)
			continue;
		if (key == id->nkeys)
			return comp_error(c, D_PRINTF_ARG_PROTO, n,
			    "printa( ) prototype mismatch: conversion #%zu "
			    "(%%%c) is missing a corresponding aggregation "
			    "key",
			    i + 1, v->letter);
		if (!conv_takes(v, type_resolve(id->keys[key])))
			return wrong_conv(
			    c, n, agg, v, i + 1, key + 2, id->keys[key]);
		key++;
	}
	return 0;
}

int
check_printa(struct comp *c, struct node *n)
{
	struct node *first = n->list;
	size_t i = 1;

	if (first == NULL)
		return check_mismatch(c, D_PROTO_LEN, n, "at least 1");
	if (first->kind != N_AGG) {
		if (check_expr(c, first) != 0)
			return -EINVAL;
		if (!type_is_string(first->type))
			return check_agg_arg(
			    c, n, first, 1, D_PRINTA_AGGARG, D_PRINTA_AGGBAD);
		if (parse_format(c, n, first) != 0)
			return -EINVAL;
		first = first->next;
		i++;
		if (first == NULL)
			return check_mismatch(c, D_PRINTA_PROTO, n, "2");
	}
	for (struct node *a = first; a != NULL; a = a->next, i++)
		if (check_agg_arg(
			c, n, a, i, D_PRINTA_AGGARG, D_PRINTA_AGGBAD) != 0 ||
		    check_same_keys(c, first, a) != 0)
			return -EINVAL;
	return n->extra != NULL ? check_printa_format(c, n, first) : 0;
}
