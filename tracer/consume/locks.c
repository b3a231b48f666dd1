/*
 * plockstat's tables; see locks.h.
 *
 *	rows of the aggregations -> struct entry, by lock and caller -> text
 *
 * A stack begins within the C library: those frames are left out before stacks
 * are compared, as one caller may have come through different parts of it.
 */
#include "tracer/consume/locks.h"

#include <stdlib.h>
#include <string.h>

#include "symbols/maps.h"
#include "symbols/symbolise.h"
#include "tracer/consume/consume_impl.h"

/* Longer names move the columns behind them to the right. */
#define LOCK_WIDTH 28
#define NAME_BYTES 2048
#define RULE_WIDTH 79

/*
 * A kind of event.  The D program has two aggregations for it, keyed by lock
 * and stack: @NAME is the quantize() and @NAME_ns the sum() of the same times.
 */
static const struct lock_kind {
	const char *name;
	const char *title; /* of its table */
	bool hold;         /* shown by -H; else by -C */
} lock_kinds[] = {
	{ "mutex_hold", "Mutex hold", true },
	{ "mutex_block", "Mutex block", false },
	{ "mutex_spin", "Mutex spin", false },
	{ "rw_reader_hold", "R/W reader hold", true },
	{ "rw_writer_hold", "R/W writer hold", true },
	{ "rw_reader_block", "R/W reader block", false },
	{ "rw_writer_block", "R/W writer block", false },
	{ "sem_block", "Semaphore block", false },
};

/* One line of a table. */
struct entry {
	uint64_t lock;
	uint32_t pid, stamp;
	uint64_t *pcs; /* in one allocation with it */
	size_t npcs;
	int64_t count, total;
	int64_t buckets[QUANTIZE_BUCKETS];
};

typedef VEC(struct entry *) entries;

/* ---- names ---- */

