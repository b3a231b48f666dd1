/*
 * inject: the list of what is to be put back (trapset.h), who is armed with it
 * and who is not, and the putting back (trapmend.h), on memory of our own.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dlang/base/base.h"
#include "inject/tracepoint_impl.h"
#include "inject/trapmend.h"
#include "inject/trapset.h"
#include "t/fake/target.h"

#define TEXT      UINT64_C(0x7f0000000000)
#define TEXT_SIZE (64 * 1024)

static struct fake_target ft;
static struct tptable *tab;

static void
setup(void)
{
	fake_target_init(&ft);
	struct fake_region *r = fake_target_map(&ft, TEXT, TEXT_SIZE);
	memset(r->bytes, 0x55, TEXT_SIZE); /* push rbp, over and over */
	tab = tptable_create(&ft.target);
}

static void
teardown(void)
{
	tptable_destroy(tab);
	fake_target_fini(&ft);
}

static struct tracepoint *
get(uint64_t addr)
{
	struct tracepoint *tp;
	const char *why = "";

	ck_assert_msg(tracepoint_get(tab, addr, 7, &tp, &why) == 0, "%s", why);
	return tp;
}

static uint8_t
byte(uint64_t at)
{
	return *fake_target_at(&ft, at);
}

static const struct trap_area *
area(void)
{
	return (const void *)fake_target_at(
	    &ft, trapset_area(tptable_traps(tab)));
}

START_TEST(nothing_is_armed_without_the_list)
{
	struct tracepoint *tp = get(TEXT + 16);

	ck_assert_uint_eq(tracepoint_commit(tab, NULL, NULL), 1);
	ck_assert_int_eq(tp->state, TP_IDLE);
	ck_assert_uint_eq(byte(TEXT + 16), 0x55);
	/* Nor is it when there is no room for more. */
	ck_assert_int_eq(trapset_map(tptable_traps(tab), TEXT), 0);
	ft.map_error = -ENOMEM;
	for (unsigned i = 0; i < 8192; i++)
		get(TEXT + i);
	unsigned failed = tracepoint_commit(tab, NULL, NULL), int3s = 0;
	for (unsigned i = 0; i < 8192; i++)
		int3s += byte(TEXT + i) == TRAP_INSN;
	ck_assert_uint_gt(int3s, 0);
	ck_assert_uint_eq(failed, 8192 - int3s);
	ck_assert_uint_ge(area()->count, int3s);
}
END_TEST

START_TEST(the_option_arms_all_the_same)
{
	struct tracepoint *tp = get(TEXT + 16);

	tracepoint_unlisted(tab);
	ck_assert_uint_eq(tracepoint_commit(tab, NULL, NULL), 0);
	ck_assert_int_eq(tp->state, TP_TRAP);
}
END_TEST

START_TEST(suspended_tracepoints_come_back)
{
	struct tracepoint *a = get(TEXT + 16), *b, *gone = get(TEXT + 40);

	ck_assert_int_eq(trapset_map(tptable_traps(tab), TEXT), 0);
	ck_assert_uint_eq(tracepoint_commit(tab, NULL, NULL), 0);
	tracepoint_suspend(tab, true);
	ck_assert_uint_eq(tracepoint_commit(tab, NULL, NULL), 0);
	ck_assert_uint_eq(byte(TEXT + 16), 0x55);
	ck_assert(tracepoint_lookup(tab, TEXT + 16) == NULL);
	/* What comes and goes meanwhile. */
	b = get(TEXT + 32);
	tracepoint_put(tab, gone);
	ck_assert_uint_eq(tracepoint_commit(tab, NULL, NULL), 0);
	ck_assert_uint_eq(byte(TEXT + 32), 0x55);
	tracepoint_suspend(tab, false);
	ck_assert_uint_eq(tracepoint_commit(tab, NULL, NULL), 0);
	ck_assert_int_eq(a->state, TP_TRAP);
	ck_assert_int_eq(b->state, TP_TRAP);
	ck_assert_uint_eq(byte(TEXT + 16), TRAP_INSN);
	ck_assert_uint_eq(byte(TEXT + 32), TRAP_INSN);
	ck_assert_uint_eq(byte(TEXT + 40), 0x55);
}
END_TEST

START_TEST(an_area_that_is_overwritten_is_lost)
{
	struct trapset *ts = tptable_traps(tab);

	ck_assert(trapset_intact(ts)); /* there is none yet */
	ck_assert_int_eq(trapset_map(ts, TEXT), 0);
	get(TEXT + 16);
	ck_assert_uint_eq(tracepoint_commit(tab, NULL, NULL), 0);
	ck_assert(trapset_intact(ts));
	memset(fake_target_at(&ft, trapset_area(ts)), 0, 8);
	ck_assert(!trapset_intact(ts));
	trapset_lost(ts);
	ck_assert_uint_eq(trapset_area(ts), 0);
	ck_assert_int_eq(trapset_map(ts, TEXT), 0);
	ck_assert_uint_eq(area()->magic, TRAP_MAGIC);
}
END_TEST

