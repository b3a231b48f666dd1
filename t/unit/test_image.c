/*
 * dlang/image/image.c: layout, sharing of equal parts, lists, capacity, full and
 * sparse regions; and the store that is laid out for an image.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "dlang/base/base.h"
#include "dlang/vm/dyn.h"
#include "t/fake/env.h"

static struct kit k;

static void
setup(void)
{
	kit_init(&k);
}

static void
teardown(void)
{
	kit_fini(&k);
}

static void *
at(uint32_t ref)
{
	return k.image.base + ref;
}

START_TEST(variables_are_sorted_and_placed)
{
	k.opts.value[OPT_STRSIZE] = 20;
	kit_var(&k, DIF_LOCAL, DIF_SCALAR, 0x503);
	kit_ref_var(&k, DIF_GLOBAL, DIF_SCALAR, 0x501, true, 21);
	kit_var(&k, DIF_GLOBAL, DIF_SCALAR, 0x502);
	kit_var(&k, DIF_THREAD, DIF_SCALAR, 0x504);
	struct prog_var *v = kit_var(&k, DIF_GLOBAL, DIF_ARRAY, 0x500);
	v->nkeys = 2;
	v->key_size = 28;
	kit_ref_var(&k, DIF_LOCAL, DIF_SCALAR, 0x502, false, 5);
	kit_publish(&k);

	const struct img_hdr *h = image_hdr(k.im);
	const struct img_var *vars = at(h->vars_ref);
	ck_assert_uint_eq(h->magic, IMAGE_MAGIC);
	ck_assert_uint_eq(h->strsize, 21); /* and a NUL */
	ck_assert_uint_eq(h->nvars, 6);
	for (uint32_t i = 0; i + 1 < 6; i++)
		ck_assert(vars[i].id < vars[i + 1].id ||
		    (vars[i].id == vars[i + 1].id &&
			vars[i].scope < vars[i + 1].scope));
	ck_assert_uint_eq(h->statics_size, 8 + 24 + 8);
	ck_assert_uint_eq(h->locals_size, 8 + 8 + 8);
	ck_assert_uint_eq(h->dyn_data, 2 * 16 + 32 + 8);
	/* 4 bytes for which array, the keys, the value. */
	ck_assert_uint_eq(h->dyn_cost, 4 + 28 + 8);
	ck_assert_uint_eq(vars[1].id, 0x501);
	ck_assert_uint_eq(vars[1].flags, DIF_BY_REF | IMG_VAR_STRING);
	ck_assert_uint_eq(vars[1].size, 21);
	ck_assert_uint_eq(vars[1].off, 0);
	ck_assert_uint_eq(vars[2].off, 32);
	/* The string starts as NULL, the rest as zero. */
	uint32_t statics = store_hdr(&k.store)->statics_ref;
	ck_assert_uint_eq(k.store.base[statics], 0xff);
	ck_assert_uint_eq(k.store.base[statics + 32], 0);
}
END_TEST

START_TEST(equal_parts_are_stored_once)
{
	static const struct argloc a = { ARGLOC_REG, 8, 0, 1, 0, 0, 0, 0, 0 };
	static const struct argloc b = { ARGLOC_REG, 8, 0, 2, 0, 0, 0, 0, 0 };
	struct prog_act *acts[3];

	kit_clause(&k, NULL, 48);
	acts[0] = kit_rec(&k, kit_const(&k, 7), 24, 8, 0);
	acts[1] = kit_rec(&k, kit_const(&k, 7), 32, 8, 0);
	acts[2] = kit_rec(&k, kit_const(&k, 8), 40, 8, 0);
	kit_publish(&k);
	uint32_t probe = kit_probe(&k, 0, 0, -1);
	const struct img_probe *p = at(probe);
	const struct img_ecb *e = at(p->ecb_ref);
	const struct img_clause *c = at(e->clause_ref);
	const struct img_act *i = at(c->acts_ref);
	ck_assert_uint_eq(i[0].difo_ref, i[1].difo_ref);
	ck_assert_uint_ne(i[0].difo_ref, i[2].difo_ref);
	ck_assert_uint_eq(i[1].index, acts[1]->index);

	ck_assert_uint_eq(
	    image_add_args(k.im, &a, 1), image_add_args(k.im, &a, 1));
	ck_assert_uint_ne(
	    image_add_args(k.im, &a, 1), image_add_args(k.im, &b, 1));
	const struct img_probe *q = at(kit_probe(&k, 0, -1));
	ck_assert_uint_eq(p->prov_ref, q->prov_ref);
	ck_assert_str_eq(at(p->func_ref), "func");
	ck_assert_uint_ne(p->func_ref, p->name_ref);
}
END_TEST

