/*
 * tracer/survive/leftover: which mappings a killed tracer has left, and which of
 * them must stay as long as a thread needs one.  Private functions are tested, so
 * the file itself is included below.
 */
#include <check.h>
#include <stdlib.h>

#include "t/unit/suite.h"
#include "tracer/survive/leftover.c"

#define LANES "/memfd:" STUB_MEMORY

static struct leftover l;
static struct maps maps;
static struct search s;

static void
setup(void)
{
	memset(&s, 0, sizeof(s));
	l = (struct leftover){ 0 };
	maps = (struct maps){ 0 };
	s.l = &l;
}

static void
teardown(void)
{
	vec_fini(&l.found);
	vec_fini(&maps.list);
}

static struct map *
map(uint64_t start, uint64_t pages, bool shared, const char *path)
{
	struct map *m = vec_push(&maps.list);

	*m = (struct map){ .start = start,
		.end = start + pages * PAGE,
		.read = true,
		.write = true,
		.shared = shared,
		.path = (char *)(uintptr_t)path };
	return m;
}

static void
piece(enum piece_kind kind, bool needed)
{
	uint64_t start = 0x1000 * (l.found.len + 1);

	*vec_push(&l.found) = (struct piece){ start, 0x1000, kind, needed };
}

/* Which are needed, a letter for each. */
static const char *
needed(void)
{
	static char text[16];
	size_t n = 0;

	vec_foreach(p, &l.found)
		text[n++] = p->needed ? 'x' : '-';
	text[n] = '\0';
	return text;
}

static void
expect_piece(size_t i, uint64_t start, uint64_t pages)
{
	ck_assert_uint_gt(l.found.len, i);
	ck_assert_uint_eq(l.found.at[i].start, start);
	ck_assert_uint_eq(l.found.at[i].size, pages * PAGE);
	ck_assert_int_eq(l.found.at[i].kind, PIECE_LANES);
	ck_assert(!l.found.at[i].needed);
}

START_TEST(lanes_are_found_with_the_page_before)
{
	map(0x10000, 1, false, "");
	map(0x11000, 2, true, LANES);
	map(0x13000, 3, true, LANES); /* the same memory goes on */
	map(0x20000, 2, false, "");   /* not one page */
	map(0x22000, 1, true, LANES);
	map(0x30000, 1, false, ""); /* not next to it */
	map(0x32000, 1, true, LANES);
	map(0x40000, 1, false, "/a")->inode = 5; /* a file's */
	map(0x41000, 1, true, LANES);
	map(0x50000, 1, false, "");
	map(0x51000, 1, false, LANES); /* not shared */
	map(0x60000, 1, true, "/memfd:other");
	find_lanes(&l, &maps);
	expect_piece(0, 0x10000, 6);
	expect_piece(1, 0x22000, 1);
	expect_piece(2, 0x32000, 1);
	expect_piece(3, 0x41000, 1);
	ck_assert_uint_eq(l.found.len, 4);
}
END_TEST

START_TEST(an_address_needs_the_piece_that_it_is_in)
{
	piece(PIECE_SLOTS, false); /* 0x1000 */
	piece(PIECE_AREA, false);  /* 0x2000 */
	points_to(&s, 0xfff);
	ck_assert_str_eq(needed(), "--");
	points_to(&s, 0x2000);
	ck_assert_str_eq(needed(), "-x");
	points_to(&s, 0x3000);
	ck_assert_str_eq(needed(), "-x");
	points_to(&s, 0x1fff);
	ck_assert_str_eq(needed(), "xx");
}
END_TEST

START_TEST(only_slots_are_where_jumps_lead)
{
	piece(PIECE_SLOTS, false);
	piece(PIECE_AREA, false);
	ck_assert(is_found(&l, 0x1000));
	ck_assert(is_found(&l, 0x1fff));
	ck_assert(!is_found(&l, 0xfff));
	ck_assert(!is_found(&l, 0x2000));
}
END_TEST

START_TEST(a_thread_that_listens_is_not_in_the_handler)
{
	struct thread th = { 0 };

	piece(PIECE_SLOTS, false);
	piece(PIECE_AREA, false);
	piece(PIECE_LANES, false);
	ck_assert(is_in_area(&s, &th, 0x2000));
	ck_assert(!is_in_area(&s, &th, 0x1000));
	ck_assert(!is_in_area(&s, &th, 0x3000));
	ck_assert(is_in_lanes(&s, &th, 0x3fff));
	ck_assert(!is_in_lanes(&s, &th, 0x4000));
	ck_assert(!is_in_lanes(&s, &th, 0x2000));
	th.stop.state = TH_LISTENING;
	ck_assert(!is_in_area(&s, &th, 0x2000));
	ck_assert(!is_in_lanes(&s, &th, 0x3000));
	th.stop.state = 0;
	th.stop.kind = EV_GROUP_STOP;
	ck_assert(!is_in_area(&s, &th, 0x2000));
	ck_assert(!is_in_lanes(&s, &th, 0x3000));
}
END_TEST

