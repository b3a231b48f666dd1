/*
 * What a report shows of a run (option report, `dtrap report').
 *
 * A page is made from JSON Lines (doc/json.md), whether they come from a file
 * or from a run that goes on.  It keeps what the pictures need, and no more
 * than the limits of page_impl.h say, however long the run is.  What does not
 * fit is counted.
 */
#ifndef TRACER_CONSUME_PAGE_H
#define TRACER_CONSUME_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlang/base/str.h"

struct page;

struct page *page_create(void);
void page_destroy(struct page *p);

/* Read JSON Lines, in pieces of any size.  Each run that begins replaces the
 * one before it.  False: they are not what dtrap writes, page_wrong() tells;
 * nothing more is read. */
bool page_text(struct page *p, const char *text, size_t n);
/* The text is complete.  False as above. */
bool page_complete(struct page *p);
/* "line 12: ..." */
const char *page_wrong(const struct page *p);
/* How many runs began, and has the last one ended? */
unsigned page_runs(const struct page *p);
bool page_ended(const struct page *p);

/* The same as a line of type "probe" that has printed nothing. */
struct page_hit {
	uint64_t time; /* nanoseconds */
	uint32_t pid, tid;
	const char *prov, *mod, *func, *name;
};
void page_hit(struct page *p, const struct page_hit *hit);

/* Append the HTML page; `earlier' is a run to compare with, or NULL. */
void page_html(struct page *p, struct page *earlier, struct str *to);
/* Append the SVG picture: flame graphs and histograms. */
void page_svg(struct page *p, struct str *to);
/* Does the name of a file ask for HTML? */
bool page_is_html(const char *path);

#endif
