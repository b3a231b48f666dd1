/*
 * tracer/sites/jumps and raising in a program of Go's: where jumps may be, and the
 * goroutines in their way.  For the doubles see test_jumps.c.
 */
#include <check.h>

#include "t/unit/jumps_fixture.h"

/* In Go only the entries and the returns of the compiler's functions. */
START_TEST(go_has_jumps_where_its_stack_is_known)
{
	static const char *const assembly =
	    "assembly of Go's may be on a stack without room";
	static const char *const within =
	    "the stack of a goroutine may have no room there";

	is_go = true;
	add(TEXT);
	kind_here = INSN_RET;
	add(TEXT + 0x20);
	kind_here = INSN_JMP;
	leads_here = TEXT + 0x100;
	add(TEXT + 0x40);
	commit();
	for (unsigned i = 0; i < n_tps; i++) {
		ck_assert_uint_eq(raised[i], 1);
		ck_assert(users[i].jump->window.goroutine);
	}
	leads_here = TEXT + 0xff;
	not_in(within);
	kind_here = INSN_PLAIN;
	not_in(within);
	kind_here = INSN_RET;
	go_here.alike = false;
	not_in(assembly);
	go_here.alike = true;
	parked_known = false;
	not_in("it is not known where goroutines are");
	parked_known = true;
	on_goroutines = false;
	not_in("the processor does not let code on the stack of a goroutine "
	       "know its thread");
	on_goroutines = true;
	sym_here = NULL;
	not_in("its code is not known");
	sym_here = &funcs[0];
	/* Functions of C in the same file. */
	go_here.calls = GO_NOT;
	go_here.alike = false;
	kind_here = INSN_PLAIN;
	add(TEXT + 0x400);
	commit();
	ck_assert_uint_eq(raised[n_tps - 1], 1);
	ck_assert(!users[n_tps - 1].jump->window.goroutine);
}
END_TEST

/* A goroutine that was interrupted by a signal goes on where it was, in any thread. */
START_TEST(parked_goroutines_are_in_the_way)
{
	is_go = true;
	stack_map.end = 0x7000 + sizeof(stack_words);
	parked[0] = 0x7100;
	parked[1] = 0x7200;
	stack_words[0x100 / 8 + 3] = TEXT + 2;
	add(TEXT);
	commit();
	ck_assert_uint_eq(raised[0], 0);
	expect(BUSY);
	/* At the site it may have fired, and in another thread it would again. */
	stack_words[0x100 / 8 + 3] = TEXT;
	ck_assert(is_tried_again());
	ck_assert_uint_eq(raised[0], 0);
	/* Behind its stack there are others. */
	stack_words[0x100 / 8 + 3] = 0;
	stack_words[0x200 / 8] = TEXT + 2;
	while (!is_tried_again())
		continue;
	ck_assert_uint_eq(raised[0], 1);
	/* When it is interrupted, the jump goes. */
	jumps_let(&st, space, &tps[0], TEXT);
	ck_assert_uint_eq(lowered[0], 1);
	/* It comes back soon, and more of them do not delay that. */
	ck_assert_uint_eq(timer_next, 1000 + 10000000);
	timer_next = 0;
	jumps_let(&st, space, &tps[0], TEXT);
	ck_assert_uint_eq(timer_next, 0);
	parked_error = -EFAULT;
	while (!is_tried_again())
		continue;
	ck_assert_uint_eq(raised[0], 1);
}
END_TEST

/* A signal's handler, on another stack, has the goroutine go on where it was, before
 * the goroutine is given up. */
START_TEST(so_are_those_whose_threads_are_elsewhere)
{
	is_go = true;
	stack_map.end = 0x7000 + sizeof(stack_words);
	parked[0] = 0x7100;
	parked[1] = 0x7200;
	parked_whole = true;
	stacks[0] = 0x7000;
	its_stack_end = 0x7080;
	stack_words[0x100 / 8 + 3] = TEXT + 2;
	add(TEXT);
	commit();
	ck_assert_uint_eq(raised[0], 0);
	expect(BUSY);
	/* What is below the top of a stack on which a thread is, is past. */
	stacks[0] = 0x7180;
	its_stack_end = 0x7200;
	while (!is_tried_again())
		continue;
	ck_assert_uint_eq(raised[0], 1);
	parked_whole = false;
}
END_TEST

/* The heap and all stacks of Go are one mapping. */
START_TEST(of_a_threads_stack_no_more_than_go_says_is_read)
{
	is_go = true;
	stack_map.end = 0x7000 + sizeof(stack_words);
	stacks[0] = 0x7000;
	its_stack_end = 0x7100;
	stack_words[0xf8 / 8] = TEXT + 2;
	add(TEXT);
	commit();
	ck_assert_uint_eq(raised[0], 0);
	stack_words[0xf8 / 8] = 0;
	stack_words[0x100 / 8] = TEXT + 2;
	while (!is_tried_again())
		continue;
	ck_assert_uint_eq(raised[0], 1);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		go_has_jumps_where_its_stack_is_known,
		parked_goroutines_are_in_the_way,
		so_are_those_whose_threads_are_elsewhere,
		of_a_threads_stack_no_more_than_go_says_is_read,
	};

	return suite_run("jumps_go", setup, teardown, tests, ARRAY_SIZE(tests));
}
