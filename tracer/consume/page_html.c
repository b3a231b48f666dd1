/*
 * A page as HTML: what it has as JSON, and the script that draws it.
 *
 * The file needs no other, and its policy forbids it to ask for one.  Text of
 * a target is only in the JSON, in which there is no "<", so nothing in it can
 * end the element that it is in; the script puts it into the document as text.
 */
#include <stdlib.h>
#include <string.h>

#include "tracer/consume/page_impl.h"
#include "tracer/consume/report_parts.h"

#define BOXES_MOST   60000 /* of a flame graph */
#define NARROWEST    20000 /* of the whole: narrower boxes are left out */
#define KEYS_SHOWN   1000
#define PROBES_SHOWN 200
#define PROBES_DRAWN 8

struct html {
	struct page *p;
	struct page *earlier; /* or NULL */
	struct str *to;
	uint32_t names; /* used so far */
	VEC(uint32_t) used;
};

/* ---- JSON ---- */

static void
add_text(struct str *to, const char *text)
{
	size_t from = to->len;

	text_add_json(to, text);
	if (memchr(to->s + from, '<', to->len - from) == NULL)
		return;
	char *quoted = mem_strdup(to->s + from);
	to->len = from;
	for (const char *s = quoted; *s != '\0'; s++)
		if (*s == '<')
			str_add(to, "\\u003c");
		else
			str_addc(to, *s);
	mem_free(quoted);
}

/* A number that JavaScript would round is a text. */
static void
add_number(struct str *to, int64_t v)
{
	bool exact = v <= (1LL << 53) && v >= -(1LL << 53);

	str_printf(to, exact ? "%lld" : "\"%lld\"", (long long)v);
}

static void
add_count(struct str *to, uint64_t v)
{
	add_number(to, v > INT64_MAX ? INT64_MAX : (int64_t)v);
}

static void
add_member(struct str *to, const char *name, const char *text)
{
	str_printf(to, ",\"%s\":", own(name));
	if (text != NULL)
		add_text(to, text);
	else
		str_add(to, "null");
}

static void
add_comma(struct str *to)
{
	char last = to->len != 0 ? to->s[to->len - 1] : '\0';

	if (last != '[' && last != '{')
		str_addc(to, ',');
}

/* ---- the run ---- */

static void
add_asked(struct html *h)
{
	str_add(h->to, ",\"asked\":[");
	vec_foreach(a, &h->p->asked) {
		add_comma(h->to);
		str_addc(h->to, '[');
		add_text(h->to, a->what);
		str_addc(h->to, ',');
		add_text(h->to, a->name);
		str_addc(h->to, ',');
		add_text(h->to, a->text);
		str_printf(h->to, ",%lld]", (long long)a->number);
	}
	str_printf(h->to, "],\"asked_left\":%llu",
	    (unsigned long long)h->p->asked_left);
}

static uint64_t
since_begin(const struct page *p, uint64_t time)
{
	return time > p->begin ? time - p->begin : 0;
}

static void
add_lost(struct html *h)
{
	str_add(h->to, ",\"lost\":[");
	vec_foreach(l, &h->p->lost) {
		add_comma(h->to);
		str_addc(h->to, '[');
		add_text(h->to, l->kind);
		str_addc(h->to, ',');
		add_text(h->to, l->text);
		str_addc(h->to, ',');
		add_count(h->to, l->count);
		str_printf(h->to, ",%llu,%llu]",
		    (unsigned long long)since_begin(h->p, l->first),
		    (unsigned long long)since_begin(h->p, l->last));
	}
	str_addc(h->to, ']');
}

/* The aggregation of that name in the other run, or NULL. */
static struct page_agg *
agg_in(const struct page *p, const struct page_agg *a)
{
	vec_foreach(at, &p->aggs)
		if (strcmp((*at)->name, a->name) == 0 &&
		    strcmp((*at)->function, a->function) == 0)
			return *at;
	return NULL;
}

