/*
 * tracer/sites/windows.c: a window that was found in one process is that of another
 * one with the same object, at its own addresses; not where its text is other.
 */
#include <check.h>
#include <string.h>

#include "symbols/addrspace.h"
#include "t/unit/suite.h"
#include "tracer/base/state.h"
#include "tracer/ptrace/proc.h"
#include "tracer/sites/windows.h"

#define FIRST  UINT64_C(0x400000)
#define SECOND UINT64_C(0x700000)

static int held;

/* push rbp; mov rbp, rsp; sub rsp, 16; pop rbp; ret */
static const uint8_t text[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10,
	0x5d, 0xc3 };
static uint8_t memory[sizeof(text)];
static int read_error, file_error;

static int
double_read(uint64_t addr, void *buf, size_t len)
{
	ck_assert_uint_le(addr + len, sizeof(text));
	memcpy(buf, text + addr, len);
	return file_error;
}

#define object_get(o)                  (held++, (o))
#define object_put(o)                  (held--)
#define object_read(o, addr, buf, len) double_read(addr, buf, len)
#include "tracer/names/kept.c"
#include "tracer/sites/windows.c"

static int
read_memory(void *ctx, uint64_t addr, void *buf, size_t len)
{
	ck_assert_uint_le((addr & 0xfff) + len, sizeof(memory));
	memcpy(buf, memory + (addr & 0xfff), len);
	return read_error;
}

static struct state st;
static struct space sp = { .text = { read_memory, NULL } };
static struct load one = { .bias = FIRST }, two = { .bias = SECOND };

static void
setup(void)
{
	static char files[2];

	one.object = two.object = (struct object *)(void *)&files[0];
	memcpy(memory, text, sizeof(memory));
}

static void
teardown(void)
{
	parts_end(&st.parts);
	st.parts = (struct parts){ 0 };
	ck_assert_int_eq(held, 0);
}

/* The window of the instructions in [from, to), of which the site has this number. */
static struct window
window(const struct load *l, uint64_t from, uint64_t to, unsigned site)
{
	struct window w = { .site = site,
		.next = l->bias + to,
		.ends = memory[to - 1] == 0xc3 };

	for (uint64_t at = from; at < to; at += w.insn[w.n++].len)
		ck_assert_int_eq(insn_decode(memory + at, to - at, l->bias + at,
				     &w.insn[w.n]),
		    0);
	return w;
}

static void
is_same(const struct window *a, const struct window *b)
{
	ck_assert_uint_eq(a->n, b->n);
	ck_assert_uint_eq(a->site, b->site);
	ck_assert_uint_eq(a->next, b->next);
	ck_assert(a->ends == b->ends);
	for (unsigned i = 0; i < a->n; i++) {
		ck_assert_uint_eq(a->insn[i].addr, b->insn[i].addr);
		ck_assert_uint_eq(a->insn[i].len, b->insn[i].len);
		ck_assert_mem_eq(
		    a->insn[i].bytes, b->insn[i].bytes, a->insn[i].len);
	}
}

START_TEST(what_was_found_is_known_elsewhere)
{
	struct window entry = window(&one, 0, 8, 0);
	struct window ret = window(&one, 4, 10, 2), w;
	const char *why = "";

	ck_assert(!windows_known(&st, &sp, &one, FIRST, &w, &why));
	windows_keep(&st, &one, FIRST, &entry, NULL);
	windows_keep(&st, &one, FIRST + 9, &ret, NULL);
	ck_assert(windows_known(&st, &sp, &one, FIRST, &w, &why));
	ck_assert_ptr_null(why);
	is_same(&w, &entry);
	ck_assert(windows_known(&st, &sp, &two, SECOND + 9, &w, &why));
	ret = window(&two, 4, 10, 2);
	is_same(&w, &ret);
	ck_assert_uint_eq(held, 1);
}
END_TEST

START_TEST(that_there_is_none_is_known_too)
{
	struct window w;
	const char *why = NULL;

	windows_keep(&st, &one, FIRST + 8, NULL, "no room");
	ck_assert(windows_known(&st, &sp, &two, SECOND + 8, &w, &why));
	ck_assert_str_eq(why, "no room");
	ck_assert(!windows_known(&st, &sp, &two, SECOND + 9, &w, &why));
}
END_TEST

START_TEST(a_board_is_kept_and_has_no_other_place)
{
	struct window ret = window(&one, 8, 10, 1), w;
	const char *why = "";

	ret.board = FIRST + 2;
	ck_assert(windows_board_free(&st, &sp, &one, FIRST + 2));
	windows_keep(&st, &one, FIRST + 9, &ret, NULL);
	ck_assert(windows_known(&st, &sp, &two, SECOND + 9, &w, &why));
	ck_assert_uint_eq(w.board, SECOND + 2);
	for (uint64_t at = 0; at < 5; at++)
		ck_assert(!windows_board_free(&st, &sp, &two, SECOND + at));
	/* Its bytes are not the file's. */
	memory[6] = 0x90;
	ck_assert(!windows_known(&st, &sp, &two, SECOND + 9, &w, &why));
	ck_assert(!windows_board_free(&st, &sp, &one, FIRST + 5));
}
END_TEST

START_TEST(another_object_has_its_own)
{
	static char other;
	struct window entry = window(&one, 0, 8, 0), w;
	const char *why;

	windows_keep(&st, &one, FIRST, &entry, NULL);
	two.object = (struct object *)(void *)&other;
	ck_assert(!windows_known(&st, &sp, &two, SECOND, &w, &why));
	ck_assert_int_eq(held, 2);
}
END_TEST

START_TEST(not_where_the_text_is_other)
{
	struct window entry = window(&one, 0, 8, 0), w;
	const char *why;

	windows_keep(&st, &one, FIRST, &entry, NULL);
	memory[0] = 0xcc; /* somebody's breakpoint */
	ck_assert(!windows_known(&st, &sp, &one, FIRST, &w, &why));
	memory[0] = text[0];
	memory[7] = 0x20; /* another frame */
	ck_assert(!windows_known(&st, &sp, &one, FIRST, &w, &why));
	memory[7] = text[7];
	read_error = -5;
	ck_assert(!windows_known(&st, &sp, &one, FIRST, &w, &why));
	read_error = 0;
	file_error = -5;
	ck_assert(!windows_known(&st, &sp, &one, FIRST, &w, &why));
	file_error = 0;
	ck_assert(windows_known(&st, &sp, &one, FIRST, &w, &why));
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = { what_was_found_is_known_elsewhere,
		that_there_is_none_is_known_too, another_object_has_its_own,
		a_board_is_kept_and_has_no_other_place,
		a_board_is_kept_and_has_no_other_place,
		not_where_the_text_is_other };

	return suite_run("windows", setup, teardown, tests,
	    sizeof(tests) / sizeof(tests[0]));
}
