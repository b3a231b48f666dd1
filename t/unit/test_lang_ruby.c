/*
 * symbols/lang/ruby: objects as Ruby describes them, and whatever memory there
 * is.
 */
#include "symbols/lang/ruby_impl.h"

#include "t/unit/lang_memory.h"

/* What is looked for in Ruby; its version is written in later.  The last
 * function is all that says where the table of symbols is. */
static const char runtime[] =
    "int ruby_api_version[3] = { 1, 1, 1 };\n"
    "__thread long before, *ruby_current_ec;\n"
    "static struct { unsigned last; void *table, *ids; } symbols = { 1 };\n"
    "long rb_vm_exec(long a) { return a + before; }\n"
    "unsigned long rb_sym_immortal_count(void) { return symbols.last; }\n"
    "void *keep(int i) { symbols.last += i; return &symbols; }\n";

static const struct ruby_layout layout = { .version = 0x0301,
	.insns_info = 120,
	.insn_entry = 12,
	.last_op_id = 169 };
static const struct ruby_layout later = { .version = 0x0302,
	.insns_info = 112,
	.insn_entry = 12,
	.last_op_id = 169,
	.long_strings = true };

static void
setup(void)
{
	memory_setup(runtime);
}

static const char *
text(const struct ruby_layout *o)
{
	static char buf[16];

	walk_reset();
	return ruby_text(o, &walk, ARENA, buf, sizeof(buf));
}

#define STRING_ELSEWHERE (1 << 13)

START_TEST(strings)
{
	/* In its object: the length is in the flags, to 3.1. */
	put64(ARENA, RUBY_STRING | 4 << 14);
	put(ARENA + 16, "embedded", 9);
	ck_assert_str_eq(text(&layout), "embe");
	/* And before the text then. */
	put64(ARENA, RUBY_STRING);
	put64(ARENA + 16, 5);
	put(ARENA + 24, "embedded", 9);
	ck_assert_str_eq(text(&later), "embed");
	/* Elsewhere. */
	put64(ARENA, RUBY_STRING | STRING_ELSEWHERE);
	put64(ARENA + 16, 9);
	put64(ARENA + 24, ARENA + 512);
	put(ARENA + 512, "elsewhere", 10);
	ck_assert_str_eq(text(&layout), "elsewhere");
	ck_assert_str_eq(text(&later), "elsewhere");
	/* A length that lies, an address that does, and no string. */
	put64(ARENA + 16, UINT64_MAX);
	ck_assert_str_eq(text(&layout), "elsewhere");
	put64(ARENA + 24, 16);
	ck_assert_str_eq(text(&layout), "");
	put64(ARENA, RUBY_ARRAY | STRING_ELSEWHERE);
	ck_assert_str_eq(text(&layout), "");
}
END_TEST

START_TEST(elements)
{
	/* Not in its object. */
	put64(ARENA, RUBY_ARRAY);
	put64(ARENA + 16, 2);
	put64(ARENA + 32, ARENA + 512);
	put64(ARENA + 512, 11);
	put64(ARENA + 520, 22);
	put64(ARENA + 528, 33);
	walk_reset();
	ck_assert_uint_eq(ruby_element(&walk, ARENA, 0), 11);
	ck_assert_uint_eq(ruby_element(&walk, ARENA, 1), 22);
	ck_assert_uint_eq(ruby_element(&walk, ARENA, 2), 0);
	/* In it. */
	put64(ARENA, RUBY_ARRAY | 1 << 13);
	walk_reset();
	ck_assert_uint_eq(ruby_element(&walk, ARENA, 0), 2);
	ck_assert_uint_eq(ruby_element(&walk, ARENA, UINT64_MAX), 0);
	ck_assert_uint_eq(ruby_element(&walk, ARENA + 1, 0), 0);
	ck_assert_uint_eq(ruby_element(&walk, 0, 0), 0);
}
END_TEST

/* A name has a number; one that was made at run time is the address of its
 * symbol. */
START_TEST(names_of_ids)
{
	const uint64_t symbols = ARENA + 0x4000, ids = symbols + 64,
		       second = ids + 64, names = second + 64,
		       symbol = names + 512 * 16 + 64, string = symbol + 64;
	char buf[16];

	put64(string, RUBY_STRING | STRING_ELSEWHERE);
	put64(string + 16, 4);
	put64(string + 24, string + 64);
	put(string + 64, "name", 4);
	put64(symbols + 16, ids);
	put64(ids, RUBY_ARRAY);
	put64(ids + 16, 2);
	put64(ids + 32, second);
	put64(second + 8, names);
	put64(names, RUBY_ARRAY);
	put64(names + 16, 1024);
	put64(names + 32, names + 40);
	put64(names + 40 + 18 * 8, string); /* 512 + 9 */
	put64(symbol + 24, string);
	walk_reset();
	ck_assert_str_eq(ruby_id_text(&layout, &walk, symbols, 521 << 4 | 1,
			     buf, sizeof(buf)),
	    "name");
	ck_assert_str_eq(
	    ruby_id_text(&layout, &walk, symbols, symbol, buf, sizeof(buf)),
	    "name");
	ck_assert_str_eq(ruby_id_text(&layout, &walk, symbols, 522 << 4 | 1,
			     buf, sizeof(buf)),
	    "");
	ck_assert_str_eq(
	    ruby_id_text(&layout, &walk, 0, 521 << 4 | 1, buf, sizeof(buf)),
	    "");
	/* An operator's is its own number. */
	put64(second, names);
	put64(names + 40 + 42 * 2 * 8, string);
	walk_reset();
	ck_assert_str_eq(
	    ruby_id_text(&layout, &walk, symbols, 42, buf, sizeof(buf)),
	    "name");
}
END_TEST

