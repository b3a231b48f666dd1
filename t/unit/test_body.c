/*
 * disasm: where a function is left, where control comes to, and where there is room
 * for a jump.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disasm/body.h"
#include "disasm/landings.h"
#include "disasm/window.h"
#include "dlang/base/base.h"

#include "t/unit/body_memory.h"

static void
put_word(uint64_t addr, uint64_t word)
{
	memcpy(memory + addr, &word, 8);
}

static void
put_distance(uint64_t table, unsigned n, uint64_t to)
{
	int32_t d = (int32_t)(to - table);

	memcpy(memory + table + 4 * n, &d, 4);
}

static void
setup(void)
{
	memset(memory, 0xcc, sizeof(memory));
}

/* ---- bodies ---- */

struct known {
	struct body_range pieces[3];
	uint64_t pad; /* of the range that begins at 0x1000 */
	struct body_range other;
	enum body_frame frame;
	bool knows;     /* which addresses are held somewhere: */
	uint64_t named; /* this one */
};

static bool
is_named(void *ctx, const struct body_range *r)
{
	const struct known *k = ctx;

	return k->named > r->start && k->named < r->end;
}

static bool
is_piece(void *ctx, const struct body *b, uint64_t addr, struct body_range *out)
{
	const struct known *k = ctx;

	for (size_t i = 0; i < ARRAY_SIZE(k->pieces); i++) {
		*out = k->pieces[i];
		if (addr >= out->start && addr < out->end)
			return true;
	}
	return false;
}

static void
pads(void *ctx, const struct body_range *r,
    void (*each)(void *arg, uint64_t pad), void *arg)
{
	const struct known *k = ctx;

	if (k->pad != 0 && r->start == 0x1000)
		each(arg, k->pad);
}

static void
others(void *ctx, const struct body *b,
    void (*each)(void *arg, const struct body_range *r), void *arg)
{
	const struct known *k = ctx;

	each(arg, &b->ranges.at[0]);
	each(arg, &k->other);
}

static enum body_frame
frame(void *ctx, uint64_t addr)
{
	return ((const struct known *)ctx)->frame;
}

/* As text: exits with ! always, ? if taken, * if outside; loops with @; doors
 * with #. */
static const char *
body(uint64_t end, struct known *k)
{
	static const char marks[] = {
		[BODY_ALWAYS] = '!', [BODY_TAKEN] = '?', [BODY_OUTSIDE] = '*'
	};
	static char text[200];
	struct body b;
	size_t n = 0;

	ck_assert_int_eq(body_find(&b, 0x1000, end,
			     &(struct body_world){ .ctx = k,
				 .mem = { read_memory, NULL },
				 .piece = is_piece,
				 .pads = pads,
				 .others = others,
				 .named = k->knows ? is_named : NULL,
				 .frame = frame }),
	    0);
	text[0] = '\0';
	vec_foreach(x, &b.exits)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%lx%c ",
		    x->addr, marks[x->when]);
	vec_foreach(at, &b.loops)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%lx@ ", *at);
	vec_foreach(at, &b.doors)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%lx# ", *at);
	body_fini(&b);
	return text;
}

/* The window at addr of the function at 0x1000: how many instructions, where it
 * begins if not at addr, where it goes on; or why there is none. */
static unsigned room = 5;

static const char *
window(uint64_t end, uint64_t limit, uint64_t addr, struct known *k)
{
	static char text[100];
	const char *why = "";
	struct window w;
	struct body b;

	struct reader mem = { read_memory, NULL };
	ck_assert_int_eq(body_find(&b, 0x1000, end,
			     &(struct body_world){ .ctx = k,
				 .mem = mem,
				 .piece = is_piece,
				 .pads = pads,
				 .others = others,
				 .named = is_named,
				 .frame = frame }),
	    0);
	if (window_find(&w, &b, &mem, limit, addr, room, &why) != 0)
		snprintf(text, sizeof(text), "%s", why);
	else if (w.site == 0)
		snprintf(text, sizeof(text), "%u to %lx%s", w.n, w.next,
		    w.ends ? " end" : "");
	else
		snprintf(text, sizeof(text), "%u from %lx to %lx%s", w.n,
		    w.insn[0].addr, w.next, w.ends ? " end" : "");
	if (why[0] == '\0')
		ck_assert_uint_eq(w.insn[w.site].addr, addr);
	body_fini(&b);
	return text;
}

