/*
 * The view: which lines of the pages are on the screen, and what keys change.
 *
 *	table @calls, ...
 *	rows ...                 <- from v->row and v->column on
 *	status line              <- the last row
 */
#include <string.h>

#include "tracer/consume/screen.h"
#include "tracer/consume/top_impl.h"

/* Columns by which the arrows to the left and right move. */
#define SIDEWAYS 8

static const char help[] =
    "Up, Down, k, j         scroll by a line\n"
    "PageUp, PageDown       by a screen\n"
    "Home, End              to the begin, to the end\n"
    "Left, Right            sideways\n"
    "Tab, BackTab           the next or previous table alone; all of them\n"
    "s                      sort by the next column: values, then keys\n"
    "r                      reverse the order\n"
    "space                  the display pauses, the trace does not; or go on\n"
    "c                      forget all that was aggregated so far\n"
    "q                      end, as Ctrl-C does: END fires\n"
    "h, ?                   this help; any key leaves it\n";

/* ---- lines ---- */

struct line {
	const char *text;
	size_t len;
	enum screen_look look;
};

struct lines {
	VEC(struct line) at;
	VEC(char *) made; /* texts that are freed with the lines */
};

static void
add_lines(struct lines *l, const char *text, enum screen_look look)
{
	while (*text != '\0') {
		size_t len = strcspn(text, "\n");
		*vec_push(&l->at) = (struct line){ text, len, look };
		text += len + (text[len] == '\n');
	}
}

/* Takes the text. */
static void
add_made(struct lines *l, char *text, enum screen_look look)
{
	*vec_push(&l->made) = text;
	add_lines(l, text, look);
}

static void
lines_fini(struct lines *l)
{
	vec_foreach(text, &l->made)
		mem_free(*text);
	vec_fini(&l->made);
	vec_fini(&l->at);
}

static void
add_table(struct lines *l, const struct top_table *t)
{
	char *column = top_column_name(t, t->column);
	char *more = t->left_out != 0 ?
	    mem_printf(" of %zu", t->rows.len + t->left_out) :
	    mem_strdup("");

	add_made(l,
	    mem_printf("%s: %zu%s row%s by %s, the %s first", t->name,
		t->rows.len, more, t->rows.len == 1 ? "" : "s", column,
		t->up ? "smallest" : "largest"),
	    SCREEN_BOLD);
	mem_free(more);
	mem_free(column);
	if (t->header != NULL)
		add_lines(l, t->header, SCREEN_PLAIN);
	vec_foreach(row, &t->rows)
		add_lines(l, row->text, SCREEN_PLAIN);
}

static size_t
count_tables(const struct top_view *v)
{
	size_t n = 0;

	vec_foreach(page, &v->pages.at)
		vec_foreach(item, &page->items)
			n += item->table != NULL;
	return n;
}

/* What can be chosen: everything, each table, the log. */
static size_t
count_choices(const struct top_view *v)
{
	return 1 + count_tables(v) + (v->log.len != 0);
}

static void
make_lines(const struct top_view *v, struct lines *l)
{
	size_t n = 0;

	if (v->help) {
		add_lines(l, help, SCREEN_PLAIN);
		return;
	}
	vec_foreach(page, &v->pages.at)
		vec_foreach(item, &page->items) {
			n += item->table != NULL;
			if (v->chosen != 0 &&
			    (item->table == NULL || v->chosen != n))
				continue;
			if (item->table != NULL)
				add_table(l, item->table);
			else
				add_lines(l, item->text, SCREEN_PLAIN);
		}
	if (v->log.len != 0 && (v->chosen == 0 || v->chosen == n + 1)) {
		add_made(l, mem_strdup("lines:"), SCREEN_BOLD);
		add_lines(l, str_c(&v->log), SCREEN_PLAIN);
	}
}

/* ---- the screen ---- */

/* The place for lines, above the status. */
static size_t
page_rows(void)
{
	return (size_t)MAX(screen_rows() - 1, 1);
}

static void
draw_status(const struct top_view *v, const struct lines *l)
{
	struct str text = { 0 };
	size_t end = MIN(v->row + page_rows(), l->at.len);

	/* The end may not fit. */
	str_printf(&text, "dtrap top | %s%s | %zu-%zu of %zu lines",
	    v->paused ? "PAUSED | " : "", own(v->status), MIN(v->row + 1, end),
	    end, l->at.len);
	if (count_choices(v) > 2)
		str_printf(&text, " | Tab: %zu of %zu", v->chosen + 1,
		    count_choices(v));
	str_printf(&text, " | h: help | %s", own(v->asked));
	screen_line(screen_rows() - 1, text.s, text.len, 0, SCREEN_REVERSE);
	str_fini(&text);
}

