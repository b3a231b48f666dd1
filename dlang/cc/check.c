/*
 * Checks statements and clauses: predicates, and the order in which actions may
 * follow each other.
 */
#include "dlang/cc/check.h"

#include <string.h>

/* ---- order ---- */

struct order {
	bool spec, commit, data;
};

static int
check_speculate(struct comp *c, struct node *n, struct order *o)
{
	if (o->commit)
		return comp_error(
		    c, D_SPEC_COMM, n, "speculate( ) may not follow commit( )");
	if (o->spec)
		return comp_error(c, D_SPEC_SPEC, n,
		    "speculate( ) may not follow speculate( )");
	if (o->data)
		return comp_error(c, D_SPEC_DREC, n,
		    "speculate( ) may not follow data-recording action(s)");
	o->spec = true;
	return 0;
}

static int
check_data(struct comp *c, struct node *n, struct order *o)
{
	const struct ident *id = n->ident;

	if (o->commit)
		return comp_error(c, D_DREC_COMM, n,
		    "data-recording actions may not follow commit( )");
	if (o->spec && id->id == ACT_EXIT)
		return comp_error(
		    c, D_EXIT_SPEC, n, "exit( ) may not follow speculate( )");
	o->data = true;
	return 0;
}

static int
check_action_order(struct comp *c, struct node *n, struct order *o)
{
	const struct ident *id = n->ident;

	if (o->spec && (id->def_flags & A_DESTRUCTIVE) != 0)
		return check_destructive_after_speculate(c, n);
	if (id->id == ACT_SPECULATE)
		return check_speculate(c, n, o);
	if (id->id == ACT_COMMIT) {
		if (o->data)
			return comp_error(c, D_COMM_DREC, n,
			    "commit( ) may not follow data-recording "
			    "action(s)");
		o->commit = true;
		return 0;
	}
	return (id->def_flags & A_REC) != 0 ? check_data(c, n, o) : 0;
}

struct order_walk {
	struct comp *c;
	struct order *o;
};

/* A subroutine that writes to the target counts as destructive wherever it is
 * used. */
static int
check_subr_order(struct node *n, void *ctx)
{
	struct order_walk *w = ctx;

	if (n->kind == N_CALL && n->ident != NULL &&
	    n->ident->kind == ID_SUBR && w->o->spec &&
	    n->ident->def_flags == S_DESTRUCTIVE)
		return check_destructive_after_speculate(w->c, n);
	return 0;
}

static int
check_order(struct comp *c, struct node *stmt, struct order *o)
{
	struct node *n = stmt->a;
	struct order_walk w = { c, o };

	if (n->kind == N_ASSIGN && n->ident != NULL &&
	    n->ident->kind == ID_AGG) {
		if (o->commit)
			return comp_error(c, D_AGG_COMM, n,
			    "aggregating actions may not follow commit( )");
		if (o->spec)
			return comp_error(c, D_AGG_SPEC, n,
			    "aggregating actions may not follow speculate( )");
		return 0;
	}
	if (n->kind == N_CALL && n->ident != NULL &&
	    n->ident->kind == ID_ACTION)
		return check_action_order(c, n, o);
	return node_walk(n, check_subr_order, &w);
}

/* ---- statements ---- */

static struct node *
agg_base(struct node *n)
{
	while (n->kind == N_INDEX)
		n = n->a;
	return n->kind == N_AGG ? n : NULL;
}

static int
check_stmt(struct comp *c, struct node *stmt)
{
	struct node *n = stmt->a;

	if (check_choice(c, n) != 0)
		return -EINVAL;
	if (leave_stmt(c, n)) {
		check_become_int(n, 0, c->cc->t_int);
		return 0;
	}
	if (n->kind == N_ASSIGN && agg_base(n->a) != NULL)
		return check_agg_assign(c, n);
	struct node *agg = agg_base(n);
	if (agg != NULL) {
		if (check_expr(c, n) != 0)
			return -EINVAL;
		if (n == agg && hash_get_str(&c->cc->aggs, agg->name) == NULL)
			return comp_error(c, D_IDENT_UNDEF, n,
			    "failed to resolve @%s: Unknown variable name",
			    agg->name);
		return comp_error(c, D_AGG_NULL, n,
		    "expression has null effect: @%s", agg->name);
	}
	return check_expr(c, n);
}