START_TEST(lists_keep_their_order)
{
	kit_clause(&k, NULL, 24);
	kit_clause(&k, NULL, 24);
	kit_publish(&k);
	uint32_t probe = kit_probe(&k, 0, 1, 0, 1, -1);
	const struct img_probe *p = at(probe);
	const struct img_ecb *e = at(p->ecb_ref);
	static const uint32_t clauses[] = { 1, 0, 1 };

	for (uint32_t i = 0; i < 3; i++) {
		const struct img_clause *c = at(e->clause_ref);
		ck_assert_uint_eq(e->epid, i + 1);
		ck_assert_uint_eq(c->index, clauses[i]);
		ck_assert_uint_eq(e->next_ref == 0, i == 2);
		e = at(e->next_ref);
	}
	ck_assert_uint_eq(image_hdr(k.im)->necbs, 3);
	ck_assert_uint_eq(image_add_ecb(k.im, probe, 2, 0), 0);

	uint32_t s[3];
	const uint32_t *tps = at(image_hdr(k.im)->tps_ref);
	for (uint32_t i = 0; i < 3; i++)
		s[i] = image_add_site(k.im, probe, 4, 0, 0);
	image_remove_site(k.im, s[1], 4);
	ck_assert_uint_eq(tps[4], s[0]);
	ck_assert_uint_eq(((struct img_site *)at(s[0]))->next_ref, s[2]);
	image_remove_site(k.im, s[0], 4);
	image_remove_site(k.im, s[2], 4);
	image_remove_site(k.im, s[2], 4);
	ck_assert_uint_eq(tps[4], 0);
	ck_assert_uint_eq(image_add_site(k.im, probe, 0xffffffff, 0, 0), 0);
	ck_assert_uint_ne(image_add_site(k.im, probe, 0, 0, 0), 0);
	ck_assert_uint_eq(tps[0], 0);
}
END_TEST

/* Publish the clauses of the kit, without its checks. */
static int
publish(void)
{
	const char *why;
	uint32_t where;

	for (size_t i = 0; i < k.globals.clauses.len; i++) {
		struct prog_clause *c = k.globals.clauses.at[i];
		for (size_t j = 0; j < c->nacts; j++)
			if (c->acts[j].difo != NULL)
				ck_assert_int_eq(
				    verify_difo(&k.arena, c->acts[j].difo,
					&k.globals, &why, &where),
				    0);
	}
	return image_publish(k.im, &k.globals, &k.opts);
}

START_TEST(layouts_that_contradict_themselves_are_refused)
{
	/* clang-format off */
	static const struct {
		uint32_t rec, off, size;
		unsigned flags;
		enum img_op op;
		int64_t arg;
		bool ok;
	} rows[] = {
		{ 32, 24, 8, 0, OP_EXPR, 0, true },
		{ 32, 28, 8, 0, OP_EXPR, 0, false },
		{ 32, 0xfffffff8, 16, 0, OP_EXPR, 0, false },
		{ 40, 24, 16, 0, OP_EXPR, 0, false },
		{ 40, 24, 16, ACT_F_BYREF, OP_EXPR, 0, true },
		{ 0, 0, 8, 0, OP_EXPR, 0, false },
		{ 0, 0, 0, 0, OP_EXPR, 0, true },
		{ 20, 0, 0, 0, OP_EXPR, 0, false },
		{ 30, 24, 4, 0, OP_EXPR, 0, false },
		{ 56, 24, 0, 0, OP_STACK, 3, true },
		{ 56, 24, 0, 0, OP_STACK, 4, false },
		{ 56, 28, 0, 0, OP_STACK, 1, false },
		{ 56, 24, 0, 0, OP_STACK, -1, false },
		{ 40, 24, 0, 0, OP_SYM, 0, true },
		{ 40, 32, 0, 0, OP_SYM, 0, false },
		{ 32, 0, 8, ACT_F_KEY, OP_EXPR, 0, false },
		{ 32, 0, 0, 0, OP_AGG, 0, false },
		{ 32, 0, 0, 0, OP_AGG, 2, false },
		{ 32, 0, 0, 0, OP_AGG, 1, true },
		{ 0, 0, 0, 0, OP_SPECULATE, 0, false },
		{ 24, 24, 4, 0, OP_EXIT, 0, false },
	};
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		kit_fini(&k);
		kit_init(&k);
		kit_agg(&k, AGG_COUNT, 8, 0);
		kit_clause(&k, NULL, rows[i].rec);
		struct prog_act *a = kit_act(&k, rows[i].op, kit_const(&k, 1));
		a->off = rows[i].off;
		a->size = rows[i].size;
		a->flags = rows[i].flags;
		a->arg = rows[i].arg;
		ck_assert_msg(
		    publish() == (rows[i].ok ? 0 : -EINVAL), "row %zu", i);
	}
}
END_TEST