/* ---- lines ---- */

#define BODY    ARENA
#define CODE    (ARENA + 4096)
#define ENTRIES (ARENA + 512)
#define TABLE   (ARENA + 1024)

/* An iseq of 1000 words with n entries, of lines 100, 101 ... */
static void
iseq(unsigned n)
{
	uint32_t size = 1000;

	put(BODY + 4, &size, sizeof(size));
	put64(BODY + 8, CODE);
	put64(BODY + 120, ENTRIES);
	put64(BODY + 128, 0);
	put(BODY + 136, &n, sizeof(n));
	put64(BODY + 144, TABLE);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t line = 100 + i;
		put(ENTRIES + i * 12, &line, sizeof(line));
	}
	walk_reset();
}

/* Of the instruction at word pos, from the pc behind it. */
static int
line(uint64_t pos)
{
	return ruby_line(&layout, &walk, BODY, CODE + (pos + 1) * 8);
}

START_TEST(lines_by_positions)
{
	static const uint32_t at[] = { 0, 3, 4, 500 };

	iseq(4);
	put64(BODY + 128, TABLE);
	put(TABLE, at, sizeof(at));
	walk_reset();
	ck_assert_int_eq(line(0), 100);
	ck_assert_int_eq(line(2), 100);
	ck_assert_int_eq(line(3), 101);
	ck_assert_int_eq(line(4), 102);
	ck_assert_int_eq(line(499), 102);
	ck_assert_int_eq(line(500), 103);
	/* At its very beginning, outside, with one entry and with none. */
	ck_assert_int_eq(ruby_line(&layout, &walk, BODY, CODE), 100);
	ck_assert_int_eq(line(1000), 0);
	ck_assert_int_eq(ruby_line(&layout, &walk, BODY, CODE - 8), 0);
	iseq(1);
	ck_assert_int_eq(line(700), 100);
	iseq(0);
	ck_assert_int_eq(line(700), 0);
}
END_TEST

/* The same as bits: entries begin at the positions; how many are not behind
 * each is what is asked for. */
START_TEST(lines_by_succinct_tables)
{
	static const unsigned at[] = { 0, 7, 8, 9, 53, 54, 55, 117, 118, 119,
		300, 565, 566, 567, 900 };
	uint64_t near[6] = { 0 };
	struct {
		uint64_t rank, ranks, bits[8];
	} block[2] = { 0 };
	unsigned n = 0;

	for (unsigned pos = 0, b, i; pos < 1000; pos++) {
		bool begins = n < ARRAY_SIZE(at) && at[n] == pos;
		if (pos >= 54) {
			b = (pos - 54) / 512;
			i = (pos - 54) % 512;
			if (i == 0)
				block[b].rank = n;
			if (i != 0 && i % 64 == 0)
				block[b].ranks |= (n - block[b].rank)
				    << (i / 64 - 1) * 9;
			if (begins)
				block[b].bits[i / 64] |= 1ULL << i % 64;
		}
		n += begins;
		if (pos < 54)
			near[pos / 9] |= (uint64_t)n << pos % 9 * 7;
	}
	iseq(ARRAY_SIZE(at));
	put(TABLE, near, sizeof(near));
	put(TABLE + sizeof(near), block, sizeof(block));
	walk_reset();
	n = 0;
	for (unsigned pos = 0; pos < 1000; pos++) {
		n += n < ARRAY_SIZE(at) && at[n] == pos;
		ck_assert_int_eq(line(pos), 99 + (int)n);
	}
}
END_TEST

/* ---- any memory ---- */

static const unsigned minors[] = { 0, 1, 2, 3 };

static void
put_version(unsigned major, unsigned minor)
{
	const unsigned v[] = { major, minor, 0 };

	put(at_sym("ruby_api_version"), v, sizeof(v));
	walk_reset();
}