/* Aggregations that only the earlier run has. */
static void
add_gone(struct html *h)
{
	str_add(h->to, ",\"gone\":[");
	if (h->earlier != NULL)
		vec_foreach(a, &h->earlier->aggs)
			if (agg_in(h->p, *a) == NULL) {
				add_comma(h->to);
				add_text(h->to, (*a)->name);
			}
	str_addc(h->to, ']');
}

static void
add_run(struct html *h)
{
	const struct page *p = h->p, *e = h->earlier;

	str_add(h->to, "\"version\":");
	add_text(h->to, p->version != NULL ? p->version : "");
	add_member(h->to, "time", p->time);
	add_member(h->to, "end", p->end_time);
	add_member(h->to, "earlier", e != NULL ? e->time : NULL);
	str_printf(h->to,
	    ",\"ended\":%s,\"status\":%lld,\"took\":%llu,\"records\":%llu,"
	    "\"errors\":%llu,\"drops\":%llu,\"listed\":%llu,\"aggs_left\":%llu",
	    own(p->ended ? "true" : "false"), (long long)p->status,
	    (unsigned long long)since_begin(p, p->last),
	    (unsigned long long)p->records, (unsigned long long)p->errors,
	    (unsigned long long)p->drops, (unsigned long long)p->listed,
	    (unsigned long long)p->aggs_left);
	add_asked(h);
	add_lost(h);
	add_gone(h);
}

/* ---- names ---- */

/* The number by which the page knows a name. */
static uint32_t
name_use(struct html *h, uint32_t name)
{
	struct page_name *n = &h->p->names.at[name];

	if (n->used == 0) {
		n->used = ++h->names;
		*vec_push(&h->used) = name;
	}
	return n->used - 1;
}

static void
add_names(struct html *h)
{
	str_add(h->to, ",\"names\":[");
	vec_foreach(u, &h->used) {
		add_comma(h->to);
		add_text(h->to, h->p->names.at[*u].text);
	}
	str_add(h->to, "],\"kinds\":\"");
	vec_foreach(u, &h->used)
		str_addc(h->to, "knl"[h->p->names.at[*u].kind]);
	str_addc(h->to, '"');
}

/* ---- flame graphs ---- */

static uint64_t
node_larger(const struct node *n)
{
	return MAX(n->count[0], n->count[1]);
}

/* Name, count, count in the earlier run, what of it ends here (or in a box that is
 * left out) without outer frames, number of nodes above it; and these. */
static size_t
add_node(struct html *h, const struct node *n, uint64_t least)
{
	size_t drawn = 1, children = 0;
	uint64_t cut = n->cut;

	for (const struct node *c = n->child; c != NULL; c = c->sibling) {
		children += node_larger(c) >= least;
		cut += node_larger(c) >= least ? 0 : tree_cut(c);
	}
	add_comma(h->to);
	if (n->parent == NULL)
		str_add(h->to, "-1");
	else
		str_printf(h->to, "%u", name_use(h, n->name));
	for (size_t i = 0; i < 2; i++) {
		str_addc(h->to, ',');
		add_count(h->to, n->count[i]);
	}
	str_addc(h->to, ',');
	add_count(h->to, cut);
	str_printf(h->to, ",%zu", children);
	for (const struct node *c = n->child; c != NULL; c = c->sibling)
		if (node_larger(c) >= least)
			drawn += add_node(h, c, least);
	return drawn;
}

static void
add_flame(struct html *h, const struct page_agg *a, const struct page_agg *e)
{
	struct tree *t = tree_create();

	tree_merge(h->p, t, 0, h->p, a->tree);
	if (e != NULL)
		tree_merge(h->p, t, 1, h->earlier, e->tree);
	tree_sort(h->p, t);
	uint64_t least = MAX(1, node_larger(&t->root) / NARROWEST);
	while (tree_size(&t->root, least) > BOXES_MOST)
		least *= 2;
	str_printf(h->to, ",\"flame\":{\"stacks\":%llu,\"nodes\":[",
	    (unsigned long long)a->stacks);
	size_t drawn = add_node(h, &t->root, least);
	str_printf(h->to, "],\"left\":%zu}", t->nodes + 1 + t->pruned - drawn);
	tree_destroy(t);
}