START_TEST(words_of_aggregations_are_computed)
{
	struct prog_agg *a =
	    kit_agg(&k, AGG_LQUANTIZE, 12, LQUANTIZE_ENCODE(0, 10, 1));
	struct prog_agg *b = kit_agg(&k, AGG_QUANTIZE, 0, 0);

	kit_publish(&k);
	ck_assert_uint_eq(a->words, 13);
	ck_assert_uint_eq(b->words, 127);
	ck_assert_uint_eq(image_hdr(k.im)->agg_data, 127 * 8);
	const struct img_agg *aggs = at(image_hdr(k.im)->aggs_ref);
	ck_assert_uint_eq(aggs[0].words, 13);
	ck_assert_uint_eq(aggs[1].id, 2);
}
END_TEST

/* An entry of an aggregation is pinned if its key is the same at each hit. */
START_TEST(known_keys_are_pinned)
{
	static const struct {
		uint32_t var;
		bool pins;
	} rows[] = { { DIF_VAR_TID, true }, { DIF_VAR_PROBEFUNC, true },
		{ DIF_VAR_ARG0, false } };
	const struct prog_agg *a = kit_agg(&k, AGG_COUNT, 8, 0);

	kit_clause(&k, NULL, 0);
	kit_rec(&k, kit_load(&k, rows[_i].var), 0, 8, ACT_F_KEY);
	kit_act(&k, OP_AGG, NULL)->arg = a->id;
	kit_publish(&k);
	ck_assert_int_eq(
	    (image_hdr(k.im)->flags & IMG_PINS) != 0, rows[_i].pins);
}
END_TEST

START_TEST(a_full_region_says_so)
{
	struct region r = { calloc(1, 4096), 4096 };
	struct image *im = image_create(r);
	char name[32];
	uint32_t ref = 1;
	int n = 0;

	for (; ref != 0; n++) {
		snprintf(name, sizeof(name), "function_%d", n);
		ref = image_add_probe(im, 1, "p", "m", name, "n", 0);
		ck_assert_int_lt(n, 1000);
		ck_assert(ref == 0 || ref + sizeof(struct img_probe) <= 4096);
	}
	ck_assert_int_gt(n, 20);
	for (n = 0; image_add_site(im, 64, 0, 0, 0) != 0; n++)
		ck_assert_int_lt(n, 1000);
	kit_clause(&k, NULL, 24);
	ck_assert_int_eq(image_publish(im, &k.globals, &k.opts), -ENOSPC);
	image_destroy(im);
	free(r.base);
}
END_TEST

