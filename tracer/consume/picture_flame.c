/*
 * A flame graph: a box for each node of a tree of stacks, as wide as what was
 * counted in it and above it.
 */
#include <string.h>

#include "tracer/consume/picture.h"

#define WIDTH (PICTURE_WIDTH - 2 * PICTURE_MARGIN)

/* A box that would be narrower than this is omitted: zooming in twenty times
 * does not make it a pixel wide, and there may be very many of them. */
#define NARROW 0.05

struct flame {
	struct picture *pic;
	uint64_t total;
	uint32_t depth;
	uint64_t drawn;
};

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
box_draw(const struct flame *f, const struct node *n, uint64_t from)
{
	const char *name =
	    n->parent != NULL ? f->pic->page->names.at[n->name].text : "all";
	double x = (double)from / (double)f->total * WIDTH;
	double width = (double)n->count[0] / (double)f->total * WIDTH;
	unsigned y = (f->depth - n->depth) * PICTURE_ROW;
	const char *function = strchr(name, '`');
	struct str *to = &f->pic->body;

	str_printf(to,
	    "<g class=\"box\" data-from=\"%llu\" data-count=\"%llu\" "
	    "data-depth=\"%u\"><title>",
	    (unsigned long long)from, (unsigned long long)n->count[0],
	    n->depth);
	text_add_xml(to, name);
	str_printf(to,
	    "\n%llu of %llu (%.2f %%)</title>"
	    "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" fill=\"",
	    (unsigned long long)n->count[0], (unsigned long long)f->total,
	    100.0 * (double)n->count[0] / (double)f->total, x, y, width,
	    PICTURE_ROW - 1);
	box_colour(to, name);
	str_printf(
	    to, "\"/><text x=\"%.2f\" y=\"%u\">", x + 3, y + PICTURE_ROW - 5);
	if (width >= 6 + 3 * PICTURE_CHAR)
		text_add_xml_cut(to, function != NULL ? function + 1 : name,
		    (size_t)((width - 6) / PICTURE_CHAR));
	str_add(to, "</text></g>\n");
}

static bool
is_narrow(const struct flame *f, const struct node *n)
{
	return (double)n->count[0] / (double)f->total * WIDTH < NARROW;
}

static void
node_draw(struct flame *f, const struct node *n, uint64_t from)
{
	if (is_narrow(f, n))
		return;
	f->drawn++;
	box_draw(f, n, from);
	for (const struct node *c = n->child; c != NULL; c = c->sibling) {
		node_draw(f, c, from);
		from += c->count[0];
	}
}

void
picture_flame(struct picture *pic, struct page_agg *a)
{
	struct tree *t = a->tree;
	struct flame f = { .pic = pic, .total = t->root.count[0] };
	struct str head = { 0 };

	if (!a->is_stacks || f.total == 0)
		return;
	tree_sort(pic->page, t);
	f.depth = tree_depth(&t->root, 1);
	str_printf(&head, "@%s: %llu in %llu stack%s", own(picture_name(a)),
	    (unsigned long long)f.total, (unsigned long long)a->stacks,
	    a->stacks == 1 ? "" : "s");
	picture_head(pic, str_c(&head));
	str_clear(&head);
	str_printf(&pic->body,
	    "<g class=\"flame\" transform=\"translate(%d,%u)\">\n",
	    PICTURE_MARGIN, pic->y);
	node_draw(&f, &t->root, 0);
	str_add(&pic->body, "</g>\n");
	pic->y += (f.depth + 1) * PICTURE_ROW;
	pic->n++;
	uint64_t left = t->nodes + 1 + t->pruned - f.drawn;
	if (left != 0) {
		str_printf(&head,
		    "%llu boxes too narrow to be seen are left out",
		    (unsigned long long)left);
		picture_head(pic, str_c(&head));
	}
	str_fini(&head);
}