/* Of the area that is there, and of one that is mapped after it went. */
START_TEST(scratch_is_in_an_area_that_stays)
{
	struct trapset *ts = tptable_traps(tab);

	ck_assert_uint_eq(trapset_scratch(ts), 0);
	ck_assert_int_eq(trapset_map(ts, TEXT), 0);
	ck_assert_uint_gt(trapset_scratch(ts), trapset_area(ts));
	trapset_release(ts);
	ck_assert_uint_eq(trapset_area(ts), 0);
	ck_assert_uint_eq(trapset_scratch(ts), 0);
	ck_assert_int_eq(trapset_map(ts, TEXT), 0);
	ck_assert_uint_gt(trapset_scratch(ts), trapset_area(ts));
}
END_TEST

START_TEST(the_area_names_its_keeper)
{
	struct trapset *ts = tptable_traps(tab);

	ck_assert(!trapset_healed(ts));
	ck_assert_int_eq(trapset_keeper(ts, 12, 34), 0);
	ck_assert_int_eq(trapset_map(ts, TEXT), 0);
	ck_assert_uint_eq(area()->keeper, 12);
	ck_assert_uint_eq(area()->keeper_since, 34);
	ck_assert_int_eq(trapset_keeper(ts, 56, 78), 0);
	ck_assert_uint_eq(area()->keeper, 56);
	ck_assert_uint_eq(area()->mended, 0);
	trapset_mended(ts);
	ck_assert_uint_eq(area()->mended, 1);
	ck_assert(!trapset_healed(ts));
	const uint64_t yes = 1;
	memcpy(fake_target_at(
		   &ft, trapset_area(ts) + offsetof(struct trap_area, healed)),
	    &yes, sizeof(yes));
	ck_assert(trapset_healed(ts));
	trapset_alone(ts);
	ck_assert_uint_eq(area()->alone, 1);
}
END_TEST

/* Where the markers of the test below are, and where other int3s: below and above
 * them, in the same page and in others. */
static const uint64_t late_at[] = { TEXT + 0x20, TEXT + 0x5008 },
		      other_at[] = { TEXT, TEXT + 0x28, TEXT + 0x5000,
			      TEXT + 0x5010, TEXT + 0x9000 };
static int (*plain_write)(
    struct target *t, uint64_t addr, const void *buf, size_t len);
static unsigned unwatched;

static int
watched_write(struct target *t, uint64_t addr, const void *buf, size_t len)
{
	int r = plain_write(t, addr, buf, len);
	bool all = true, any = false;

	for (size_t i = 0; i < ARRAY_SIZE(late_at); i++)
		all &= byte(late_at[i]) == TRAP_INSN;
	for (size_t i = 0; i < ARRAY_SIZE(other_at); i++)
		any |= byte(other_at[i]) == TRAP_INSN;
	unwatched += any && !all;
	return r;
}

/* Between any two writes we may die. */
START_TEST(late_ones_stand_as_long_as_any_other)
{
	struct target_ops ops = *ft.target.ops;
	struct tracepoint *tp[ARRAY_SIZE(late_at) + ARRAY_SIZE(other_at)];
	size_t n = 0;

	plain_write = ops.write;
	ops.write = watched_write;
	ft.target.ops = &ops;
	unwatched = 0;
	for (size_t i = 0; i < ARRAY_SIZE(other_at); i++)
		tp[n++] = get(other_at[i]);
	for (size_t i = 0; i < ARRAY_SIZE(late_at); i++) {
		tp[n] = get(late_at[i]);
		tp[n++]->late = true;
	}
	ck_assert_int_eq(trapset_map(tptable_traps(tab), TEXT), 0);
	ck_assert_uint_eq(tracepoint_commit(tab, NULL, NULL), 0);
	for (size_t i = 0; i < n; i++)
		ck_assert_uint_eq(byte(tp[i]->addr), TRAP_INSN);
	ck_assert_uint_eq(unwatched, 0);
	if (_i == 0)
		for (size_t i = 0; i < n; i++)
			tracepoint_put(tab, tp[i]);
	if (_i == 0)
		ck_assert_uint_eq(tracepoint_commit(tab, NULL, NULL), 0);
	else
		ck_assert_uint_eq(tracepoint_restore_all(tab), 0);
	for (size_t i = 0; i < ARRAY_SIZE(late_at); i++)
		ck_assert_uint_eq(byte(late_at[i]), 0x55);
	ck_assert_uint_eq(unwatched, 0);
}
END_TEST

/* ---- jumps ---- */

/* Far enough from TEXT for the distance to fill its bytes, near enough for it to
 * fit. */
#define ROAD (TEXT + 0x12345678)

static struct tracepoint *
armed(uint64_t addr)
{
	struct tracepoint *tp = get(addr);

	ck_assert_int_eq(trapset_map(tptable_traps(tab), TEXT), 0);
	ck_assert_uint_eq(tracepoint_commit(tab, NULL, NULL), 0);
	ck_assert_int_eq(tp->state, TP_TRAP);
	return tp;
}

static void
is_text(uint64_t addr, const char *hex)
{
	char have[2 * TRAP_JUMP_LEN + 1];

	for (unsigned i = 0; i < TRAP_JUMP_LEN; i++)
		snprintf(have + 2 * i, 3, "%02x", byte(addr + i));
	ck_assert_str_eq(have, hex);
}

/* As if the code of the site were there.  0, or why there is no jump. */
static int
raise_to(struct tptable *table, struct tracepoint *tp, uint64_t to)
{
	entry_of(tp)->stub.addr = to;
	tracepoints_jump(table, &tp, 1);
	ck_assert_int_eq(tp->jumps, entry_of(tp)->done == 0);
	return entry_of(tp)->done;
}

