/*
 * dlang/vm/buf.c: the ring, its three policies, wrapping, and buffers that the
 * target has scribbled on.
 */
#include <check.h>
#include <string.h>

#include "dlang/base/base.h"
#include "dlang/vm/buf.h"
#include "t/fake/env.h"

static struct kit k;

/* EPID n records of this size. */
static const uint32_t sizes[] = { 0, 24, 40, 104, 248 };

static void
start(uint32_t bufsize, uint32_t policy)
{
	kit_init(&k);
	k.sizes.bufsize = bufsize;
	k.sizes.policy = policy;
	for (size_t i = 1; i < ARRAY_SIZE(sizes); i++)
		kit_clause(&k, NULL, sizes[i]);
	kit_publish(&k);
	kit_probe(&k, 0, 0, 1, 2, 3, -1);
}

static void
teardown(void)
{
	kit_fini(&k);
}

static uint32_t serial;

/* Write one record with the next serial number; false when dropped. */
static bool
put(uint32_t epid)
{
	buf_make_room(&k.image, kit_view(&k), sizes[epid]);
	struct rec_hdr *r = buf_reserve(kit_view(&k), sizes[epid]);
	if (r == NULL)
		return false;
	ck_assert_uint_eq((uintptr_t)r % 8, 0);
	memset(r, 0xee, sizes[epid]);
	r->epid = epid;
	r->timestamp = ++serial;
	buf_commit(kit_view(&k));
	return true;
}

/* The serial number of the next record, 0 for none. */
static uint64_t
take(void)
{
	const struct rec_hdr *r = kit_record(&k);

	return r != NULL ? r->timestamp : 0;
}

static uint64_t
drops(void)
{
	return kit_lane(&k)->drops[DROP_PRINCIPAL];
}

START_TEST(records_come_out_in_order_across_the_end)
{
	uint64_t expect = 1;

	start(1000, POLICY_SWITCH);
	serial = 0;
	for (int round = 0; round < 500; round++) {
		uint32_t n = 0;
		while (n < 1 + (uint32_t)round % 5 &&
		    put(1 + (uint32_t)(round * 7 + (int)n) % 4))
			n++;
		for (; n > 0; n--)
			ck_assert_uint_eq(take(), expect++);
		ck_assert_uint_eq(take(), 0);
	}
	ck_assert_uint_gt(expect, 1000);
}
END_TEST

START_TEST(switch_drops_when_full_until_read)
{
	uint32_t n = 0;

	start(400, POLICY_SWITCH);
	serial = 0;
	while (put(2))
		n++;
	ck_assert_uint_eq(n, 10);
	ck_assert_uint_eq(drops(), 1);
	ck_assert_uint_eq(buf_fill(kit_view(&k)), 256);
	ck_assert(!put(1));
	ck_assert_uint_eq(take(), 1);
	ck_assert(put(2));
	ck_assert(!put(2));
	ck_assert_uint_eq(drops(), 3);
	for (uint64_t i = 2; i <= 11; i++)
		ck_assert_uint_eq(take(), i);
	ck_assert_uint_eq(take(), 0);
	ck_assert_uint_eq(buf_fill(kit_view(&k)), 0);
}
END_TEST

START_TEST(a_record_that_never_fits_is_always_a_drop)
{
	start(240, POLICY_SWITCH);
	ck_assert(!put(4));
	ck_assert(!put(4));
	ck_assert_uint_eq(drops(), 2);
	ck_assert(put(3));
}
END_TEST

START_TEST(pad_and_record_larger_than_the_buffer)
{
	start(256, POLICY_SWITCH);
	serial = 0;
	/* Read position 24: 248 does not fit before the end, and pad and
	 * record together not at all.  One drop, then it does. */
	ck_assert(put(1));
	ck_assert_uint_eq(take(), 1);
	ck_assert(!put(4));
	ck_assert_uint_eq(take(), 0);
	ck_assert(put(4));
	ck_assert_uint_eq(take(), 2);
	ck_assert_uint_eq(drops(), 1);
}
END_TEST

START_TEST(fill_is_one_pass)
{
	start(400, POLICY_FILL);
	serial = 0;
	for (int i = 0; i < 9; i++)
		ck_assert(put(2));
	ck_assert(!put(3));
	ck_assert(!put(1)); /* closed, though it would fit */
	ck_assert_uint_eq(drops(), 2);
	for (uint64_t i = 1; i <= 9; i++)
		ck_assert_uint_eq(take(), i);
	ck_assert(!put(1));
	ck_assert_uint_eq(take(), 0);
}
END_TEST

START_TEST(fill_keeps_room_for_end)
{
	start(400, POLICY_FILL);
	struct store_hdr *h = store_hdr(&k.store);
	h->activity = ACTIVITY_ACTIVE;
	h->end_room = 80; /* two records of epid 2 */
	ck_assert(vm_open(&k.env, 0));
	serial = 0;
	for (int i = 0; i < 8; i++)
		ck_assert(put(2));
	ck_assert(!put(2));
	h->activity = ACTIVITY_COOLDOWN;
	ck_assert(put(2));
	ck_assert(put(2));
	ck_assert(!put(2));
	ck_assert_uint_eq(drops(), 2);
	for (uint64_t i = 1; i <= 8; i++)
		ck_assert_uint_eq(take(), i);
	/* More than there is, as the target may have it. */
	h->end_room = 0xffffffff;
	h->activity = ACTIVITY_ACTIVE;
	ck_assert(!put(1));
}
END_TEST

