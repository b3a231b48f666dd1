/*
 * tracer/sites/groups.c: which tracepoints share a jump, and what the code of each
 * displaces.
 */
#include <check.h>
#include <string.h>

#include "dlang/base/str.h"
#include "inject/tracepoint.h"
#include "t/unit/suite.h"
#include "tracer/sites/groups.h"

#define AT   UINT64_C(0x401000)

#define MOST 8

static struct window windows[MOST];
static struct place places[MOST];
static size_t n;
static struct str formed; /* "0,2;5 " */

static struct place *
add(uint64_t at, bool may)
{
	places[n] = (struct place){ .addr = AT + at, .may = may };
	return &places[n++];
}

/* A window of instructions of these lengths, with the place at the site'th. */
static struct window *
with_window(uint64_t at, unsigned site, const char *lengths)
{
	struct window *w = &windows[n];
	struct place *p = add(at, true);
	uint64_t addr = p->addr;

	*w = (struct window){ .n = (unsigned)strlen(lengths), .site = site };
	for (unsigned i = 0; i < site; i++)
		addr -= (uint64_t)(lengths[i] - '0');
	for (unsigned i = 0; i < w->n; i++) {
		unsigned len = (unsigned)(lengths[i] - '0');
		w->insn[i] = (struct insn){ .addr = addr, .len = (uint8_t)len };
		addr += len;
	}
	w->next = addr;
	p->window = w;
	return w;
}

static void
note(void *ctx, const struct group *g)
{
	ck_assert_ptr_eq(ctx, places);
	for (size_t i = 0; i < g->n; i++)
		str_printf(&formed, "%s%llu", i > 0 ? "," : "",
		    (unsigned long long)(g->at[i].addr - AT));
	str_printf(&formed, "[%llu %llu) ", (unsigned long long)(g->start - AT),
	    (unsigned long long)(g->end - AT));
}

static void
forms(const char *want)
{
	str_clear(&formed);
	groups_each(places, n, note, places);
	ck_assert_str_eq(str_c(&formed), want);
	n = 0;
}

static void
teardown(void)
{
	n = 0;
	str_fini(&formed);
}

START_TEST(places_with_room_are_alone)
{
	with_window(0x20, 0, "14");
	with_window(0, 0, "7");
	with_window(12, 2, "321");
	forms("0[0 7) 12[7 13) 32[32 37) ");
	forms("");
}
END_TEST

START_TEST(a_place_with_a_board_is_alone)
{
	struct window w;

	with_window(0, 0, "3")->board = AT + 0x40;
	with_window(0x20, 1, "21")->board = AT + 0x48;
	with_window(2, 0, "5");
	forms("2[2 7) 32[30 33) ");
	/* The next one may begin behind the short jump. */
	with_window(0, 0, "2")->board = AT + 0x40;
	with_window(2, 0, "5");
	forms("0[0 2) 2[2 7) ");
	/* Its window is where others' are: it shares their jump, or has none. */
	with_window(0, 0, "31");
	with_window(3, 0, "1")->board = AT + 0x40;
	forms("0,3[0 5) ");
	with_window(2, 1, "21")->board = AT + 0x40;
	add(0, true);
	forms("");
	with_window(4, 1, "21")->board = AT + 0x40;
	add(3, false);
	forms("");
	/* The code of one has its board. */
	struct window *one = with_window(0, 0, "3");
	one->board = AT + 0x40;
	struct group g = { places, 1, AT, AT + 3 };
	ck_assert(group_window(&g, 0, &w));
	ck_assert_uint_eq(w.n, 1);
	ck_assert_uint_eq(w.next, AT + 3);
	ck_assert_uint_eq(w.board, AT + 0x40);
	n = 0;
}
END_TEST

START_TEST(windows_that_overlap_are_a_group)
{
	/* An entry and the return of a getter; with padding. */
	with_window(0, 0, "21");
	add(2, true);
	forms("0,2[0 5) ");
	/* The window of the return begins in that of the entry. */
	with_window(7, 2, "411");
	with_window(0, 0, "24");
	forms("0,7[0 8) ");
	/* One that reaches back over another, to a third. */
	with_window(0, 0, "23");
	with_window(6, 0, "6");
	with_window(12, 3, "3161");
	forms("0,6,12[0 13) ");
	/* A jump needs more bytes than there are instructions. */
	with_window(0, 0, "1");
	with_window(5, 0, "6");
	forms("0[0 5) 5[5 11) ");
}
END_TEST