START_TEST(a_jump_comes_and_goes)
{
	struct tracepoint *tp = armed(TEXT + 16);
	uint8_t seen[8];

	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(raise_to(tab, tp, ROAD), 0);
		is_text(TEXT + 16, "e963563412");
		ck_assert(tp->jumps);
		ck_assert_ptr_eq(tracepoint_lookup(tab, TEXT + 16), tp);
		/* Who reads text sees none of it, from wherever. */
		for (int from = 0; from < 24; from++) {
			ft.target.ops->read(
			    &ft.target, TEXT + (uint64_t)from, seen, 8);
			tracepoint_overlay(tab, TEXT + (uint64_t)from, seen, 8);
			for (int k = 0; k < 8; k++)
				ck_assert_uint_eq(seen[k], 0x55);
		}
		ck_assert_int_eq(tracepoint_lower(tab, tp), 0);
		is_text(TEXT + 16, "cc55555555");
		ck_assert_int_eq(tracepoint_lower(tab, tp), 0);
	}
	/* From the jump to the program's bytes in one step. */
	ck_assert_int_eq(raise_to(tab, tp, ROAD), 0);
	tracepoint_put(tab, tp);
	ck_assert_uint_eq(tracepoint_commit(tab, NULL, NULL), 0);
	is_text(TEXT + 16, "5555555555");
}
END_TEST

START_TEST(long_reads_see_no_jump_either)
{
	uint8_t seen[2 * 4096];

	ck_assert_int_eq(raise_to(tab, armed(TEXT + 4096 - 5), ROAD), 0);
	ck_assert_int_eq(raise_to(tab, armed(TEXT + 4096), ROAD), 0);
	for (uint64_t from = 4096 - 6; from < 4096 + 6; from++) {
		ft.target.ops->read(&ft.target, TEXT + from, seen, 64);
		tracepoint_overlay(tab, TEXT + from, seen, 64);
		for (int k = 0; k < 64; k++)
			ck_assert_uint_eq(seen[k], 0x55);
	}
	ft.target.ops->read(&ft.target, TEXT, seen, sizeof(seen));
	tracepoint_overlay(tab, TEXT, seen, sizeof(seen));
	for (size_t k = 0; k < sizeof(seen); k++)
		ck_assert_uint_eq(seen[k], 0x55);
}
END_TEST

START_TEST(where_no_jump_can_be)
{
	struct tracepoint *near = armed(TEXT + 20), *tp = armed(TEXT + 16);
	struct tracepoint *end = armed(TEXT + 4096 - 4);
	struct tracepoint *idle = get(TEXT + 100);

	/* Another tracepoint in the middle; the end of the page; no int3. */
	ck_assert_int_eq(raise_to(tab, tp, ROAD), -EINVAL);
	ck_assert_int_eq(raise_to(tab, end, ROAD), -EINVAL);
	ck_assert_int_eq(raise_to(tab, idle, ROAD), -EINVAL);
	/* Further than a jump goes, by one, and not by one. */
	ck_assert_int_eq(
	    raise_to(tab, near, TEXT + 25 + (1ULL << 31)), -EINVAL);
	ck_assert_int_eq(raise_to(tab, near, TEXT + 25 + (1ULL << 31) - 1), 0);
	/* Somebody else's byte. */
	ck_assert_int_eq(tracepoint_lower(tab, near), 0);
	*fake_target_at(&ft, TEXT + 20) = 0x90;
	ck_assert_int_eq(raise_to(tab, near, ROAD), -EBUSY);
	ck_assert(!near->jumps);
}
END_TEST

START_TEST(an_int3_makes_its_way_into_a_jump)
{
	struct tracepoint *tp = armed(TEXT + 16);

	ck_assert_int_eq(raise_to(tab, tp, ROAD), 0);
	armed(TEXT + 18);
	is_text(TEXT + 16, "cc55cc5555");
	ck_assert(!tp->jumps);
}
END_TEST

START_TEST(a_jump_is_listed_before_it_is_written)
{
	struct tracepoint *tp = armed(TEXT + 16);
	const struct trap_entry *e = (const void *)fake_target_at(
	    &ft, trapset_area(tptable_traps(tab)) + area()->first);
	const uint32_t n = area()->count;

	/* The writes of the entry and of their number, of which one half
	 * arrives, then that of the text. */
	for (unsigned fails = 1; fails <= 3; fails++) {
		ft.fail_write = fails;
		ck_assert_int_eq(raise_to(tab, tp, ROAD), -EFAULT);
		is_text(TEXT + 16, "cc55555555");
		ck_assert(!tp->jumps);
		ck_assert_uint_eq(area()->count, fails == 1 ? n : n + 1);
	}
	ck_assert_uint_eq(e[n].kind, TRAP_LEAP);
	ck_assert_uint_eq(e[n].addr, TEXT + 16);
	ck_assert_uint_eq(e[n].saved, 0x55);
	ck_assert_uint_eq(e[n].size, 0x55555555);
	ft.fail_write = 0;
	ck_assert_int_eq(raise_to(tab, tp, ROAD), 0);
}
END_TEST

/* ---- jumps that begin before their int3 ---- */

/* One-byte instructions, each of its own. */
static uint8_t
own_byte(uint64_t at)
{
	return (uint8_t)(0x50 + at % 16);
}

