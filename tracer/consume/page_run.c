/*
 * What a page has besides aggregations: what was asked, records by probe and
 * time, slices of threads, errors and drops.
 *
 * A slice is the time from a probe to the one that ends it, in one thread: from
 * the entry of a function to its return, from on-cpu to off-cpu.  The longest
 * are kept, so a slice that is kept has those around it.
 */
#include <string.h>

#include "tracer/consume/page_impl.h"

#define BIN_LEAST 1000000 /* nanoseconds */

/* ---- names ---- */

uint32_t
page_name(struct page *p, enum page_kind kind, const char *text, size_t n)
{
	struct str s = { 0 };
	void *found;

	str_addc(&s, (char)('0' + kind));
	text_add_valid(&s, text, n);
	if ((found = hash_get_str(&p->by_name, str_c(&s))) != NULL) {
		str_fini(&s);
		return (uint32_t)((uintptr_t)found - 1);
	}
	if (p->name_bytes > PAGE_NAMES) {
		str_clear(&s);
		str_printf(&s, "%c(other)", (char)('0' + kind));
		found = hash_get_str(&p->by_name, str_c(&s));
		if (found != NULL) {
			str_fini(&s);
			return (uint32_t)((uintptr_t)found - 1);
		}
	}
	p->name_bytes += s.len;
	uint32_t id = (uint32_t)p->names.len;
	char *key = str_take(&s);
	/* The kind stands before the text. */
	*vec_push(&p->names) = (struct page_name){ key + 1, kind, 0 };
	hash_set_str(&p->by_name, key, (void *)(uintptr_t)(id + 1));
	return id;
}

/* ---- what was asked ---- */

void
page_ask(struct page *p, const char *what, const char *name, const char *text,
    int64_t number)
{
	if (p->asked.len >= PAGE_ASKED) {
		p->asked_left++;
		return;
	}
	*vec_push(&p->asked) = (struct page_asked){ mem_strdup(what),
		mem_strdup(name), mem_strdup(text), number };
}

/* ---- errors and drops ---- */

void
page_lose(struct page *p, const char *kind, const char *text, uint64_t count,
    uint64_t time)
{
	struct page_lost *l = NULL;

	vec_foreach(at, &p->lost)
		if (strcmp(at->kind, kind) == 0 && strcmp(at->text, text) == 0)
			l = at;
	if (l == NULL && p->lost.len >= PAGE_LOST)
		l = &p->lost.at[PAGE_LOST - 1];
	if (l == NULL) {
		l = vec_push(&p->lost);
		bool last = p->lost.len == PAGE_LOST;
		*l = (struct page_lost){ mem_strdup(last ? "other" : kind),
			mem_strdup(last ? "others" : text), 0, time, time };
	}
	l->count += count;
	l->first = MIN(l->first, time);
	l->last = MAX(l->last, time);
}

/* ---- records by time ---- */

static void
bins_halve(struct page_probe *b)
{
	for (size_t i = 0; i < PAGE_COLUMNS; i++)
		b->bins[i] = 2 * i < PAGE_COLUMNS ?
		    b->bins[2 * i] + b->bins[2 * i + 1] :
		    0;
}

static size_t
bin_of(struct page *p, uint64_t time)
{
	uint64_t after = time > p->begin ? time - p->begin : 0;

	p->bin = p->bin != 0 ? p->bin : BIN_LEAST;
	while (after / p->bin >= PAGE_COLUMNS) {
		bins_halve(&p->all);
		vec_foreach(b, &p->probes)
			bins_halve(*b);
		if (p->bin > UINT64_MAX / 2)
			return PAGE_COLUMNS - 1;
		p->bin *= 2;
	}
	return (size_t)(after / p->bin);
}

static uint64_t
probe_hash(const struct page_hit *h, bool function, size_t name)
{
	uint64_t sum = hash_bytes(h->prov, strlen(h->prov));

	if (function)
		sum = hash_u64(sum ^ hash_bytes(h->mod, strlen(h->mod))) ^
		    hash_bytes(h->func, strlen(h->func));
	return hash_u64(sum) ^ hash_bytes(h->name, name);
}

