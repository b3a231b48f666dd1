/*
 * tracer/sites/jumps: threads that are in code of ours, or on the way out of it,
 * and windows that begin before their site.
 */
#include <check.h>

#include "t/unit/jumps_fixture.h"

START_TEST(a_thread_in_a_slot_returns_behind_the_instruction)
{
	add(TEXT); /* of two bytes */
	slot_pc = pcs[0] = 0x900000;
	commit();
	expect(BUSY);
	slot_knows = false;
	commit();
	expect("a jump\n");
}
END_TEST

START_TEST(a_thread_in_the_code_of_a_site_is_not_in_a_slot)
{
	add(TEXT);
	slot_pc = pcs[0] = 0x900000;
	stub_at = &tps[0];
	commit();
	expect("a jump\n");
}
END_TEST

/* It was removed while the thread was in the slot, and a signal comes before the
 * instruction has run. */
START_TEST(a_thread_in_a_slot_may_go_back)
{
	add(TEXT + 2)->len = 1;
	tps[0].state = TP_DRAINING;
	users[0].sites = NULL;
	add(TEXT);
	slot_pc = pcs[0] = 0x900000;
	commit();
	expect(BUSY);
}
END_TEST

/* Its jump was lowered for an int3 in its window, whose own window ends further
 * behind. */
START_TEST(a_thread_in_the_code_of_a_site_returns_behind_its_window)
{
	add(TEXT);
	add(TEXT + 6);
	pcs[0] = 0x900000;
	stub_at = &tps[0];
	stub_leads[0] = TEXT + 2; /* its own */
	stub_leads[1] = TEXT + 8;
	commit();
	expect("a jump\n" BUSY);
	ck_assert(is_tried_again());
	stub_leads[1] = TEXT + 6;
	commit();
	expect("a jump\na jump\n");
}
END_TEST

/* It is in the function that sites share: the word on top of its stack says which one's
 * it is in. */
START_TEST(a_thread_in_shared_code_returns_to_that_of_its_site)
{
	add(TEXT);
	add(TEXT + 6);
	pcs[0] = shared_pc = 0x800000;
	stub_pc = 0x900000;
	stub_at = &tps[0];
	stub_leads[0] = TEXT + 2; /* its own */
	stub_leads[1] = TEXT + 8;
	stack_map.end = 0x7400;
	stacks[0] = 0x7100;
	stack_words[0x100 / 8] = stub_pc;
	commit();
	expect("a jump\n" BUSY);
	stack_words[0x100 / 8] = 0x900008;
	commit();
	expect("a jump\na jump\n");
}
END_TEST

/* It is in the VM, or in a body: the address of the code is on the stack. */
START_TEST(a_thread_in_a_firing_returns_to_the_code)
{
	add(TEXT);
	add(TEXT + 6);
	pcs[0] = 0x5000;
	stub_pc = 0x900000;
	stub_at = &tps[0];
	stub_leads[0] = TEXT + 2; /* its own */
	stub_leads[1] = TEXT + 8;
	stack_map.end = 0x7400;
	stacks[0] = 0x7100;
	its_regs.r[UREG_LANE] = 0x7300;
	stack_words[0x2f8 / 8] = stub_pc;
	is_away = true;
	commit();
	expect("a jump\n" BUSY);
	/* Behind the firing. */
	is_away = false;
	commit();
	expect("a jump\na jump\n");
	/* On its own stack, with the lane elsewhere. */
	double_lower_all(0, UINT64_MAX);
	fires = true;
	stack_words[0x2f8 / 8] = 0;
	stack_words[0x120 / 8] = stub_pc;
	its_regs.r[UREG_LANE] = 0x50000;
	commit();
	expect("a jump\n" BUSY);
	stack_words[0x120 / 8] = 0;
	commit();
	expect("a jump\na jump\n");
	/* The stack that it has left. */
	double_lower_all(0, UINT64_MAX);
	fires = false;
	is_away = true;
	its_regs.r[UREG_LANE] = 0x7300;
	stack_words[0x300 / 8] = 0x7010;
	stack_words[0x20 / 8] = TEXT + 8;
	commit();
	expect("a jump\n" BUSY);
	/* There the first word leads to the code, if it was a body that called. */
	stack_words[0x20 / 8] = 0;
	stack_words[0x10 / 8] = stub_pc;
	double_lower_all(0, UINT64_MAX);
	commit();
	expect("a jump\n" BUSY);
	stack_words[0x10 / 8] = 0;
	stack_words[0x300 / 8] = 0;
	/* The memory behind the lane may be large: nothing in it is read. */
	stack_map.end = 0x7000 + (64UL << 20);
	commit();
	expect("a jump\na jump\n");
	/* It cannot be read. */
	double_lower_all(0, UINT64_MAX);
	read_error = -EFAULT;
	commit();
	ck_assert(is_tried_again());
	ck_assert(!tps[0].jumps);
}
END_TEST

/* Its int3 is not there any more when the tracer handles the hit. */
START_TEST(a_hit_of_what_was_removed_goes_back)
{
	add(TEXT);
	pcs[0] = TEXT + 3;
	removed = TEXT + 2;
	commit();
	expect(BUSY);
}
END_TEST

