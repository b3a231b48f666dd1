/*
 * tracer/sites/jumps: which tracepoints get a jump instead of an int3, when not,
 * and when it is tried again.  Tracepoints, code, threads and the memory inside the
 * target are doubles, so the file itself is included below.
 */
#include <check.h>

#include "t/unit/jumps_fixture.h"

/* Fires where the jump leaves the function. */
static struct site outside = { .when = SITE_OUTSIDE };

START_TEST(a_jump_takes_the_place_of_the_int3)
{
	add(TEXT);
	add(TEXT + 0x20);
	commit();
	ck_assert_uint_eq(raised[0], 1);
	ck_assert_uint_eq(raised[1], 1);
	expect("a jump\na jump\n");
	/* It stays. */
	commit();
	ck_assert_uint_eq(raised[0], 1);
	ck_assert_uint_eq(lowered[0], 0);
	ck_assert_uint_eq(windows, 2);
	ck_assert(!is_tried_again());
}
END_TEST

START_TEST(hits_by_trap_are_told_with_the_reason)
{
	add(TEXT);
	add(TEXT + 0x20);
	add(TEXT + 0x40);
	users[0].trapped = 3;
	users[1].trapped = 4;
	users[1].choosy = true;
	users[1].sites = &outside;
	commit();
	expect("a jump, 3 hits\nthe probe does not fire at each pass, 4 hits\n"
	       "a jump\n");
	/* Also where the memory is still mapped. */
	memory_why = "it has no room";
	expect("a jump, 3 hits\nit has no room, 4 hits\na jump\n");
}
END_TEST

START_TEST(without_the_option_nothing_is_done)
{
	add(TEXT);
	is_on = maps_memory = false;
	commit();
	jumps_forked(&st, space);
	ck_assert_uint_eq(windows + raised[0] + lowered_all + stops, 0);
	jumps_start(&st, NULL, NULL);
	ck_assert_uint_eq(starts, 1);
	ck_assert_ptr_null(timer);
	expect("");
}
END_TEST

START_TEST(without_memory_all_is_by_int3)
{
	add(TEXT)->jumps = true;
	maps_memory = false;
	memory_why = "it has no room";
	commit();
	ck_assert_uint_eq(lowered[0], 1);
	expect("it has no room\n");
}
END_TEST

START_TEST(of_tracepoints_only_those_with_sites_are_prepared)
{
	add(TEXT)->state = TP_GONE;
	add(TEXT + 0x20)->user = NULL;
	add(TEXT + 0x40);
	users[2].sites = NULL;
	add(TEXT + 0x60)->state = TP_IDLE;
	commit();
	/* The last will be armed. */
	ck_assert_uint_eq(windows, 1);
	for (unsigned i = 0; i < n_tps; i++)
		ck_assert_uint_eq(raised[i] + lowered[i], 0);
	expect("");
	tps[3].state = TP_TRAP;
	commit();
	ck_assert_uint_eq(windows, 1);
	ck_assert_uint_eq(raised[3], 1);
	tps[1].user = &users[1];
	users[1].sites = NULL;
}
END_TEST

/* The code that many jumps lead to is made while threads run: they are stopped
 * only to map its memory. */
START_TEST(code_for_many_is_prepared)
{
	for (unsigned i = 0; i < 64; i++)
		add(TEXT + 0x20 * i);
	jumps_prepare(&st, space);
	for (unsigned i = 0; i < 64; i++) {
		ck_assert_uint_eq(stubs[i], 1);
		ck_assert_uint_eq(raised[i], 0);
	}
	ck_assert_uint_eq(flushes, 1);
	ck_assert_uint_eq(stops, 1);
	ck_assert_uint_eq(resumes, 1);
	str_clear(&reserved);
	jumps_commit(&st, space);
	ck_assert_str_eq(str_c(&reserved), "");
	for (unsigned i = 0; i < 64; i++)
		ck_assert_uint_eq(raised[i], 1);
}
END_TEST

START_TEST(code_for_few_is_made_in_the_stop)
{
	for (unsigned i = 0; i < 63; i++)
		add(TEXT + 0x20 * i);
	jumps_prepare(&st, space);
	ck_assert_uint_eq(stubs[0], 0);
	ck_assert_uint_eq(stops, 0);
	jumps_commit(&st, space);
	ck_assert_uint_eq(stubs[0], 1);
	ck_assert_uint_eq(raised[62], 1);
}
END_TEST

