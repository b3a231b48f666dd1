/*
 * Shared by the files that make a page.
 *
 *	page_read.c   JSON to rows and events
 *	   |
 *	page_agg.c    what aggregations had, at each time they were printed
 *	page_tree.c   stacks as a tree
 *	page_run.c    the rest: probes, slices of threads, drops
 *	   |
 *	page_html.c, picture_*.c
 */
#ifndef TRACER_CONSUME_PAGE_IMPL_H
#define TRACER_CONSUME_PAGE_IMPL_H

#include "dlang/base/hash.h"
#include "dlang/base/vec.h"
#include "tracer/consume/page.h"
#include "tracer/consume/text.h"

/* Limits of what is kept. */
#define PAGE_AGGS    64         /* aggregations */
#define PAGE_KEYS    4096       /* keys of an aggregation, the largest */
#define PAGE_HISTS   200        /* histograms of an aggregation */
#define PAGE_SERIES  100        /* keys of an aggregation followed over time */
#define PAGE_COLUMNS 512        /* points of a line, columns of a heat map */
#define PAGE_CELLS   16384      /* of one heat map */
#define PAGE_BUCKETS 4096       /* of a histogram */
#define PAGE_NODES   (1 << 18)  /* of a tree of stacks */
#define PAGE_DEPTH   2048       /* of it; functions recurse once a level */
#define PAGE_NAMES   (64 << 20) /* bytes of all names */
#define PAGE_TEXT    1024       /* bytes of a key that are shown */
#define PAGE_SLICES  20000      /* of all threads, the longest */
#define PAGE_OPEN    4096       /* functions that a thread is in */
#define PAGE_THREADS 65536
#define PAGE_PROBES  1024
#define PAGE_LOST    64   /* kinds of errors and drops */
#define PAGE_ASKED   1024 /* programs, operands, processes, options */

/* ---- names ---- */

enum page_kind { PAGE_KEY, PAGE_NATIVE, PAGE_LANGUAGE };

struct page_name {
	char *text; /* valid UTF-8, on one line */
	enum page_kind kind;
	uint32_t used; /* by page_html.c */
};

/* The number of a name; equal ones have equal numbers. */
uint32_t page_name(
    struct page *p, enum page_kind kind, const char *text, size_t n);

/* ---- page_tree.c ---- */

struct node {
	uint32_t name;
	uint32_t depth;
	uint64_t count[2]; /* of this run, of the earlier one */
	uint64_t cut; /* of count[0]: what ends here, of stacks without their
		       * outer frames */
	struct node *parent;
	struct node *child, *sibling; /* in order of names once sorted */
	struct node *next;            /* with the same hash */
};

struct tree {
	struct node root;
	struct hash by_name;
	size_t nodes;
	uint64_t stacks; /* rows that were added */
	uint64_t pruned; /* nodes given up, because there were too many */
};

struct tree *tree_create(void);
void tree_destroy(struct tree *t);
/* Add a path of names, the outermost first; `cut': outer ones are missing. */
void tree_add(
    struct tree *t, const uint32_t *path, size_t n, uint64_t count, bool cut);
/* Add the counts of a tree of page `of' to count[slot] of *to. */
void tree_merge(struct page *p, struct tree *to, int slot,
    const struct page *of, const struct tree *from);
/* Order siblings by name. */
void tree_sort(struct page *p, struct tree *t);
/* The deepest node of at least `least'. */
uint32_t tree_depth(const struct node *n, uint64_t least);
/* The sum of the member cut, of this node and of all above it. */
uint64_t tree_cut(const struct node *n);
/* Nodes of at least `least' in either run. */
size_t tree_size(const struct node *n, uint64_t least);

/* ---- page_agg.c ---- */

struct page_bucket {
	int64_t value, count;
	int64_t low, high;
	bool open_below, open_above;
};

typedef VEC(struct page_bucket) page_buckets;

struct page_row {
	uint64_t id; /* of the whole key */
	char *text;  /* of the key, as much as is shown */
	int64_t value;
	page_buckets buckets;
	size_t order; /* among all rows */
};

/* An aggregation as it was printed once. */
struct page_print {
	struct str name, function;
	uint64_t since; /* when it was cleared; 0: never */
	bool is_stacks, is_hist;
	struct tree *tree;
	VEC(struct page_row) rows; /* the largest */
	uint64_t keys;
	int64_t total;
};