/* An indirect jump to what is whole in memory, or to what was computed. */
START_TEST(jumps_to_words_of_memory)
{
#define OPEN "the function has a jump whose target is not known"
	static const struct {
		const char *code, *exit, *window;
	} rows[] = {
		{ "ff a0 60 03 00 00", "1000!", "1 to 1006 end" },
		{ "ff 24 c5 00 00 00 01", "1000!", "1 to 1007 end" },
		{ "48 8b 47 08 ff e0", "1004!", "2 to 1006 end" },
		{ "48 8b 47 08 48 89 c2 ff e2", "1007!", "2 to 1007" },
		{ "48 8b 47 08 85 c0 74 02 ff e0", "1008!", "2 to 1006" },
		/* Computed, or of unknown origin. */
		{ "48 8b 47 08 48 01 c8 ff e0", "1007*", OPEN },
		{ "48 8d 04 0a ff e0", "1004*", OPEN },
		{ "8b 47 08 90 ff e0", "1004*", OPEN },
		{ "48 8b 47 08 e8 00 10 00 00 ff e0", "1009*", OPEN },
		{ "90 90 90 90 ff e0", "1004*", OPEN },
		/* Of the frame, where something computed may be. */
		{ "48 8b 44 24 08 ff e0", "1005*", OPEN },
		{ "48 89 e5 48 8b 45 08 ff e0", "1007*", OPEN },
		{ "48 89 e5 ff 65 f8", "1003*", OPEN },
		/* Something leads behind the load. */
		{ "74 04 48 8b 47 08 ff e0", "1006*", OPEN },
		{ "48 8b 47 08 ff e0 74 fc", "1004*", OPEN },
		{ "48 8b 47 08 ff e0 74 f8", "1004!", "2 to 1006 end" },
	};
	struct known k = { .frame = BODY_FRAME_BARE, .knows = true };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		setup();
		uint64_t end = put(0x1000, rows[i].code);
		const char *b = body(end, &k);
		ck_assert_msg(
		    strstr(b, rows[i].exit) != NULL, "%s: %s", rows[i].code, b);
		const char *w = window(end, end, 0x1000, &k);
		ck_assert_msg(
		    strcmp(w, rows[i].window) == 0, "%s: %s", rows[i].code, w);
	}
	/* Where addresses inside are held, or that is not known. */
	uint64_t end = put(0x1000, "48 8b 47 08 ff e0");
	k.named = 0x1001;
	ck_assert_str_eq(body(end, &k), "1004* ");
	k.named = 0x1000;
	ck_assert_str_eq(body(end, &k), "1004! ");
	k.knows = false;
	ck_assert_str_eq(body(end, &k), "1004* ");
}
END_TEST

START_TEST(windows_are_whole_instructions)
{
	struct known k = { 0 };
	/* push rbp; mov rbp, rsp; sub rsp, 16; ret; nop word; what is next */
	uint64_t end = put(0x1000, "55 48 89 e5 48 83 ec 10 c3");

	put(end, "66 0f 1f 44 00 00 55");
	ck_assert_str_eq(window(end, end, 0x1000, &k), "3 to 1008");
	ck_assert_str_eq(window(end, end, 0x1004, &k), "2 to 1009 end");
	/* Behind a return there may be padding, or what is somebody's. */
	ck_assert_str_eq(window(end, end + 6, 0x1008, &k), "1 to 1009 end");
	ck_assert_str_eq(
	    window(end, end + 5, 0x1008, &k), "2 from 1004 to 1009 end");
	ck_assert_str_eq(
	    window(end, end, 0x1008, &k), "2 from 1004 to 1009 end");
	put(end, "f3 0f 1e fa");
	ck_assert_str_eq(
	    window(end, end + 4, 0x1008, &k), "2 from 1004 to 1009 end");
	put(end, "cc cc cc cc");
	ck_assert_str_eq(window(end, end + 4, 0x1008, &k), "1 to 1009 end");
	ck_assert_str_eq(window(0x1003 + 1, 0x1004, 0x1000, &k),
	    "the function is too short");
}
END_TEST

/* Of the return, which is the last instruction. */
START_TEST(windows_may_begin_before_the_site)
{
	static const struct {
		const char *code, *is;
	} rows[] = {
		{ "90 5b 5d 41 5c c3", "4 from 1001 to 1006 end" },
		{ "90 90 90 90 5b c3", "5 from 1001 to 1006 end" },
		{ "48 81 c4 10 01 00 00 c3", "2 from 1000 to 1008 end" },
		{ "48 81 c4 10 01 00 00 5b 5d c3", "4 from 1000 to 100a end" },
		{ "8b 44 24 08 c2 08 00", "2 from 1000 to 1007 end" },
		{ "48 8b 05 00 10 00 00 c3", "2 from 1000 to 1008 end" },
		/* The function begins behind where the window would. */
		{ "31 c0 c3", "too few bytes after the function" },
		{ "5b 5d 5f c3", "too few bytes after the function" },
		/* Control comes from elsewhere. */
		{ "eb 02 31 c0 5b 5d c3", "too few bytes after the function" },
		{ "74 04 90 5b 5d 5f c3", "too few bytes after the function" },
		{ "74 05 90 5b 5d 5f c3", "5 from 1002 to 1007 end" },
		{ "74 00 90 5b 5d 5f c3", "5 from 1002 to 1007 end" },
		{ "5b 5d 5f 75 fd c3", "too few bytes after the function" },
		{ "5b 5d 5f 75 fc c3", "4 from 1001 to 1006 end" },
		{ "55 f3 0f 1e fa c3", "2 from 1001 to 1006 end" },
		{ "f3 0f 1e fa c3", "2 from 1000 to 1005 end" },
		{ "c3 90 90 90 c3", "too few bytes after the function" },
		{ "90 90 eb 00 c3", "too few bytes after the function" },
		/* What would leave its own address behind. */
		{ "e8 00 10 00 00 5b c3", "too few bytes after the function" },
		{ "e8 00 10 00 00 83 c0 01 5b c3", "3 from 1005 to 100a end" },
		{ "0f 05 5b 5d 5f c3", "too few bytes after the function" },
		/* A jump that may not be taken may be there. */
		{ "74 fe 74 fc c3", "3 from 1000 to 1005 end" },
	};
	struct known k = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		setup();
		uint64_t end = put(0x1000, rows[i].code);
		uint64_t ret = memory[end - 1] == 0xc3 ? end - 1 : end - 3;
		ck_assert_msg(
		    strcmp(window(end, end, ret, &k), rows[i].is) == 0,
		    "%s: %s", rows[i].code, window(end, end, ret, &k));
	}
	/* A landing pad. */
	setup();
	uint64_t end = put(0x1000, "90 5b 5d 41 5c c3");
	k.pad = 0x1002;
	ck_assert_str_eq(
	    window(end, end, end - 1, &k), "too few bytes after the function");
	k.pad = 0x1001;
	ck_assert_str_eq(
	    window(end, end, end - 1, &k), "4 from 1001 to 1006 end");
	/* Any other instruction. */
	end = put(0x1000, "55 48 89 e5 41 54 0f 05 c3");
	k.pad = 0x1004;
	ck_assert_str_eq(
	    window(end, end, 0x1004, &k), "an instruction cannot be moved");
	k.pad = 0;
	ck_assert_str_eq(window(end, end, 0x1004, &k), "2 from 1001 to 1006");
	ck_assert_str_eq(window(end, end, 0x1001, &k), "2 to 1006");
}
END_TEST

