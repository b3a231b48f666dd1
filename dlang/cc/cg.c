/*
 * Generates code for clauses: predicate, statements, record.
 */
#include <string.h>

#include "dlang/cc/cg.h"

static void *
keep(struct comp *c, const void *p, size_t size)
{
	return size == 0 ? NULL :
			   memcpy(arena_alloc(&c->prog->arena, size), p, size);
}

int
cg_clause(struct comp *c, struct node *clause)
{
	struct prog_clause *p = c->clause;
	struct cg_clause k = {
		.c = c, .clause = p, .off = sizeof(struct rec_hdr)
	};
	int error = 0;

	if (clause->a != NULL)
		error = cg_difo(c, clause->a, NULL, &p->pred);
	struct node *s = clause->b != NULL ? clause->b->list : NULL;
	k.marks = s == NULL;
	for (; s != NULL && error == 0; s = s->next)
		error = cg_stmt(&k, s);
	p->nacts = k.acts.len;
	p->acts = keep(c, k.acts.at, k.acts.len * sizeof(*k.acts.at));
	p->nstmts = k.stmts.len;
	p->stmts = keep(c, k.stmts.at, k.stmts.len * sizeof(*k.stmts.at));
	p->records = k.marks || k.off > sizeof(struct rec_hdr);
	p->rec_size = p->records ? ROUND_UP(k.off, REC_ALIGN) : 0;
	vec_fini(&k.acts);
	vec_fini(&k.stmts);
	return error;
}