/* ---- keys ---- */

static struct page_entry *
entry_earlier(const struct page_agg *earlier, const struct page_entry *e)
{
	return earlier != NULL ? hash_get(&earlier->by_id, e->id) : NULL;
}

static int64_t
bucket_count(const page_buckets *all, const struct page_bucket *b)
{
	vec_foreach(o, all)
		if (page_bucket_same(o, b))
			return o->count;
	return 0;
}

/* Label, count, that of the earlier run, value; also of what only the earlier run
 * has. */
static void
add_buckets(struct html *h, const struct page_agg *a, const page_buckets *now,
    const page_buckets *was)
{
	static const page_buckets none;
	page_buckets all = { 0 };
	struct str label = { 0 };

	now = now != NULL ? now : &none;
	was = was != NULL ? was : &none;
	vec_foreach(b, now)
		*vec_push(&all) = *b;
	vec_foreach(b, was) {
		bool has = false;
		vec_foreach(o, now)
			has |= page_bucket_same(o, b);
		if (!has)
			*vec_push(&all) = *b;
	}
	page_buckets_sort(&all);
	vec_foreach(b, &all) {
		page_bucket_label(a, b, &label);
		add_comma(h->to);
		str_addc(h->to, '[');
		add_text(h->to, str_c(&label));
		str_addc(h->to, ',');
		add_number(h->to, bucket_count(now, b));
		str_addc(h->to, ',');
		add_number(h->to, bucket_count(was, b));
		str_addc(h->to, ',');
		add_number(h->to, b->value);
		str_addc(h->to, ']');
		str_clear(&label);
	}
	str_fini(&label);
	vec_fini(&all);
}

/* Key, value, value in the earlier run or null, buckets.  One of both may be
 * NULL. */
static void
add_row(struct html *h, const struct page_agg *a, const char *key,
    const struct page_entry *now, const struct page_entry *was)
{
	add_comma(h->to);
	str_addc(h->to, '[');
	add_text(h->to, key);
	str_addc(h->to, ',');
	add_number(h->to, now != NULL ? now->value : 0);
	str_addc(h->to, ',');
	if (was != NULL)
		add_number(h->to, was->value);
	else
		str_add(h->to, "null");
	str_add(h->to, ",[");
	add_buckets(h, a, now != NULL ? &now->buckets : NULL,
	    was != NULL ? &was->buckets : NULL);
	str_add(h->to, "]]");
}

static void
add_rows(struct html *h, struct page_agg *a, const struct page_agg *earlier)
{
	size_t most = a->is_stacks && !a->is_hist ? 0 : KEYS_SHOWN;

	str_add(h->to, ",\"rows\":[");
	for (size_t i = 0; i < a->entries.len && i < most; i++)
		add_row(h, a, a->entries.at[i]->text, a->entries.at[i],
		    entry_earlier(earlier, a->entries.at[i]));
	for (size_t i = 0;
	     earlier != NULL && i < MIN(earlier->entries.len, most); i++) {
		const struct page_entry *was = earlier->entries.at[i];
		if (hash_get(&a->by_id, was->id) == NULL)
			add_row(h, a, was->text, NULL, was);
	}
	str_addc(h->to, ']');
}

/* ---- over time ---- */