static void
plant(void)
{
	for (uint64_t at = TEXT; at < TEXT + 2 * 4096; at++)
		*fake_target_at(&ft, at) = own_byte(at);
}

static struct tracepoint *
armed_before(uint64_t addr, unsigned before)
{
	struct tracepoint *tp = armed(addr);

	tp->before = (uint8_t)before;
	return tp;
}

/* The text around `mid' has these bytes of ours, and no others; who reads it sees
 * none. */
static void
has_ours(uint64_t mid, uint64_t jump, uint64_t int3)
{
	uint8_t seen[96];

	for (uint64_t at = mid - 32; at < mid + 64; at++)
		if (jump != 0 && at - jump < TRAP_JUMP_LEN)
			ck_assert(at != jump || byte(at) == TRAP_JUMP);
		else
			ck_assert_uint_eq(
			    byte(at), at == int3 ? TRAP_INSN : own_byte(at));
	for (size_t len = 1; len <= sizeof(seen); len += 19)
		for (uint64_t at = mid - 32; at + len <= mid + 64; at++) {
			ft.target.ops->read(&ft.target, at, seen, len);
			tracepoint_overlay(tab, at, seen, len);
			for (size_t i = 0; i < len; i++)
				ck_assert_uint_eq(seen[i], own_byte(at + i));
		}
}

START_TEST(a_jump_may_begin_before_the_int3)
{
	plant();
	for (unsigned before = 0; before <= 18; before++) {
		const uint64_t site = TEXT + 64 + 128 * before;
		const uint64_t start = site - before;
		const uint64_t int3 = before < TRAP_JUMP_LEN ? 0 : site;
		struct tracepoint *tp = armed_before(site, before);
		for (int i = 0; i < 2; i++) {
			ck_assert_int_eq(raise_to(tab, tp, ROAD), 0);
			has_ours(site, start, int3);
			ck_assert_int_eq(tracepoint_lower(tab, tp), 0);
			has_ours(site, 0, site);
		}
		ck_assert_int_eq(raise_to(tab, tp, ROAD), 0);
		/* In a copy of this memory, which has no table yet. */
		uint8_t bytes[TRACEPOINT_SPAN];
		memcpy(bytes, fake_target_at(&ft, start), sizeof(bytes));
		ck_assert_uint_eq(
		    tracepoint_undo(tp, bytes), MAX(TRAP_JUMP_LEN, before + 1));
		for (unsigned i = 0; i < sizeof(bytes); i++)
			ck_assert_uint_eq(bytes[i], own_byte(start + i));
		/* From there to the program's bytes, by a commit. */
		tracepoint_put(tab, tp);
		ck_assert_uint_eq(tracepoint_commit(tab, NULL, NULL), 0);
		has_ours(site, 0, 0);
	}
}
END_TEST

/* Somebody else has written over the int3, which no thread reaches. */
START_TEST(the_jump_goes_where_the_int3_has_gone)
{
	struct tracepoint *tp = armed_before(TEXT + 64, 7);

	ck_assert_int_eq(raise_to(tab, tp, ROAD), 0);
	*fake_target_at(&ft, TEXT + 64) = 0x90;
	ck_assert_uint_eq(tracepoint_restore_all(tab), 0);
	is_text(TEXT + 57, "5555555555");
	ck_assert_uint_eq(byte(TEXT + 64), 0x90);
}
END_TEST

START_TEST(no_other_tracepoint_is_between_jump_and_int3)
{
	struct tracepoint *tp = armed_before(TEXT + 64, 9), *other;

	/* At the begin, in the jump, behind it. */
	for (uint64_t at = TEXT + 55; at < TEXT + 64; at++) {
		other = armed(at);
		ck_assert_int_eq(raise_to(tab, tp, ROAD), -EINVAL);
		tracepoint_put(tab, other);
		ck_assert_uint_eq(tracepoint_commit(tab, NULL, NULL), 0);
		ck_assert_int_eq(raise_to(tab, tp, ROAD), 0);
		other = armed(at);
		ck_assert(!tp->jumps);
		ck_assert_uint_eq(byte(TEXT + 64), TRAP_INSN);
		tracepoint_put(tab, other);
		ck_assert_uint_eq(tracepoint_commit(tab, NULL, NULL), 0);
	}
	ck_assert_int_eq(raise_to(tab, tp, ROAD), 0);
	armed(TEXT + 54);
	armed(TEXT + 65);
	ck_assert(tp->jumps);
	/* All of it is in one page. */
	tp = armed_before(TEXT + 4096 + 2, 8);
	ck_assert_int_eq(raise_to(tab, tp, ROAD), -EINVAL);
	tracepoint_put(tab, tp);
	tp = armed_before(TEXT + 4096 + 16, 16);
	ck_assert_int_eq(raise_to(tab, tp, ROAD), 0);
}
END_TEST

