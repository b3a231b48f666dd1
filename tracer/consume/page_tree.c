/*
 * Stacks as a tree: every stack is a path from the root, and a node counts what
 * was counted in it and above it.
 *
 * If there are too many nodes, the smaller half of them is given up: their
 * callers still count them.  They are too narrow to be seen, unless many nodes
 * count the same.
 */
#include <stdlib.h>
#include <string.h>

#include "tracer/consume/page_impl.h"

static uint64_t
count_add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

struct tree *
tree_create(void)
{
	return mem_zalloc(sizeof(struct tree));
}

static void
node_fini(struct node *n)
{
	for (struct node *c = n->child, *next; c != NULL; c = next) {
		next = c->sibling;
		node_fini(c);
		mem_free(c);
	}
}

void
tree_destroy(struct tree *t)
{
	if (t == NULL)
		return;
	node_fini(&t->root);
	hash_fini(&t->by_name);
	mem_free(t);
}

/* ---- nodes ---- */

static uint64_t
node_hash(const struct node *parent, uint32_t name)
{
	return hash_u64(hash_u64((uint64_t)(uintptr_t)parent) ^ name);
}

static struct node *
node_step(struct tree *t, struct node *at, uint32_t name)
{
	uint64_t h = node_hash(at, name);
	struct node *first = hash_get(&t->by_name, h), *n;

	for (n = first; n != NULL; n = n->next)
		if (n->parent == at && n->name == name)
			return n;
	n = mem_zalloc(sizeof(*n));
	n->name = name;
	n->depth = at->depth + 1;
	n->parent = at;
	n->sibling = at->child;
	at->child = n;
	n->next = first;
	hash_set(&t->by_name, h, n);
	t->nodes++;
	return n;
}

/* ---- too many ---- */

static uint64_t
node_larger(const struct node *n)
{
	return MAX(n->count[0], n->count[1]);
}

static void
node_counts(const struct node *n, uint64_t *counts, size_t *at)
{
	for (const struct node *c = n->child; c != NULL; c = c->sibling) {
		counts[(*at)++] = node_larger(c);
		node_counts(c, counts, at);
	}
}

static int
count_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Remove nodes of at most `most', and put the others into the table anew. */
static void
node_prune(struct tree *t, struct node *n, uint64_t most)
{
	struct node **link = &n->child;

	while (*link != NULL) {
		struct node *c = *link;
		if (node_larger(c) <= most) {
			*link = c->sibling;
			n->cut = count_add(n->cut, tree_cut(c));
			node_fini(c);
			mem_free(c);
			continue;
		}
		uint64_t h = node_hash(n, c->name);
		c->next = hash_get(&t->by_name, h);
		hash_set(&t->by_name, h, c);
		t->nodes++;
		node_prune(t, c, most);
		link = &c->sibling;
	}
}

static void
tree_prune(struct tree *t)
{
	size_t n = t->nodes, at = 0;

	if (n < PAGE_NODES)
		return;
	uint64_t *counts = mem_alloc(n * sizeof(*counts));
	node_counts(&t->root, counts, &at);
	qsort(counts, at, sizeof(*counts), count_compare);
	uint64_t most = counts[at / 2];
	mem_free(counts);
	hash_fini(&t->by_name);
	t->nodes = 0;
	node_prune(t, &t->root, most);
	t->pruned += n - t->nodes;
}

/* ---- adding ---- */

void
tree_add(
    struct tree *t, const uint32_t *path, size_t n, uint64_t count, bool cut)
{
	struct node *at = &t->root;

	tree_prune(t);
	at->count[0] = count_add(at->count[0], count);
	t->stacks++;
	for (size_t i = 0; i < n && i < PAGE_DEPTH; i++) {
		at = node_step(t, at, path[i]);
		at->count[0] = count_add(at->count[0], count);
	}
	if (cut)
		at->cut = count_add(at->cut, count);
}

struct merge {
	struct page *p;
	struct tree *to;
	int slot;
	const struct page *of;
};

static void
node_merge(const struct merge *m, struct node *to, const struct node *from)
{
	to->count[m->slot] = count_add(to->count[m->slot], from->count[0]);
	if (m->slot == 0)
		to->cut = count_add(to->cut, from->cut);
	for (const struct node *c = from->child; c != NULL; c = c->sibling) {
		const struct page_name *name = &m->of->names.at[c->name];
		uint32_t id = m->of == m->p ?
		    c->name :
		    page_name(m->p, name->kind, name->text, strlen(name->text));
		node_merge(m, node_step(m->to, to, id), c);
	}
}

void
tree_merge(struct page *p, struct tree *to, int slot, const struct page *of,
    const struct tree *from)
{
	struct merge m = { p, to, slot, of };

	node_merge(&m, &to->root, &from->root);
	to->pruned += from->pruned;
	tree_prune(to);
}

/* ---- reading ---- */

struct sorted {
	struct node *node;
	const char *name;
};

static int
node_compare(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;
	int r = strcmp(x->name, y->name);

	return r != 0                     ? r :
	    x->node->name < y->node->name ? -1 :
					    x->node->name > y->node->name;
}

static void
node_sort(struct page *p, struct node *n)
{
	VEC(struct sorted) all = { 0 };

	for (struct node *c = n->child; c != NULL; c = c->sibling)
		*vec_push(&all) =
		    (struct sorted){ c, p->names.at[c->name].text };
	if (all.len > 1)
		qsort(all.at, all.len, sizeof(*all.at), node_compare);
	struct node **link = &n->child;
	vec_foreach(s, &all) {
		*link = s->node;
		link = &s->node->sibling;
	}
	*link = NULL;
	vec_fini(&all);
	for (struct node *c = n->child; c != NULL; c = c->sibling)
		node_sort(p, c);
}

void
tree_sort(struct page *p, struct tree *t)
{
	node_sort(p, &t->root);
}

uint32_t
tree_depth(const struct node *n, uint64_t least)
{
	uint32_t depth = n->depth;

	for (const struct node *c = n->child; c != NULL; c = c->sibling)
		if (node_larger(c) >= least)
			depth = MAX(depth, tree_depth(c, least));
	return depth;
}

uint64_t
tree_cut(const struct node *n)
{
	uint64_t sum = n->cut;

	for (const struct node *c = n->child; c != NULL; c = c->sibling)
		sum = count_add(sum, tree_cut(c));
	return sum;
}

size_t
tree_size(const struct node *n, uint64_t least)
{
	size_t size = node_larger(n) >= least;

	for (const struct node *c = n->child; size != 0 && c != NULL;
	     c = c->sibling)
		size += tree_size(c, least);
	return size;
}