static void
add_series(struct html *h, const struct page_agg *a)
{
	str_add(h->to, ",\"lines\":[");
	vec_foreach(at, &a->entries) {
		const struct page_entry *e = *at;
		if (e->series == NULL || a->is_hist)
			continue;
		add_comma(h->to);
		str_addc(h->to, '[');
		add_text(h->to, e->text);
		str_add(h->to, ",[");
		for (size_t i = 0; i < a->times.len; i++) {
			add_comma(h->to);
			if (e->has[i])
				add_number(h->to, e->series[i]);
			else
				str_add(h->to, "null");
		}
		str_add(h->to, "]]");
	}
	str_addc(h->to, ']');
}

static void
add_heat(struct html *h, const struct page_agg *a)
{
	str_add(h->to, ",\"heat\":[");
	vec_foreach(at, &a->entries) {
		const struct page_entry *e = *at;
		if (e->cells.len == 0)
			continue;
		add_comma(h->to);
		str_addc(h->to, '[');
		add_text(h->to, e->text);
		str_add(h->to, ",[");
		vec_foreach(c, &e->cells) {
			add_comma(h->to);
			str_printf(h->to, "%u,", c->column);
			add_number(h->to, c->value);
			str_addc(h->to, ',');
			add_number(h->to, c->count);
		}
		str_printf(h->to, "],[");
		add_buckets(h, a, &e->buckets, NULL);
		str_add(h->to, "]]");
	}
	str_addc(h->to, ']');
}

static void
add_agg(struct html *h, struct page_agg *a)
{
	struct page_agg *e = h->earlier != NULL ? agg_in(h->earlier, a) : NULL;

	add_comma(h->to);
	str_add(h->to, "{\"name\":");
	add_text(h->to, strcmp(a->name, "_") == 0 ? "@" : a->name);
	add_member(h->to, "function", a->function);
	str_printf(h->to,
	    ",\"adds\":%s,\"hist\":%s,\"prints\":%llu,\"stride\":%llu,"
	    "\"keys\":%llu,\"total\":",
	    own(page_agg_adds(a) ? "true" : "false"),
	    own(a->is_hist ? "true" : "false"), (unsigned long long)a->prints,
	    (unsigned long long)a->stride, (unsigned long long)a->keys);
	add_number(h->to, a->total);
	str_add(h->to, ",\"total_earlier\":");
	if (e != NULL)
		add_number(h->to, e->total);
	else
		str_add(h->to, "null");
	if (a->is_stacks && !a->is_hist)
		add_flame(h, a, e);
	add_rows(h, a, e);
	str_add(h->to, ",\"times\":[");
	vec_foreach(t, &a->times) {
		add_comma(h->to);
		add_count(h->to, since_begin(h->p, *t));
	}
	str_addc(h->to, ']');
	if (a->prints > 1) {
		add_series(h, a);
		add_heat(h, a);
	}
	str_addc(h->to, '}');
}

/* ---- slices ---- */

static int
slice_compare(const void *a, const void *b)
{
	const struct page_slice *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->length != y->length)
		return x->length > y->length ? -1 : 1;
	return x->depth < y->depth ? -1 : x->depth > y->depth;
}

static void
add_slices(struct html *h)
{
	struct page *p = h->p;

	if (p->slices.len > 1)
		qsort(p->slices.at, p->slices.len, sizeof(*p->slices.at),
		    slice_compare);
	str_printf(h->to,
	    ",\"slices\":{\"all\":%llu,\"threads_left\":%llu,"
	    "\"threads\":[",
	    (unsigned long long)p->nslices,
	    (unsigned long long)p->threads_left);
	uint32_t last = UINT32_MAX, index = 0;
	vec_foreach(s, &p->slices) {
		if (s->thread == last)
			continue;
		last = s->thread;
		const struct page_thread *t = p->thread_list.at[last];
		add_comma(h->to);
		str_printf(h->to, "[%u,%u]", t->pid, t->tid);
	}
	str_add(h->to, "],\"at\":[");
	last = UINT32_MAX;
	vec_foreach(s, &p->slices) {
		index += last != UINT32_MAX && s->thread != last;
		last = s->thread;
		add_comma(h->to);
		str_printf(h->to, "%u,%u,%llu,%llu,%d", index,
		    name_use(h, s->name),
		    (unsigned long long)since_begin(p, s->from),
		    (unsigned long long)s->length,
		    s->no_return      ? 1 :
			s->unfinished ? 2 :
					0);
	}
	str_add(h->to, "]}");
}

