/*
 * Canned regions for the consumer's tests: an image, a store with some lanes,
 * a program's clauses and aggregations; and what came out.
 */
#ifndef T_UNIT_CONSUME_FIXTURE_H
#define T_UNIT_CONSUME_FIXTURE_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/arena.h"
#include "dlang/vm/agg.h"
#include "dlang/vm/buf.h"
#include "t/unit/double_symbols.h"
/* The store itself where it is built; a double where it is not yet. */
#if !__has_include("dlang/vm/spec.h")
#endif
#include "tracer/consume/consume.h"

#define FX_IMAGE 65536
#define FX_ECBS  64

struct fx {
	struct region image, store;
	uint32_t used; /* of the image */
	struct arena arena;
	struct prog_globals globals;
	struct options opts;
	FILE *out, *err;
	char *out_text, *err_text;
	size_t out_len, err_len;
	struct consume_env env;
	struct consume *c; /* made at first use */
	uint64_t now;      /* timestamp of the next record */
	uint32_t tid, cpu;
};

static inline uint32_t
fx_image_alloc(struct fx *f, uint32_t size)
{
	uint32_t ref = f->used;

	f->used += ROUND_UP(size, 8);
	ck_assert_uint_le(f->used, f->image.size);
	return ref;
}

static inline uint32_t
fx_image_text(struct fx *f, const char *s)
{
	uint32_t size = (uint32_t)strlen(s) + 1;
	uint32_t ref = fx_image_alloc(f, size);

	memcpy(f->image.base + ref, s, size);
	return ref;
}

static inline struct img_hdr *
fx_hdr(struct fx *f)
{
	return (struct img_hdr *)(void *)f->image.base;
}

static inline void
fx_store(struct fx *f, uint32_t nlanes)
{
	struct store_sizes s = { .nlanes = nlanes,
		.bufsize = 32768,
		.aggsize = 32768,
		.dynvarsize = 4096,
		.scratch = 4096 };

	f->store.size = store_size(fx_hdr(f), &s);
	f->store.base = mem_zalloc(f->store.size);
	ck_assert_int_eq(store_init(&f->store, fx_hdr(f), &s), 0);
}

static inline struct fx *
fx_create(uint32_t nlanes)
{
	struct fx *f = mem_zalloc(sizeof(*f));

	arena_init(&f->arena);
	options_init(&f->opts);
	f->image = (struct region){ mem_zalloc(FX_IMAGE), FX_IMAGE };
	f->used = ROUND_UP(sizeof(struct img_hdr), 8);
	struct img_hdr *h = fx_hdr(f);
	*h = (struct img_hdr){ .magic = IMAGE_MAGIC,
		.version = IMAGE_VERSION,
		.size = FX_IMAGE,
		.strsize = 256,
		.ecbs_max = FX_ECBS };
	h->ecbs_ref = fx_image_alloc(f, FX_ECBS * 4);
	h->vars_ref = fx_image_alloc(f, 8);
	fx_store(f, nlanes);
	f->out = open_memstream(&f->out_text, &f->out_len);
	f->err = open_memstream(&f->err_text, &f->err_len);
	f->env = (struct consume_env){ .image = f->image,
		.store = f->store,
		.globals = &f->globals,
		.opts = &f->opts,
		.out = f->out,
		.err = f->err,
		.prog = "dtrap" };
	f->now = 1000;
	f->tid = 100;
	return f;
}

static inline void
fx_destroy(struct fx *f)
{
	consume_destroy(f->c);
	fclose(f->out);
	fclose(f->err);
	free(f->out_text);
	free(f->err_text);
	options_fini(&f->opts);
	arena_fini(&f->arena);
	vec_fini(&f->globals.clauses);
	vec_fini(&f->globals.aggs);
	mem_free(f->image.base);
	mem_free(f->store.base);
	mem_free(f);
}

static inline struct consume *
fx_consume(struct fx *f)
{
	if (f->c == NULL)
		f->c = consume_create(&f->env);
	return f->c;
}

/* ---- probes and programs ---- */

static inline uint32_t
fx_probe(struct fx *f, uint32_t id, const char *prov, const char *mod,
    const char *func, const char *name)
{
	uint32_t ref = fx_image_alloc(f, sizeof(struct img_probe));
	struct img_probe *p = (void *)(f->image.base + ref);

	p->id = id;
	p->prov_ref = fx_image_text(f, prov);
	p->mod_ref = fx_image_text(f, mod);
	p->func_ref = fx_image_text(f, func);
	p->name_ref = fx_image_text(f, name);
	return ref;
}