START_TEST(a_place_without_window_needs_that_of_another)
{
	add(0, true);
	add(4, true);
	with_window(5, 0, "5");
	add(10, true);
	forms("5[5 10) ");
}
END_TEST

START_TEST(an_int3_that_stays_is_in_nobodys_way_but_of_windows)
{
	with_window(0, 0, "23");
	add(2, false);
	with_window(5, 0, "6");
	forms("5[5 11) ");
	with_window(0, 0, "5");
	add(5, false);
	with_window(9, 2, "311");
	with_window(10, 0, "7");
	forms("0[0 5) 10[10 17) ");
	/* Also behind the instructions, under the jump. */
	with_window(0, 0, "1");
	add(4, false);
	forms("");
}
END_TEST

START_TEST(what_is_too_long_or_on_two_pages_is_taken_one_by_one)
{
	/* Up to 20 bytes. */
	with_window(0, 0, "8");
	with_window(13, 2, "851");
	with_window(19, 2, "151");
	forms("0,13,19[0 20) ");
	with_window(0, 0, "8");
	with_window(14, 2, "861");
	with_window(20, 2, "151");
	forms("0[0 8) ");
}
END_TEST

START_TEST(a_group_is_in_one_page)
{
	with_window(4096 - 7, 0, "24");
	with_window(4096 - 1, 1, "41");
	forms("4089,4095[4089 4096) ");
	with_window(4096 - 6, 0, "24");
	with_window(4096, 1, "41");
	forms("4090[4090 4096) ");
}
END_TEST

static struct window got[MOST];
static size_t n_got;

static void
take(void *ctx, const struct group *g)
{
	n_got = g->n;
	for (size_t i = 0; i < g->n; i++)
		ck_assert(group_window(g, i, &got[i]));
	for (uint64_t at = 0; at < 40; at++)
		((bool *)ctx)[at] = group_has(g, AT + at);
}

START_TEST(each_has_the_instructions_up_to_the_next)
{
	bool has[40];

	with_window(3, 1, "321"); /* begins before its place */
	with_window(12, 2, "161")->ends = true;
	groups_each(places, n, take, has);
	ck_assert_uint_eq(n_got, 2);
	ck_assert_uint_eq(got[0].n, 4);
	ck_assert_uint_eq(got[0].site, 1);
	ck_assert_uint_eq(got[0].insn[0].addr, AT);
	ck_assert_uint_eq(got[0].insn[3].addr, AT + 6);
	ck_assert_uint_eq(got[0].next, AT + 12);
	ck_assert(!got[0].ends);
	ck_assert_uint_eq(got[1].n, 1);
	ck_assert_uint_eq(got[1].site, 0);
	ck_assert_uint_eq(got[1].next, AT + 13);
	ck_assert(got[1].ends);
	for (uint64_t at = 0; at < 40; at++)
		ck_assert_int_eq(
		    has[at], at == 3 || at == 5 || at == 6 || at == 12);
}
END_TEST

/* Nothing follows a return or a call, or is between two instructions. */
START_TEST(what_does_not_lead_on_is_no_group)
{
	with_window(0, 0, "23")->ends = true;
	with_window(5, 1, "31");
	forms("0[0 5) ");
	with_window(0, 0, "25");
	windows[0].insn[1].kind = INSN_CALL;
	with_window(7, 1, "51");
	windows[1].insn[0].kind = INSN_CALL;
	forms("0[0 7) ");
	/* The call itself may be asked for. */
	with_window(0, 0, "25");
	with_window(2, 0, "5");
	windows[0].insn[1].kind = windows[1].insn[0].kind = INSN_CALL;
	forms("0,2[0 7) ");
	with_window(0, 0, "5");
	add(3, true);
	forms("");
	/* Too many instructions. */
	with_window(0, 0, "11111");
	with_window(7, 2, "121");
	forms("0[0 5) ");
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = { places_with_room_are_alone,
		windows_that_overlap_are_a_group, a_place_with_a_board_is_alone,
		a_place_without_window_needs_that_of_another,
		an_int3_that_stays_is_in_nobodys_way_but_of_windows,
		what_is_too_long_or_on_two_pages_is_taken_one_by_one,
		a_group_is_in_one_page,
		each_has_the_instructions_up_to_the_next,
		what_does_not_lead_on_is_no_group };

	return suite_run("groups", NULL, teardown, tests, ARRAY_SIZE(tests));
}