START_TEST(ring_keeps_the_newest)
{
	uint64_t first;

	start(400, POLICY_RING);
	serial = 0;
	for (uint32_t i = 0; i < 1000; i++)
		ck_assert(put(1 + i % 4));
	ck_assert_uint_eq(drops(), 0);
	first = take();
	ck_assert_uint_ge(first, 996);
	for (uint64_t i = first + 1; i <= 1000; i++)
		ck_assert_uint_eq(take(), i);
	ck_assert_uint_eq(take(), 0);
}
END_TEST

START_TEST(ring_of_one_record)
{
	start(256, POLICY_RING);
	serial = 0;
	for (uint32_t i = 0; i < 50; i++) {
		ck_assert(put(1 + i % 4));
		if (i % 4 == 3)
			ck_assert_uint_eq(take(), i + 1);
	}
}
END_TEST

START_TEST(discarded_records_are_never_seen)
{
	start(400, POLICY_SWITCH);
	serial = 0;
	for (int i = 0; i < 100; i++) {
		void *r = buf_reserve(kit_view(&k), 104);
		ck_assert_ptr_nonnull(r);
		memset(r, 0xff, 104);
		buf_discard(kit_view(&k));
		ck_assert_uint_eq(take(), 0);
	}
	ck_assert(put(1));
	ck_assert_uint_eq(take(), 1);
}
END_TEST

START_TEST(sizes_are_those_of_the_epid)
{
	struct rec_hdr r = { .epid = 3 };
	struct rec_pad pad = { EPID_PAD, 16 };

	start(400, POLICY_SWITCH);
	ck_assert_uint_eq(buf_rec_size(&k.image, &r, 1000), 104);
	ck_assert_uint_eq(buf_rec_size(&k.image, &r, 103), 0);
	r.epid = 5;
	ck_assert_uint_eq(buf_rec_size(&k.image, &r, 1000), 0);
	r.epid = 0xfffffffe;
	ck_assert_uint_eq(buf_rec_size(&k.image, &r, 1000), 0);
	r.epid = EPID_FAULT;
	ck_assert_uint_eq(
	    buf_rec_size(&k.image, &r, 1000), sizeof(struct rec_fault));
	ck_assert_uint_eq(buf_rec_size(&k.image, &pad, 1000), 16);
	pad.size = 12;
	ck_assert_uint_eq(buf_rec_size(&k.image, &pad, 1000), 0);
	pad.size = 0;
	ck_assert_uint_eq(buf_rec_size(&k.image, &pad, 1000), 0);
}
END_TEST

START_TEST(scribbled_lanes_stay_in_the_region)
{
	static const uint64_t bad[] = { 0, 1, 7, 0xffffffff, 0x80000000,
		1ULL << 63, -8ULL, 4096 };
	uint32_t avail;

	start(400, POLICY_RING);
	for (size_t i = 0; i < ARRAY_SIZE(bad) * 4; i++) {
		struct lane *l = kit_lane(&k), saved = *l;
		uint64_t v = bad[i / 4];
		switch (i % 4) {
		case 0: l->reserved = v; break;
		case 1: l->full = (uint32_t)v; break;
		case 2: l->head = v; break;
		case 3: l->tail = v; break;
		}
		for (uint32_t e = 1; e < 5; e++) {
			uint8_t *r;
			buf_make_room(&k.image, kit_view(&k), sizes[e]);
			r = buf_reserve(kit_view(&k), sizes[e]);
			if (r == NULL)
				continue;
			ck_assert(r >= k.store.base &&
			    r + sizes[e] <= k.store.base + k.store.size);
			buf_commit(kit_view(&k));
			r = (uint8_t *)buf_peek(kit_view(&k), &avail);
			ck_assert(r == NULL ||
			    (r >= k.store.base &&
				r + avail <= k.store.base + k.store.size));
		}
		*l = saved;
	}
}
END_TEST

/* Records and pads that make sense, and indices that do not: it ends. */
START_TEST(indices_too_far_apart_are_not_counted_through)
{
	uint32_t avail;

	start(400, POLICY_RING);
	struct lane *l = kit_lane(&k);
	for (int i = 0; i < 40; i++)
		ck_assert(put(1));
	l->head = 1ULL << 60;
	l->tail = 0;
	ck_assert(put(1));
	l->head = 1ULL << 60;
	l->tail = 0;
	memset(k.store.base + l->buf_ref, 0, 400);
	((struct rec_pad *)(k.store.base + l->buf_ref))->epid = EPID_PAD;
	ck_assert_ptr_null(buf_peek(kit_view(&k), &avail));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("buf");
	TCase *tc = tcase_create("buf");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, records_come_out_in_order_across_the_end);
	tcase_add_test(tc, switch_drops_when_full_until_read);
	tcase_add_test(tc, a_record_that_never_fits_is_always_a_drop);
	tcase_add_test(tc, pad_and_record_larger_than_the_buffer);
	tcase_add_test(tc, fill_is_one_pass);
	tcase_add_test(tc, fill_keeps_room_for_end);
	tcase_add_test(tc, ring_keeps_the_newest);
	tcase_add_test(tc, ring_of_one_record);
	tcase_add_test(tc, discarded_records_are_never_seen);
	tcase_add_test(tc, sizes_are_those_of_the_epid);
	tcase_add_test(tc, scribbled_lanes_stay_in_the_region);
	tcase_add_test(tc, indices_too_far_apart_are_not_counted_through);
	suite_add_tcase(s, tc);

	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