START_TEST(a_short_jump_needs_two_bytes)
{
	struct known k = { 0 };

	setup();
	room = 2;
	/* A jump to the second instruction. */
	uint64_t end = put(0x1000, "48 89 f8 48 ff c0 75 fb c3");
	ck_assert_str_eq(window(end, end, 0x1000, &k), "1 to 1003");
	room = 5;
	ck_assert_str_eq(window(end, end, 0x1000, &k),
	    "a jump leads into the bytes to be replaced");
	/* A return behind another instruction, and one before a nop. */
	room = 2;
	setup();
	end = put(0x1000, "75 03 31 c0 c3 ff c0 eb f9");
	ck_assert_str_eq(
	    window(end, end, 0x1004, &k), "2 from 1002 to 1005 end");
	setup();
	end = put(0x1000, "75 02 c3 90 ff c0 eb fa");
	ck_assert_str_eq(window(end, end, 0x1002, &k), "1 to 1003 end");
	room = 5;
}
END_TEST

/* Is there dead padding in [from, to) behind the body at [0x1000, end)? */
static bool
is_dead(uint64_t end, uint64_t from, uint64_t to)
{
	struct known k = { 0 };
	struct reader mem = { read_memory, NULL };
	struct body b;

	ck_assert_int_eq(body_find(&b, 0x1000, end,
			     &(struct body_world){ .ctx = &k,
				 .mem = mem,
				 .piece = is_piece,
				 .pads = pads,
				 .others = others,
				 .named = is_named,
				 .frame = frame }),
	    0);
	bool dead = window_is_dead(&b, &mem, from, to);
	body_fini(&b);
	return dead;
}