/* ---- probes ---- */

static int
probe_compare(const void *a, const void *b)
{
	const struct page_probe *x = *(struct page_probe *const *)a;
	const struct page_probe *y = *(struct page_probe *const *)b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void
add_bins(struct html *h, const struct page_probe *b)
{
	size_t n = h->p->bin != 0 ?
	    (size_t)(since_begin(h->p, h->p->last) / h->p->bin) + 1 :
	    0;

	str_addc(h->to, '[');
	for (size_t i = 0; i < MIN(n, PAGE_COLUMNS); i++) {
		add_comma(h->to);
		add_count(h->to, b->bins[i]);
	}
	str_addc(h->to, ']');
}

static void
add_probes(struct html *h)
{
	struct page *p = h->p;

	if (p->probes.len > 1)
		qsort(p->probes.at, p->probes.len, sizeof(*p->probes.at),
		    probe_compare);
	str_printf(h->to, ",\"bin\":%llu,\"probes_all\":%zu,\"all\":",
	    (unsigned long long)p->bin, p->probes.len);
	add_bins(h, &p->all);
	str_printf(h->to, ",\"probes_left\":%llu,\"probes\":[",
	    (unsigned long long)p->probes_left);
	for (size_t i = 0; i < p->probes.len && i < PROBES_SHOWN; i++) {
		const struct page_probe *b = p->probes.at[i];
		add_comma(h->to);
		str_addc(h->to, '[');
		add_text(h->to, b->name);
		str_addc(h->to, ',');
		add_count(h->to, b->count);
		str_addc(h->to, ',');
		if (i < PROBES_DRAWN)
			add_bins(h, b);
		else
			str_add(h->to, "null");
		str_addc(h->to, ']');
	}
	str_addc(h->to, ']');
}

/* ---- the page ---- */

static void
add_data(struct html *h)
{
	str_addc(h->to, '{');
	add_run(h);
	str_add(h->to, ",\"aggs\":[");
	vec_foreach(a, &h->p->aggs)
		add_agg(h, *a);
	str_addc(h->to, ']');
	add_slices(h);
	add_probes(h);
	add_names(h);
	str_addc(h->to, '}');
}

static void
finish(struct page *p)
{
	page_run_finish(p);
	vec_foreach(a, &p->aggs)
		page_agg_finish(p, *a);
}

void
page_html(struct page *p, struct page *earlier, struct str *to)
{
	struct html h = { .p = p, .earlier = earlier, .to = to };

	finish(p);
	if (earlier != NULL)
		finish(earlier);
	str_add(to,
	    "<!doctype html>\n<html lang=\"en\">\n<head>\n"
	    "<meta charset=\"utf-8\">\n"
	    "<meta name=\"viewport\" content=\"width=device-width\">\n"
	    "<meta http-equiv=\"Content-Security-Policy\" "
	    "content=\"default-src 'none'; script-src 'unsafe-inline'; "
	    "style-src 'unsafe-inline'\">\n"
	    "<title>dtrap report</title>\n<style>\n");
	str_add(to, own(report_css));
	str_add(to,
	    "</style>\n</head>\n<body>\n"
	    "<noscript>The pictures are drawn by a script in this file."
	    "</noscript>\n"
	    "<script type=\"application/json\" id=\"run\">");
	add_data(&h);
	str_add(to, "</script>\n<script>\n");
	str_add(to, own(report_js));
	str_add(to, "</script>\n</body>\n</html>\n");
	vec_fini(&h.used);
}
