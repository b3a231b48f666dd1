/*
 * Translators: a declared view of one type as another.  `xlate <T> (e).m' is
 * replaced by the translator's expression for m, its parameter bound to e.
 */
#include <string.h>

#include "dlang/cc/cc_impl.h"

#define NAME_MAX_TEXT 160 /* of a type in a message */

/* The destination of `xlate <T>' and `xlate <T *>' alike. */
static struct type *
target_of(struct type *t)
{
	struct type *r = type_resolve(t);

	return r->kind == TYPE_POINTER ? type_resolve(r->base) : r;
}

/* Does the type fit the translator's source?  After no exact match was found,
 * any integer type fits an integer, and any pointer to the same type. */
static bool
source_fits(struct type *want, const struct type *have, bool exact)
{
	struct type *h = type_resolve((struct type *)(uintptr_t)have);
	struct type *w = type_resolve(want);

	if (type_equal(w, h))
		return true;
	if (exact)
		return false;
	return (type_is_integer(w) && type_is_integer(h)) ||
	    (w->kind == TYPE_POINTER && h->kind == TYPE_POINTER &&
		(type_resolve(h->base)->kind == TYPE_VOID ||
		    type_resolve(w->base)->kind == TYPE_VOID));
}

static struct xlator *
find(struct comp *c, struct type *dst, const struct type *src, bool exact)
{
	for (size_t i = c->cc->xlators.len; i-- > 0;) {
		struct xlator *x = c->cc->xlators.at[i];
		if (type_equal(target_of(x->dst), dst) &&
		    source_fits(x->src, src, exact))
			return x;
	}
	return NULL;
}

static int
check_in_scope(
    struct comp *c, struct xlator *x, struct node *body, struct node *arg)
{
	struct ident *param = ident_new(c->cc, x->param, ID_PARAM);

	param->type = x->src;
	param->body = arg;
	return check_with(c, body, &param, 1);
}

static int
check_member(struct comp *c, struct xlator *x, struct node *m)
{
	char buf[NAME_MAX_TEXT], buf2[NAME_MAX_TEXT];
	uint64_t off = 0;
	const struct type_member *tm =
	    type_member(target_of(x->dst), m->name, &off);

	if (tm == NULL) {
		comp_error(c, D_XLATE_MEMB, m,
		    "translator member %s is not a member of %s", m->name,
		    type_name(x->dst, buf, sizeof(buf)));
		return hint_member(c, target_of(x->dst), m->name);
	}
	struct node *body = comp_copy(c, m->a);
	if (body == NULL || check_in_scope(c, x, body, NULL) != 0)
		return -EINVAL;
	if (!check_compatible(tm->type, body) &&
	    !(type_is_stringlike(tm->type) && type_is_stringlike(body->type)))
		return comp_error(c, D_XLATE_INCOMPAT, m,
		    "translator member %s definition uses incompatible types: "
		    "\"%s\" = \"%s\"",
		    m->name, type_name(tm->type, buf, sizeof(buf)),
		    type_name(body->type, buf2, sizeof(buf2)));
	return 0;
}

int
xlate_declare(struct comp *c, struct node *n)
{
	char buf[NAME_MAX_TEXT], buf2[NAME_MAX_TEXT];
	struct xlator *x = arena_alloc(&c->cc->arena, sizeof(*x));

	if (decl_type(c, n->a, &x->dst) != 0 ||
	    decl_type(c, n->b, &x->src) != 0)
		return -EINVAL;
	struct type *t = type_resolve(x->dst);
	if (t->kind != TYPE_STRUCT && t->kind != TYPE_UNION)
		return comp_error(c, D_XLATE_SOU, n,
		    t->kind == TYPE_FORWARD ?
			"incomplete struct/union/enum %s" :
			"translator output type must be a struct or union",
		    type_name(x->dst, buf, sizeof(buf)));
	struct xlator *old = find(c, t, x->src, true);
	if (old != NULL)
		return comp_error(c, D_XLATE_REDECL, n,
		    "translator from %s to %s has already been declared",
		    type_name(x->src, buf, sizeof(buf)),
		    type_name(x->dst, buf2, sizeof(buf2)));
	x->param = n->name;
	x->members = n->list;
	x->span = n->span;
	for (struct node *m = n->list; m != NULL; m = m->next) {
		/* Messages have the line number of the translator's end. */
		m->span.ahead = n->span.line + n->span.ahead - m->span.line;
		if (check_member(c, x, m) != 0)
			return -EINVAL;
	}
	*vec_push(&c->cc->xlators) = x;
	return 0;
}

struct xlator *
xlate_find(struct comp *c, struct type *dst, const struct type *src)
{
	struct type *t = target_of(dst);
	struct xlator *x = find(c, t, src, true);

	return x != NULL ? x : find(c, t, src, false);
}

int
xlate_check(struct comp *c, struct node *n)
{
	char buf[NAME_MAX_TEXT], buf2[NAME_MAX_TEXT];
	struct type *dst;

	if (decl_type(c, n->a, &dst) != 0 || check_expr(c, n->b) != 0)
		return -EINVAL;
	struct type *t = target_of(dst);
	if (t->kind == TYPE_FORWARD)
		return comp_error(c, D_XLATE_SOU, n,
		    "incomplete struct/union/enum %s",
		    type_name(dst, buf, sizeof(buf)));
	if (t->kind != TYPE_STRUCT && t->kind != TYPE_UNION)
		return comp_error(c, D_XLATE_SOU, n,
		    "translator output type must be a struct or union: %s",
		    type_name(dst, buf, sizeof(buf)));
	struct xlator *x = xlate_find(c, dst, n->b->type);
	if (x == NULL)
		return comp_error(c, D_XLATE_NONE, n,
		    "cannot translate from \"%s\" to \"%s\"",
		    type_name(n->b->type, buf, sizeof(buf)),
		    type_name(dst, buf2, sizeof(buf2)));
	n->extra = x;
	n->type = dst;
	return 0;
}

int
xlate_member(struct comp *c, struct node *n)
{
	char buf[NAME_MAX_TEXT];
	struct node *from = n->a;
	struct xlator *x = from->extra;
	uint64_t off = 0;
	bool pointer = type_resolve(from->type)->kind == TYPE_POINTER;

	if (pointer != (n->op == O_ARROW))
		return comp_error(c, pointer ? D_OP_SOU : D_OP_PTR, n,
		    pointer ? "operator . cannot be applied to a pointer" :
			      "operator -> must be applied to a pointer");
	const struct type_member *tm =
	    type_member(target_of(from->type), n->name, &off);
	if (tm == NULL) {
		comp_error(c, D_TYPE_MEMBER, n, "%s is not a member of %s",
		    n->name,
		    type_name(target_of(from->type), buf, sizeof(buf)));
		return hint_member(c, target_of(from->type), n->name);
	}
	const struct node *m = x->members;
	while (m != NULL && strcmp(m->name, n->name) != 0)
		m = m->next;
	if (m == NULL) {
		comp_error(c, D_XLATE_NOCONV, n,
		    "translator does not define conversion for member: %s",
		    n->name);
		return hint_conversion(c, x, n->name);
	}
	struct node *body = comp_copy(c, m->a);
	if (body == NULL || check_in_scope(c, x, body, from->b) != 0)
		return -EINVAL;
	/* The result has the type of the member; a string stays a string. */
	n->kind = N_INLINE;
	n->a = body;
	n->type = type_is_scalar(tm->type) ? tm->type : body->type;
	n->extra = tm->type;
	n->flags = NF_CANON;
	return 0;
}