START_TEST(padding_is_dead_behind_what_does_not_go_on)
{
	static const struct {
		const char *code, *padding;
		bool dead;
	} rows[] = {
		{ "31 c0 c3", "0f 1f 44 00 00", true },
		{ "31 c0 c3", "cc cc cc cc cc", true },
		{ "31 c0 c3", "90 0f 1f 44 00 00 cc", true },
		{ "31 c0 e9 00 10 00 00", "66 90 0f 1f 00", true },
		/* Falls through, as __memmove_chk() does. */
		{ "31 c0 0f 82 00 10 00 00", "0f 1f 44 00 00", false },
		{ "31 c0 e8 00 10 00 00", "0f 1f 44 00 00", false },
		{ "31 c0", "0f 1f 44 00 00", false },
		/* A jump to it, and one that is not known. */
		{ "75 02 31 c0", "0f 1f 44 00 00", false },
		{ "75 01 c3 75 01 c3", "90 0f 1f 44 00 00", false },
		{ "ff e0", "0f 1f 44 00 00", false },
		/* Other instructions, and a part of one. */
		{ "31 c0 c3", "0f 1f 44 00 00 31 c0", false },
		{ "31 c0 c3", "0f 1f 84 00 00", false },
		/* Room for those who replace functions. */
		{ "31 c0 c3", "90 90 90 90 90", false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		setup();
		uint64_t end = put(0x1000, rows[i].code);
		uint64_t to = put(end, rows[i].padding);
		ck_assert_msg(is_dead(end, end, to) == rows[i].dead, "%s %s",
		    rows[i].code, rows[i].padding);
	}
}
END_TEST

START_TEST(instructions_begin_where_the_code_was_read)
{
	struct known k = { .pieces = { { 0x1080, 0x1083 } } };
	struct body b;

	put(0x1000, "74 7e 48 89 e5 c3");
	put(0x1080, "66 90 c3");
	ck_assert_int_eq(body_find(&b, 0x1000, 0x1006,
			     &(struct body_world){ .ctx = &k,
				 .mem = { read_memory, NULL },
				 .piece = is_piece,
				 .pads = pads }),
	    0);
	for (uint64_t at = 0xff0; at < 0x10a0; at++)
		ck_assert_int_eq(body_begins(&b, at),
		    at == 0x1000 || at == 0x1002 || at == 0x1005 ||
			at == 0x1080 || at == 0x1082);
	body_fini(&b);
}
END_TEST

START_TEST(nobody_comes_into_a_window)
{
	struct known k = { 0 };
	/* xor eax, eax; inc eax; nop; cmp eax, 9; jne 1002; ret */
	uint64_t end = put(0x1000, "31 c0 ff c0 90 83 f8 09 75 f8 c3");

	ck_assert_str_eq(window(end, end, 0x1000, &k),
	    "a jump leads into the bytes to be replaced");
	/* To its begin they may: */
	ck_assert_str_eq(window(end, end, 0x1002, &k), "3 to 1008");
	/* A landing pad. */
	put(0x1008, "90 90");
	ck_assert_str_eq(window(end, end, 0x1000, &k), "3 to 1005");
	k.pad = 0x1004;
	ck_assert_str_eq(window(end, end, 0x1000, &k),
	    "a jump leads into the bytes to be replaced");
}
END_TEST

/* Where the register of an indirect jump has its value from; the function begins
 * with nops, at which the window is. */
START_TEST(an_indirect_jump_goes_by_a_pointer)
{
	static const struct {
		const char *code;
		bool is;
	} rows[] = {
		/* jmp [rdi + 8]; mov rax, [rdi + 8]; jmp rax */
		{ "ff 67 08", true },
		{ "48 8b 47 08 ff e0", true },
		{ "48 8b 04 fd 00 20 00 00 ff e0", true },
		/* Some of it is restored between, or the value moved. */
		{ "48 8b 47 08 48 83 c4 08 5b 5d 48 89 df ff e0", true },
		{ "48 8b 5f 08 48 89 d8 5b ff e0", true },
		{ "4c 8b 47 08 41 ff e0", true },
		/* By rbp, which is no frame pointer here. */
		{ "48 8b 45 08 ff e0", true },
		{ "48 89 fd ff 65 08", true },
		/* lea rax, [rip + 16]: the address has a name. */
		{ "48 8d 05 10 00 00 00 ff e0", true },
		/* It is compared, and the jump is made elsewhere. */
		{ "48 8b 47 08 48 3d 00 20 00 00 75 01 c3 ff e0", true },
		/* From two places, both of which load it. */
		{ "74 06 48 8b 47 08 eb 04 48 8b 47 10 ff e0", true },
		/* In a loop: what comes before it counts. */
		{ "48 8b 07 48 85 ff 75 fb ff e0", true },
		/* Something else brings it, on one way at least. */
		{ "ff e0", false },
		{ "48 8b 47 08 48 01 d0 ff e0", false },
		{ "8b 47 08 ff e0", false },
		{ "48 01 d0 74 04 48 8b 47 08 ff e0", false },
		{ "74 06 48 8b 47 08 eb 03 48 01 d0 ff e0", false },
		{ "48 8b 07 48 83 c0 08 75 fa ff e0", false },
		{ "48 8b 07 e8 f0 00 00 00 ff e0", false },
		{ "48 89 f8 ff e0", false },
		{ "58 ff e0", false },
		/* The stack, and memory of the thread, have what was computed. */
		{ "48 8b 44 24 08 ff e0", false },
		{ "ff 64 24 08", false },
		{ "48 89 e5 48 8b 45 08 ff e0", false },
		{ "48 89 e5 ff 65 08", false },
		{ "48 8d 6c 24 10 ff 65 08", false },
		{ "c8 00 00 00 ff 65 08", false },
		{ "64 48 8b 07 ff e0", false },
		{ "67 48 8b 07 ff e0", false },
		/* Nothing that is seen leads there. */
		{ "48 8b 07 c3 ff e0", false },
		{ "48 8b 07 c3 90 90 ff e0", false },
		{ "48 8b 07 eb 02 58 58 ff e0", false },
		/* Nops behind an end are padding, unless a jump leads there. */
		{ "48 8b 07 eb 02 90 90 ff e0", true },
		{ "48 8b 07 75 05 c3 0f 1f 40 00 ff e0", true },
		{ "48 8b 07 75 05 58 0f 1f 40 00 ff e0", false },
		{ "48 01 d0 74 05 48 8b 07 eb 04 c3 90 90 90 ff e0", true },
		{ "48 01 d0 74 07 48 8b 07 eb 04 c3 90 90 90 ff e0", false },
		{ "48 8b 07 eb 00 ff e0", true },
		{ "48 8b 07 e2 00 ff e0", false },
		/* By an argument, when the frame has been taken down: push rbx;
		 * mov rbx, rdi; pop rbx. */
		{ "53 48 89 fb 5b ff e7", true },
		{ "53 48 89 fb 48 89 d8 5b ff e0", true },
		/* mov rax, [rdi + 8]; mov rbx, [rbp - 8]; leave */
		{ "48 8b 47 08 48 8b 5d f8 c9 ff e0", true },
		{ "48 8b 6f 08 c9 ff e5", false },
		{ "53 48 89 fb 5b e8 f0 00 00 00 ff e7", false },
		{ "53 48 89 fb e8 f0 00 00 00 48 89 d8 5b ff e0", true },
		{ "53 48 89 fb 5b ff e0", false },
		{ "53 5b 53 ff e7", false },
		{ "ff e7", false },
		/* To the begin of the function its caller comes, too. */
		{ "74 f9 ff e0", false },
	};
	struct known k = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		setup();
		uint64_t code = put(0x1000, "90 90 90 90 90");
		uint64_t end = put(code, rows[i].code);
		ck_assert_msg(
		    strcmp(window(end, end, 0x1000, &k),
			rows[i].is ? "5 to 1005" :
				     "the function has a jump whose target is "
				     "not known") == 0,
		    "%s: %s", rows[i].code, window(end, end, 0x1000, &k));
	}
	/* The unwinder comes with other registers. */
	setup();
	uint64_t end = put(0x1000, "90 90 90 90 90 48 8b 07 90 ff e0");
	ck_assert_str_eq(window(end, end, 0x1000, &k), "5 to 1005");
	k.pad = 0x1008;
	ck_assert_str_eq(window(end, end, 0x1000, &k),
	    "the function has a jump whose target is not known");
	/* So may another indirect jump, if something has the address. */
	k.pad = 0;
	k.named = 0x1008;
	ck_assert_str_eq(window(end, end, 0x1000, &k),
	    "the function has a jump whose target is not known");
	k.named = 0;
	/* So does a table: jmp [rdi * 8 + 0x2000], to the nop. */
	k.pad = 0;
	setup();
	end = put(0x1000,
	    "90 90 90 90 90 74 07 ff 24 fd 00 20 00 00 48 8b 07 90 ff e0");
	ck_assert_str_eq(window(end, end, 0x1000, &k), "5 to 1005");
	put_word(0x2000, 0x1011);
	ck_assert_str_eq(window(end, end, 0x1000, &k),
	    "the function has a jump whose target is not known");
	/* There is an end to looking. */
	setup();
	end = put(0x1000, "90 90 90 90 90 48 8b 07");
	for (unsigned n = 0; n < 398; n++)
		end = put(end, "90");
	uint64_t jump = end;
	end = put(end, "ff e0");
	ck_assert_str_eq(window(end, end, 0x1000, &k), "5 to 1005");
	end = put(jump, "90 90 90 ff e0");
	ck_assert_str_eq(window(end, end, 0x1000, &k),
	    "the function has a jump whose target is not known");
}
END_TEST