/* dtrace:::BEGIN, probe 1. */
static inline uint32_t
fx_begin(struct fx *f)
{
	return fx_probe(f, 1, "dtrace", "", "", "BEGIN");
}

static inline struct prog_clause *
fx_clause(struct fx *f)
{
	struct prog_clause *c = arena_alloc(&f->arena, sizeof(*c));

	c->rec_size = sizeof(struct rec_hdr);
	c->records = true;
	c->stmts = arena_alloc(&f->arena, 8 * sizeof(c->stmts[0]));
	c->global_index = (unsigned)f->globals.clauses.len;
	*vec_push(&f->globals.clauses) = c;
	return c;
}

static inline struct prog_stmt *
fx_stmt(struct fx *f, struct prog_clause *c, enum dif_act kind)
{
	ck_assert_uint_lt(c->nstmts, 8);
	struct prog_stmt *st = &c->stmts[c->nstmts++];

	st->kind = kind;
	st->recs = arena_alloc(&f->arena, 16 * sizeof(st->recs[0]));
	st->aggs = arena_alloc(&f->arena, 8 * sizeof(st->aggs[0]));
	return st;
}

/* A value of `size' bytes at the end of the record; its offset. */
static inline uint32_t
fx_rec(struct prog_clause *c, struct prog_stmt *st, enum rec_kind kind,
    uint32_t size, bool is_signed)
{
	ck_assert_uint_lt(st->nrecs, 16);
	struct prog_rec *r = &st->recs[st->nrecs++];

	*r = (struct prog_rec){ .kind = kind,
		.size = size,
		.is_signed = is_signed,
		.off = c->rec_size };
	c->rec_size += ROUND_UP(size, 8);
	return r->off;
}

static inline struct fmt *
fx_fmt(struct fx *f, const char *text)
{
	const char *error = NULL;
	struct fmt *fmt = NULL;

	ck_assert_msg(fmt_parse(&f->arena, text, &fmt, &error) == 0, "%s: %s",
	    text, error);
	return fmt;
}

/* The clause on the probe; the EPID. */
static inline uint32_t
fx_ecb(struct fx *f, uint32_t probe_ref, const struct prog_clause *c)
{
	struct img_hdr *h = fx_hdr(f);
	uint32_t clause_ref = fx_image_alloc(f, sizeof(struct img_clause));
	uint32_t ref = fx_image_alloc(f, sizeof(struct img_ecb));
	uint32_t epid = ++h->necbs;

	ck_assert_uint_lt(epid, FX_ECBS);
	*(struct img_clause *)(void *)(f->image.base + clause_ref) =
	    (struct img_clause){ .rec_size = c->rec_size,
		    .index = c->global_index };
	*(struct img_ecb *)(void *)(f->image.base + ref) = (struct img_ecb){
		.epid = epid, .probe_ref = probe_ref, .clause_ref = clause_ref
	};
	((uint32_t *)(void *)(f->image.base + h->ecbs_ref))[epid] = ref;
	return epid;
}

/* ---- what was traced ---- */

static inline struct lane_view
fx_lane(const struct fx *f, uint32_t lane)
{
	struct lane_view v;

	ck_assert(store_view(&f->image, &f->store, lane, &v));
	return v;
}

/* A record with its header: fill in the values, then buf_commit(). */
static inline uint8_t *
fx_record(struct fx *f, uint32_t lane, uint32_t epid, uint32_t size)
{
	const struct lane_view v = fx_lane(f, lane);
	uint8_t *at = buf_reserve(&v, size);
	struct rec_hdr hdr = { .epid = epid,
		.cpu = f->cpu,
		.pid = f->tid,
		.tid = f->tid,
		.timestamp = f->now++ };

	ck_assert_ptr_nonnull(at);
	memset(at, 0, size);
	memcpy(at, &hdr, sizeof(hdr));
	return at;
}

static inline void
fx_commit(struct fx *f, uint32_t lane)
{
	const struct lane_view v = fx_lane(f, lane);

	buf_commit(&v);
}

