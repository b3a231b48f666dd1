/*
 * Stability of a program: of its descriptions, and of every name in its
 * statements.  The lowest of each is kept for -v.  None may be lower than
 * option amin.
 */
#include <string.h>

#include "dlang/cc/cc_impl.h"

/* The stability of probes without a named or known provider. */
static const struct attr unknown_provider = { ATTR_UNSTABLE, ATTR_UNSTABLE,
	ATTR_COMMON };

static int
check_minimum(
    struct comp *c, const struct node *at, const char *what, struct attr a)
{
	const char *text = c->cc->opts->text[OPT_AMIN];
	struct attr least;

	if (text == NULL || !attr_parse(text, &least) || !attr_less(a, least))
		return 0;
	return comp_error(c, D_ATTR_MIN, at,
	    "attributes for %s (%s/%s/%s) are less than predefined minimum",
	    what, attr_level_name(a.name), attr_level_name(a.data),
	    attr_class_name(a.class));
}

/* ---- descriptions ---- */

static bool
parts_of(
    struct comp *c, const struct probe_desc *pd, struct attr parts[ATTR_PARTS])
{
	const struct world *w = c->cc->world;

	return w->ops->stability != NULL &&
	    w->ops->stability(w->ctx, pd, parts);
}

/* Does the field name something?  One that matches everything depends on
 * nothing. */
static bool
is_named(const char *field)
{
	return field[0] != '\0' && strcmp(field, "*") != 0;
}

int
stab_desc(
    struct comp *c, const struct node *clause, const struct probe_desc *pd)
{
	const char *const fields[] = { [ATTR_MODULE] = pd->mod,
		[ATTR_FUNCTION] = pd->func,
		[ATTR_NAME] = pd->name };
	struct attr parts[ATTR_PARTS], a = unknown_provider;

	if (parts_of(c, pd, parts)) {
		a = parts[ATTR_PROVIDER];
		for (int i = ATTR_MODULE; i <= ATTR_NAME; i++)
			if (is_named(fields[i]))
				a = attr_min(a, parts[i]);
	}
	c->prog->desc_attr = attr_min(c->prog->desc_attr, a);
	/* Reported at the end of the clause, like other errors about the
	 * whole. */
	struct node at = *clause;
	at.span.ahead = clause->span.end_line - clause->span.line;
	return check_minimum(c, &at, "clause", a);
}

/* ---- statements ---- */

/* The stability of the identifier; for args[ ] that of the provider. */
static struct attr
attr_of(struct comp *c, const struct ident *id)
{
	struct attr parts[ATTR_PARTS];

	if (id->kind != ID_ARRAY || id->id != DIF_VAR_ARGS)
		return id->attr;
	return c->desc != NULL && parts_of(c, c->desc, parts) ?
	    parts[ATTR_ARGS] :
	    unknown_provider;
}

int
stab_name(struct comp *c, const struct node *n, const struct ident *id)
{
	struct attr a = attr_of(c, id);

	if (c->clause == NULL)
		return 0;
	c->prog->stmt_attr = attr_min(c->prog->stmt_attr, a);
	char *what =
	    arena_printf(&c->cc->arena, "%s %s", ident_kind_name(id), id->name);
	return check_minimum(c, n, what, a);
}

int
stab_clause(struct comp *c, const struct node *n)
{
	const struct node *const below[] = { n->a, n->b, n->c };
	bool inlined = n->kind == N_INLINE;
	/* An inline is as stable as its contents, unless it declares another
	 * stability. */
	bool its_own =
	    inlined && n->ident != NULL && (n->ident->flags & IDF_ATTR) != 0;

	if (n->ident != NULL && (its_own || !inlined) &&
	    stab_name(c, n, n->ident) != 0)
		return -EINVAL;
	if (its_own)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(below); i++)
		if (below[i] != NULL && stab_clause(c, below[i]) != 0)
			return -EINVAL;
	for (n = n->list; n != NULL; n = n->next)
		if (stab_clause(c, n) != 0)
			return -EINVAL;
	return 0;
}
