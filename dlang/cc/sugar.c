/*
 * Converts a clause with if statements to several clauses without.
 *
 * A clause is split where control may take two ways.  Each piece becomes a
 * clause of its own, in order, on the same probes.  A hidden clause-local
 * variable says which piece is to run next:
 *
 *	/p/ { A; if (c) { B } else { C } D }
 *
 * becomes
 *
 *		{ pc = 0; }
 *	/p/	{ A; pc = c ? 1 : 2; }
 *	/pc == 1/ { B; pc = 3; }
 *	/pc == 2/ { C; pc = 3; }
 *	/pc == 3/ { D; pc = 0; }
 *
 * Control only goes forward, so one pass over the pieces runs the whole clause.
 * A piece with a fault does not reach its last statement.  Then no later piece
 * is the next one, and the whole clause has ended.
 */

#include "dlang/cc/cc_impl.h"

struct lower {
	struct comp *c;
	struct nlist *out;
	struct node *piece; /* being filled */
	struct nlist body;  /* its statements */
	const char *pc;     /* the hidden variable's name */
	unsigned next;
	struct span span;
};

static int
find_if(struct node *n, void *ctx)
{
	return n->kind == N_IF;
}

/* ---- nodes ---- */

static struct node *
node(struct lower *l, enum node_kind kind)
{
	return node_new(&l->c->cc->arena, kind, &l->span);
}

static struct node *
number(struct lower *l, unsigned value)
{
	struct node *n = node(l, N_INT);

	n->value = value;
	n->type = l->c->cc->t_int;
	n->flags = NF_CONST | NF_CANON;
	return n;
}

static struct node *
pc(struct lower *l)
{
	struct node *n = node(l, N_MEMBER);

	n->op = O_ARROW;
	n->a = node(l, N_THIS);
	n->name = l->pc;
	return n;
}

static void
add_statement(struct lower *l, struct node *stmt)
{
	stmt->next = NULL;
	nlist_add(&l->body, stmt);
}

static void
go_to(struct lower *l, struct node *where)
{
	struct node *stmt = node(l, N_EXPR), *set = node(l, N_ASSIGN);

	set->op = O_SET;
	set->a = pc(l);
	set->b = where;
	stmt->a = set;
	add_statement(l, stmt);
}

/* ---- pieces ---- */

static void
open_piece(struct lower *l, struct node *pred)
{
	l->piece = node(l, N_CLAUSE);
	l->piece->a = pred;
	l->body = (struct nlist){ 0 };
}

static void
close_piece(struct lower *l)
{
	l->piece->b = node(l, N_BLOCK);
	l->piece->b->list = l->body.head;
	l->piece->b->has_body = true;
	nlist_add(l->out, l->piece);
}

static void
next_piece(struct lower *l, unsigned id)
{
	struct node *is = node(l, N_BINARY);

	is->op = O_EQ;
	is->a = pc(l);
	is->b = number(l, id);
	close_piece(l);
	open_piece(l, is);
}

static void lower_list(struct lower *l, struct node *list);

static void
lower_if(struct lower *l, struct node *n)
{
	unsigned yes = l->next++, no = l->next++;
	unsigned join = n->c != NULL ? l->next++ : no;
	struct node *way = node(l, N_COND);

	way->span = n->a->span;
	way->a = n->a;
	way->b = number(l, yes);
	way->c = number(l, no);
	go_to(l, way);
	next_piece(l, yes);
	lower_list(l, n->b->list);
	go_to(l, number(l, join));
	if (n->c != NULL) {
		next_piece(l, no);
		lower_list(l, n->c->list);
		go_to(l, number(l, join));
	}
	next_piece(l, join);
}

static void
lower_list(struct lower *l, struct node *list)
{
	struct node *next;

	for (struct node *s = list; s != NULL; s = next) {
		next = s->next;
		if (s->kind == N_IF)
			lower_if(l, s);
		else if (s->kind == N_BLOCK)
			lower_list(l, s->list);
		else
			add_statement(l, s);
	}
}

static void
lower_clause(struct lower *l, struct node *clause)
{
	open_piece(l, NULL);
	go_to(l, number(l, 0));
	if (clause->a != NULL) {
		close_piece(l);
		open_piece(l, clause->a);
	}
	lower_list(l, clause->b->list);
	go_to(l, number(l, 0));
	close_piece(l);
}

int
sugar_clause(struct comp *c, struct node *clause, struct nlist *out)
{
	struct lower l = {
		.c = c, .out = out, .next = 1, .span = clause->span
	};

	*out = (struct nlist){ 0 };
	if (clause->b != NULL && node_walk(clause->b, find_if, NULL) != 0) {
		/* No program can use this name. */
		l.pc = arena_printf(&c->cc->arena, "%%pc%u", c->cc->anon++);
		lower_clause(&l, clause);
		return 0;
	}
	struct node *copy = node(&l, N_CLAUSE);
	*copy = *clause;
	copy->list = copy->next = NULL;
	nlist_add(out, copy);
	return 0;
}