/* There is nothing yet in which the code could be listed. */
START_TEST(code_is_listed_or_it_waits)
{
	list_area = 0;
	for (unsigned i = 0; i < 64; i++)
		add(TEXT + 0x20 * i);
	jumps_prepare(&st, space);
	ck_assert_uint_eq(stubs[0], 0);
	ck_assert_uint_eq(stops, 0);
	list_area = 0x50000;
	jumps_commit(&st, space);
	ck_assert_uint_eq(raised[63], 1);
}
END_TEST

/* Armed behind our back, as it were: its code was not looked at. */
START_TEST(what_was_not_prepared_has_no_jump)
{
	add(TEXT);
	jumps_commit(&st, space);
	ck_assert_uint_eq(raised[0], 0);
	memory_why = "nobody has looked";
	expect("nobody has looked\n");
}
END_TEST

START_TEST(code_that_may_change_has_none)
{
	static const char changes[] =
	    "its code is not read-only code of a file";

	load = NULL;
	not_in(changes);
	load = &file;
	file.writable_text = true;
	not_in(changes);
	file.writable_text = false;
	file.is_vdso = true;
	not_in(changes);
	ck_assert_uint_eq(windows, 0);
}
END_TEST

START_TEST(code_that_is_not_known_has_none)
{
	static const char unknown[] = "it is in a part of an unknown function";

	sym_here = NULL;
	not_in("its code is not known");
	sym_here = &funcs[0];
	funcs[0].size = 0;
	not_in("its code is not known");
	funcs[0].size = 0x100;
	entry = (struct fde){ .signal = true };
	has_fde = true;
	not_in("its code is not known");
	entry.signal = false;
	unnamed = true;
	not_in(unknown);
	unnamed = false;
	funcs[0].name = "g.cold";
	is_piece = true;
	not_in(unknown);
	/* A piece of a piece. */
	owner = 0x1000;
	not_in(unknown);
	owner = 0;
	is_piece = false;
	bodies_error = -EINVAL;
	not_in("its code is not known");
	ck_assert_uint_eq(windows, 0);
	bodies_error = 0;
	window_error = -EINVAL;
	not_in("a jump goes into it");
	ck_assert_uint_eq(windows, 1);
	window_error = 0;
	add(TEXT + 0x400);
	commit();
	ck_assert_uint_eq(raised[n_tps - 1], 1);
}
END_TEST

START_TEST(a_piece_is_looked_at_with_its_function)
{
	funcs[1] = (struct sym){ .name = "f", .addr = 0x3000, .size = 0x20 };
	funcs[0].name = "g.cold";
	is_piece = true;
	owner = 0x3000;
	add(TEXT + 0x10);
	jumps_prepare(&st, space);
	ck_assert_uint_eq(bodies_start, BIAS + 0x3000);
	ck_assert_uint_eq(bodies_end, BIAS + 0x3020);
	/* An object without symbols. */
	is_piece = false;
	unnamed = true;
	owner = 0x1000;
	add(TEXT + 0x20);
	commit();
	ck_assert_uint_eq(bodies_start, TEXT);
	ck_assert_uint_eq(bodies_end, TEXT + 0x100);
	expect("a jump\na jump\n");
}
END_TEST

