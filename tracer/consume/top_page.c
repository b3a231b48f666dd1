/*
 * Pages: what the firings of ticks have printed.  A printa() is kept as rows, with
 * what they can be sorted by; see top_impl.h.
 */
#include <stdlib.h>
#include <string.h>

#include "tracer/consume/top_impl.h"

/* More rows of a table are left out: nobody reads them, and each costs the time
 * of printing it. */
#define ROWS_MOST 10000

/* ---- pages ---- */

static void
row_fini(const struct top_row *row, size_t ncolumns)
{
	for (size_t i = 0; i < ncolumns; i++)
		mem_free(row->cells[i].text);
	mem_free(row->cells);
	mem_free(row->text);
}

static void
table_destroy(struct top_table *t)
{
	if (t == NULL)
		return;
	vec_foreach(row, &t->rows)
		row_fini(row, t->ncolumns);
	vec_fini(&t->rows);
	mem_free(t->name);
	mem_free(t->header);
	mem_free(t);
}

static void
page_clear(struct top_page *page)
{
	vec_foreach(item, &page->items) {
		mem_free(item->text);
		table_destroy(item->table);
	}
	vec_fini(&page->items);
}

void
top_pages_fini(struct top_pages *all)
{
	vec_foreach(page, &all->at)
		page_clear(page);
	vec_fini(&all->at);
}

struct top_page *
top_page_begin(struct top_pages *all, uint32_t probe, uint64_t when)
{
	struct top_page *found = NULL;

	vec_foreach(page, &all->at)
		if (page->probe == probe)
			found = page;
	if (found != NULL && found->when == when)
		return found;
	if (found == NULL)
		found = vec_push(&all->at);
	else
		page_clear(found);
	*found = (struct top_page){ .probe = probe, .when = when };
	return found;
}

void
top_page_text(struct top_page *page, struct str *text)
{
	if (text->len != 0)
		*vec_push(&page->items) =
		    (struct top_item){ .text =
					   mem_strndup(text->s, text->len) };
	str_clear(text);
}

/* ---- rows ---- */

struct filling { /* a table */
	struct consume *c;
	struct printer p;
	struct str text; /* of the row */
	const struct prog_stmt *st;
	struct top_table *t;
};

static const struct prog_agg *
agg_of(const struct filling *f, size_t i)
{
	return f->c->env.globals->aggs.at[f->st->aggs[i] - 1];
}

static struct top_cell
key_cell(struct filling *f, const struct agg_line *l, size_t i)
{
	const struct prog_rec *rec = &l->keydef->keys[i];
	const uint8_t *v = l->key + rec->off;
	struct str text = { 0 };
	struct printer p = f->p;

	if (rec->kind == REC_INT)
		return (struct top_cell){ .number = rec->is_signed ?
			    (long double)value_int(v, rec->size) :
			    (long double)value_uint(v, rec->size) };
	p.to = &text;
	print_key_short(&p, rec, v);
	return (struct top_cell){ .text = str_take(&text) };
}

static void
fill_row(void *ctx, const struct agg_line *l)
{
	struct filling *f = ctx;
	struct top_table *t = f->t;

	if (l == NULL) {
		t->header = mem_strndup(f->text.s, f->text.len);
		str_clear(&f->text);
		return;
	}
	struct top_cell *cells = mem_zalloc(t->ncolumns * sizeof(*cells));
	for (size_t i = 0; i < t->nvalues; i++)
		cells[i].number = agg_weight(agg_of(f, i), l->rows[i]);
	for (size_t i = t->nvalues; i < t->ncolumns; i++)
		cells[i] = key_cell(f, l, i - t->nvalues);
	*vec_push(&t->rows) = (struct top_row){ .cells = cells,
		.text = mem_strndup(str_c(&f->text), f->text.len) };
	str_clear(&f->text);
}

/* ---- tables ---- */

static char *
table_name(const struct filling *f)
{
	struct str name = { 0 };

	for (size_t i = 0; i < f->st->naggs; i++) {
		const char *s = agg_of(f, i)->name;
		str_printf(&name, "%s@%s", i != 0 ? ", " : "",
		    own(strcmp(s, "_") != 0 ? s : ""));
	}
	return str_take(&name);
}

/* As the options say; but values begin with the largest, as somebody expects who
 * sees the first rows. */
static void
first_order(struct top_table *t, struct options *o)
{
	bool by_key = option_get(o, OPT_AGGSORTKEY);
	size_t nkeys = t->ncolumns - t->nvalues;

	if (by_key) {
		t->up = !option_get(o, OPT_AGGSORTREV);
		t->column = nkeys != 0 ? t->nvalues +
			(size_t)option_get(o, OPT_AGGSORTKEYPOS) % nkeys :
					 0;
	} else {
		o->value[OPT_AGGSORTREV] = 1;
		t->column = (size_t)option_get(o, OPT_AGGSORTPOS) % t->nvalues;
	}
}

/* The most rows that one of the aggregations has, which are less than those of the
 * table if their keys differ. */
static size_t
rows_of(const struct filling *f)
{
	size_t most = 0;

	for (size_t i = 0; i < f->st->naggs; i++)
		most = MAX(
		    most, aggs_table(&f->c->aggs, f->st->aggs[i])->rows.len);
	return most;
}

void
top_page_table(
    struct consume *c, struct top_page *page, const struct prog_stmt *st)
{
	struct filling f = { .c = c, .st = st };
	struct options order = *c->env.opts; /* its texts are borrowed */

	if (st->naggs == 0)
		return;
	f.p = record_printer(c, &f.text);
	f.p.escape = true;
	f.t = mem_zalloc(sizeof(*f.t));
	f.t->name = table_name(&f);
	f.t->nvalues = st->naggs;
	f.t->ncolumns = st->naggs + agg_of(&f, 0)->nkeys;
	first_order(f.t, &order);
	printa_rows(&f.p, st, ROWS_MOST, &order, fill_row, &f);
	if (rows_of(&f) > f.t->rows.len)
		f.t->left_out = rows_of(&f) - f.t->rows.len;
	str_fini(&f.text);
	*vec_push(&page->items) = (struct top_item){ .table = f.t };
}

char *
top_column_name(const struct top_table *t, size_t column)
{
	const char *at = t->name;

	if (column >= t->nvalues)
		return t->ncolumns - t->nvalues == 1 ?
		    mem_strdup("key") :
		    mem_printf("key %zu", column - t->nvalues + 1);
	while (column-- != 0)
		at += strcspn(at, " ") + 1;
	return mem_strndup(at, strcspn(at, ","));
}

static int
compare_cells(const struct top_cell *a, const struct top_cell *b)
{
	if (a->text != NULL && b->text != NULL)
		return strcmp(a->text, b->text);
	return a->number < b->number ? -1 : a->number > b->number;
}

/* Rows that are equal in the column are in the order of the others. */
static int
compare_rows(const void *a, const void *b, void *ctx)
{
	const struct top_row *x = a, *y = b;
	const struct top_table *t = ctx;
	int r = 0;

	for (size_t i = 0; i < t->ncolumns && r == 0; i++) {
		size_t column = (t->column + i) % t->ncolumns;
		r = compare_cells(&x->cells[column], &y->cells[column]);
	}
	return t->up ? r : -r;
}

void
top_table_sort(struct top_table *t)
{
	if (t->rows.len > 1)
		qsort_r(t->rows.at, t->rows.len, sizeof(t->rows.at[0]),
		    compare_rows, t);
}
