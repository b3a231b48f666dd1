/*
 * A flame graph: every stack is a path from the root upwards. A box is as wide
 * as the sum of what was counted in it and above it.
 *
 * The members of the key are added in their order: a stack as its functions,
 * from the outermost on, anything else as one box.
 */
#include <stdlib.h>
#include <string.h>

#include "tracer/consume/picture.h"

#define WIDTH (PICTURE_WIDTH - 2 * PICTURE_MARGIN)

/* A box that would be narrower than this is omitted: zooming in twenty times
 * does not make it a pixel wide, and there may be very many of them. */
#define NARROW 0.05

/* The greatest depth. What is above is counted in the box at this depth: nobody
 * looks at more, and functions here recurse once for each level. */
#define DEEPEST 2048

struct node {
	char *name;
	uint64_t count;
	uint32_t depth;
	struct node *next; /* with the same hash */
	struct node *parent;
	VEC(struct node *) children;
};

struct tree {
	struct node root;
	struct hash by_name;
	uint32_t depth;  /* of the deepest */
	uint32_t stacks; /* paths */
	uint64_t left;   /* boxes left out */
	struct node *at; /* the end of the path that is being added */
	uint64_t count;  /* of it */
};

static uint64_t
count_add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* One step of the path. */
static void
tree_step(void *ctx, const char *name)
{
	struct tree *t = ctx;
	uint64_t h = hash_bytes(name, strlen(name)) ^
	    hash_u64((uint64_t)(uintptr_t)t->at);
	struct node *first = hash_get(&t->by_name, h), *n;

	if (t->at->depth >= DEEPEST)
		return;
	for (n = first; n != NULL; n = n->next)
		if (n->parent == t->at && strcmp(n->name, name) == 0)
			break;
	if (n == NULL) {
		n = mem_zalloc(sizeof(*n));
		n->name = mem_strdup(name);
		n->parent = t->at;
		n->depth = t->at->depth + 1;
		n->next = first;
		t->depth = MAX(t->depth, n->depth);
		hash_set(&t->by_name, h, n);
		*vec_push(&t->at->children) = n;
	}
	n->count = count_add(n->count, t->count);
	t->at = n;
}

static void
tree_add(struct tree *t, struct picture *pic, const struct prog_agg *def,
    const struct agg_row *row)
{
	struct str text = { 0 };
	struct printer p = record_printer(pic->c, &text);
	int64_t v = (int64_t)row->value[0];

	if (v <= 0 || row->empty)
		return;
	p.escape = false;
	t->count = (uint64_t)v;
	t->at = &t->root;
	t->root.count = count_add(t->root.count, t->count);
	t->stacks++;
	for (size_t i = 0; i < def->nkeys; i++) {
		const struct prog_rec *rec = &def->keys[i];
		const uint8_t *key = row->key + rec->off;

		if (rec->kind == REC_STACK) {
			stack_functions(&p, key, rec->size, tree_step, t);
			continue;
		}
		print_key_short(&p, rec, key);
		tree_step(t, str_c(&text));
		str_clear(&text);
	}
	str_fini(&text);
}

static void
node_fini(struct node *n)
{
	vec_foreach(c, &n->children) {
		node_fini(*c);
		mem_free(*c);
	}
	vec_fini(&n->children);
	mem_free(n->name);
}

/* ---- boxes ---- */

static int
node_compare(const void *a, const void *b)
{
	return strcmp(
	    (*(struct node *const *)a)->name, (*(struct node *const *)b)->name);
}

/* A colour for the object, and a shade of it for the function. So neighbours
 * can be distinguished without a line between them, which would hide narrow
 * boxes. */
static void
box_colour(struct str *to, const char *name)
{
	uint64_t object = hash_bytes(name, strcspn(name, "`"));
	uint64_t function = hash_bytes(name, strlen(name));

	str_printf(to, "hsl(%u,60%%,%u%%)",
	    (unsigned)(object % 320 + function % 40),
	    (unsigned)(62 + function / 64 % 22));
}