/* What leads to one of the bytes that the jump replaces. */
START_TEST(what_is_led_to_has_no_jump)
{
	static const struct {
		uint64_t to;
		unsigned insns;
		bool jumps;
	} rows[] = {
		{ 0x1000, 3, true },
		{ 0x1001, 3, false },
		{ 0x1005, 3, false },
		{ 0x1006, 3, true },
		/* With padding behind a return. */
		{ 0x1004, 1, false },
		{ 0x1005, 1, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		led_to = rows[i].to;
		n_insns = rows[i].insns;
		add(TEXT);
		commit();
		ck_assert_uint_eq(raised[i], rows[i].jumps);
		tps[i].state = TP_GONE;
	}
	ck_assert_uint_eq(limit, BIAS + 0x9000);
}
END_TEST

START_TEST(what_the_tracepoint_is_for_may_forbid_it)
{
	static const struct arrival hook;

	add(TEXT);
	commit();
	users[0].arrivals[0] = &hook;
	commit();
	ck_assert_uint_eq(lowered[0], 1);
	expect("the tracer itself needs the stop\n");
	users[0].arrivals[0] = NULL;
	users[0].choosy = true;
	users[0].sites = &outside;
	commit();
	expect("the probe does not fire at each pass\n");
	users[0].choosy = false;
	users[0].sites = &one_site;
	not_inside = "for a stack, errno";
	commit();
	expect("for a stack, errno\n");
	tps[0].was_trap = true;
	commit();
	expect("the program has its own breakpoint there\n");
	tps[0].was_trap = false;
	not_inside = NULL;
	ck_assert_uint_eq(raised[0], 1);
	commit();
	ck_assert_uint_eq(raised[0], 2);
	expect("a jump\n");
}
END_TEST

START_TEST(all_sites_fire_where_a_branch_is_taken)
{
	static struct site taken[3];

	add(TEXT);
	users[0].choosy = true;
	users[0].sites = taken;
	taken[0] = (struct site){ .next = &taken[1], .when = SITE_TAKEN };
	taken[1] = (struct site){ .when = SITE_ENTRY };
	commit();
	expect("the probe does not fire at each pass\n");
	taken[1] = (struct site){ .when = SITE_ALWAYS };
	commit();
	expect("the probe does not fire at each pass\n");
	ck_assert_uint_eq(stubs[0], 0);
	taken[1] = (struct site){ .when = SITE_TAKEN };
	commit();
	expect("a jump\n");
	ck_assert(for_taken);
	/* The code is there, and not for others. */
	taken[0].when = taken[1].when = SITE_ALWAYS;
	commit();
	expect("its code is for other probes\n");
	ck_assert(!tps[0].jumps);
}
END_TEST

/* Hits of a thread that has come by a door are by trap, whatever is there. */
START_TEST(doors_are_no_reason)
{
	static struct site both[2];

	add(TEXT);
	users[0].choosy = true;
	users[0].sites = both;
	both[0] = (struct site){ .next = &both[1], .when = SITE_ALWAYS };
	both[1] = (struct site){ .when = SITE_ALWAYS, .doors = true };
	commit();
	expect("a jump\n");
	ck_assert(!for_taken);
	both[1].when = SITE_DOOR;
	commit();
	expect("the probe does not fire at each pass\n");
	ck_assert(!tps[0].jumps);
}
END_TEST

START_TEST(the_clauses_are_asked_about_this_run)
{
	add(TEXT);
	with_clock = true;
	commit();
	ck_assert_uint_eq(inside_seen.image.size, 77);
	ck_assert(inside_seen.clock);
	with_clock = false;
	commit();
	ck_assert(!inside_seen.clock);
}
END_TEST

START_TEST(a_thread_within_the_window_waits)
{
	add(TEXT);
	/* Instructions begin at TEXT + 2 and + 4; the next is behind it. */
	pcs[0] = TEXT + 2;
	commit();
	expect(BUSY);
	ck_assert(is_tried_again());
	pcs[0] = TEXT + 4;
	commit();
	expect(BUSY);
	ck_assert_uint_eq(raised[0] + stubs[0], 0);
	/* In the middle of an instruction nobody can be. */
	pcs[0] = TEXT + 3;
	commit();
	expect("a jump\n");
}
END_TEST

START_TEST(a_thread_at_the_first_instruction_does_not_wait)
{
	add(TEXT);
	pcs[0] = TEXT;
	commit();
	expect("a jump\n");
	ck_assert(!is_tried_again());
}
END_TEST

START_TEST(a_thread_behind_the_window_does_not_wait)
{
	add(TEXT);
	pcs[0] = TEXT + 6;
	commit();
	expect("a jump\n");
}
END_TEST

START_TEST(windows_that_overlap_share_a_jump)
{
	n_insns = 5;
	/* Not in the order of their addresses. */
	add(TEXT + 0x40);
	add(TEXT + 8);
	add(TEXT);
	add(TEXT + 4);
	pcs[0] = TEXT + 8; /* the first of tps[1], within the next two */
	commit();
	expect("a jump\n" BUSY BUSY BUSY);
	/* Once it has gone on, all have one. */
	pcs[0] = 0;
	commit();
	expect("a jump\na jump\na jump\na jump\n");
	ck_assert_uint_eq(raised[2], 1);
	ck_assert_uint_eq(raised[1] + raised[3], 0);
	/* Their code leads from one to the next. */
	ck_assert_uint_eq(onto[2], double_stub_at(&tps[3]));
	ck_assert_uint_eq(onto[3], double_stub_at(&tps[1]));
	ck_assert_uint_eq(onto[1], 0);
}
END_TEST

/* A return so close to the end of its function that it has no window. */
START_TEST(a_place_without_a_window_shares_that_of_another)
{
	add(TEXT);
	jumps_prepare(&st, space);
	window_error = -EINVAL;
	add(TEXT + 4);
	add(TEXT + 8);
	commit();
	expect("a jump\na jump\na jump goes into it\n");
	/* Without the other it has none. */
	double_lower_all(0, UINT64_MAX);
	users[0].sites = NULL;
	commit();
	expect("a jump goes into it\na jump goes into it\n");
}
END_TEST

/* The int3 of one of them has to stay. */
START_TEST(who_may_not_jump_is_in_the_way_of_others)
{
	add(TEXT);
	add(TEXT + 4)->was_trap = true;
	add(TEXT + 8);
	commit();
	expect("another probe is too close\n"
	       "the program has its own breakpoint there\na jump\n");
}
END_TEST

/* The code that was made for one of them alone is not changed. */
START_TEST(what_comes_later_does_not_share)
{
	add(TEXT);
	commit();
	double_lower(&tps[0]);
	stub_error = -EINVAL;
	add(TEXT + 4);
	commit();
	ck_assert(!tps[0].jumps && !tps[1].jumps);
	/* Each of them was tried alone. */
	ck_assert_uint_eq(onto[0], 0);
	ck_assert_uint_eq(onto[1], 0);
	expect("no room for its code\nno room for its code\n");
	/* Not while a thread is in code that may lead on. */
	unsigned made = stubs[0];
	pcs[0] = 0x900000;
	stub_at = &tps[0];
	stub_leads[0] = stub_leads[1] = TEXT + 4;
	commit();
	ck_assert_uint_eq(stubs[0], made);
	stub_error = 0;
	commit();
	expect("a jump\na jump\n");
}
END_TEST

START_TEST(a_window_of_long_instructions_is_seen_to_its_end)
{
	add(TEXT);
	jumps_prepare(&st, space);
	struct window *w = &users[0].jump->window;
	w->n = WINDOW_MOST;
	for (unsigned i = 0; i < WINDOW_MOST; i++)
		w->insn[i].addr = TEXT + i * INSN_MAX_LEN;
	w->next = TEXT + WINDOW_MOST * INSN_MAX_LEN;
	pcs[0] = TEXT + (WINDOW_MOST - 1) * INSN_MAX_LEN;
	commit();
	expect(BUSY);
}
END_TEST

/* Stack pages are 0x7000 to the end of the mapping, in pieces of 4096 bytes. */
static void
stack_of(size_t bytes, uint64_t at)
{
	stack_map.end = 0x7000 + bytes;
	stacks[0] = at;
}

START_TEST(a_return_address_on_the_stack_counts)
{
	add(TEXT);
	stack_of(16384, 0x7010);
	/* Below the stack pointer. */
	stack_words[1] = TEXT + 2;
	commit();
	expect("a jump\n");
	double_lower(&tps[0]);
	/* The last word, and the word at an odd stack pointer. */
	stack_words[2047] = TEXT + 4;
	commit();
	expect(BUSY);
	ck_assert(is_tried_again());
	stack_words[2047] = 0;
	stack_words[2] = TEXT + 2;
	stack_of(16384, 0x7013);
	commit();
	expect(BUSY);
	stack_words[2] = TEXT;
	commit();
	expect("a jump\n");
}
END_TEST

START_TEST(the_words_of_each_piece_of_the_stack_are_read)
{
	add(TEXT);
	stack_of(16384, 0x7000);
	stack_words[512] = TEXT + 2;
	commit();
	expect(BUSY);
	stack_words[512] = 0;
	stack_words[511] = TEXT + 2;
	commit();
	expect(BUSY);
	ck_assert_uint_eq(stack_reads, 2 * 4);
}
END_TEST

START_TEST(a_stack_that_is_not_known_is_not_searched)
{
	add(TEXT);
	stack_words[0] = TEXT + 2;
	stack_of(0, 0x7000);
	commit();
	ck_assert_uint_eq(stack_reads, 0);
	expect("a jump\n");
}
END_TEST

START_TEST(where_a_thread_cannot_be_looked_at_nothing_is_raised)
{
	add(TEXT);
	pc_error = -EAGAIN;
	commit();
	ck_assert_uint_eq(raised[0] + stubs[0], 0);
	ck_assert(is_tried_again());
	pc_error = 0;
	maps_error = -ESRCH;
	commit();
	ck_assert_uint_eq(raised[0], 0);
	maps_error = 0;
	read_error = -EFAULT;
	stack_of(64, 0x7000);
	commit();
	ck_assert_uint_eq(raised[0], 0);
	/* Of one that has ended nothing is asked. */
	threads[0].stop.state = TH_GONE;
	pc_error = -EAGAIN;
	commit();
	ck_assert_uint_eq(raised[0], 1);
	ck_assert(!is_tried_again());
}
END_TEST

/* More than that takes too long under a stop. */
START_TEST(stacks_are_searched_up_to_a_limit)
{
	add(TEXT);
	stack_of(32UL << 20, 0x7000);
	commit();
	ck_assert_uint_eq(raised[0], 1);
	double_lower(&tps[0]);
	stack_of((32UL << 20) + 8, 0x7000);
	commit();
	ck_assert_uint_eq(raised[0], 1);
	/* The limit is that of all threads. */
	stack_of(8, 0x7000);
	stacks[1] = 0x7000;
	*vec_push(&procs[0].threads) = &threads[1];
	commit();
	ck_assert_uint_eq(raised[0], 2);
	double_lower(&tps[0]);
	stack_of(20UL << 20, 0x7000);
	commit();
	ck_assert_uint_eq(raised[0], 2);
}
END_TEST

START_TEST(every_thread_is_looked_at)
{
	add(TEXT);
	pcs[1] = TEXT + 2;
	*vec_push(&procs[0].threads) = &threads[1];
	commit();
	expect(BUSY);
}
END_TEST

/* ---- raising ---- */

START_TEST(memory_is_reserved_by_groups_of_near_tracepoints)
{
	const uint64_t last = TEXT + 0x20 + NEXT - 1;
	char want[64];

	add(last + NEXT); /* alone: it needs no more than its own piece */
	add(TEXT);
	add(TEXT + 0x20);
	add(last);
	commit();
	snprintf(want, sizeof(want), "%llx*3 ", (unsigned long long)last);
	ck_assert_str_eq(str_c(&reserved), want);
}
END_TEST

START_TEST(a_stub_that_cannot_be_made_is_a_reason)
{
	add(TEXT);
	stub_error = -ENOMEM;
	commit();
	ck_assert_uint_eq(raised[0], 0);
	expect("no room for its code\n");
	/* No thread will change that. */
	ck_assert(!is_tried_again());
}
END_TEST

START_TEST(stubs_that_cannot_be_written_are_not_jumped_to)
{
	add(TEXT);
	flush_error = -EFAULT;
	commit();
	ck_assert_uint_eq(stubs[0], 1);
	ck_assert_uint_eq(raised[0], 0);
	ck_assert(!is_tried_again());
}
END_TEST

START_TEST(a_jump_that_fails_is_a_reason)
{
	add(TEXT);
	jump_error = -EINVAL;
	commit();
	expect("another probe is too close\n");
	ck_assert(!is_tried_again());
}
END_TEST

START_TEST(a_lowered_jump_is_tried_again)
{
	add(TEXT);
	commit();
	jumps_lower(space, &tps[0]);
	ck_assert_uint_eq(lowered[0], 1);
	ck_assert_uint_eq(stops, 1);
	ck_assert_uint_eq(resumes, 1);
	expect("a signal arrived in it\n");
	ck_assert(is_tried_again());
	ck_assert_uint_eq(raised[0], 2);
	ck_assert(!is_tried_again());
	/* What has none need not be lowered. */
	tps[0].jumps = false;
	jumps_lower(space, &tps[0]);
	ck_assert_uint_eq(lowered[0], 1);
	ck_assert(!is_tried_again());
}
END_TEST

/* 32 questions that would be asked again: the int3 costs less, for good. */
START_TEST(what_asks_often_has_its_int3)
{
	add(TEXT);
	commit();
	for (unsigned i = 1; i < 32; i++)
		jumps_asked(space, &tps[0]);
	ck_assert_uint_eq(lowered[0], 0);
	expect("a jump\n");
	jumps_asked(space, &tps[0]);
	ck_assert_uint_eq(lowered[0], 1);
	expect("it reads memory that only the tracer reads\n");
	is_tried_again();
	ck_assert_uint_eq(raised[0], 1);
	expect("it reads memory that only the tracer reads\n");
}
END_TEST

/* Each failure in a row doubles the wait, up to 256 periods. */
START_TEST(tries_become_rare)
{
	add(TEXT);
	jumps_start(&st, NULL, NULL);
	ck_assert_uint_eq(timer_ns, 50000000);
	pcs[0] = TEXT + 2;
	commit();
	for (unsigned wait = 1; wait <= 1024; wait *= 2) {
		unsigned periods = 1;
		while (!is_tried_again())
			periods++;
		ck_assert_uint_eq(periods, MIN(wait, 256));
		ck_assert_uint_eq(stops, resumes);
	}
	/* At last it works, and the next one begins anew. */
	pcs[0] = 0;
	while (raised[0] == 0)
		timer(&st, NULL, 0);
	pcs[0] = TEXT + 2;
	jumps_lower(space, &tps[0]);
	ck_assert(is_tried_again());
	for (unsigned wait = 2; wait <= 4; wait *= 2) {
		for (unsigned i = 1; i < wait; i++)
			ck_assert(!is_tried_again());
		ck_assert(is_tried_again());
	}
}
END_TEST

START_TEST(a_space_without_tracepoints_is_not_tried)
{
	add(TEXT);
	pcs[0] = TEXT + 2;
	commit();
	space->tab = NULL;
	ck_assert(!is_tried_again());
	space->tab = (struct tptable *)8;
	ck_assert(is_tried_again());
}
END_TEST

START_TEST(a_new_site_is_prepared_when_it_is_tried_again)
{
	add(TEXT);
	pcs[0] = TEXT + 2;
	commit();
	add(TEXT + 0x40);
	ck_assert(is_tried_again());
	ck_assert_uint_eq(raised[1], 1);
}
END_TEST

/* ---- children ---- */

START_TEST(a_child_begins_without_jumps)
{
	add(TEXT)->jumps = true;
	jumps_forked(&st, space);
	ck_assert_uint_eq(lowered[0], 1);
	ck_assert_uint_eq(stops, 1);
	ck_assert_uint_eq(resumes, 1);
}
END_TEST

START_TEST(a_child_gets_memory_after_a_hundred_hits)
{
	procs[0].role.followed = true;
	add(TEXT);
	commit();
	ck_assert_uint_eq(windows + raised[0], 0);
	for (unsigned i = 0; i < 99; i++)
		jumps_trapped(&st, space);
	ck_assert(!is_tried_again());
	commit();
	ck_assert_uint_eq(windows + raised[0], 0);
	jumps_trapped(&st, space);
	ck_assert(is_tried_again());
	ck_assert_uint_eq(raised[0], 1);
	/* Once. */
	jumps_trapped(&st, space);
	ck_assert(!is_tried_again());
}
END_TEST

START_TEST(hits_are_not_counted_without_the_option)
{
	procs[0].role.followed = true;
	is_on = false;
	for (unsigned i = 0; i < 100; i++)
		jumps_trapped(&st, space);
	is_on = true;
	ck_assert(!is_tried_again());
}
END_TEST

START_TEST(others_have_jumps_at_once)
{
	add(TEXT);
	commit();
	ck_assert_uint_eq(raised[0], 1);
	/* So has a child that has the memory. */
	double_lower(&tps[0]);
	procs[0].role.followed = true;
	commit();
	ck_assert_uint_eq(raised[0], 2);
}
END_TEST

static void
hits(unsigned n)
{
	while (n-- > 0)
		jumps_trapped(&st, space);
}

START_TEST(with_auto_jumps_come_with_many_hits)
{
	is_auto = true;
	add(TEXT);
	commit();
	hits(1999);
	ck_assert(!is_tried_again());
	commit();
	ck_assert(!has_world);
	expect("its process has had few hits\n");
	hits(1);
	ck_assert(is_tried_again());
	ck_assert_uint_eq(raised[0], 1);
	hits(1);
	ck_assert(!is_tried_again());
}
END_TEST

START_TEST(only_tracepoints_that_trap_are_counted)
{
	add(TEXT);
	add(TEXT + 0x20)->state = TP_DRAINING;
	commit();
	expect("a jump\n");
	has_world = false;
	memory_why = "it has no room";
	tps[0].jumps = false;
	expect("it has no room\n");
}
END_TEST

/* A list asks before there is any tracepoint or memory. */
START_TEST(reasons_are_told_without_a_change)
{
	static const uint64_t at[] = { TEXT, TEXT + 4, TEXT + 8 };
	const char *why[3] = { "", "", "" };

	is_on = maps_memory = false;
	led_to = 0x1002;
	jumps_why_not(&st, space, at, 3, why);
	ck_assert_str_eq(why[0], "a jump leads into the bytes to be replaced");
	ck_assert_ptr_null(why[1]);
	ck_assert_ptr_null(why[2]);
	led_to = 0;
	for (sequence = TEXT + 1; sequence < TEXT + 8; sequence++) {
		/* Of the bytes of the instructions. */
		jumps_why_not(&st, space, at, 3, why);
		ck_assert_msg((why[0] != NULL) == (sequence < TEXT + 6), "%lu",
		    sequence - TEXT);
		ck_assert_ptr_null(why[2]);
	}
	ck_assert_str_eq(why[1], "it is in a restartable sequence");
	sequence = 0;
	/* A call that is made by a push and a jump. */
	window_is_call = true;
	jumps_why_not(&st, space, at, 1, why);
	ck_assert_ptr_null(why[0]);
	shadow_stack = true;
	jumps_why_not(&st, space, at, 1, why);
	ck_assert_str_eq(why[0], "a shadow stack checks the return");
	/* Another process may have none. */
	ck_assert_ptr_null(kept_why);
	window_is_call = false;
	jumps_why_not(&st, space, at, 1, why);
	ck_assert_ptr_null(why[0]);
	window_error = -EINVAL;
	jumps_why_not(&st, space, at, 1, why);
	ck_assert_str_eq(why[0], "a jump goes into it");
	file.writable_text = true;
	jumps_why_not(&st, space, at + 1, 1, why);
	ck_assert_str_eq(why[0], "its code is not read-only code of a file");
	file.writable_text = false;
	ck_assert_uint_eq(stops + resumes + flushes + lowered_all, 0);
	ck_assert_uint_eq(n_tps, 0);
	ck_assert(!has_world);
	ck_assert_ptr_null(timer);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		a_jump_takes_the_place_of_the_int3,
		without_the_option_nothing_is_done,
		without_memory_all_is_by_int3,
		of_tracepoints_only_those_with_sites_are_prepared,
		what_was_not_prepared_has_no_jump,
		code_for_many_is_prepared,
		code_for_few_is_made_in_the_stop,
		code_is_listed_or_it_waits,
		code_that_may_change_has_none,
		code_that_is_not_known_has_none,
		hits_by_trap_are_told_with_the_reason,
		a_piece_is_looked_at_with_its_function,
		what_is_led_to_has_no_jump,
		what_the_tracepoint_is_for_may_forbid_it,
		all_sites_fire_where_a_branch_is_taken,
		doors_are_no_reason,
		the_clauses_are_asked_about_this_run,
		a_thread_within_the_window_waits,
		a_thread_at_the_first_instruction_does_not_wait,
		a_thread_behind_the_window_does_not_wait,
		windows_that_overlap_share_a_jump,
		a_place_without_a_window_shares_that_of_another,
		who_may_not_jump_is_in_the_way_of_others,
		what_comes_later_does_not_share,
		a_window_of_long_instructions_is_seen_to_its_end,
		a_return_address_on_the_stack_counts,
		the_words_of_each_piece_of_the_stack_are_read,
		a_stack_that_is_not_known_is_not_searched,
		where_a_thread_cannot_be_looked_at_nothing_is_raised,
		stacks_are_searched_up_to_a_limit,
		every_thread_is_looked_at,
		memory_is_reserved_by_groups_of_near_tracepoints,
		a_stub_that_cannot_be_made_is_a_reason,
		stubs_that_cannot_be_written_are_not_jumped_to,
		a_jump_that_fails_is_a_reason,
		a_lowered_jump_is_tried_again,
		what_asks_often_has_its_int3,
		tries_become_rare,
		a_space_without_tracepoints_is_not_tried,
		a_new_site_is_prepared_when_it_is_tried_again,
		a_child_begins_without_jumps,
		a_child_gets_memory_after_a_hundred_hits,
		hits_are_not_counted_without_the_option,
		others_have_jumps_at_once,
		with_auto_jumps_come_with_many_hits,
		only_tracepoints_that_trap_are_counted,
		reasons_are_told_without_a_change,
	};

	return suite_run("jumps", setup, teardown, tests, ARRAY_SIZE(tests));
}