START_TEST(a_stack_has_a_guard_page)
{
	map(0x10000, 1, false, "[stack]");
	map(0x20000, 1, false, "");
	map(0x30000, 1, false, ""); /* a guard page */
	maps.list.at[2].read = maps.list.at[2].write = false;
	map(0x31000, 4, false, "");
	map(0x50000, 1, false, ""); /* one that is not next to it */
	maps.list.at[4].read = maps.list.at[4].write = false;
	map(0x60000, 1, false, "");
	ck_assert(is_stack(&maps, 0));
	ck_assert(!is_stack(&maps, 1));
	ck_assert(!is_stack(&maps, 2));
	ck_assert(is_stack(&maps, 3));
	ck_assert(!is_stack(&maps, 5));
	/* What can be read, written or run guards nothing. */
	maps.list.at[2].read = true;
	ck_assert(!is_stack(&maps, 3));
	maps.list.at[2].read = false;
	maps.list.at[2].write = true;
	ck_assert(!is_stack(&maps, 3));
	maps.list.at[2].write = false;
	maps.list.at[2].exec = true;
	ck_assert(!is_stack(&maps, 3));
	maps.list.at[2].exec = false;
	/* Nor is there a stack that cannot be written. */
	maps.list.at[3].write = false;
	ck_assert(!is_stack(&maps, 3));
}
END_TEST

START_TEST(chunks_of_areas_stay_together)
{
	piece(PIECE_AREA, false);
	piece(PIECE_SLOTS, true);
	piece(PIECE_AREA, false);
	keep_chunks(&l);
	ck_assert_str_eq(needed(), "-x-");
	ck_assert(!l.in_use);
	l.found.at[2].needed = true;
	keep_chunks(&l);
	ck_assert_str_eq(needed(), "xxx");
	ck_assert(l.in_use);
	/* A thread in the handler needs all of them, and no slot. */
	l.found.at[0].needed = l.found.at[1].needed = false;
	l.found.at[2].needed = false;
	l.runs = true;
	keep_chunks(&l);
	ck_assert_str_eq(needed(), "x-x");
	ck_assert(l.in_use);
}
END_TEST

START_TEST(lanes_stay_with_slots)
{
	piece(PIECE_AREA, false);
	piece(PIECE_SLOTS, true);
	piece(PIECE_SLOTS, false);
	/* Without lanes each slot is by itself. */
	keep_lanes(&l);
	ck_assert_str_eq(needed(), "-x-");
	ck_assert(!l.in_use);
	piece(PIECE_LANES, false);
	keep_lanes(&l);
	ck_assert_str_eq(needed(), "-xxx");
	ck_assert(l.in_use);
	/* A needed lane keeps slots; an area does not. */
	for (size_t i = 0; i < 4; i++)
		l.found.at[i].needed = i == 3;
	keep_lanes(&l);
	ck_assert_str_eq(needed(), "-xxx");
	for (size_t i = 0; i < 4; i++)
		l.found.at[i].needed = i == 0;
	l.in_use = true; /* keep_chunks() has said so: it stays */
	keep_lanes(&l);
	ck_assert_str_eq(needed(), "x---");
	ck_assert(l.in_use);
}
END_TEST

START_TEST(nothing_left_is_not_in_use)
{
	ck_assert(!leftover_in_use(NULL));
	ck_assert(!leftover_runs(NULL));
	ck_assert(!leftover_in_use(&l));
	l.in_use = true;
	ck_assert(leftover_in_use(&l));
	ck_assert(!leftover_runs(&l));
	l.runs = true;
	ck_assert(leftover_runs(&l));
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		lanes_are_found_with_the_page_before,
		an_address_needs_the_piece_that_it_is_in,
		only_slots_are_where_jumps_lead,
		a_thread_that_listens_is_not_in_the_handler,
		a_stack_has_a_guard_page,
		chunks_of_areas_stay_together,
		lanes_stay_with_slots,
		nothing_left_is_not_in_use,
	};

	return suite_run("leftover", setup, teardown, tests, ARRAY_SIZE(tests));
}
