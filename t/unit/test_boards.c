/*
 * tracer/sites/boards.c: padding for a second jump, between functions that are rows of
 * a table.
 */
#include <check.h>

#include "dlang/base/base.h"
#include "disasm/window.h"
#include "inject/tracepoint.h"
#include "symbols/addrspace.h"
#include "t/unit/suite.h"
#include "tracer/names/bodies.h"
#include "tracer/ptrace/proc.h"
#include "tracer/sites/boards.h"
#include "tracer/sites/function.h"
#include "tracer/sites/sequences.h"
#include "tracer/sites/windows.h"

#define BIAS UINT64_C(0x7f0000000000)
#define TEXT UINT64_C(0x10000)

static struct body_range funcs[8];
static size_t nfuncs;
static uint64_t taken[4]; /* boards of others */
static uint64_t led_to, sequence, falls_through;
static unsigned looked; /* bodies_find() calls */

static const struct sym a_func;

static const struct sym *
double_code_at(uint64_t addr)
{
	return body_has(funcs, nfuncs, addr) ? &a_func : NULL;
}

static const char *
double_function(uint64_t addr, struct body_range *out)
{
	for (size_t i = 0; i < nfuncs; i++)
		if (addr >= funcs[i].start && addr < funcs[i].end) {
			*out = funcs[i];
			return NULL;
		}
	return "no";
}

static int
double_bodies(uint64_t start, uint64_t end, struct body *b)
{
	looked++;
	*b = (struct body){ 0 };
	*vec_push(&b->ranges) = (struct body_range){ start, end };
	return 0;
}

static bool
double_dead(const struct body *b, uint64_t from, uint64_t to)
{
	bool ends = false;

	vec_foreach(r, &b->ranges)
		ends |= r->end == from;
	ck_assert(ends);
	ck_assert_uint_lt(from, to);
	return from != BIAS + falls_through;
}

static bool
double_free(uint64_t addr)
{
	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		if (taken[i] != 0 && addr - BIAS + 4 - taken[i] < 9)
			return false;
	return true;
}

#define object_code_at(o, addr)          ((void)(o), double_code_at(addr))
#define object_fde_at(o, addr)           NULL
#define function_range(st, o, addr, out) double_function(addr, out)
#define bodies_find(st, mem, l, start, end, exits, b) \
	double_bodies(start, end, b)
#define bodies_lead_between(st, o, from, to) (led_to > (from) && led_to < (to))
#define window_is_dead(b, mem, from, to)     double_dead(b, from, to)
#define windows_board_free(st, sp, l, addr)  double_free(addr)
#define sequences_contain(q, sp, l, from, to) \
	(BIAS + sequence >= (from) && BIAS + sequence < (to))
#define tracepoint_can_board(from, to) \
	((int64_t)((to) - (from)-2) >= -128 && (int64_t)((to) - (from)-2) < 128)
#include "tracer/sites/boards.c"

static struct state *const st;
static struct space sp;
static struct load load = { .bias = BIAS,
	.start = BIAS,
	.end = BIAS + 0x20000 };

/* A function in [TEXT + start, TEXT + end). */
static void
func(uint64_t start, uint64_t end)
{
	funcs[nfuncs++] = (struct body_range){ TEXT + start, TEXT + end };
}

static void
setup(void)
{
	func(0, 0x103);
	func(0x110, 0x140);
	func(0x14c, 0x190);
	func(0x194, 0x400);
}

/* Where the board is for a short jump at TEXT + at; 0: there is none. */
static uint64_t
board(uint64_t at)
{
	struct body own = { 0 };
	struct body_range f;

	ck_assert_ptr_null(double_function(TEXT + at, &f));
	*vec_push(&own.ranges) =
	    (struct body_range){ BIAS + f.start, BIAS + f.end };
	uint64_t found =
	    boards_find(st, &sp, &load, BIAS + TEXT + at, NULL, &own);
	body_fini(&own);
	return found != 0 ? found - BIAS - TEXT : 0;
}

START_TEST(it_is_the_end_of_padding_in_reach)
{
	ck_assert_uint_eq(board(0x110), 0x10b);
	/* Its own function's is known. */
	looked = 0;
	ck_assert_uint_eq(board(0x100), 0x10b);
	ck_assert_uint_eq(looked, 0);
	ck_assert_uint_eq(board(0x120), 0x10b);
	ck_assert_uint_eq(looked, 1);
	/* Too far from one, and from all. */
	ck_assert_uint_eq(board(0x18a), 0x147);
	ck_assert_uint_eq(board(0x8c), 0x10b);
	ck_assert_uint_eq(board(0x1f0), 0);
	ck_assert_uint_eq(board(0x20), 0);
}
END_TEST

START_TEST(nothing_else_comes_there)
{
	led_to = TEXT + 0x103;
	ck_assert_uint_eq(board(0x110), 0x147);
	led_to = TEXT + 0x10f;
	ck_assert_uint_eq(board(0x110), 0x147);
	/* That is the function behind it. */
	led_to = TEXT + 0x110;
	ck_assert_uint_eq(board(0x110), 0x10b);
	falls_through = TEXT + 0x103;
	ck_assert_uint_eq(board(0x110), 0x147);
	sequence = TEXT + 0x149;
	ck_assert_uint_eq(board(0x110), 0);
}
END_TEST

START_TEST(it_has_one_user)
{
	taken[0] = TEXT + 0x10b;
	/* The first four bytes may be in the window of a return. */
	ck_assert_uint_eq(board(0x110), 0x147);
	taken[1] = TEXT + 0x147;
	ck_assert_uint_eq(board(0x110), 0x106);
	taken[2] = TEXT + 0x106;
	ck_assert_uint_eq(board(0x110), 0x142);
	taken[3] = TEXT + 0x142;
	ck_assert_uint_eq(board(0x110), 0);
}
END_TEST

START_TEST(it_is_in_the_same_page)
{
	nfuncs = 0;
	func(0xf80, 0xff5);
	func(0x1010, 0x1100);
	ck_assert_uint_eq(board(0xff0), 0xffb);
	ck_assert_uint_eq(board(0x1010), 0x100b);
	/* Its end is not seen. */
	nfuncs = 1;
	ck_assert_uint_eq(board(0xff0), 0);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = { it_is_the_end_of_padding_in_reach,
		nothing_else_comes_there, it_has_one_user,
		it_is_in_the_same_page };

	return suite_run("boards", setup, NULL, tests, ARRAY_SIZE(tests));
}
