/*
 * Nodes: constructors, walker, copy, dump; see ast.h.
 */
#include "dlang/cc/ast.h"

#include "dlang/types.h"

static const char *const kind_names[] = {
#define X(k) #k,
	NODE_KINDS(X)
#undef X
};

static const char *const oper_names[] = {
#define X(k, s) s,
	OPERATORS(X)
#undef X
};

struct node *
node_new(struct arena *a, enum node_kind kind, const struct span *at)
{
	struct node *n = arena_alloc(a, sizeof(*n));

	n->kind = (uint8_t)kind;
	n->span = *at;
	return n;
}

void
nlist_add(struct nlist *l, struct node *n)
{
	if (l->head == NULL)
		l->head = n;
	else
		l->tail->next = n;
	l->tail = n;
}

struct node *
node_copy(struct arena *a, const struct node *n)
{
	if (n == NULL)
		return NULL;
	struct node *copy = arena_alloc(a, sizeof(*copy));
	struct nlist list = { 0 };
	*copy = *n;
	copy->next = NULL;
	copy->a = node_copy(a, n->a);
	copy->b = node_copy(a, n->b);
	copy->c = node_copy(a, n->c);
	for (const struct node *k = n->list; k != NULL; k = k->next)
		nlist_add(&list, node_copy(a, k));
	copy->list = list.head;
	return copy;
}

int
node_walk(struct node *n, node_fn fn, void *ctx)
{
	int error;

	if (n == NULL)
		return 0;
	if ((error = fn(n, ctx)) != 0 || (error = node_walk(n->a, fn, ctx)) ||
	    (error = node_walk(n->b, fn, ctx)) ||
	    (error = node_walk(n->c, fn, ctx)))
		return error;
	for (struct node *k = n->list; k != NULL; k = k->next)
		if ((error = node_walk(k, fn, ctx)) != 0)
			return error;
	return 0;
}

const char *
oper_text(unsigned op)
{
	return oper_names[op];
}

static bool
has_oper(const struct node *n)
{
	return n->kind == N_UNARY || n->kind == N_POSTFIX ||
	    n->kind == N_BINARY || n->kind == N_ASSIGN || n->kind == N_MEMBER ||
	    n->kind == N_SOU;
}

void
node_dump(FILE *out, const struct node *n, int depth)
{
	char type[128];

	if (n == NULL)
		return;
	fprintf(out, "%*s%s", depth * 2, "", kind_names[n->kind]);
	if (has_oper(n))
		fprintf(out, " %s", oper_text(n->op));
	if (n->name != NULL)
		fprintf(out, " %s", n->name);
	if (n->kind == N_INT)
		fprintf(out, " %ld", (long)n->value);
	if (n->type != NULL)
		fprintf(out, " (%s)", type_name(n->type, type, sizeof(type)));
	fputc('\n', out);
	node_dump(out, n->a, depth + 1);
	node_dump(out, n->b, depth + 1);
	node_dump(out, n->c, depth + 1);
	for (const struct node *k = n->list; k != NULL; k = k->next)
		node_dump(out, k, depth + 1);
}

struct span
span_join(const struct span *a, const struct span *b)
{
	struct span s = *a;

	s.end_line = b->end_line;
	s.end_col = b->end_col;
	return s;
}