void print_init(struct page_print *r);
void print_fini(struct page_print *r);
/* Takes the row's text and buckets. */
void print_row(struct page_print *r, const struct page_row *row);

struct page_cell {
	uint32_t column;
	int64_t value, count; /* of the bucket */
};

struct page_entry { /* a key */
	uint64_t id;
	char *text;
	size_t order;
	int64_t value, before; /* before: up to the last clear() */
	page_buckets buckets, buckets_before;
	bool seen;       /* in the last print */
	bool once;       /* before the last clear() */
	int64_t *series; /* by column; NULL: not followed */
	bool *has;
	VEC(struct page_cell) cells;
};

struct page_agg {
	char *name, *function;
	bool is_stacks, is_hist;
	uint64_t since;
	uint64_t prints, stride; /* prints that make a column */
	VEC(uint64_t) times;     /* of columns */
	struct tree *tree, *tree_before;
	struct hash by_id;
	VEC(struct page_entry *) entries;
	unsigned followed;
	uint64_t keys; /* the most at once */
	uint64_t stacks;
	int64_t total, total_before;
};

/* An aggregation was printed.  Empties *r. */
void page_printed(struct page *p, struct page_print *r, uint64_t time);
/* What is told of it at the end: what it had before clear(), too. */
void page_agg_finish(struct page *p, struct page_agg *a);
/* Do its values add up? */
bool page_agg_adds(const struct page_agg *a);
/* Order entries as text has them. */
void page_agg_order(struct page_agg *a);
void page_agg_destroy(struct page_agg *a);
/* Is it the same bucket? */
bool page_bucket_same(const struct page_bucket *a, const struct page_bucket *b);
/* In order of values. */
void page_buckets_sort(page_buckets *b);
/* The bucket as text names it. */
void page_bucket_label(
    const struct page_agg *a, const struct page_bucket *b, struct str *to);
int64_t sum_clamped(int64_t a, int64_t b);

/* ---- page_run.c ---- */

struct page_asked { /* a program, operand, process, option */
	char *what, *name, *text;
	int64_t number; /* -1: none */
};

struct page_lost {
	char *kind, *text;
	uint64_t count, first, last;
};

struct page_slice {
	uint32_t thread, name;
	uint32_t depth;
	bool no_return, unfinished;
	uint64_t from, length;
};

struct page_open {
	uint64_t key, from;
	uint32_t name;
};

struct page_thread {
	uint32_t pid, tid, index;
	uint64_t last, probe; /* its last record */
	VEC(struct page_open) open;
};

struct page_probe {
	char *name;
	uint64_t count;
	uint64_t bins[PAGE_COLUMNS];
};

struct page_reader;

struct page {
	struct page_reader *reader;
	unsigned runs;
	bool begun, ended;
	/* what was asked */
	VEC(struct page_asked) asked;
	uint64_t asked_left;
	char *version, *time, *end_time;
	int64_t status;
	/* names */
	VEC(struct page_name) names;
	struct hash by_name;
	size_t name_bytes;
	/* what there was */
	uint64_t begin, last; /* the clock of records */
	uint64_t records, errors, drops, listed;
	VEC(struct page_lost) lost;
	VEC(struct page_agg *) aggs;
	uint64_t aggs_left;
	/* records by time */
	uint64_t bin; /* width, nanoseconds */
	struct page_probe all;
	VEC(struct page_probe *) probes;
	struct hash by_probe;
	uint64_t probes_left;
	/* slices */
	struct hash threads, returns;
	VEC(struct page_thread *) thread_list;
	VEC(struct page_slice) slices; /* the shortest is the first: a heap */
	uint64_t nslices, threads_left;
};

/* Forget the run; the reader stays. */
void page_clear(struct page *p);
void page_ask(struct page *p, const char *what, const char *name,
    const char *text, int64_t number);
/* An error or a drop. */
void page_lose(struct page *p, const char *kind, const char *text,
    uint64_t count, uint64_t time);
/* End what threads are still in. */
void page_run_finish(struct page *p);

/* ---- page_read.c ---- */

void page_reader_create(struct page *p);
void page_reader_destroy(struct page *p);

#endif