static void
box_draw(const struct tree *t, struct picture *pic, const struct node *n,
    uint64_t from)
{
	double total = (double)t->root.count;
	double x = (double)from / total * WIDTH;
	double width = (double)n->count / total * WIDTH;
	unsigned y = (t->depth - n->depth) * PICTURE_ROW;
	const char *function = strchr(n->name, '`');
	struct str *to = &pic->body;

	str_printf(to,
	    "<g class=\"box\" data-from=\"%llu\" data-count=\"%llu\" "
	    "data-depth=\"%u\"><title>",
	    (unsigned long long)from, (unsigned long long)n->count, n->depth);
	text_add_xml(to, n->name);
	str_printf(to,
	    "\n%llu of %llu (%.2f %%)</title>"
	    "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" fill=\"",
	    (unsigned long long)n->count, (unsigned long long)t->root.count,
	    100.0 * (double)n->count / total, x, y, width, PICTURE_ROW - 1);
	box_colour(to, n->name);
	str_printf(
	    to, "\"/><text x=\"%.2f\" y=\"%u\">", x + 3, y + PICTURE_ROW - 5);
	if (width >= 6 + 3 * PICTURE_CHAR)
		text_add_xml_cut(to, function != NULL ? function + 1 : n->name,
		    (size_t)((width - 6) / PICTURE_CHAR));
	str_add(to, "</text></g>\n");
}

static uint64_t
node_boxes(const struct node *n)
{
	uint64_t sum = 1;

	vec_foreach(c, &n->children)
		sum += node_boxes(*c);
	return sum;
}

static void
node_draw(struct tree *t, struct picture *pic, struct node *n, uint64_t from)
{
	if ((double)n->count / (double)t->root.count * WIDTH < NARROW) {
		t->left += node_boxes(n);
		return;
	}
	box_draw(t, pic, n, from);
	if (n->children.len > 1)
		qsort(n->children.at, n->children.len, sizeof(*n->children.at),
		    node_compare);
	vec_foreach(c, &n->children) {
		node_draw(t, pic, *c, from);
		from = count_add(from, (*c)->count);
	}
}

static void
tree_draw(struct tree *t, struct picture *pic, const struct prog_agg *def)
{
	struct str head = { 0 };

	str_printf(&head, "@%s: %llu in %u stack%s", own(picture_name(def)),
	    (unsigned long long)t->root.count, t->stacks,
	    t->stacks == 1 ? "" : "s");
	picture_head(pic, str_c(&head));
	str_fini(&head);
	str_printf(&pic->body,
	    "<g class=\"flame\" transform=\"translate(%d,%u)\">\n",
	    PICTURE_MARGIN, pic->y);
	node_draw(t, pic, &t->root, 0);
	str_add(&pic->body, "</g>\n");
	pic->y += (t->depth + 1) * PICTURE_ROW;
	pic->n++;
	if (t->left == 0)
		return;
	str_printf(&head, "%llu boxes too narrow to be seen are left out",
	    (unsigned long long)t->left);
	picture_head(pic, str_c(&head));
	str_fini(&head);
}

static bool
has_stack(const struct prog_agg *def)
{
	for (size_t i = 0; i < def->nkeys; i++)
		if (def->keys[i].kind == REC_STACK)
			return true;
	return false;
}

void
picture_flame(struct picture *pic, const struct prog_agg *def)
{
	struct tree t = { 0 };

	if (!has_stack(def) || (def->func != AGG_COUNT && def->func != AGG_SUM))
		return;
	t.root.name = mem_strdup("all");
	vec_foreach(row, &aggs_table(&pic->c->aggs, def->id)->rows)
		tree_add(&t, pic, def, *row);
	if (t.root.count > 0)
		tree_draw(&t, pic, def);
	node_fini(&t.root);
	hash_fini(&t.by_name);
}