START_TEST(jumps_do_not_overlap)
{
	struct tracepoint *tps[3] = { armed(TEXT + 60),
		armed_before(TEXT + 70, 6), armed_before(TEXT + 80, 9) };

	for (unsigned i = 0; i < 3; i++)
		entry_of(tps[i])->stub.addr = ROAD;
	tracepoints_jump(tab, tps, 3);
	ck_assert(tps[0]->jumps && !tps[1]->jumps && tps[2]->jumps);
	/* Nor with those that are there already. */
	ck_assert_int_eq(raise_to(tab, tps[1], ROAD), -EINVAL);
	tracepoint_lower(tab, tps[0]);
	ck_assert_int_eq(raise_to(tab, tps[1], ROAD), 0);
	ck_assert_int_eq(raise_to(tab, tps[0], ROAD), -EINVAL);
	tracepoint_put(tab, tps[1]);
	ck_assert_int_eq(raise_to(tab, armed_before(TEXT + 71, 6), ROAD), 0);
	ck_assert_int_eq(raise_to(tab, tps[0], ROAD), 0);
	ck_assert_uint_eq(tracepoint_restore_all(tab), 0);
	for (uint64_t at = TEXT; at < TEXT + 128; at++)
		ck_assert_uint_eq(byte(at), 0x55);
}
END_TEST

/* A page of them and the next, restored as one run. */
START_TEST(many_jumps_go_together)
{
	struct tracepoint *tps[40];

	plant();
	for (unsigned i = 0; i < 40; i++) {
		tps[i] = armed_before(TEXT + 64 + 101 * i, i % 13);
		entry_of(tps[i])->stub.addr = ROAD;
	}
	tracepoints_jump(tab, tps, 40);
	for (unsigned i = 0; i < 40; i++) {
		ck_assert(tps[i]->jumps);
		ck_assert_uint_eq(byte(tracepoint_start(tps[i])), TRAP_JUMP);
	}
	ck_assert_uint_eq(tracepoint_restore_all(tab), 0);
	for (uint64_t at = TEXT; at < TEXT + 2 * 4096; at++)
		ck_assert_uint_eq(byte(at), own_byte(at));
}
END_TEST

/* It was written for other instructions. */
START_TEST(a_jump_waits_for_the_code_that_it_was_made_for)
{
	struct tracepoint *tp = armed_before(TEXT + 64, 3);

	entry_of(tp)->made = 4;
	memset(entry_of(tp)->made_for, 0x55, 4);
	entry_of(tp)->made_for[2] = 0x54;
	ck_assert_int_eq(raise_to(tab, tp, ROAD), -EBUSY);
	is_text(TEXT + 61, "555555cc55");
	entry_of(tp)->made_for[2] = 0x55;
	ck_assert_int_eq(raise_to(tab, tp, ROAD), 0);
}
END_TEST

/* What is listed as an int3 is restored where the byte of an int3 stands, also if
 * that is one of a jump by now. */
START_TEST(no_jump_has_the_byte_of_an_int3)
{
	struct tracepoint *tp = armed(TEXT + 16);

	for (unsigned shift = 0; shift < 24; shift += 8) {
		uint64_t far = 0x11223344;
		far =
		    (far & ~(UINT64_C(255) << shift)) | UINT64_C(0xcc) << shift;
		ck_assert_int_eq(
		    raise_to(tab, tp, TEXT + 16 + TRAP_JUMP_LEN + far),
		    -EINVAL);
	}
	is_text(TEXT + 16, "cc55555555");
}
END_TEST

START_TEST(a_copy_of_memory_has_its_jumps)
{
	struct tracepoint *tp = armed(TEXT + 16), *in_copy;
	struct fake_target child;
	struct tptable *copy;
	uint8_t bytes[TRACEPOINT_SPAN];

	ck_assert_int_eq(raise_to(tab, tp, ROAD), 0);
	fake_target_fork(&ft, &child);
	copy = tptable_fork(tab, &child.target);
	/* The parent's has gone meanwhile: what it wrote is known still. */
	tracepoint_put(tab, tp);
	get(TEXT + 64);
	tracepoint_restore_all(tab);
	ck_assert_int_eq(tp->state, TP_DRAINING);
	memcpy(bytes, fake_target_at(&child, TEXT + 16), sizeof(bytes));
	ck_assert_uint_eq(tracepoint_undo(tp, bytes), TRAP_JUMP_LEN);
	for (int k = 0; k < TRAP_JUMP_LEN; k++)
		ck_assert_uint_eq(bytes[k], 0x55);
	ck_assert_uint_eq(tracepoint_undo(tp, bytes), 0);
	bytes[0] = TRAP_INSN;
	ck_assert_uint_eq(tracepoint_undo(tp, bytes), 1);
	ck_assert_uint_eq(bytes[0], 0x55);
	in_copy = tracepoint_lookup(copy, TEXT + 16);
	ck_assert_ptr_nonnull(in_copy);
	ck_assert_int_eq(tracepoint_lower(copy, in_copy), 0);
	ck_assert_uint_eq(*fake_target_at(&child, TEXT + 16), TRAP_INSN);
	ck_assert_uint_eq(*fake_target_at(&child, TEXT + 17), 0x55);
	tptable_destroy(copy);
	fake_target_fini(&child);
}
END_TEST

/* The tracer hears of a fork later: the memory was copied before a jump was
 * raised, or lowered. */