static void
probe_count(struct page *p, const struct page_hit *h, uint64_t key)
{
	struct page_probe *b = hash_get(&p->by_probe, key);
	size_t bin = bin_of(p, h->time);

	p->all.count++;
	p->all.bins[bin]++;
	if (b == NULL && p->probes.len >= PAGE_PROBES) {
		p->probes_left++;
		return;
	}
	if (b == NULL) {
		b = mem_zalloc(sizeof(*b));
		b->name = mem_printf(
		    "%s:%s:%s:%s", h->prov, h->mod, h->func, h->name);
		hash_set(&p->by_probe, key, b);
		*vec_push(&p->probes) = b;
	}
	b->count++;
	b->bins[bin]++;
}

/* ---- slices ---- */

static bool
slice_is_shorter(const struct page_slice *a, const struct page_slice *b)
{
	return a->length != b->length ? a->length < b->length :
					a->depth > b->depth;
}

/* Replace the first of the heap. */
static void
heap_sink(struct page *p, const struct page_slice *s)
{
	struct page_slice *at = p->slices.at;
	size_t i = 0, n = p->slices.len;

	for (size_t child; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n &&
		    slice_is_shorter(&at[child + 1], &at[child]))
			child++;
		if (!slice_is_shorter(&at[child], s))
			break;
		at[i] = at[child];
	}
	at[i] = *s;
}

static void
heap_add(struct page *p, const struct page_slice *s)
{
	vec_push(&p->slices);
	struct page_slice *at = p->slices.at;
	size_t i = p->slices.len - 1;

	for (; i > 0 && slice_is_shorter(s, &at[(i - 1) / 2]); i = (i - 1) / 2)
		at[i] = at[(i - 1) / 2];
	at[i] = *s;
}

static void
slice_add(struct page *p, const struct page_slice *s)
{
	p->nslices++;
	if (p->slices.len < PAGE_SLICES)
		heap_add(p, s);
	else if (slice_is_shorter(&p->slices.at[0], s))
		heap_sink(p, s);
}

static struct page_thread *
thread_of(struct page *p, uint32_t pid, uint32_t tid)
{
	uint64_t key = hash_u64((uint64_t)pid << 32 | tid);
	struct page_thread *t = hash_get(&p->threads, key);

	if (t == NULL && p->thread_list.len >= PAGE_THREADS) {
		p->threads_left++;
		return NULL;
	}
	if (t == NULL) {
		t = mem_zalloc(sizeof(*t));
		t->pid = pid;
		t->tid = tid;
		t->index = (uint32_t)p->thread_list.len;
		hash_set(&p->threads, key, t);
		*vec_push(&p->thread_list) = t;
	}
	return t;
}

/* End the last slice that is open.  Without a return: only if some call of
 * the function has returned, so that its return is traced. */
static void
slice_end(struct page *p, struct page_thread *t, uint64_t time, bool no_return,
    bool unfinished)
{
	struct page_open open = vec_pop(&t->open);

	if ((no_return || unfinished) &&
	    hash_get(&p->returns, open.key) == NULL)
		return;
	slice_add(p,
	    &(struct page_slice){ t->index, open.name, (uint32_t)t->open.len,
		no_return, unfinished, open.from,
		time > open.from ? time - open.from : 0 });
}

static void
slice_begin(struct page_thread *t, uint64_t key, uint32_t name, uint64_t time)
{
	if (t->open.len >= PAGE_OPEN)
		memmove(t->open.at, t->open.at + 1,
		    --t->open.len * sizeof(*t->open.at));
	*vec_push(&t->open) = (struct page_open){ key, time, name };
}

static void
slice_return(struct page *p, struct page_thread *t, uint64_t key, uint64_t time)
{
	size_t i = t->open.len;

	hash_set(&p->returns, key, p);
	while (i > 0 && t->open.at[i - 1].key != key)
		i--;
	if (i == 0)
		return;
	while (t->open.len > i)
		slice_end(p, t, time, true, false);
	slice_end(p, t, time, false, false);
}