/* A whole record whose values are `data' (offsets from the header's end). */
static inline void
fx_fire(struct fx *f, uint32_t epid, const void *data, uint32_t len)
{
	const struct img_hdr *h = fx_hdr(f);
	uint32_t ref =
	    ((uint32_t *)(void *)(f->image.base + h->ecbs_ref))[epid];
	const struct img_ecb *e = (void *)(f->image.base + ref);
	const struct img_clause *c = (void *)(f->image.base + e->clause_ref);
	uint8_t *at = fx_record(f, 0, epid, c->rec_size);

	ck_assert_uint_le(len, c->rec_size - sizeof(struct rec_hdr));
	if (len != 0)
		memcpy(at + sizeof(struct rec_hdr), data, len);
	fx_commit(f, 0);
}

/* ---- aggregations ---- */

static inline struct prog_agg *
fx_agg(struct fx *f, const char *name, enum dif_agg func, uint64_t param)
{
	struct prog_agg *a = arena_alloc(&f->arena, sizeof(*a));

	a->name = name;
	a->func = func;
	a->param = param;
	a->words = agg_words(func, param);
	a->keys = arena_alloc(&f->arena, 8 * sizeof(a->keys[0]));
	*vec_push(&f->globals.aggs) = a;
	a->id = (uint32_t)f->globals.aggs.len;
	return a;
}

static inline void
fx_key(struct prog_agg *a, enum rec_kind kind, uint32_t size, bool is_signed)
{
	a->keys[a->nkeys++] = (struct prog_rec){ .kind = kind,
		.size = size,
		.is_signed = is_signed,
		.off = a->key_size };
	a->key_size += ROUND_UP(size, 8);
}

static inline struct agg_entry *
fx_entry(const struct lane_view *l, const struct prog_agg *a, const void *key)
{
	const struct agg_entry *e;
	uint32_t cookie = 0;

	while ((e = agg_next(l, l->lane->agg_area, &cookie)) != NULL)
		if (e->id == a->id && memcmp(e->data, key, a->key_size) == 0)
			return (struct agg_entry *)(uintptr_t)e;
	return NULL;
}

/* Add these value words to an entry in a lane. */
static inline void
fx_put(struct fx *f, uint32_t lane, const struct prog_agg *a, const void *key,
    const uint64_t *value)
{
	struct img_agg ia = { .id = a->id,
		.func = a->func,
		.key_size = a->key_size,
		.words = a->words,
		.param = a->param };
	const struct lane_view l = fx_lane(f, lane);
	struct agg_entry *e = fx_entry(&l, a, key);
	bool is_new = e == NULL;

	if (is_new) {
		agg_update(&l, &ia, key, 0, 0, 0, AGG_NO_PIN);
		e = fx_entry(&l, a, key);
	}
	ck_assert_ptr_nonnull(e);
	uint64_t *words = (void *)(e->data + ROUND_UP(a->key_size, 8));
	if (is_new)
		agg_zero(a->func, a->param, a->words, words);
	else
		e->updates++;
	agg_merge(a->func, a->words, words, value);
	l.lane->agg_busy += 2; /* an update is over */
}

/* With one string key of 16 bytes and one word. */
static inline void
fx_put_named(
    struct fx *f, const struct prog_agg *a, const char *name, int64_t value)
{
	char key[16] = "";
	uint64_t word = (uint64_t)value;

	strncpy(key, name, sizeof(key) - 1);
	fx_put(f, 0, a, key, &word);
}

/* ---- what came out ---- */

static inline const char *
fx_out(struct fx *f)
{
	fflush(f->out);
	return f->out_text;
}

static inline const char *
fx_err(struct fx *f)
{
	fflush(f->err);
	return f->err_text;
}

/* Print the records, and compare all output so far. */
#define fx_expect(f, text)                                           \
	do {                                                         \
		ck_assert_int_eq(consume_records(fx_consume(f)), 0); \
		ck_assert_str_eq(fx_out(f), (text));                 \
	} while (0)

/* The tests of a file, each in a process of its own between `up' and `down'. */
static inline int
fx_main(const char *name, const TTest *const *tests, size_t n, void (*up)(void),
    void (*down)(void))
{
	Suite *s = suite_create(name);
	TCase *tc = tcase_create(name);

	if (up != NULL)
		tcase_add_checked_fixture(tc, up, down);
	for (size_t i = 0; i < n; i++)
		tcase_add_test(tc, tests[i]);
	suite_add_tcase(s, tc);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}

#define FX_MAIN(name, up, down, ...)                                      \
	int main(void)                                                    \
	{                                                                 \
		const TTest *const tests[] = { __VA_ARGS__ };             \
		return fx_main(name, tests, ARRAY_SIZE(tests), up, down); \
	}

#endif