START_TEST(a_copy_is_older_than_the_table)
{
	struct tracepoint *a = armed(TEXT + 16), *b = armed(TEXT + 32);
	struct fake_target child;

	ck_assert_int_eq(raise_to(tab, a, ROAD), 0);
	fake_target_fork(&ft, &child);
	ck_assert_int_eq(tracepoint_lower(tab, a), 0);
	ck_assert_int_eq(raise_to(tab, b, ROAD), 0);
	struct tptable *copy = tptable_fork(tab, &child.target);
	ck_assert(tracepoint_lookup(copy, TEXT + 16)->jumps);
	ck_assert(!tracepoint_lookup(copy, TEXT + 32)->jumps);
	/* A child that is released is restored, whatever it has. */
	if (_i == 0) {
		ck_assert_uint_eq(tracepoint_restore_all(copy), 0);
		for (uint64_t at = TEXT + 16; at <= TEXT + 36; at++)
			ck_assert_uint_eq(*fake_target_at(&child, at), 0x55);
		tptable_destroy(copy);
		fake_target_fini(&child);
		return;
	}
	tracepoint_lower_all(copy, 0, UINT64_MAX);
	for (uint64_t at = TEXT + 16; at <= TEXT + 32; at += 16) {
		ck_assert_uint_eq(*fake_target_at(&child, at), TRAP_INSN);
		ck_assert_uint_eq(*fake_target_at(&child, at + 1), 0x55);
	}
	tptable_destroy(copy);
	fake_target_fini(&child);
}
END_TEST

/* Entries have been added and changed between the fork and its report. */
START_TEST(a_copy_is_older_than_the_list)
{
	struct trapset *ts = tptable_traps(tab);
	struct fake_target child;

	ck_assert_int_eq(trapset_map(ts, TEXT), 0);
	ck_assert_int_eq(trapset_add(ts, TRAP_MASK, 100, 1), 0);
	ck_assert_int_eq(trapset_add(ts, TRAP_MASK, 101, 1), 0);
	ck_assert_int_eq(trapset_flush(ts), 0);
	fake_target_fork(&ft, &child);
	trapset_drop(ts, TRAP_MASK, 100);
	ck_assert_int_eq(trapset_add(ts, TRAP_MASK, 200, 0x55), 0);
	ck_assert_int_eq(trapset_flush(ts), 0);

	struct trapset *copy = trapset_fork(ts, &child.target);
	uint64_t at = trapset_area(copy);
	const struct trap_area *head = (const void *)fake_target_at(&child, at);
	const struct trap_entry *e =
	    (const void *)fake_target_at(&child, at + head->first);
	/* The copy is intact, though it does not have all. */
	ck_assert_uint_eq(at, trapset_area(ts));
	ck_assert(trapset_intact(copy));
	ck_assert_uint_eq(head->count, 2);
	ck_assert_uint_eq(e[0].addr, 100);
	/* What is added to it has all that comes before. */
	ck_assert_int_eq(trapset_add(copy, TRAP_MASK, 300, 0x66), 0);
	ck_assert_int_eq(trapset_flush(copy), 0);
	ck_assert(trapset_intact(copy));
	ck_assert_uint_eq(head->count, 4);
	ck_assert_uint_eq(e[0].kind, TRAP_NONE);
	ck_assert_uint_eq(e[1].addr, 101);
	ck_assert_uint_eq(e[2].addr, 200);
	ck_assert_uint_eq(e[2].size, 0x55);
	ck_assert_uint_eq(e[3].addr, 300);
	/* Nothing was written to the parent. */
	ck_assert_uint_eq(area()->count, 3);
	trapset_destroy(copy);
	fake_target_fini(&child);
}
END_TEST

/* So has the memory in which they are. */
START_TEST(a_copy_is_older_than_a_chunk)
{
	struct trapset *ts = tptable_traps(tab);
	struct fake_target child;
	uint64_t tid = 1;

	armed(TEXT + 16);
	for (size_t n = trapset_room(ts); n > 0; n--)
		ck_assert_int_eq(trapset_add(ts, TRAP_MASK, tid++, 1), 0);
	ck_assert_int_eq(trapset_flush(ts), 0);
	fake_target_fork(&ft, &child);
	ck_assert_int_eq(trapset_add(ts, TRAP_MASK, tid, 0x55), 0);
	ck_assert_int_eq(trapset_flush(ts), 0);

	struct trapset *copy = trapset_fork(ts, &child.target);
	ck_assert(trapset_intact(copy));
	ck_assert_uint_eq(trapset_room(copy), 0);
	/* It is listed anew, in a chunk of the copy's own. */
	unsigned long maps = child.maps;
	ck_assert_int_eq(trapset_add(copy, TRAP_MASK, tid, 0x66), 0);
	ck_assert_uint_eq(child.maps, maps + 1);
	ck_assert_int_eq(trapset_flush(copy), 0);
	ck_assert(trapset_intact(copy));
	trapset_destroy(copy);
	/* Of an area that was mapped later nothing is left. */
	fake_target_fini(&child);
	fake_target_init(&child);
	copy = trapset_fork(ts, &child.target);
	ck_assert_uint_eq(trapset_area(copy), 0);
	ck_assert(trapset_intact(copy));
	ck_assert_int_eq(trapset_map(copy, TEXT), 0);
	ck_assert_int_eq(trapset_add(copy, TRAP_MASK, 1, 1), 0);
	ck_assert_int_eq(trapset_flush(copy), 0);
	ck_assert(trapset_intact(copy));
	trapset_destroy(copy);
	fake_target_fini(&child);
}
END_TEST