/* ---- what is led to ---- */

/* The addresses in [1000, 1100) to which the code leads, as text. */
static const char *
landings(const char *code, bool known, bool low)
{
	static char text[200];
	struct landings l;
	size_t n = 0, size = (size_t)(put(0x1000, code) - 0x1000);

	landings_init(&l, 0x1000, 0x1100);
	landings_add_code(&l, memory + 0x1000, size, 0x1000, known, low);
	text[0] = '\0';
	for (uint64_t at = 0x1000; at < 0x1100; at++)
		if (landings_between(&l, at - 1, at + 1))
			n += (size_t)snprintf(
			    text + n, sizeof(text) - n, "%lx ", at);
	landings_fini(&l);
	return text;
}

START_TEST(landings_are_where_instructions_lead)
{
	static const struct {
		const char *code, *to;
	} rows[] = {
		{ "eb 10", "1012 " },
		{ "e9 10 00 00 00", "1015 " },
		{ "74 20 75 21", "1022 1025 " },
		{ "0f 84 20 00 00 00", "1026 " },
		{ "e2 fe e3 7e", "1000 1082 " },
		{ "e8 fa 00 00 00 e8 f6 00 00 00", "10ff " },
		{ "c7 f8 10 00 00 00", "1016 " },
		{ "48 8d 05 10 00 00 00", "1017 " },
		/* None of these leads anywhere. */
		{ "ff e0 ff 25 10 00 00 00 c3 90 48 8b 05 10 00 00 00", "" },
		/* Each byte is what it is decoded as. */
		{ "b8 eb 10 eb 10", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		ck_assert_str_eq(
		    landings(rows[i].code, true, false), rows[i].to);
	/* Constants are addresses in programs at a fixed address. */
	ck_assert_str_eq(landings("bf 40 10 00 00", true, false), "");
	ck_assert_str_eq(landings("bf 40 10 00 00", true, true), "1040 ");
}
END_TEST

START_TEST(landings_of_code_whose_begin_is_not_known)
{
	/* mov eax, 10eb10eb, or jumps in it */
	ck_assert_str_eq(
	    landings("b8 eb 10 eb 10", false, false), "1013 1015 ");
	/* What is behind bytes that are no instruction. */
	ck_assert_str_eq(
	    landings("06 b8 eb 10 eb 10", true, false), "1014 1016 ");
	/* The last instruction is cut off. */
	ck_assert_str_eq(landings("90 e9 10 00", true, false), "");
}
END_TEST

START_TEST(landings_are_asked_for_by_range)
{
	struct landings l;

	landings_init(&l, 0x1000, 0x1010);
	landings_add(&l, 0x1000, false);
	landings_add(&l, 0x100f, true);
	landings_add(&l, 0xfff, false);
	landings_add(&l, 0x1010, false);
	ck_assert(!landings_between(&l, 0, 0x1000));
	ck_assert(landings_between(&l, 0xfff, 0x1001));
	ck_assert(!landings_between(&l, 0x1000, 0x100f));
	ck_assert(landings_between(&l, 0x1000, 0x1010));
	ck_assert(!landings_between(&l, 0x100f, 0x2000));
	ck_assert(!landings_named(&l, 0xfff, 0x100f));
	ck_assert(landings_named(&l, 0xfff, 0x1010));
	landings_fini(&l);
}
END_TEST

START_TEST(what_cannot_be_in_a_window)
{
	static const struct {
		const char *code, *is;
	} rows[] = {
		/* A call ends it. */
		{ "55 e8 00 00 00 00 c3", "2 to 1006" },
		{ "e8 00 10 00 00 90 c3", "1 to 1005" },
		{ "50 5a 55 e8 00 10 00 00 90 c3", "4 to 1008" },
		{ "55 ff d0 90 90 90 c3", "an instruction cannot be moved" },
		{ "55 0f 05 90 90 90 c3", "an instruction cannot be moved" },
		{ "55 e2 fe 90 90 90 c3", "an instruction cannot be moved" },
		{ "55 90 90 90 90 ff e0",
		    "the function has a jump whose target is not known" },
		/* Through a word that has an address: to another function. */
		{ "55 90 90 90 90 ff 25 00 10 00 00", "5 to 1005" },
		{ "55 90 74 02 90 90 90 c3", "4 to 1005" },
		/* Where an indirect jump may lead. */
		{ "55 f3 0f 1e fa c3",
		    "a jump leads into the bytes to be replaced" },
		{ "f3 0f 1e fa 55 c3", "2 to 1005" },
		{ "48 8b 05 00 10 00 00 c3", "1 to 1007" },
		{ "55 e9 f9 0f 00 00", "2 to 1006 end" },
	};
	struct known k = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		setup();
		uint64_t end = put(0x1000, rows[i].code);
		ck_assert_str_eq(window(end, end, 0x1000, &k), rows[i].is);
	}
}
END_TEST

START_TEST(tables_lead_where_they_say)
{
	struct known k = { 0 };
	/* lea rdx, [2000]; movslq rax, [rdx + 4 * rdi]; add rax, rdx; jmp rax;
	 * push rbp; push rbx; push r12; push r13; ret */
	uint64_t end = put(0x1000,
	    "48 8d 15 f9 0f 00 00 48 63 04 ba 48 01 d0 ff e0 "
	    "55 53 41 54 41 55 c3");

	put_distance(0x2000, 0, 0x1010);
	put_distance(0x2000, 1, 0x1016);
	put_distance(0x2000, 2, 0x100);
	ck_assert_str_eq(window(end, end, 0x1010, &k), "4 to 1016");
	ck_assert_str_eq(window(end, end, 0x1000, &k), "1 to 1007");
	put_distance(0x2000, 1, 0x1012);
	ck_assert_str_eq(window(end, end, 0x1010, &k),
	    "a jump leads into the bytes to be replaced");
}
END_TEST

/* As the C library's printf() has them: lea rdx, [2000]; lea rcx, [1010]; cltq;
 * movslq rax, [rdx + 4 * rax]; add rax, rcx; jmp rax; ... */
START_TEST(distances_are_from_a_label)
{
	struct known k = { 0 };
	uint64_t end = put(0x1000,
	    "48 8d 15 f9 0f 00 00 48 8d 0d 10 00 00 00 48 98 48 63 04 82 "
	    "48 01 c8 ff e0 90 90 90 90 90 55 53 41 54 41 55 c3");
	const int32_t to[] = { 0x101e - 0x101e, 0x1020 - 0x101e, 0x100 };

	memcpy(memory + 0x2000, to, sizeof(to));
	ck_assert_str_eq(window(end, end, 0x101e, &k),
	    "a jump leads into the bytes to be replaced");
	memory[0x2004] = 6;
	ck_assert_str_eq(window(end, end, 0x101e, &k), "4 to 1024");
	/* From another address: they lead out of the function. */
	put(0x100b, "10");
	ck_assert_str_eq(window(end, end, 0x101e, &k),
	    "the function has a jump whose target is not known");
}
END_TEST

/* lea rbx, [2000]; call; then a loop: movslq rax, [rbx + 4 * rdi]; add rax, rbx;
 * jmp rax; two cases, which jump back to the loop, and a return. */
START_TEST(a_table_is_named_before_a_loop)
{
	static const char code[] =
	    "48 8d 1d f9 0f 00 00 e8 f4 00 00 00 48 63 04 bb 48 01 d8 ff e0 "
	    "ff c7 90 90 eb f1 ff cf 90 90 eb eb c3";
	struct known k = { 0 };
	uint64_t end = put(0x1000, code);

	put_distance(0x2000, 0, 0x1015);
	put_distance(0x2000, 1, 0x101b);
	put_distance(0x2000, 2, 0x1021);
	put_distance(0x2000, 3, 0x100);
	ck_assert_str_eq(window(end, end, 0x1015, &k), "4 to 101b end");
	ck_assert_str_eq(window(end, end, 0x100c, &k), "2 to 1013");
	/* A case changes rbx, and so may what is called rax. */
	put(0x1015, "48 ff c3 90");
	ck_assert_str_eq(window(end, end, 0x100c, &k),
	    "the function has a jump whose target is not known");
	put(0x1000, "48 8d 05 f9 0f 00 00 e8 f4 00 00 00 48 63 04 b8 48 01 c0");
	ck_assert_str_eq(window(end, end, 0x100c, &k),
	    "the function has a jump whose target is not known");
	/* Another case has another table, or the unwinder comes. */
	put(0x1000, code);
	k.pad = 0x101b;
	ck_assert_str_eq(window(end, end, 0x100c, &k),
	    "the function has a jump whose target is not known");
}
END_TEST

START_TEST(pieces_belong_to_a_function)
{
	/* js 2000; ret; jmp 3000, which is nobody's */
	uint64_t end = put(0x1000, "85 ff 0f 88 f8 0f 00 00 c3 e9 f2 1f 00 00");
	struct known k = { .pieces = { { 0x2000, 0x200d } } };

	/* xor eax, eax; jmp 1008; ret; jz 200c; jmp 2006; ret */
	ck_assert_uint_eq(
	    put(0x2000, "31 c0 e9 01 f0 ff ff c3 74 02 eb fa c3"), 0x200d);
	ck_assert_str_eq(body(end, &k), "1008! 2007! 200c! 1009! ");
	/* By itself it is somebody else. */
	k.pieces[0].end = 0;
	ck_assert_str_eq(body(end, &k), "1008! 1002? 1009! ");
}
END_TEST

START_TEST(pieces_that_the_unwinder_enters)
{
	/* call 1800; ret */
	uint64_t end = put(0x1000, "e8 fb 07 00 00 c3");
	struct known k = { .pieces = { { 0x2800, 0x2806 } }, .pad = 0x2803 };

	put(0x2800, "5b c3 90 0f 0b c3");
	ck_assert_str_eq(body(end, &k), "1005! 2801! 2805! ");
}
END_TEST

START_TEST(what_is_called_is_no_piece)
{
	/* call 2000; jmp 2000 */
	uint64_t end = put(0x1000, "e8 fb 0f 00 00 e9 f6 0f 00 00");
	struct known k = { .pieces = { { 0x2000, 0x2001 } } };

	put(0x2000, "c3");
	ck_assert_str_eq(body(end, &k), "1005! ");
}
END_TEST

START_TEST(loops_are_no_calls)
{
	/* sub edi, 1; jne begin; push rbx; pop rbx; jmp begin; ret */
	uint64_t end = put(0x1000, "83 ef 01 75 fb 53 5b eb f7 c3");
	struct known k = { .pad = 0 };

	ck_assert_str_eq(body(end, &k), "1009! 1007! 1003@ ");
	/* add rsp, 8; jne begin: a call where the frame is gone */
	end = put(0x1000, "48 83 c4 08 75 fa c3");
	ck_assert_str_eq(body(end, &k), "1006! 1004? ");
	/* sub rsp, 8 puts one there */
	end = put(0x1000, "48 83 ec 08 75 fa c3");
	ck_assert_str_eq(body(end, &k), "1006! 1004@ ");
}
END_TEST

START_TEST(jumps_through_pointers)
{
	/* jmp [rdi + 8]; jmp rsi; pop rbx; jmp rax */
	uint64_t end = put(0x1000, "ff 67 08 ff e6 5b ff e0");
	struct known k = { .frame = BODY_FRAME_BARE };

	ck_assert_str_eq(body(end, &k), "1000* 1003* 1006* ");
	k.frame = BODY_FRAME_UNKNOWN;
	ck_assert_str_eq(body(end, &k), "1000* 1003* 1006* ");
	/* With more on the stack no call can be made in this place; the last
	 * has just taken it down, whatever the rules say. */
	k.frame = BODY_FRAME_LAID;
	ck_assert_str_eq(body(end, &k), "1006* ");
}
END_TEST

START_TEST(jump_tables)
{
	struct known k = { .frame = BODY_FRAME_BARE };
	/* lea rdx, [4000]; movsxd rax, [rdx + rax * 4]; add rax, rdx; jmp */
	uint64_t end = put(0x1000,
	    "83 ff 07 77 12 48 8d 15 f4 2f 00 00 89 f8 48 63 04 82 "
	    "48 01 d0 ff e0 c3");

	put_distance(0x4000, 0, 0x1017);
	put_distance(0x4000, 1, 0x1000);
	ck_assert_str_eq(body(end, &k), "1017! ");
	/* Into the middle of an instruction, to the begin, elsewhere. */
	put_distance(0x4000, 0, 0x1013);
	ck_assert_str_eq(body(end, &k), "1017! 1015* ");
	put_distance(0x4000, 0, 0x1000);
	ck_assert_str_eq(body(end, &k), "1017! 1015* ");
	put_distance(0x4000, 0, 0x2000);
	ck_assert_str_eq(body(end, &k), "1017! 1015* ");
	/* Another register is added. */
	put_distance(0x4000, 0, 0x1017);
	put(0x1012, "48 01 c8");
	ck_assert_str_eq(body(end, &k), "1017! 1015* ");

	/* jmp [rdi * 8 + 4000] */
	end = put(0x1000, "89 ff ff 24 fd 00 40 00 00 c3");
	put_word(0x4000, 0x1009);
	ck_assert_str_eq(body(end, &k), "1009! ");
	put_word(0x4000, 0x1009 + 1);
	ck_assert_str_eq(body(end, &k), "1009! 1002* ");

	/* mov rax, [rdi * 8 + 4000]; jmp rax */
	end = put(0x1000, "48 8b 04 fd 00 40 00 00 ff e0 c3");
	put_word(0x4000, 0x100a);
	ck_assert_str_eq(body(end, &k), "100a! ");
	/* rax is something else by then. */
	end = put(0x1000, "48 8b 04 fd 00 40 00 00 48 31 c0 ff e0 c3");
	put_word(0x4000, 0x100d);
	ck_assert_str_eq(body(end, &k), "100d! 100b* ");

	/* imul ecx, edx in between; imul eax, edx */
	end = put(0x1000, "48 8b 04 fd 00 40 00 00 0f af ca ff e0 c3");
	ck_assert_str_eq(body(end, &k), "100d! ");
	end = put(0x1000, "48 8b 04 fd 00 40 00 00 0f af c2 ff e0 c3");
	ck_assert_str_eq(body(end, &k), "100d! 100b* ");

	/* lea rdx, [4000]; jmp [rdx + rdi * 8]; ret */
	end = put(0x1000, "48 8d 15 f9 2f 00 00 ff 24 fa c3");
	put_word(0x4000, 0x100a);
	ck_assert_str_eq(body(end, &k), "100a! ");
	/* Somebody jumps in between, with the same rdx, or another. */
	end = put(0x1000, "48 8d 15 f9 2f 00 00 ff 24 fa 75 fb c3");
	ck_assert_str_eq(body(end, &k), "100c! ");
	end = put(0x1000, "48 8d 15 f9 2f 00 00 ff 24 fa 48 89 fa 75 f8 c3");
	ck_assert_str_eq(body(end, &k), "100f! 1007* ");
	/* Another function jumps there. */
	k.other = (struct body_range){ 0x1800, 0x1805 };
	put(0x1800, "e9 02 f8 ff ff");
	end = put(0x1000, "48 8d 15 f9 2f 00 00 ff 24 fa 75 fb c3");
	ck_assert_str_eq(body(end, &k), "100c! 1007* 1800# ");
}
END_TEST

START_TEST(doors_of_others)
{
	/* xor eax, eax; inc eax; ret */
	uint64_t end = put(0x1000, "31 c0 ff c0 c3");
	struct known k = { .other = { 0x1800, 0x1810 } };

	/* jmp 1002; jz 1002; jmp 1000; jmp 1005, which is behind */
	ck_assert_uint_eq(
	    put(0x1800, "e9 fd f7 ff ff 0f 84 f7 f7 ff ff e9 f0 f7 ff ff"),
	    0x1810);
	ck_assert_str_eq(body(end, &k), "1004! 1800# 1805# ");
}
END_TEST

START_TEST(unwinders_do_not_return)
{
	/* mov rsp, rcx; pop rcx; jmp rcx; mov rsp, rcx; ret;
	 * mov rsp, rbp; pop rbp; ret */
	uint64_t end =
	    put(0x1000, "48 89 cc 59 ff e1 48 89 cc c3 48 89 ec 5d c3");
	struct known k = { .frame = BODY_FRAME_BARE };

	ck_assert_str_eq(body(end, &k), "100e! ");
}
END_TEST

START_TEST(bodies_that_cannot_be_read)
{
	struct body_world w = { .ctx = &(struct known){ .pad = 0 },
		.mem = { read_memory, NULL },
		.piece = is_piece,
		.pads = pads,
		.frame = frame };
	struct body b;

	ck_assert_int_eq(
	    body_find(&b, 0x1000, 0x1000 + BODY_MOST + 1, &w), -EFBIG);
	body_fini(&b);
	ck_assert_int_eq(body_find(&b, 0x5ff0, 0x6010, &w), -EFAULT);
	ck_assert_uint_eq(b.exits.len, 0);
	body_fini(&b);
	/* 06 is no instruction */
	put(0x1000, "c3 06 c3");
	ck_assert_int_eq(body_find(&b, 0x1000, 0x1003, &w), 0);
	ck_assert(b.cut);
	ck_assert_uint_eq(b.exits.len, 1);
	body_fini(&b);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("body");
	TCase *bodies = tcase_create("bodies");

	tcase_add_checked_fixture(bodies, setup, NULL);
	tcase_add_test(bodies, windows_are_whole_instructions);
	tcase_add_test(bodies, windows_may_begin_before_the_site);
	tcase_add_test(bodies, instructions_begin_where_the_code_was_read);
	tcase_add_test(bodies, a_short_jump_needs_two_bytes);
	tcase_add_test(bodies, padding_is_dead_behind_what_does_not_go_on);
	tcase_add_test(bodies, nobody_comes_into_a_window);
	tcase_add_test(bodies, an_indirect_jump_goes_by_a_pointer);
	tcase_add_test(bodies, jumps_to_words_of_memory);
	tcase_add_test(bodies, landings_are_where_instructions_lead);
	tcase_add_test(bodies, landings_of_code_whose_begin_is_not_known);
	tcase_add_test(bodies, landings_are_asked_for_by_range);
	tcase_add_test(bodies, what_cannot_be_in_a_window);
	tcase_add_test(bodies, tables_lead_where_they_say);
	tcase_add_test(bodies, pieces_belong_to_a_function);
	tcase_add_test(bodies, pieces_that_the_unwinder_enters);
	tcase_add_test(bodies, what_is_called_is_no_piece);
	tcase_add_test(bodies, loops_are_no_calls);
	tcase_add_test(bodies, jumps_through_pointers);
	tcase_add_test(bodies, jump_tables);
	tcase_add_test(bodies, distances_are_from_a_label);
	tcase_add_test(bodies, a_table_is_named_before_a_loop);
	tcase_add_test(bodies, doors_of_others);
	tcase_add_test(bodies, unwinders_do_not_return);
	tcase_add_test(bodies, bodies_that_cannot_be_read);
	suite_add_tcase(s, bodies);

	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
