/*
 * Shared by the files of the format `top'.
 *
 *	records -> sink_top.c -> top_page.c -> top_view.c -> screen.c
 *	                         rows,         what is visible,
 *	                         their order   and where
 */
#ifndef TRACER_CONSUME_TOP_IMPL_H
#define TRACER_CONSUME_TOP_IMPL_H

#include "tracer/consume/consume_impl.h"

/* ---- top_page.c: what is shown, as text ---- */

struct top_cell { /* what a row is sorted by */
	long double number;
	char *text; /* NULL: the number counts */
};

struct top_row {
	char *text; /* lines */
	struct top_cell *cells;
};

/* The values are the first columns, the members of the key follow. */
struct top_table {
	char *name;
	size_t nvalues, ncolumns;
	char *header; /* lines; NULL: none */
	VEC(struct top_row) rows;
	size_t left_out; /* rows */
	size_t column;   /* it is sorted by this one, */
	bool up;         /* the smallest first */
};

struct top_item { /* text, or a table */
	char *text;
	struct top_table *table;
};

/* What one firing of a probe has printed; the next one replaces it. */
struct top_page {
	uint32_t probe; /* 0: all aggregations */
	uint64_t when;
	VEC(struct top_item) items;
};

struct top_pages {
	VEC(struct top_page) at;
};

/* The page of a probe is empty and will be filled, unless it is that of the same
 * firing. */
struct top_page *top_page_begin(
    struct top_pages *all, uint32_t probe, uint64_t when);
/* Add text to a page and clear it. */
void top_page_text(struct top_page *page, struct str *text);
/* Add what a printa() prints. */
void top_page_table(
    struct consume *c, struct top_page *page, const struct prog_stmt *st);
void top_pages_fini(struct top_pages *all);

/* The name of a column, to be freed: "@calls", "key 2". */
char *top_column_name(const struct top_table *t, size_t column);
void top_table_sort(struct top_table *t);

/* ---- top_view.c: which part of it ---- */

struct top_order {  /* chosen by keys */
	char *name; /* of tables */
	size_t column;
	bool up;
};

struct top_view {
	struct top_pages pages; /* shown */
	VEC(struct top_order) orders;
	struct str log; /* lines from elsewhere than ticks */
	size_t chosen;  /* 0: everything; else a table, the log behind them */
	size_t row, column; /* the first that is visible */
	bool paused, help;
	/* Of the last line, borrowed: counts; what was asked, of whom. */
	const char *status, *asked;
};

/* Each page of `from' replaces the one of its probe, or continues that of its
 * firing.  `from' is empty then. */
void top_view_take(struct top_view *v, struct top_pages *from);
void top_view_draw(struct top_view *v);
/* Does the key change the view?  It is not drawn yet. */
bool top_view_key(struct top_view *v, int key);
void top_view_fini(struct top_view *v);

#endif