START_TEST(many_probes_and_tracepoints_fit_a_sparse_region)
{
	struct region r = { .size = 1U << 30 };
	char name[32];

	r.base = mmap(NULL, r.size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	ck_assert_ptr_ne(r.base, MAP_FAILED);
	struct image *im = image_create(r);
	kit_clause(&k, NULL, 24);
	ck_assert_int_eq(image_publish(im, &k.globals, &k.opts), 0);
	ck_assert_uint_gt(image_hdr(im)->tps_max, 1000000);
	for (uint32_t i = 1; i <= 300000; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		uint32_t p =
		    image_add_probe(im, i, "pid1", "libc", name, "entry", 0);
		ck_assert_uint_ne(p, 0);
		ck_assert_uint_ne(image_add_site(im, p, i * 3, 0, 0), 0);
		ck_assert_uint_eq(image_add_ecb(im, p, 0, 0), i);
	}
	/* About a hundred bytes each, besides the tables. */
	ck_assert_uint_lt(image_hdr(im)->used, 48U << 20);
	image_destroy(im);
	munmap(r.base, r.size);
}
END_TEST

START_TEST(stores_are_laid_out_apart)
{
	struct lane_view v;

	k.sizes.nlanes = 3;
	kit_var(&k, DIF_GLOBAL, DIF_SCALAR, 0x500);
	kit_var(&k, DIF_THREAD, DIF_SCALAR, 0x501);
	kit_publish(&k);
	const struct store_hdr *h = store_hdr(&k.store);
	uint32_t count = dyn_count(image_hdr(k.im), k.sizes.dynvarsize);
	uint32_t end = h->dyn_ref + (uint32_t)dyn_size(image_hdr(k.im), count);
	ck_assert_uint_eq(count, k.sizes.dynvarsize / 8);
	ck_assert_uint_ge(h->statics_ref, sizeof(*h));
	ck_assert_uint_ge(h->dyn_ref, h->statics_ref + 8);
	for (uint32_t i = 0; i < 3; i++) {
		ck_assert(store_view(&k.image, &k.store, i, &v));
		const struct lane *l = v.lane;
		uint32_t ref = (uint32_t)((uint8_t *)l - k.store.base);
		ck_assert_uint_ge(ref, end);
		ck_assert_uint_ge(l->locals_ref, ref + sizeof(struct lane));
		ck_assert_uint_ge(
		    l->scratch_ref, l->locals_ref + l->locals_size);
		ck_assert_uint_ge(l->buf_ref, l->scratch_ref + l->scratch_size);
		ck_assert_uint_ge(l->agg_ref, l->buf_ref + l->buf_size);
		ck_assert_uint_ge(l->spec_ref, l->agg_ref + 2 * l->agg_size);
		end = l->spec_ref + l->spec_size;
		ck_assert_uint_le(end, ref + l->size);
		ck_assert_ptr_eq(v.buf, k.store.base + l->buf_ref);
		ck_assert_ptr_eq(v.scratch, k.store.base + l->scratch_ref);
		ck_assert_ptr_eq(v.locals, k.store.base + l->locals_ref);
		ck_assert_ptr_eq(v.statics, k.store.base + h->statics_ref);
		ck_assert_ptr_nonnull(v.dyn.hdr);
		for (int n = 0; n < 2; n++)
			ck_assert_uint_eq(
			    v.aggs[n].end - v.aggs[n].ref, l->agg_size);
	}
	ck_assert_uint_le(end, k.store.size);
	ck_assert(!store_view(&k.image, &k.store, 3, &v));
	ck_assert_ptr_null(v.lane);
	ck_assert(!store_view(&k.image, &k.store, 0xffffffff, &v));

	struct store_sizes big = k.sizes;
	big.bufsize = 0xfffffff8;
	ck_assert_uint_eq(store_size(image_hdr(k.im), &big), 0);
	struct region small = { k.store.base, k.store.size - 1 };
	ck_assert_int_eq(store_init(&small, image_hdr(k.im), &k.sizes), -1);
}
END_TEST

/* Whatever the words of a lane say: its view is in the store, or of nothing. */
START_TEST(views_stay_in_the_store)
{
	static const uint32_t bad[] = { 0, 1, 3, 8, 4096, 0x7ffffff8,
		0x80000000, 0xfffffff8, 0xffffffff };
	struct lane_view v;

	kit_var(&k, DIF_THREAD, DIF_SCALAR, 0x501);
	kit_publish(&k);
	uint8_t *end = k.store.base + k.store.size;
	uint32_t lane = (uint32_t)((uint8_t *)kit_lane(&k) - k.store.base);
	uint32_t dyn = store_hdr(&k.store)->dyn_ref;
	const uint32_t from[] = { 8,
		lane + (uint32_t)offsetof(struct lane, size), dyn,
		kit_lane(&k)->agg_ref };
	for (size_t part = 0; part < ARRAY_SIZE(from); part++)
		for (uint32_t w = 0; w < 16; w++)
			for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
				uint32_t *at =
				    (void *)(k.store.base + from[part] + 4 * w);
				uint32_t saved = *at;
				*at = bad[i];
				bool any =
				    store_view(&k.image, &k.store, 0, &v);
				*at = saved;
				if (!any)
					continue;
				ck_assert(v.buf + v.buf_size <= end);
				ck_assert(v.scratch + v.scratch_size <= end);
				for (int n = 0; n < 2; n++)
					ck_assert(v.aggs[n].hdr == NULL ||
					    (v.aggs[n].first <= v.aggs[n].end &&
						v.aggs[n].end <= k.store.size));
				ck_assert(v.dyn.hdr == NULL ||
				    (uint64_t)v.dyn.chunk_ref +
					    (uint64_t)v.dyn.chunks *
						v.dyn.chunk_size <=
					k.store.size);
			}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("image");
	TCase *tc = tcase_create("image");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, variables_are_sorted_and_placed);
	tcase_add_test(tc, equal_parts_are_stored_once);
	tcase_add_test(tc, lists_keep_their_order);
	tcase_add_test(tc, layouts_that_contradict_themselves_are_refused);
	tcase_add_test(tc, words_of_aggregations_are_computed);
	tcase_add_loop_test(tc, known_keys_are_pinned, 0, 3);
	tcase_add_test(tc, a_full_region_says_so);
	tcase_add_test(tc, many_probes_and_tracepoints_fit_a_sparse_region);
	tcase_add_test(tc, stores_are_laid_out_apart);
	tcase_add_test(tc, views_stay_in_the_store);
	suite_add_tcase(s, tc);

	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