/* The thread's blocks of variables, and a stack of n words in memory. */
static void
put_thread(uint64_t n)
{
	uint64_t tls = ARENA, dtv = ARENA + 128, block = ARENA + 256,
		 ec = ARENA + 320, stack = ARENA + 8192;

	thread.thread_base = tls;
	put64(tls + 8, dtv);
	put64(dtv - 16, 2);
	put64(dtv + 16, UINT64_MAX);
	put64(dtv + 32, block);
	put64(block + object_sym(load.object, "ruby_current_ec")->addr, ec);
	put64(ec, stack);
	put64(ec + 8, n);
	put64(ec + 16, stack);
}

/* A walk in a stack as long as n frames of the version's. */
static size_t
walk_of(unsigned minor, unsigned n)
{
	unsigned size = minor == 1 || minor == 2 ? 64 : 56;
	size_t pushed;
	void *rb;

	put_version(3, minor);
	put_thread(n * size / 8);
	rb = lang_ruby.attach(&walk, &load);
	ck_assert_ptr_nonnull(rb);
	walk_reset();
	walk_frames(&lang_ruby, rb, at_sym("rb_vm_exec") + 1);
	pushed = walk.pushed.len;
	lang_ruby.detach(rb);
	langname_reset();
	return pushed;
}

START_TEST(any_memory_ends)
{
	const uint64_t likely[] = { RUBY_IMEMO_ISEQ, RUBY_IMEMO_MENT,
		RUBY_IMEMO_SVAR, RUBY_STRING | 5 << 14, RUBY_ARRAY,
		RUBY_ARRAY | 1 << 13, 0x55550001, 0x22220021, 1 };
	size_t pushed = 0;

	for (uint64_t n = 0; n < 200; n++) {
		memory_random(n, likely, ARRAY_SIZE(likely));
		pushed += walk_of(minors[_i], 600);
	}
	ck_assert_uint_gt(pushed, 1000);
}
END_TEST

/* Everything leads to itself; frames of no kind, of C, and of Ruby. */
START_TEST(circles_end)
{
	static const uint64_t words[] = { ARENA, 0x55550001, RUBY_IMEMO_ISEQ,
		RUBY_ARRAY, RUBY_STRING };

	for (size_t k = 0; k < ARRAY_SIZE(words); k++) {
		for (size_t i = 0; i < ARENA_BYTES; i += 8)
			put64(ARENA + i, i % 128 == 0 ? words[k] : ARENA);
		ck_assert_uint_le(walk_of(minors[_i], 800), 4096);
	}
}
END_TEST

START_TEST(what_is_no_stack)
{
	uint64_t ec = ARENA + 320;
	void *rb;

	put_version(3, 1);
	put_thread(64);
	walk_reset();
	rb = lang_ruby.attach(&walk, &load);
	/* No frame, half a frame, beyond its ends, of no size. */
	for (int i = 0; i < 5; i++) {
		put64(ec + 8, i == 4 ? 0 : 64);
		put64(ec + 16,
		    ARENA + 8192 +
			(i == 0        ? 512 :
				i == 1 ? 8 :
				i == 2 ? -64ULL :
					 576));
		walk_reset();
		walk_frames(&lang_ruby, rb, at_sym("rb_vm_exec") + 1);
		ck_assert_uint_eq(walk.pushed.len, 0);
	}
	/* No thread, and one without variables. */
	thread.thread_base = 0;
	walk_frames(&lang_ruby, rb, at_sym("rb_vm_exec") + 1);
	thread.thread_base = 4096;
	walk_frames(&lang_ruby, rb, at_sym("rb_vm_exec") + 1);
	ck_assert_uint_eq(walk.pushed.len, 0);
	lang_ruby.detach(rb);
}
END_TEST

START_TEST(other_versions_are_left_alone)
{
	static const unsigned other[][2] = { { 0, 0 }, { 2, 7 }, { 3, 4 },
		{ 3, 257 }, { 4, 1 }, { -1U, -1U } };

	for (size_t i = 0; i < ARRAY_SIZE(other); i++) {
		put_version(other[i][0], other[i][1]);
		ck_assert_ptr_null(lang_ruby.attach(&walk, &load));
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("lang_ruby");
	TCase *tc = tcase_create("lang_ruby");

	tcase_add_checked_fixture(tc, setup, memory_teardown);
	tcase_add_test(tc, strings);
	tcase_add_test(tc, elements);
	tcase_add_test(tc, names_of_ids);
	tcase_add_test(tc, lines_by_positions);
	tcase_add_test(tc, lines_by_succinct_tables);
	tcase_add_loop_test(tc, any_memory_ends, 0, ARRAY_SIZE(minors));
	tcase_add_loop_test(tc, circles_end, 0, ARRAY_SIZE(minors));
	tcase_add_test(tc, what_is_no_stack);
	tcase_add_test(tc, other_versions_are_left_alone);
	suite_add_tcase(s, tc);

	SRunner *r = srunner_create(s);
	fixture_setup();
	srunner_run_all(r, CK_NORMAL);
	fixture_teardown();
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
