/*
 * Omits clauses that cannot be compiled.
 *
 * With -Z a description may name probes that do not exist.  Its clause cannot
 * be compiled if it uses args[], whose types the probes define, unless the program
 * declares the probe (decl_probe()).  It is omitted, and the user is told.  An aggregation that only such
 * clauses fill stays empty, so actions on it do nothing.
 */

#include "dlang/cc/cc_impl.h"

/* Define the names of aggregations that the omitted clause assigns. */
static int
name_aggs(struct node *n, void *ctx)
{
	if (n->kind != N_ASSIGN)
		return 0;
	struct node *to = n->a->kind == N_INDEX ? n->a->a : n->a;
	if (to->kind == N_AGG)
		scope_agg(ctx, to->name, &to->span);
	return 0;
}

bool
leave_clause(struct comp *c, const struct node *clause, const char *desc)
{
	enum diag_tag tag = c->diags->first.tag;
	bool follows = c->prog->notes != NULL &&
	    (tag == D_IDENT_UNDEF || tag == D_VAR_UNDEF);
	struct prog_note *note, **end = &c->prog->notes;

	if (!c->untyped && !follows)
		return false;
	note = arena_alloc(&c->prog->arena, sizeof(*note));
	note->next = NULL;
	note->text = arena_printf(&c->prog->arena,
	    "line %d: %s: the clause is left out: %s", clause->span.line, desc,
	    c->diags->first.text);
	while (*end != NULL)
		end = &(*end)->next;
	*end = note;
	diags_fini(c->diags);
	diags_init(c->diags);
	node_walk((struct node *)(uintptr_t)clause, name_aggs, c);
	return true;
}

bool
leave_stmt(struct comp *c, const struct node *n)
{
	const struct ident *id = n->kind == N_CALL && n->a->kind == N_NAME ?
	    scope_global(c->cc, n->a->name) :
	    NULL;
	bool some = false;

	if (id == NULL || id->kind != ID_ACTION || c->prog->notes == NULL)
		return false;
	for (const struct node *a = n->list; a != NULL; a = a->next) {
		if (a->kind != N_AGG)
			continue;
		const struct ident *agg = hash_get_str(&c->cc->aggs, a->name);
		if (agg == NULL || agg->agg != NULL)
			return false;
		some = true;
	}
	return some;
}
