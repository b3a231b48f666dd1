/*
 * dlang/vm/agg.c: buckets of every aggregating function, keys, merging, a full
 * store.
 */
#include <check.h>
#include <string.h>

#include "dlang/base/base.h"
#include "dlang/vm/agg.h"
#include "t/fake/env.h"

static struct kit k;

static void
setup(void)
{
	kit_init(&k);
	k.sizes.aggsize = 65536;
	kit_publish(&k);
}

static void
teardown(void)
{
	kit_fini(&k);
}

static struct img_agg
agg(uint32_t func, uint32_t key_size, uint64_t param)
{
	return (
	    struct img_agg){ 1, func, key_size, agg_words(func, param), param };
}

static void
update(const struct img_agg *a, const void *key, int64_t v, int64_t incr)
{
	agg_update(kit_view(&k), a, key, 0, v, incr, AGG_NO_PIN);
}

/* The words of the only entry. */
static const uint64_t *
words(void)
{
	uint32_t cookie = 0;
	const struct agg_entry *e = agg_next(kit_view(&k), 0, &cookie);

	ck_assert_ptr_nonnull(e);
	ck_assert_ptr_null(agg_next(kit_view(&k), 0, &cookie));
	return (const uint64_t *)(e->data + (e->key_size + 7) / 8 * 8);
}

static const int64_t values[] = { 5, -3, 0, 9, INT64_MAX, INT64_MIN, 9 };

static void
feed(uint32_t func, uint64_t param)
{
	struct img_agg a = agg(func, 0, param);

	agg_flip(kit_view(&k), 0);
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		update(&a, "", values[i], 1);
}

START_TEST(scalars)
{
	feed(AGG_COUNT, 0);
	ck_assert_uint_eq(words()[0], 7);
	feed(AGG_SUM, 0);
	ck_assert_int_eq((int64_t)words()[0], 19);
	feed(AGG_MIN, 0);
	ck_assert_int_eq((int64_t)words()[0], INT64_MIN);
	feed(AGG_MAX, 0);
	ck_assert_int_eq((int64_t)words()[0], INT64_MAX);
	feed(AGG_AVG, 0);
	ck_assert_uint_eq(words()[0], 7);
	ck_assert_int_eq((int64_t)words()[1], 19);
	feed(AGG_STDDEV, 0);
	ck_assert_uint_eq(words()[0], 7);
	ck_assert_int_eq((int64_t)words()[1], 19);
	unsigned __int128 squares = 0;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		squares += (unsigned __int128)((__int128)values[i] * values[i]);
	ck_assert_uint_eq(words()[2], (uint64_t)squares);
	ck_assert_uint_eq(words()[3], (uint64_t)(squares >> 64));
}
END_TEST

/* The bucket that took the value. */
static uint32_t
bucket(uint32_t func, uint64_t param, int64_t v)
{
	struct img_agg a = agg(func, 0, param);
	uint32_t found = UINT32_MAX;

	agg_flip(kit_view(&k), 0);
	update(&a, "", v, -7);
	for (uint32_t i = func == AGG_QUANTIZE ? 0 : 1; i < a.words; i++)
		if (words()[i] != 0) {
			ck_assert_int_eq((int64_t)words()[i], -7);
			ck_assert_uint_eq(found, UINT32_MAX);
			found = i - (func == AGG_QUANTIZE ? 0 : 1);
		}
	return found;
}

