/*
 * Clauses with if statements, as several without.
 *
 * A clause is cut where the conditions under which its statements run change.
 * Each piece becomes a clause of its own, in order, on the same probes, and
 * what it depends on is kept in hidden clause-locals:
 *
 *	/p/ { A; if (c) { B } else { C } D }
 *
 *	/p/		{ this->%1 = 1; A; this->%2 = (c) ? 1 : 2; }
 *	...
 *
 * A fault in one piece has to stop the others.  Each piece ends by counting
 * itself in this->%step, and each begins only if the one before has counted,
 * or was not to run.
 */
#include "dlang/cc/cc_impl.h"

static int
find_if(struct node *n, void *ctx)
{
	return n->kind == N_IF;
}

int
sugar_clause(struct comp *c, struct node *clause, struct nlist *out)
{
	if (clause->b == NULL || node_walk(clause->b, find_if, NULL) == 0) {
		*out = (struct nlist){ 0 };
		struct node *copy = node_new(&c->cc->arena, N_CLAUSE,
		    &clause->span);
		*copy = *clause;
		copy->list = NULL;
		copy->next = NULL;
		nlist_add(out, copy);
		return 0;
	}
	return comp_error(c, D_UNKNOWN, clause, "if is not implemented");
}