/* Does the name show that it is in a lock function? */
static bool
is_lock_function(const struct load *l, uint64_t pc)
{
	static const char *const names[] = { "pthread_", "sem_", "new_sem_",
		"lll_", "futex_" };
	const struct sym *s = object_func_at(l->object, pc - l->bias);
	const char *name = s != NULL ? s->name + strspn(s->name, "_") : "";

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* Is this frame in a lock function, or in a function that it calls?  `library':
 * or anywhere in the C library. */
static bool
is_own(uint32_t stamp, uint64_t pc, bool library)
{
	const struct load *l = addrspace_load_then(stamp, pc);

	if (l == NULL)
		return false;
	if (library && !l->is_exec)
		return l->is_interp || strncmp(l->module, "libc.", 5) == 0 ||
		    strncmp(l->module, "libc-", 5) == 0 ||
		    strncmp(l->module, "libpthread", 10) == 0 ||
		    strncmp(l->module, "ld-musl", 7) == 0;
	return is_lock_function(l, pc);
}

void
lock_name(uint32_t stamp, const struct maps *maps, uint64_t addr, char *buf,
    size_t size)
{
	const struct map *m = maps != NULL ? maps_at(maps, addr) : NULL;
	const char *what = "";

	if (*symbolise_data(stamp, addr, buf, size) != '\0')
		return;
	if (m == NULL)
		what = "";
	else if (strncmp(m->path, "[stack", 6) == 0)
		what = "stack ";
	else if (m->shared)
		what = "shared ";
	else if (*m->path == '\0' || *m->path == '[')
		what = "heap ";
	snprintf(buf, size, "%s0x%llx", what, (unsigned long long)addr);
}

static void
frame_name(const struct entry *e, size_t i, char *buf, size_t size)
{
	symbolise_frame(e->stamp, e->pcs[i], i > 0 ? e->pcs[i - 1] : 1,
	    SYM_DEMANGLE, buf, size);
}

/* ---- entries ---- */

/* The definition of an aggregation, or NULL. */
static const struct prog_agg *
definition(const struct consume *c, const char *name, const char *suffix)
{
	size_t len = strlen(name);

	vec_foreach(def, &c->env.globals->aggs)
		if (strncmp((*def)->name, name, len) == 0 &&
		    strcmp((*def)->name + len, suffix) == 0)
			return *def;
	return NULL;
}

/* The lock and the stack of a row, without the frames of the library. */
static struct entry *
entry_of(const struct agg_row *row, unsigned depth)
{
	const struct prog_rec *lock = &row->def->keys[0],
			      *stack = &row->def->keys[1];
	size_t max = (stack->size - sizeof(struct rec_stack)) / 8, n = 0;
	struct entry *e = mem_zalloc(sizeof(*e) + (max + 1) * 8);
	struct rec_stack head;

	e->pcs = (uint64_t *)(e + 1);
	e->lock = value_uint(row->key + lock->off, lock->size);
	memcpy(&head, row->key + stack->off, sizeof(head));
	memcpy(e->pcs, row->key + stack->off + sizeof(head), max * 8);
	e->pid = head.pid;
	e->stamp = head.space;
	while (n < max && e->pcs[n] != 0)
		n++;
	/* If all frames are in the library, the innermost one is the caller. */
	size_t own = 0;
	while (own < n && is_own(e->stamp, e->pcs[own], true))
		own++;
	if (own == n)
		own = 0;
	while (own + 1 < n && is_own(e->stamp, e->pcs[own], false))
		own++;
	e->npcs = MIN(n - own, depth);
	memmove(e->pcs, e->pcs + own, e->npcs * 8);
	return e;
}

static bool
same(const struct entry *a, const struct entry *b)
{
	return a->lock == b->lock && a->stamp == b->stamp && a->pid == b->pid &&
	    a->npcs == b->npcs && memcmp(a->pcs, b->pcs, a->npcs * 8) == 0;
}

/* The entry for the row, created if it does not exist. */
static struct entry *
entry_at(entries *all, const struct agg_row *row, unsigned depth)
{
	struct entry *e = entry_of(row, depth);

	vec_foreach(have, all) {
		if (!same(*have, e))
			continue;
		mem_free(e);
		return *have;
	}
	return *vec_push(all) = e;
}

static int
by_total(const void *a, const void *b)
{
	const struct entry *x = *(struct entry *const *)a,
			   *y = *(struct entry *const *)b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return x->lock < y->lock ? -1 : x->lock > y->lock;
}

static void
collect(struct consume *c, const struct lock_report *r,
    const struct lock_kind *k, entries *all)
{
	const struct prog_agg *hist = definition(c, k->name, ""),
			      *sum = definition(c, k->name, "_ns");

	if (hist == NULL || sum == NULL)
		return;
	vec_foreach(row, &aggs_table(&c->aggs, hist->id)->rows) {
		struct entry *e = entry_at(all, *row, r->depth);
		for (int i = 0; i < QUANTIZE_BUCKETS; i++) {
			e->buckets[i] += (int64_t)(*row)->value[i];
			e->count += (int64_t)(*row)->value[i];
		}
	}
	vec_foreach(row, &aggs_table(&c->aggs, sum->id)->rows)
		entry_at(all, *row, r->depth)->total +=
		    (int64_t)(*row)->value[0];
	if (all->len > 0)
		qsort(all->at, all->len, sizeof(all->at[0]), by_total);
}

static int64_t
average(const struct entry *e)
{
	return e->count > 0 ? e->total / e->count : 0;
}

/* The lowest time that is counted in bucket i. */
static int64_t
bucket_from(int i)
{
	return i <= QUANTIZE_ZERO ? 0 : INT64_C(1) << (i - QUANTIZE_ZERO - 1);
}

/* ---- text ---- */

static void
repeat(struct str *to, char ch, unsigned n)
{
	while (n-- > 0)
		str_addc(to, ch);
}

static void
print_header(struct str *to)
{
	str_printf(to, "%7s %10s %-*s %s\n", "Count", "nsec", LOCK_WIDTH,
	    "Lock", "Caller");
	repeat(to, '-', RULE_WIDTH);
	str_addc(to, '\n');
}

/* A child that has ended is named by the maps of the target: it had a copy of
 * that memory, or shared it. */
static void
entry_lock(
    const struct lock_report *r, const struct entry *e, char *buf, size_t size)
{
	const struct maps *maps = NULL;

	if (r->maps != NULL) {
		maps = r->maps(r->ctx, (int)e->pid);
		if (maps == NULL)
			maps = r->maps(r->ctx, r->pid);
	}
	lock_name(e->stamp, maps, e->lock, buf, size);
}

static void
print_entry(
    struct printer *p, const struct lock_report *r, const struct entry *e)
{
	char name[NAME_BYTES];

	str_printf(
	    p->to, "%7lld %10lld ", (long long)e->count, (long long)average(e));
	int len = e->pid == (uint32_t)r->pid ?
	    0 :
	    snprintf(name, sizeof(name), "%u/", e->pid);
	entry_lock(r, e, name + len, sizeof(name) - (size_t)len);
	text_name_padded(p, name, -LOCK_WIDTH);
	str_addc(p->to, ' ');
	if (e->npcs > 0) {
		frame_name(e, 0, name, sizeof(name));
		text_name(p, name);
	}
	str_addc(p->to, '\n');
}

/* The buckets from the first to the last that is not empty, with the frames
 * beside them. The longer of the two lists continues alone. */
static void
print_details(
    struct printer *p, const struct lock_report *r, const struct entry *e)
{
	int first = 0, last = QUANTIZE_BUCKETS - 1;
	char name[NAME_BYTES];

	while (first < last && e->buckets[first] == 0)
		first++;
	while (last > first && e->buckets[last] == 0)
		last--;
	int rows = r->hist ? last - first + 1 : 0;
	int frames = r->depth > 1 ? (int)e->npcs : 0;
	if (r->hist)
		str_printf(p->to, "\n%12s %-26s %6s %s\n", "nsec",
		    "---- Time Distribution ---", "count",
		    frames > 0 ? "Stack" : "");
	for (int i = 0; i < MAX(rows, frames); i++) {
		int64_t n = i < rows ? e->buckets[first + i] : 0;
		unsigned len = (unsigned)(n * 24 / MAX(e->count, 1));
		if (i < rows) {
			str_printf(p->to, "%12lld |",
			    (long long)bucket_from(first + i));
			repeat(p->to, '@', len);
			repeat(p->to, ' ', 24 - len);
			str_printf(p->to, "| %6lld ", (long long)n);
		} else {
			repeat(p->to, ' ', r->hist ? 47 : LOCK_WIDTH + 20);
		}
		if (i < frames) {
			frame_name(e, (size_t)i, name, sizeof(name));
			text_name(p, name);
		}
		str_addc(p->to, '\n');
	}
}

static void
print_kind(struct printer *p, const struct lock_report *r,
    const struct lock_kind *k, const entries *all)
{
	size_t n = r->top > 0 ? MIN(all->len, r->top) : all->len;

	if (n == 0)
		return;
	str_printf(p->to, "\n%s\n\n", own(k->title));
	if (!r->hist)
		print_header(p->to);
	for (size_t i = 0; i < n; i++) {
		if (r->hist)
			print_header(p->to);
		print_entry(p, r, all->at[i]);
		if (r->hist || r->depth > 1)
			print_details(p, r, all->at[i]);
		if (r->hist)
			str_addc(p->to, '\n');
	}
}

/* ---- JSON ---- */

static void
json_entry(struct str *to, const struct lock_report *r,
    const struct lock_kind *k, const struct entry *e)
{
	const char *comma = "";
	char name[NAME_BYTES];

	str_printf(to, "\n  {\"event\": \"%s\", \"pid\": %u, \"count\": %lld, ",
	    own(k->name), e->pid, (long long)e->count);
	str_printf(to, "\"total_ns\": %lld, \"average_ns\": %lld,\n",
	    (long long)e->total, (long long)average(e));
	entry_lock(r, e, name, sizeof(name));
	str_printf(to, "   \"lock\": {\"address\": \"0x%llx\", \"name\": ",
	    (unsigned long long)e->lock);
	text_add_json(to, name);
	str_add(to, "},\n   \"stack\": [");
	for (size_t i = 0; i < e->npcs; i++) {
		frame_name(e, i, name, sizeof(name));
		str_add(to, i > 0 ? ", " : "");
		text_add_json(to, name);
	}
	str_add(to, "],\n   \"histogram\": [");
	for (int i = 0; i < QUANTIZE_BUCKETS; i++) {
		if (e->buckets[i] == 0)
			continue;
		str_printf(to, "%s{\"ns\": %lld, \"count\": %lld}", own(comma),
		    (long long)bucket_from(i), (long long)e->buckets[i]);
		comma = ", ";
	}
	str_add(to, "]}");
}

/* ---- all of it ---- */

void
locks_print(void *ctx, struct consume *c)
{
	const struct lock_report *r = ctx;
	struct printer p = record_printer(c, &c->line);
	const char *comma = "";

	if (r->json)
		str_printf(p.to, "{\"pid\": %d, \"locks\": [", r->pid);
	for (unsigned k = 0; k < ARRAY_SIZE(lock_kinds); k++) {
		entries all = { 0 };
		collect(c, r, &lock_kinds[k], &all);
		if (!r->json)
			print_kind(&p, r, &lock_kinds[k], &all);
		size_t n = r->top > 0 ? MIN(all.len, r->top) : all.len;
		for (size_t i = 0; r->json && i < n; i++) {
			str_add(p.to, own(comma));
			json_entry(p.to, r, &lock_kinds[k], all.at[i]);
			comma = ",";
		}
		vec_foreach(e, &all)
			mem_free(*e);
		vec_fini(&all);
	}
	if (r->json)
		str_add(p.to, "\n]}\n");
	out_write(&c->out, p.to);
}