/* The pc behind the int3 is in the middle of the next window. */
START_TEST(a_hit_that_is_not_handled_yet_goes_back)
{
	static const struct {
		enum event_kind kind;
		int code, error;
		bool goes_back;
	} rows[] = {
		{ EV_TRAP, TRAP_CODE, 0, true },
		/* Any other stop there. */
		{ EV_SIGNAL, TRAP_CODE, 0, false },
		{ EV_TRAP, SI_USER, 0, false },
		{ EV_TRAP, TRAP_CODE, -ESRCH, false },
	};

	add(TEXT + 1);
	jumps_prepare(&st, space);
	struct window *w = &users[0].jump->window;
	w->insn[0].len = 1;
	w->insn[1].addr = pcs[0] = TEXT + 2; /* of the int3 at TEXT + 1 */
	w->insn[2].addr = TEXT + 4;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		threads[0].stop.kind = rows[i].kind;
		info.si_code = rows[i].code;
		siginfo_error = rows[i].error;
		jumps_commit(&st, space);
		expect(rows[i].goes_back ? "a jump\n" : BUSY);
		double_lower_all(0, UINT64_MAX);
	}
	/* No int3 is before that pc; or it is in the middle of the window. */
	siginfo_error = 0;
	tps[0].state = TP_GONE;
	add(TEXT);
	pcs[0] = TEXT + 4;
	commit();
	expect(BUSY);
	add(TEXT + 2);
	pcs[0] = TEXT + 3;
	commit();
	expect(BUSY BUSY);
}
END_TEST

/* The window begins at TEXT, two instructions before the site. */
START_TEST(a_window_may_begin_before_the_site)
{
	n_before = 2;
	led_to = 0x1002;
	add(TEXT + 4);
	commit();
	ck_assert_uint_eq(raised[0], 0);
	expect("a jump leads into the bytes to be replaced\n");
	tps[0].state = TP_GONE;
	led_to = 0x1006; /* behind it */
	add(TEXT + 4);
	commit();
	expect("a jump\n");
	/* A thread at the site is in the way, wherever it is known from. */
	static const uint64_t in[] = { TEXT + 2, TEXT + 4 };
	for (unsigned i = 0; i < 2; i++) {
		double_lower(&tps[1]);
		pcs[0] = in[i];
		commit();
		expect(BUSY);
		pcs[0] = TEXT;
		commit();
		ck_assert(tps[1].jumps);
	}
	/* The int3 was executed, and the hit is not handled yet. */
	double_lower(&tps[1]);
	pcs[0] = TEXT + 4 + TRAP_PC_AFTER;
	threads[0].stop.kind = EV_TRAP;
	info.si_code = TRAP_CODE;
	commit();
	ck_assert(!tps[1].jumps);
	/* In its slot. */
	threads[0].stop.kind = EV_STOP;
	pcs[0] = slot_pc = 0x900000;
	slot_tp = &tps[1];
	commit();
	ck_assert(!tps[1].jumps);
}
END_TEST

/* Only where the jump begins may a thread go on that leaves the code. */
START_TEST(who_leaves_the_code_finds_the_programs_bytes)
{
	n_before = 1;
	add(TEXT + 2);
	commit();
	ck_assert(tps[0].jumps);
	jumps_let(&st, space, &tps[0], TEXT);
	ck_assert(tps[0].jumps);
	jumps_let(&st, space, &tps[0], TEXT + 2);
	ck_assert(!tps[0].jumps);
	jumps_let(&st, space, &tps[0], TEXT + 2); /* there is none */
	ck_assert_uint_eq(lowered[0], 1);
	/* That of another one does not begin there. */
	tps[0].jumps = tps[0].rides = true;
	jumps_let(&st, space, &tps[0], TEXT);
	ck_assert_uint_eq(lowered[0], 2);
	ck_assert(is_tried_again());
}
END_TEST

START_TEST(a_short_jump_needs_a_board)
{
	window_error = -EINVAL;
	board_here = TEXT + 0x80;
	add(TEXT);
	commit();
	expect("a jump goes into it\n");
	ck_assert_str_eq(kept_why, "a jump goes into it");
	/* With one. */
	short_window = true;
	add(TEXT + 0x100);
	commit();
	expect("a jump goes into it\na jump\n");
	ck_assert_uint_eq(boards[1], TEXT + 0x80);
	/* Without, and where something else leads into the two bytes. */
	board_here = 0;
	add(TEXT + 0x200);
	commit();
	board_here = TEXT + 0x80;
	led_to = TEXT + 0x301 - load->bias;
	add(TEXT + 0x300);
	commit();
	expect("a jump goes into it\na jump\na jump goes into it\n"
	       "a jump goes into it\n");
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		a_thread_in_a_slot_returns_behind_the_instruction,
		a_thread_in_the_code_of_a_site_is_not_in_a_slot,
		a_thread_in_a_slot_may_go_back,
		a_thread_in_shared_code_returns_to_that_of_its_site,
		a_thread_in_a_firing_returns_to_the_code,
		a_thread_in_the_code_of_a_site_returns_behind_its_window,
		a_hit_of_what_was_removed_goes_back,
		a_hit_that_is_not_handled_yet_goes_back,
		a_window_may_begin_before_the_site,
		who_leaves_the_code_finds_the_programs_bytes,
		a_short_jump_needs_a_board,
	};

	return suite_run(
	    "jumps_code", setup, teardown, tests, ARRAY_SIZE(tests));
}