void
top_view_draw(struct top_view *v)
{
	struct lines l = { 0 };

	if (v->chosen >= count_choices(v))
		v->chosen = 0;
	make_lines(v, &l);
	if (v->row + page_rows() > l.at.len)
		v->row = l.at.len - MIN(l.at.len, page_rows());
	for (size_t i = 0; i < page_rows(); i++) {
		static const struct line empty = { "", 0, SCREEN_PLAIN };
		const struct line *at =
		    v->row + i < l.at.len ? &l.at.at[v->row + i] : &empty;
		screen_line(
		    (int)i, at->text, at->len, (int)v->column, at->look);
	}
	draw_status(v, &l);
	lines_fini(&l);
	screen_show();
}

/* ---- the order of tables ---- */

/* What the user has chosen for tables of that name; or NULL. */
static struct top_order *
order_of(struct top_view *v, const char *name)
{
	vec_foreach(o, &v->orders)
		if (strcmp(o->name, name) == 0)
			return o;
	return NULL;
}

static void
keep_order(struct top_view *v, struct top_table *t)
{
	const struct top_order *o = order_of(v, t->name);

	if (o == NULL)
		return;
	t->column = o->column % t->ncolumns;
	t->up = o->up;
	top_table_sort(t);
}

void
top_view_take(struct top_view *v, struct top_pages *from)
{
	vec_foreach(page, &from->at) {
		struct top_page *to =
		    top_page_begin(&v->pages, page->probe, page->when);
		vec_foreach(item, &page->items) {
			if (item->table != NULL)
				keep_order(v, item->table);
			*vec_push(&to->items) = *item;
		}
		vec_clear(&page->items);
	}
	top_pages_fini(from);
}

/* The next column, or the other direction, of one table. */
static void
reorder(struct top_view *v, struct top_table *t, bool reverse)
{
	struct top_order *o = order_of(v, t->name);

	if (reverse) {
		t->up = !t->up;
	} else {
		t->column = (t->column + 1) % t->ncolumns;
		/* Values begin with the largest, keys with the smallest. */
		t->up = t->column >= t->nvalues;
	}
	top_table_sort(t);
	if (o == NULL) {
		o = vec_push(&v->orders);
		o->name = mem_strdup(t->name);
	}
	o->column = t->column;
	o->up = t->up;
}

static void
reorder_chosen(struct top_view *v, bool reverse)
{
	size_t n = 0;

	vec_foreach(page, &v->pages.at)
		vec_foreach(item, &page->items)
			if (item->table != NULL &&
			    (v->chosen == 0 || v->chosen == ++n))
				reorder(v, item->table, reverse);
}

/* ---- keys ---- */

static void
choose(struct top_view *v, size_t by)
{
	v->chosen = (v->chosen + by) % count_choices(v);
	v->row = v->column = 0;
}

static void
scroll_up(size_t *at, size_t by)
{
	*at -= MIN(*at, by);
}

bool
top_view_key(struct top_view *v, int key)
{
	if (v->help) {
		v->help = false;
		v->row = 0;
		return true;
	}
	switch (key) {
	case SCREEN_UP:
	case 'k': scroll_up(&v->row, 1); break;
	case SCREEN_DOWN:
	case 'j': v->row++; break;
	case SCREEN_PAGE_UP: scroll_up(&v->row, page_rows()); break;
	case SCREEN_PAGE_DOWN: v->row += page_rows(); break;
	case SCREEN_HOME: v->row = v->column = 0; break;
	/* Drawing goes back to the last page. */
	case SCREEN_END: v->row = SIZE_MAX / 2; break;
	case SCREEN_LEFT: scroll_up(&v->column, SIDEWAYS); break;
	case SCREEN_RIGHT:
		v->column = MIN(v->column + SIDEWAYS, INT16_MAX);
		break;
	case '\t': choose(v, 1); break;
	case SCREEN_BACK_TAB: choose(v, count_choices(v) - 1); break;
	case 's': reorder_chosen(v, false); break;
	case 'r': reorder_chosen(v, true); break;
	case 'h':
	case '?':
		v->help = true;
		v->row = v->column = 0;
		break;
	default: return false;
	}
	return true;
}

void
top_view_fini(struct top_view *v)
{
	top_pages_fini(&v->pages);
	vec_foreach(o, &v->orders)
		mem_free(o->name);
	vec_fini(&v->orders);
	str_fini(&v->log);
}