/* Does the name end in the word?  *prefix: the bytes before it. */
static bool
name_ends(const char *name, const char *word, size_t *prefix)
{
	size_t n = strlen(name), w = strlen(word);

	*prefix = n - MIN(w, n);
	return n >= w && strcmp(name + n - w, word) == 0 &&
	    (n == w || name[n - w - 1] == '-');
}

static const struct pair {
	const char *from, *to;
	bool function; /* both are of one function */
} pairs[] = {
	{ "entry", "return", true },
	{ "on-cpu", "off-cpu", false },
	{ "start", "done", false },
	{ "begin", "end", false },
};

static void
slice_hit(struct page *p, struct page_thread *t, const struct page_hit *h)
{
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		const struct pair *pair = &pairs[i];
		size_t n;
		bool begins = name_ends(h->name, pair->from, &n);
		if (!begins && !name_ends(h->name, pair->to, &n))
			continue;
		uint64_t key = probe_hash(h, pair->function, n) + i;
		const char *label = pair->function ? h->func :
		    n > 1                          ? h->name :
						     pair->from;
		if (begins)
			slice_begin(t, key,
			    page_name(p, PAGE_KEY, label,
				label == h->name ? n - 1 : strlen(label)),
			    h->time);
		else
			slice_return(p, t, key, h->time);
		return;
	}
}

void
page_hit(struct page *p, const struct page_hit *h)
{
	uint64_t key = probe_hash(h, true, strlen(h->name));
	struct page_thread *t = thread_of(p, h->pid, h->tid);
	/* Another clause of the same firing begins or ends nothing. */
	bool again = t != NULL && t->last == h->time && t->probe == key;

	p->records++;
	p->last = MAX(p->last, h->time);
	probe_count(p, h, key);
	if (t == NULL)
		return;
	t->last = h->time;
	t->probe = key;
	if (!again)
		slice_hit(p, t, h);
}

void
page_run_finish(struct page *p)
{
	vec_foreach(t, &p->thread_list)
		while ((*t)->open.len > 0)
			slice_end(p, *t, (*t)->last, false, true);
}

/* ---- pages ---- */

struct page *
page_create(void)
{
	struct page *p = mem_zalloc(sizeof(*p));

	page_reader_create(p);
	p->status = -1;
	return p;
}

static void
page_clear_lists(struct page *p)
{
	vec_foreach(a, &p->asked) {
		mem_free(a->what);
		mem_free(a->name);
		mem_free(a->text);
	}
	vec_foreach(n, &p->names)
		mem_free(n->text - 1);
	vec_foreach(l, &p->lost) {
		mem_free(l->kind);
		mem_free(l->text);
	}
	vec_foreach(a, &p->aggs)
		page_agg_destroy(*a);
	vec_foreach(b, &p->probes) {
		mem_free((*b)->name);
		mem_free(*b);
	}
	vec_foreach(t, &p->thread_list) {
		vec_fini(&(*t)->open);
		mem_free(*t);
	}
}

void
page_clear(struct page *p)
{
	struct page_reader *reader = p->reader;
	unsigned runs = p->runs;

	page_clear_lists(p);
	vec_fini(&p->asked);
	vec_fini(&p->names);
	vec_fini(&p->lost);
	vec_fini(&p->aggs);
	vec_fini(&p->probes);
	vec_fini(&p->thread_list);
	vec_fini(&p->slices);
	hash_fini(&p->by_name);
	hash_fini(&p->by_probe);
	hash_fini(&p->threads);
	hash_fini(&p->returns);
	mem_free(p->version);
	mem_free(p->time);
	mem_free(p->end_time);
	*p = (struct page){ .reader = reader, .runs = runs, .status = -1 };
}

void
page_destroy(struct page *p)
{
	if (p == NULL)
		return;
	page_clear(p);
	page_reader_destroy(p);
	mem_free(p);
}

unsigned
page_runs(const struct page *p)
{
	return p->runs;
}

bool
page_ended(const struct page *p)
{
	return p->ended;
}

bool
page_is_html(const char *path)
{
	size_t n = strlen(path);

	return (n >= 5 && strcasecmp(path + n - 5, ".html") == 0) ||
	    (n >= 4 && strcasecmp(path + n - 4, ".htm") == 0);
}