static int
check_predicate(struct comp *c, struct node *clause)
{
	struct node *pred = clause->a;

	c->diags->context = "in predicate";
	if (check_expr(c, pred) != 0)
		return -EINVAL;
	/* An error about the whole predicate is reported at the end of the
	 * clause. */
	pred->span.ahead =
	    clause->span.line + clause->span.ahead - pred->span.line;
	if (!type_is_scalar(pred->type))
		return comp_error(c, D_PRED_SCALAR, pred,
		    "predicate result must be of scalar type");
	return 0;
}

static int
check_statements(struct comp *c, struct node *first)
{
	struct order o = { 0 };

	c->diags->context = "in action list";
	for (struct node *s = first; s != NULL; s = s->next) {
		c->speculating = o.spec;
		if (check_stmt(c, s) != 0 || check_order(c, s, &o) != 0)
			return -EINVAL;
	}
	c->speculating = false;
	return 0;
}

/* ---- which comes first ---- */

/* Is this a variable that was not declared so far? */
static bool
is_unknown(struct comp *c, const struct node *n)
{
	if (n->kind == N_NAME)
		return strchr(n->name, '`') == NULL &&
		    scope_global(c->cc, n->name) == NULL;
	if (n->kind != N_MEMBER || n->op != O_ARROW)
		return false;
	return (n->a->kind == N_SELF &&
		   scope_lookup(c, DIF_THREAD, n->name) == NULL) ||
	    (n->a->kind == N_THIS &&
		scope_lookup(c, DIF_LOCAL, n->name) == NULL);
}

static bool
same_name(const struct node *a, const struct node *b)
{
	return a->kind == b->kind && strcmp(a->name, b->name) == 0 &&
	    (a->kind == N_NAME || a->a->kind == b->a->kind);
}

struct search {
	struct comp *c;
	const struct node *name, *pred, *body;
};

/* Does this assign s->name? */
static int
declares(struct node *n, void *ctx)
{
	const struct search *s = ctx;
	bool steps = n->op == O_INC || n->op == O_DEC;

	if (n->kind != N_ASSIGN && !(n->kind == N_UNARY && steps) &&
	    !(n->kind == N_POSTFIX && steps))
		return 0;
	const struct node *to = n->a->kind == N_INDEX ? n->a->a : n->a;
	return (to->kind == N_NAME || to->kind == N_MEMBER) &&
	    same_name(to, s->name);
}

/* Is this a name in the predicate that a statement declares? */
static int
comes_later(struct node *n, void *ctx)
{
	struct search *s = ctx;

	if (!is_unknown(s->c, n))
		return 0;
	s->name = n;
	return node_walk((struct node *)(uintptr_t)s->pred, declares, s) == 0 &&
	    node_walk((struct node *)(uintptr_t)s->body, declares, s) != 0;
}

int
check_clause(struct comp *c, struct node *clause)
{
	struct node *pred = clause->a;
	struct node *first = clause->b != NULL ? clause->b->list : NULL;
	struct search s = { .c = c, .pred = pred, .body = clause->b };

	c->clause_begin = (struct node){ .span = clause->span };
	c->clause_begin.span.ahead = 0;
	if (pred == NULL)
		return check_statements(c, first);
	if (node_walk(pred, comes_later, &s) == 0)
		return check_predicate(c, clause) != 0 ?
		    -EINVAL :
		    check_statements(c, first);
	int error = check_statements(c, first);
	return error != 0 ? error : check_predicate(c, clause);
}