START_TEST(all_jumps_of_a_range_go)
{
	struct tracepoint *a = armed(TEXT + 16), *b = armed(TEXT + 32),
			  *c = armed(TEXT + 48);

	ck_assert_int_eq(raise_to(tab, a, ROAD), 0);
	ck_assert_int_eq(raise_to(tab, b, ROAD), 0);
	ck_assert_int_eq(raise_to(tab, c, ROAD), 0);
	tracepoint_lower_all(tab, TEXT + 32, TEXT + 48);
	ck_assert(a->jumps && !b->jumps && c->jumps);
	ck_assert_uint_eq(tracepoint_restore_all(tab), 0);
	for (unsigned i = 0; i < 64; i++)
		ck_assert_uint_eq(byte(TEXT + i), 0x55);
}
END_TEST

/* ---- putting back, in memory of this process ---- */

#define PAGES 4

static struct {
	uint8_t *text;
	uint16_t *sems;
	struct {
		struct trap_area head;
		struct trap_entry e[600];
	} * list;
	int mem;
} own;

static void
own_setup(void)
{
	own.text = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	own.sems = calloc(8, sizeof(*own.sems));
	own.list = calloc(1, sizeof(*own.list));
	own.list->head.magic = TRAP_MAGIC;
	own.list->head.first = offsetof(typeof(*own.list), e);
	own.mem = open("/proc/self/mem", O_RDWR);
	ck_assert_int_ge(own.mem, 0);
}

static void
own_teardown(void)
{
	close(own.mem);
	munmap(own.text, PAGES * PAGE);
	free(own.sems);
	free(own.list);
}

static void
list(enum trap_kind kind, const void *addr, uint8_t saved)
{
	own.list->e[own.list->head.count++] = (struct trap_entry){
		.kind = (uint8_t)kind,
		.addr = (uintptr_t)addr,
		.saved = saved,
	};
}

#define LIST ((uintptr_t)own.list)

START_TEST(all_bytes_are_put_back)
{
	/* More than a batch, in pages that take turns now and then. */
	for (unsigned i = 0; i < 500; i++) {
		uint8_t *at = own.text + i * 31 % (PAGES * PAGE);
		*at = TRAP_INSN;
		list(TRAP_TEXT, at, (uint8_t)(i | 1) & 0x7f);
	}
	own.text[7] = 0x42; /* not ours any more */
	list(TRAP_TEXT, own.text + 7, 1);
	own.text[8] = TRAP_INSN; /* nobody's */
	ck_assert_uint_eq(trapmend_text(own.mem, LIST), 0);
	for (unsigned i = 0; i < 500; i++)
		ck_assert_uint_eq(
		    own.text[i * 31 % (PAGES * PAGE)], (uint8_t)(i | 1) & 0x7f);
	ck_assert_uint_eq(own.text[7], 0x42);
	ck_assert_uint_eq(own.text[8], TRAP_INSN);
	trapmend_done(own.mem, LIST);
	ck_assert_uint_eq(own.list->head.mended, 1);
}
END_TEST

static bool
is_within(void *ctx, uint64_t to)
{
	return to - (uintptr_t)own.text < PAGES * PAGE;
}

static void
jump(unsigned at, int32_t far)
{
	struct trap_entry *e = &own.list->e[own.list->head.count];

	list(TRAP_LEAP, own.text + at, 0x11);
	e->size = 0x55443322;
	own.text[at] = TRAP_JUMP;
	memcpy(own.text + at + 1, &far, sizeof(far));
}

START_TEST(jumps_of_ours_are_put_back)
{
	static const uint8_t was[] = { 0x11, 0x22, 0x33, 0x44, 0x55, 0 };

	jump(8, 100);
	jump(32, PAGES * PAGE); /* to nothing of ours: another's by now */
	jump(64, 0);
	list(TRAP_TEXT, own.text + 64, 0x11);
	own.text[64] = TRAP_INSN; /* that was lowered */
	memcpy(own.text + 65, was + 1, 4);
	ck_assert_uint_eq(trapmend_jumps(own.mem, LIST, is_within, NULL), 0);
	ck_assert_mem_eq(own.text + 8, was, sizeof(was));
	ck_assert_uint_eq(own.text[32], TRAP_JUMP);
	ck_assert_uint_eq(trapmend_text(own.mem, LIST), 0);
	ck_assert_mem_eq(own.text + 64, was, sizeof(was));
	/* Twice is once. */
	ck_assert_uint_eq(trapmend_jumps(own.mem, LIST, is_within, NULL), 0);
	ck_assert_mem_eq(own.text + 8, was, sizeof(was));
}
END_TEST