START_TEST(quantize_buckets_are_powers_of_two)
{
	static const struct {
		int64_t v;
		uint32_t at;
	} rows[] = {
		{ 0, 63 },
		{ 1, 64 },
		{ 2, 65 },
		{ 3, 65 },
		{ 4, 66 },
		{ -1, 62 },
		{ -2, 61 },
		{ -3, 61 },
		{ -4, 60 },
		{ INT64_MAX, 126 },
		{ INT64_MIN, 0 },
		{ INT64_MIN + 1, 0 },
		{ 1LL << 62, 126 },
		{ (1LL << 62) - 1, 125 },
		{ -(1LL << 62), 0 },
		{ -(1LL << 62) + 1, 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		ck_assert_uint_eq(
		    bucket(AGG_QUANTIZE, 0, rows[i].v), rows[i].at);
}
END_TEST

START_TEST(lquantize_buckets_are_steps)
{
	static const struct {
		int64_t v;
		uint32_t at;
	} rows[] = {
		{ -11, 0 },
		{ INT64_MIN, 0 },
		{ -10, 1 },
		{ -6, 1 },
		{ -5, 2 },
		{ 0, 3 },
		{ 4, 3 },
		{ 5, 4 },
		{ 9, 4 },
		{ 10, 5 },
		{ INT64_MAX, 5 },
	};
	uint64_t p = LQUANTIZE_ENCODE(-10, 4, 5);

	ck_assert_uint_eq(agg_words(AGG_LQUANTIZE, p), 1 + 6);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		ck_assert_uint_eq(
		    bucket(AGG_LQUANTIZE, p, rows[i].v), rows[i].at);
	ck_assert_uint_eq(words()[0], p);
	/* The widest: 65535 levels, all of 32 bits. */
	p = LQUANTIZE_ENCODE(INT32_MIN, 1, 65535);
	ck_assert_uint_eq(bucket(AGG_LQUANTIZE, p, INT64_MAX), 2);
	ck_assert_uint_eq(bucket(AGG_LQUANTIZE, p, INT32_MIN), 1);
}
END_TEST

/*
 * llquantize(v, 10, 0, 2, 20): orders [1, 10), [10, 100), [100, 1000) in steps
 * of 10/20, 100/20 and 1000/20, of which 20 - 20/10 = 18 belong to each order.
 */
START_TEST(llquantize_buckets_are_steps_of_magnitudes)
{
	uint64_t p = LLQUANTIZE_ENCODE(10, 0, 2, 20);
	const uint32_t n = 3 * 18, mid = n + 1;

	ck_assert_uint_eq(agg_words(AGG_LLQUANTIZE, p), 1 + 2 * n + 3);
	ck_assert_uint_eq(bucket(AGG_LLQUANTIZE, p, 0), mid);
	ck_assert_uint_eq(bucket(AGG_LLQUANTIZE, p, 1), mid + 1);
	ck_assert_uint_eq(bucket(AGG_LLQUANTIZE, p, -1), mid - 1);
	ck_assert_uint_eq(bucket(AGG_LLQUANTIZE, p, 2), mid + 1 + 2);
	ck_assert_uint_eq(bucket(AGG_LLQUANTIZE, p, 9), mid + 1 + 16);
	ck_assert_uint_eq(bucket(AGG_LLQUANTIZE, p, 10), mid + 1 + 18);
	ck_assert_uint_eq(bucket(AGG_LLQUANTIZE, p, 14), mid + 1 + 18);
	ck_assert_uint_eq(bucket(AGG_LLQUANTIZE, p, 15), mid + 1 + 19);
	ck_assert_uint_eq(bucket(AGG_LLQUANTIZE, p, 99), mid + 1 + 35);
	ck_assert_uint_eq(bucket(AGG_LLQUANTIZE, p, 100), mid + 1 + 36);
	ck_assert_uint_eq(bucket(AGG_LLQUANTIZE, p, 999), mid + n);
	ck_assert_uint_eq(bucket(AGG_LLQUANTIZE, p, -999), mid - n);
	ck_assert_uint_eq(bucket(AGG_LLQUANTIZE, p, 1000), 2 * n + 2);
	ck_assert_uint_eq(bucket(AGG_LLQUANTIZE, p, -1000), 0);
	ck_assert_uint_eq(bucket(AGG_LLQUANTIZE, p, INT64_MAX), 2 * n + 2);
	ck_assert_uint_eq(bucket(AGG_LLQUANTIZE, p, INT64_MIN), 0);

	/* Fewer steps than the factor: the first step is the short one. */
	p = LLQUANTIZE_ENCODE(10, 1, 1, 5);
	ck_assert_uint_eq(agg_words(AGG_LLQUANTIZE, p), 1 + 2 * 5 + 3);
	ck_assert_uint_eq(bucket(AGG_LLQUANTIZE, p, 9), 6);
	ck_assert_uint_eq(bucket(AGG_LLQUANTIZE, p, 10), 7);
	ck_assert_uint_eq(bucket(AGG_LLQUANTIZE, p, 19), 7);
	ck_assert_uint_eq(bucket(AGG_LLQUANTIZE, p, 20), 8);
	ck_assert_uint_eq(bucket(AGG_LLQUANTIZE, p, 99), 11);
	ck_assert_uint_eq(bucket(AGG_LLQUANTIZE, p, -99), 1);
	ck_assert_uint_eq(bucket(AGG_LLQUANTIZE, p, 100), 12);

	/* To the end of 63 bits. */
	p = LLQUANTIZE_ENCODE(2, 0, 62, 2);
	ck_assert_uint_eq(bucket(AGG_LLQUANTIZE, p, INT64_MAX), 1 + 2 * 63);
	ck_assert_uint_eq(bucket(AGG_LLQUANTIZE, p, INT64_MIN), 0);
}
END_TEST

START_TEST(keys_are_bytes)
{
	struct img_agg a = agg(AGG_SUM, 5, 0), b = agg(AGG_SUM, 5, 0);
	uint32_t cookie = 0, n = 0;
	const struct agg_entry *e;

	b.id = 2;
	update(&a, "key01", 1, 1);
	update(&a, "key02", 10, 1);
	update(&b, "key01", 100, 1);
	update(&a, "key01", 1000, 1);
	static const struct {
		uint32_t id;
		const char *key;
		uint64_t v;
	} want[] = { { 1, "key01", 1001 }, { 1, "key02", 10 },
		{ 2, "key01", 100 } };
	while ((e = agg_next(kit_view(&k), 0, &cookie)) != NULL) {
		ck_assert_uint_eq(e->id, want[n].id);
		ck_assert(memcmp(e->data, want[n].key, 5) == 0);
		ck_assert(memcmp(e->data + 5, "\0\0", 3) == 0);
		ck_assert_uint_eq(
		    *(const uint64_t *)(e->data + 8), want[n++].v);
	}
	ck_assert_uint_eq(n, 3);
	agg_flip(kit_view(&k), 0);
	cookie = 0;
	ck_assert_ptr_null(agg_next(kit_view(&k), 0, &cookie));
	update(&a, "key01", 7, 1);
	ck_assert_uint_eq(words()[0], 7);
}
END_TEST

/* Keys of whole words that differ only in high bits: addresses of pages. */
START_TEST(hashes_of_pages_differ_in_low_bits)
{
	bool seen[1024] = { false };
	unsigned different = 0;

	for (uint64_t key = 0; key < 1024 * 4096; key += 4096) {
		uint32_t h = agg_key_hash(1, &key, sizeof(key)) & 1023;
		different += !seen[h];
		seen[h] = true;
	}
	ck_assert_uint_gt(different, 250);
}
END_TEST

/* A program with an aggregation, and one lane that is given. */
static const struct lane_view *
begin_lane(struct kit *t)
{
	kit_init(t);
	kit_agg(t, AGG_COUNT, 8, 0);
	kit_publish(t);
	kit_threads(t, 1);
	kit_give(t, 0, 1);
	return &t->lanes[0];
}

/* What a pin says of the area is true of no other time. */
START_TEST(areas_have_numbers_of_their_own)
{
	struct kit t;
	const struct lane_view *v = begin_lane(&t);
	uint32_t last = v->lane->agg_area;

	ck_assert_uint_gt(last, 0); /* that of a pin of zeroes */

	for (uint32_t n = 1; n < 10; n++) {
		agg_flip(v, n & 1);
		ck_assert_uint_gt(v->lane->agg_area, last);
		ck_assert_uint_eq(v->lane->agg_area & 1, n & 1);
		last = v->lane->agg_area;
	}
	agg_flip(v, last); /* to the same one */
	ck_assert_uint_gt(v->lane->agg_area, last);
	ck_assert_uint_eq(v->lane->agg_area & 1, last & 1);
	last = v->lane->agg_area;
	kit_give(&t, 0, 1);
	ck_assert_uint_gt(v->lane->agg_area, last);
	ck_assert_uint_eq(v->lane->agg_area & 1, 0);
	kit_fini(&t);
}
END_TEST

START_TEST(an_entry_is_pinned)
{
	struct img_agg a = agg(AGG_COUNT, 8, 0);
	struct agg_pin pins[4] = { { 0 } };
	uint64_t key = 7;
	struct kit t;

	struct lane_view v = *begin_lane(&t);
	v.pins = pins;
	v.npins = 4;
	agg_update(&v, &a, &key, 0, 1, 1, 4); /* there is none */
	agg_update(&v, &a, &key, 0, 1, 1, AGG_NO_PIN);
	for (unsigned i = 0; i < 4; i++)
		ck_assert_uint_eq(pins[i].area, 0);
	agg_update(&v, &a, &key, 0, 1, 1, 2);
	ck_assert_uint_eq(pins[2].area, v.lane->agg_area);
	const struct agg_entry *e = (const void *)(v.base + pins[2].ref);
	ck_assert_uint_eq(e->updates, 3);
	ck_assert_mem_eq(e->data, &key, 8);
	ck_assert_uint_eq(pins[1].area | pins[3].area, 0);
	kit_fini(&t);
}
END_TEST

START_TEST(a_full_store_drops_new_keys_only)
{
	struct img_agg a = agg(AGG_COUNT, 8, 0);
	uint64_t n = 0;

	while (kit_lane(&k)->drops[DROP_AGG] == 0) {
		n++;
		update(&a, &n, 0, 1);
	}
	ck_assert_uint_gt(n, 1000);
	ck_assert_uint_gt(agg_fill(kit_view(&k)), 253);
	n = 1;
	update(&a, &n, 0, 1);
	ck_assert_uint_eq(kit_lane(&k)->drops[DROP_AGG], 1);
	uint32_t cookie = 0;
	const struct agg_entry *e = agg_next(kit_view(&k), 0, &cookie);
	ck_assert_uint_eq(*(const uint64_t *)(e->data + 8), 2);
	agg_flip(kit_view(&k), 0);
	ck_assert_uint_lt(agg_fill(kit_view(&k)), 32);
}
END_TEST

/* An area that is said to hold an entry of that size takes one. */
START_TEST(holds_what_it_says)
{
	static const uint64_t key[64];

	for (uint32_t size = 0; size < 1200; size++) {
		kit_fini(&k);
		kit_init(&k);
		k.sizes.aggsize = size;
		kit_publish(&k);
		struct lane *l = kit_lane(&k);
		for (uint32_t n = 0; n <= 512; n += 64) {
			struct img_agg a = agg(AGG_AVG, n, 0);
			uint64_t before = l->drops[DROP_AGG];
			update(&a, key, 1, 1);
			ck_assert_msg((l->drops[DROP_AGG] == before) ==
				agg_holds(size, n + 16),
			    "%u bytes of %u", n + 16, size);
			if (kit_view(&k)->aggs[0].hdr != NULL)
				agg_flip(kit_view(&k), 0);
		}
	}
	ck_assert(agg_holds(4 << 20, 1 << 20));
	ck_assert(!agg_holds(4 << 20, 0xffffffff));
}
END_TEST

START_TEST(processors_have_entries_of_their_own)
{
	struct img_agg a = agg(AGG_SUM, 4, 0);
	const struct agg_entry *e;
	int64_t sums[4] = { 0 };
	uint32_t cookie = 0;

	for (uint32_t i = 0; i < 40; i++)
		agg_update(kit_view(&k), &a, "key", i % 4, i, 1, AGG_NO_PIN);
	while ((e = agg_next(kit_view(&k), 0, &cookie)) != NULL) {
		ck_assert_uint_lt(e->cpu, 4);
		ck_assert_int_eq(sums[e->cpu], 0);
		memcpy(&sums[e->cpu], e->data + 8, 8);
	}
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(sums[i], 180 + 10 * i);
}
END_TEST

START_TEST(merging_equals_feeding_one)
{
	static const struct {
		uint32_t func;
		uint64_t param;
	} rows[] = {
		{ AGG_COUNT, 0 },
		{ AGG_SUM, 0 },
		{ AGG_MIN, 0 },
		{ AGG_MAX, 0 },
		{ AGG_AVG, 0 },
		{ AGG_STDDEV, 0 },
		{ AGG_QUANTIZE, 0 },
		{ AGG_LQUANTIZE, LQUANTIZE_ENCODE(-4, 5, 2) },
		{ AGG_LLQUANTIZE, LLQUANTIZE_ENCODE(10, 0, 3, 10) },
	};

	for (size_t r = 0; r < ARRAY_SIZE(rows); r++) {
		struct img_agg a = agg(rows[r].func, 0, rows[r].param);
		uint64_t sum[512];
		ck_assert_uint_le(a.words, 512);
		agg_zero(a.func, a.param, a.words, sum);
		for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
			agg_flip(kit_view(&k), 0);
			update(&a, "", values[i], 1);
			agg_merge(a.func, a.words, sum, words());
		}
		feed(a.func, a.param);
		ck_assert_msg(memcmp(sum, words(), a.words * 8) == 0,
		    "function %#x", a.func);
	}
}
END_TEST

START_TEST(a_knotted_chain_ends)
{
	struct img_agg a = agg(AGG_COUNT, 8, 0);
	struct lane *l = kit_lane(&k);
	uint64_t key = 1;

	update(&a, &key, 0, 1);
	uint32_t cookie = 0;
	struct agg_entry *e =
	    (struct agg_entry *)agg_next(kit_view(&k), 0, &cookie);
	e->next_ref = (uint32_t)((uint8_t *)e - k.store.base);
	for (key = 2; key < 600; key++)
		update(&a, &key, 0, 1);
	/* An area that makes no sense at all is a drop. */
	*(uint32_t *)(void *)k.env.at.aggs[0].hdr = 3; /* bytes used */
	update(&a, &key, 0, 1);
	ck_assert_uint_eq(l->drops[DROP_AGG], 1);
	cookie = 0;
	ck_assert_ptr_null(agg_next(kit_view(&k), 0, &cookie));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("agg");
	TCase *tc = tcase_create("agg");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, scalars);
	tcase_add_test(tc, quantize_buckets_are_powers_of_two);
	tcase_add_test(tc, lquantize_buckets_are_steps);
	tcase_add_test(tc, llquantize_buckets_are_steps_of_magnitudes);
	tcase_add_test(tc, keys_are_bytes);
	tcase_add_test(tc, hashes_of_pages_differ_in_low_bits);
	tcase_add_test(tc, areas_have_numbers_of_their_own);
	tcase_add_test(tc, an_entry_is_pinned);
	tcase_add_test(tc, a_full_store_drops_new_keys_only);
	tcase_add_test(tc, holds_what_it_says);
	tcase_add_test(tc, processors_have_entries_of_their_own);
	tcase_add_test(tc, merging_equals_feeding_one);
	tcase_add_test(tc, a_knotted_chain_ends);
	suite_add_tcase(s, tc);

	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