START_TEST(short_jumps_are_put_back_before_their_boards)
{
	static const uint8_t bytes[] = { 0x11, 0x22, 0x33, 0x44, 0x55 };
	struct trap_entry *e;

	/* From 8 to 32, and the same that leads to nothing of ours. */
	for (unsigned i = 0; i < 2; i++) {
		unsigned at = 8 + 64 * i;
		int32_t far = i == 0 ? 100 : PAGES * PAGE;
		jump(at, 0);
		own.text[at] = TRAP_SHORT;
		own.text[at + 1] = 22;
		memcpy(own.text + at + 2, "abc", 3);
		e = &own.list->e[own.list->head.count];
		list(TRAP_BOARD, own.text + at + 24, 0x11);
		e->size = 0x55443322;
		e->way = 22;
		ck_assert_uint_eq(trap_board_from(e), (uintptr_t)own.text + at);
		own.text[at + 24] = TRAP_JUMP;
		memcpy(own.text + at + 25, &far, sizeof(far));
	}
	ck_assert_uint_eq(trapmend_jumps(own.mem, LIST, is_within, NULL), 0);
	ck_assert_mem_eq(own.text + 8,
	    "\x11\x22"
	    "abc",
	    5);
	ck_assert_uint_eq(own.text[72], TRAP_SHORT);
	ck_assert_uint_eq(own.text[32], TRAP_JUMP);
	for (unsigned i = 0; i < 2; i++)
		ck_assert(trapmend_board(
		    own.mem, &own.list->e[2 * i + 1], is_within, NULL));
	ck_assert_mem_eq(own.text + 32, bytes, sizeof(bytes));
	ck_assert_uint_eq(own.text[96], TRAP_JUMP);
	/* Twice is once. */
	ck_assert_uint_eq(trapmend_jumps(own.mem, LIST, is_within, NULL), 0);
	ck_assert(trapmend_board(own.mem, &own.list->e[1], is_within, NULL));
	ck_assert_mem_eq(own.text + 32, bytes, sizeof(bytes));
}
END_TEST

START_TEST(memory_that_is_gone_is_no_matter)
{
	own.text[0] = own.text[3 * PAGE] = TRAP_INSN;
	list(TRAP_TEXT, own.text, 1);
	list(TRAP_TEXT, own.text + PAGE, 1);
	list(TRAP_TEXT, own.text + 3 * PAGE, 2);
	munmap(own.text + PAGE, PAGE);
	ck_assert_uint_eq(trapmend_text(own.mem, LIST), 0);
	ck_assert_uint_eq(own.text[0], 1);
	ck_assert_uint_eq(own.text[3 * PAGE], 2);
}
END_TEST

START_TEST(semaphores_are_lowered_once)
{
	own.sems[0] = 1;                 /* ours alone */
	own.sems[1] = 3;                 /* and somebody else's */
	for (unsigned i = 0; i < 3; i++) /* 2: somebody has reset it */
		list(TRAP_SEMAPHORE, &own.sems[i], 0);
	trapmend_semaphores(own.mem, LIST);
	trapmend_semaphores(own.mem, LIST);
	ck_assert_uint_eq(own.sems[0], 0);
	ck_assert_uint_eq(own.sems[1], 2);
	ck_assert_uint_eq(own.sems[2], 0);
}
END_TEST

START_TEST(damaged_lists_end)
{
	list(TRAP_TEXT, own.text, 1);
	own.text[0] = TRAP_INSN;
	own.list->head.next = LIST; /* for ever */
	own.list->head.count = 0xffffffff;
	trapmend_text(own.mem, LIST);
	own.list->head.count = 1;
	trapmend_text(own.mem, LIST);
	ck_assert_uint_eq(own.text[0], 1);
	own.list->head.magic = 0;
	own.text[0] = TRAP_INSN;
	trapmend_text(own.mem, LIST);
	ck_assert_uint_eq(own.text[0], TRAP_INSN);
	trapmend_text(own.mem, 0);
	trapmend_text(own.mem, 8);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("trapset");
	TCase *t = tcase_create("list"), *m = tcase_create("mend");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, nothing_is_armed_without_the_list);
	tcase_add_test(t, the_option_arms_all_the_same);
	tcase_add_test(t, suspended_tracepoints_come_back);
	tcase_add_test(t, an_area_that_is_overwritten_is_lost);
	tcase_add_test(t, scratch_is_in_an_area_that_stays);
	tcase_add_test(t, the_area_names_its_keeper);
	tcase_add_loop_test(t, late_ones_stand_as_long_as_any_other, 0, 2);
	tcase_add_test(t, a_jump_comes_and_goes);
	tcase_add_test(t, long_reads_see_no_jump_either);
	tcase_add_test(t, where_no_jump_can_be);
	tcase_add_test(t, an_int3_makes_its_way_into_a_jump);
	tcase_add_test(t, a_jump_is_listed_before_it_is_written);
	tcase_add_test(t, a_jump_may_begin_before_the_int3);
	tcase_add_test(t, the_jump_goes_where_the_int3_has_gone);
	tcase_add_test(t, no_other_tracepoint_is_between_jump_and_int3);
	tcase_add_test(t, jumps_do_not_overlap);
	tcase_add_test(t, many_jumps_go_together);
	tcase_add_test(t, a_jump_waits_for_the_code_that_it_was_made_for);
	tcase_add_test(t, no_jump_has_the_byte_of_an_int3);
	tcase_add_test(t, a_copy_of_memory_has_its_jumps);
	tcase_add_loop_test(t, a_copy_is_older_than_the_table, 0, 2);
	tcase_add_test(t, a_copy_is_older_than_the_list);
	tcase_add_test(t, a_copy_is_older_than_a_chunk);
	tcase_add_test(t, all_jumps_of_a_range_go);
	tcase_add_checked_fixture(m, own_setup, own_teardown);
	tcase_add_test(m, all_bytes_are_put_back);
	tcase_add_test(m, jumps_of_ours_are_put_back);
	tcase_add_test(m, short_jumps_are_put_back_before_their_boards);
	tcase_add_test(m, memory_that_is_gone_is_no_matter);
	tcase_add_test(m, semaphores_are_lowered_once);
	tcase_add_test(m, damaged_lists_end);
	suite_add_tcase(s, t);
	suite_add_tcase(s, m);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
