/*
 * symbols/lang/cpython: texts and line tables as CPython describes them, and
 * whatever memory there is.
 */
#include "symbols/lang/cpython_impl.h"

#include "t/unit/lang_memory.h"

/* What is looked for in an interpreter; its version is written in later. */
#define BARE                                                           \
	"unsigned long Py_Version = 1; long _PyRuntime[1200] = { 1 };" \
	"int _PyEval_EvalFrameDefault(int a) { return a + 1; }\n"

static void
setup(void)
{
	memory_setup(BARE "long PyCode_Type[64] = { 1 };"
			  "long PyUnicode_Type[64] = { 1 };\n");
}

static void
setup_bare(void)
{
	memory_setup(BARE);
}

/* ---- lines ---- */

static int
line(enum pyline_form form, const char *table, size_t len, int64_t offset)
{
	uint64_t budget = 1 << 20;

	put(ARENA, table, len);
	walk_reset();
	return pyline_find(form, &walk, ARENA, len, 10, offset, &budget);
}

#define LINE(form, table, offset) line(form, table, sizeof(table) - 1, offset)

START_TEST(lines_of_steps)
{
	/* 2 bytes on a line further on; then 6, and 300 lines back. */
#define T "\x02\x01\x06\x80\x00\x80\x00\xd4\x04\x05"
	static const int64_t at[] = { -1, 0, 1, 2, 7, 8, 11, 12, 1000 };
	static const int want[] = { 10, 10, 10, 11, 11, 0, 0, 0, 0 };

	for (size_t i = 0; i < ARRAY_SIZE(at); i++)
		ck_assert_int_eq(LINE(PYLINE_LNOTAB, T, at[i]), want[i]);
#undef T
	ck_assert_int_eq(
	    LINE(PYLINE_LNOTAB, "\x00\x7f\x00\x7f\x02\x02", 0), 264);
	ck_assert_int_eq(
	    LINE(PYLINE_LNOTAB, "\x00\x7f\x00\x7f\x02\x02", 2), 266);
	ck_assert_int_eq(LINE(PYLINE_LNOTAB, "\x02", 5), 10);
}
END_TEST

START_TEST(lines_of_ranges)
{
	/* Four bytes of the first line, two without one, none of a line 100
	 * further on, then two of one 27 before that. */
	static const char t[] = "\x04\x00\x02\x80\x00\x64\x02\xe5";
	static const int want[] = { 10, 10, 10, 10, 0, 0, 83, 83, 0 };

	for (int i = 0; i < 9; i++)
		ck_assert_int_eq(LINE(PYLINE_RANGES, t, i), want[i]);
}
END_TEST

START_TEST(lines_of_locations)
{
	/* In code units of two bytes: 2 with columns, of the first line; 1 a
	 * line on; 1 two on; 8 that are long, 100 on; 1 without columns, 3
	 * back; 1 of no line; 1 near, again of the line before that. */
	static const char t[] = "\x81\x00\xd8\x01\x02\xe0\x01\x02"
				"\xf7\x48\x03\x00\x01\x01"
				"\xe8\x07\xf8\x80\x00";
	static const struct {
		int64_t unit;
		int line;
	} want[] = { { -1, 10 }, { 0, 10 }, { 1, 10 }, { 2, 11 }, { 3, 13 },
		{ 4, 113 }, { 11, 113 }, { 12, 110 }, { 13, 0 }, { 14, 110 },
		{ 15, 0 } };

	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		ck_assert_int_eq(
		    LINE(PYLINE_LOCATIONS, t, want[i].unit * 2), want[i].line);
	/* A number of many bytes; a table that is no table. */
	ck_assert_int_eq(LINE(PYLINE_LOCATIONS,
			     "\xe8\x40\x40\x40\x40\x40\x40\x40\x40\x40"
			     "\x40\x40\x40\x40\x01",
			     0),
	    10);
	ck_assert_int_eq(LINE(PYLINE_LOCATIONS, "\x01\x02\x03", 0), 0);
	ck_assert_int_eq(LINE(PYLINE_LOCATIONS, "", 0), 0);
}
END_TEST

START_TEST(lines_cost_no_more_than_may_be)
{
	uint64_t budget = 100;

	memset(arena, 0, sizeof(arena));
	walk_reset();
	ck_assert_int_eq(pyline_find(PYLINE_LNOTAB, &walk, ARENA, UINT64_MAX,
			     10, 1000, &budget),
	    0);
	ck_assert_uint_eq(budget, 0);
	ck_assert_int_eq(
	    pyline_find(PYLINE_RANGES, &walk, ARENA, 8, 10, 0, &budget), 0);
}
END_TEST

/* ---- texts ---- */

#define STR_TYPE 0x123456

/* A str as 3.11 has it. */
static const char *
text(unsigned kind, bool ascii, const void *bytes, uint64_t n, size_t size)
{
	static char buf[64];
	const struct py_layout o = { .object = { .type = 8,
					 .length = 16,
					 .state = 32,
					 .ascii_text = 48,
					 .compact_text = 72 } };
	uint32_t state = kind << 2 | 1u << 5 | (unsigned)ascii << 6;

	memset(arena, 0, 200);
	put64(ARENA + 8, STR_TYPE);
	put64(ARENA + 16, n);
	put(ARENA + 32, &state, sizeof(state));
	put(ARENA + (ascii ? 48 : 72), bytes, n * kind);
	walk_reset();
	return py_text(&o, &walk, STR_TYPE, ARENA, buf, size);
}

START_TEST(texts_of_each_width)
{
	static const uint16_t two[] = { 0x4e2d, 'x', 0xe9 };
	static const uint32_t four[] = { 0x1f600, 0x4e2d };
	static const uint16_t escaped[] = { 'a', 0xdce9, 0xd800, 'b' };

	ck_assert_str_eq(text(1, true, "name", 4, 64), "name");
	ck_assert_str_eq(text(1, true, "name", 4, 3), "na");
	ck_assert_str_eq(text(1, false, "caf\xe9", 4, 64), "caf\303\251");
	/* Never half a character. */
	ck_assert_str_eq(text(1, false, "caf\xe9", 4, 5), "caf");
	ck_assert_str_eq(text(2, false, two, 3, 64), "\344\270\255x\303\251");
	ck_assert_str_eq(
	    text(4, false, four, 2, 64), "\360\237\230\200\344\270\255");
	/* A file name that is no UTF-8, and what is no character. */
	ck_assert_str_eq(text(2, false, escaped, 4, 64), "a\xe9\357\277\275b");
}
END_TEST

START_TEST(texts_that_are_none)
{
	const struct py_layout o = { .object = { .type = 8, .state = 32 } };
	char buf[8] = "x";

	ck_assert_str_eq(text(3, false, "name", 1, 64), "");
	ck_assert_str_eq(text(0, false, "name", 1, 64), "");
	text(1, true, "name", 4, 64);
	ck_assert_str_eq(
	    py_text(&o, &walk, STR_TYPE + 1, ARENA, buf, sizeof(buf)), "");
	ck_assert_str_eq(py_text(&o, &walk, 0, 0, buf, sizeof(buf)), "");
	ck_assert_str_eq(py_text(&o, &walk, 0, 8, buf, sizeof(buf)), "");
	/* A length that lies. */
	put64(ARENA + 16, UINT64_MAX);
	walk_reset();
	ck_assert_uint_lt(strlen(text(1, true, "name", 4, 64)), 64);
}
END_TEST

/* ---- a stack ---- */

#define IN_STACK(n) (ARENA + (n) * (ARENA_BYTES / 64) + 0x40)
#define AT(n)       (ARENA + 0xa000 + (n)*0x400)

static void
put_text(const struct py_layout *o, uint64_t at, const char *text)
{
	const uint32_t state = 1u << 2 | 1u << 5 | 1u << 6;

	put64(at + o->object.type, at_sym("PyUnicode_Type"));
	put64(at + o->object.length, strlen(text));
	put(at + o->object.state, &state, sizeof(state));
	put(at + o->object.ascii_text, text, strlen(text));
}

/* A function that begins in line 10.  Its instruction at byte 8 is of line 11,
 * whatever form the table has. */
static void
put_code(const struct py_layout *o, uint64_t at, const char *name)
{
	static const char *const tables[] = {
		[PYLINE_LNOTAB] = "\x08\x01\x08\x01",
		[PYLINE_RANGES] = "\x08\x00\x08\x01",
		[PYLINE_LOCATIONS] = "\xeb\x00\xeb\x02",
	};
	const uint32_t first = 10;
	uint64_t text = at + 0x100, file = at + 0x180, lines = at + 0x200;

	put64(at + o->object.type, at_sym("PyCode_Type"));
	put(at + o->code.firstlineno, &first, sizeof(first));
	put64(at + o->code.name, text);
	put64(at + o->code.filename, file);
	put64(at + o->code.lines, lines);
	put_text(o, text, name);
	put_text(o, file, "m.py");
	put64(lines + o->object.bytes_size, 4);
	put(lines + o->object.bytes, tables[o->lines], 4);
}

/* A frame at the instruction at byte 8 of its code. */
static void
put_frame(const struct py_layout *o, uint64_t at, uint64_t code, uint64_t back)
{
	const uint32_t index = o->lines == PYLINE_RANGES ? 4 : 8;

	put64(at + o->frame.code, code);
	put64(at + o->frame.previous, back);
	if (o->code.bytecode != 0)
		put64(at + o->frame.instr, code + o->code.bytecode + 8);
	else
		put(at + o->frame.instr, &index, sizeof(index));
}

/* What tells that the frame is the last of its loop, whose C frame is n. */
static void
put_last(const struct py_layout *o, unsigned n, uint64_t frame, bool outermost)
{
	uint64_t at = IN_STACK(n), next = outermost ? AT(12) : IN_STACK(n + 1);

	if (o->frames == PY_CFRAMES)
		put(frame + o->frame.is_entry, "\1", 1);
	if (o->frames == PY_CFRAME || o->frames == PY_CFRAMES)
		put64(at + o->cframe.previous, next);
	if (o->frames == PY_CFRAMES)
		put64(at + o->cframe.current, frame);
	if (o->frames != PY_SHIMS)
		return;
	uint64_t back = 0;
	ck_assert(lang_read(&walk, frame + o->frame.previous, &back, 8));
	put64(frame + o->frame.previous, at);
	put64(at + o->frame.previous, back);
	put(at + o->frame.owner, "\3", 1);
}

/* The versions whose layout dtrap has. */
static const unsigned laid_out[] = { 0x0307, 0x0308, 0x0309, 0x030a, 0x030b,
	0x030c };

/* g() calls f() through C code. */
START_TEST(frames_of_a_stack)
{
	uint64_t root = at_sym("_PyRuntime"), f = AT(0), g = AT(1);
	uint64_t interp = AT(8), th = AT(10);
	struct py_layout o;
	void *py;

	put64(at_sym("Py_Version"), (uint64_t)laid_out[_i] << 16);
	walk_reset();
	ck_assert(py_layout_find(&o, &walk, &load, root));
	thread.thread_base = 0x7f0000001000;
	put64(root + o.runtime.interpreters, AT(6));
	put64(AT(6) + o.interp.next, interp);
	put64(interp + o.interp.threads, AT(9)); /* another thread */
	put64(AT(9) + o.thread.next, th);
	put64(th + o.thread.id, thread.thread_base);
	put_code(&o, AT(2), "f");
	put_code(&o, AT(4), "g");
	put_frame(&o, f, AT(2), g);
	put_frame(&o, g, AT(4), 0);
	walk_reset();
	put_last(&o, 1, g, true);
	put_last(&o, 0, f, false);
	if (o.thread.frame != 0)
		put64(th + o.thread.frame, f);
	if (o.frames == PY_SHIMS) {
		put64(th + o.thread.cframe, AT(12));
		put64(AT(12) + o.cframe.current, f);
	} else if (o.thread.cframe != 0) {
		put64(th + o.thread.cframe, IN_STACK(0));
	}
	walk_reset();
	py = lang_cpython.attach(&walk, &load);
	ck_assert_ptr_nonnull(py);
	walk_frames(&lang_cpython, py, at_sym("_PyEval_EvalFrameDefault") + 1);
	ck_assert_uint_eq(walk.pushed.len, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct lang_name *n = langname_of(walk.pushed.at[i]);
		ck_assert_str_eq(n->function, i == 0 ? "f" : "g");
		ck_assert_str_eq(n->file, "m.py");
		ck_assert_int_eq(n->line, 11);
		ck_assert(n->note);
	}
	lang_cpython.detach(py);
}
END_TEST

/* ---- any memory ---- */

static const unsigned versions[] = { 0x0309, 0x030a, 0x030b, 0x030c, 0x030d };

/* 3.13 says itself where everything is; here it is anywhere. */
static void
put_offsets(uint64_t at)
{
	uint64_t words[71];

	memcpy(words, "xdebugpy", 8);
	words[1] = 0x030d00f0;
	for (size_t i = 2; i < ARRAY_SIZE(words); i++)
		words[i] = rnd() % 32 * 8;
	words[5] = 1024;
	put(at, words, sizeof(words));
}

/* The thread of the walk is the first one of the interpreter's. */
static void
put_thread(void)
{
	struct py_layout o;
	uint64_t root = at_sym("_PyRuntime"), interp = ARENA + 1024;

	ck_assert(py_layout_find(&o, &walk, &load, root));
	put64(root + o.runtime.interpreters, interp);
	put64(interp + o.interp.threads, interp + 512);
	put64(interp + 512 + o.thread.id, thread.thread_base);
	walk_reset();
}

static size_t
random_walks(unsigned version, const uint64_t *likely, size_t count)
{
	size_t pushed = 0;

	thread.thread_base = ARENA + 8;
	for (uint64_t n = 0; n < 200; n++) {
		void *py;

		memory_random(n, likely, count);
		put64(at_sym("Py_Version"), (uint64_t)version << 16);
		put_offsets(at_sym("_PyRuntime"));
		walk_reset();
		put_thread();
		py = lang_cpython.attach(&walk, &load);
		ck_assert_ptr_nonnull(py);
		walk_frames(
		    &lang_cpython, py, at_sym("_PyEval_EvalFrameDefault") + 1);
		pushed += walk.pushed.len;
		lang_cpython.detach(py);
		langname_reset();
	}
	return pushed;
}

START_TEST(any_memory_ends)
{
	const uint64_t likely[] = { at_sym("PyCode_Type"),
		at_sym("PyCode_Type"), at_sym("PyUnicode_Type"), 0x64, 0x30,
		3 };

	ck_assert_uint_gt(
	    random_walks(versions[_i], likely, ARRAY_SIZE(likely)), 0);
}
END_TEST

/* Where nothing says what an object is. */
START_TEST(any_memory_without_types_ends)
{
	static const uint64_t likely[] = { 0x64, 0x30, 3, 0x78 };

	ck_assert_uint_gt(
	    random_walks(versions[_i], likely, ARRAY_SIZE(likely)), 50);
}
END_TEST

/* Everything leads to itself, and is as long as can be. */
START_TEST(circles_end)
{
	void *py;

	for (size_t i = 0; i < ARENA_BYTES; i += 8)
		put64(ARENA + i, ARENA);
	thread.thread_base = ARENA;
	seed = 1;
	put64(at_sym("Py_Version"), (uint64_t)versions[_i] << 16);
	put_offsets(at_sym("_PyRuntime"));
	put64(at_sym("_PyRuntime") +
		(versions[_i] == 0x030d        ? 1024 :
			versions[_i] >= 0x030b ? 40 :
						 32),
	    ARENA);
	walk_reset();
	py = lang_cpython.attach(&walk, &load);
	ck_assert_ptr_nonnull(py);
	walk_frames(&lang_cpython, py, at_sym("_PyEval_EvalFrameDefault") + 1);
	ck_assert_uint_gt(walk.pushed.len, 0);
	ck_assert_uint_le(walk.pushed.len, 4096);
	lang_cpython.detach(py);
}
END_TEST

START_TEST(other_versions_are_left_alone)
{
	static const uint64_t other[] = { 0, 0x02070000, 0x03060000, 0x030e0000,
		UINT64_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(other); i++) {
		put64(at_sym("Py_Version"), other[i]);
		walk_reset();
		ck_assert_ptr_null(lang_cpython.attach(&walk, &load));
	}
	/* 3.13 without its offsets. */
	put64(at_sym("Py_Version"), 0x030d0000);
	walk_reset();
	ck_assert_ptr_null(lang_cpython.attach(&walk, &load));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("lang_python");
	TCase *tc = tcase_create("lang_python");
	TCase *bare = tcase_create("bare");

	tcase_add_checked_fixture(tc, setup, memory_teardown);
	tcase_add_test(tc, lines_of_steps);
	tcase_add_test(tc, lines_of_ranges);
	tcase_add_test(tc, lines_of_locations);
	tcase_add_test(tc, lines_cost_no_more_than_may_be);
	tcase_add_test(tc, texts_of_each_width);
	tcase_add_test(tc, texts_that_are_none);
	tcase_add_loop_test(tc, frames_of_a_stack, 0, ARRAY_SIZE(laid_out));
	tcase_add_loop_test(tc, any_memory_ends, 0, ARRAY_SIZE(versions));
	tcase_add_test(tc, other_versions_are_left_alone);
	suite_add_tcase(s, tc);
	tcase_add_checked_fixture(bare, setup_bare, memory_teardown);
	tcase_add_loop_test(
	    bare, any_memory_without_types_ends, 0, ARRAY_SIZE(versions));
	tcase_add_loop_test(bare, circles_end, 0, ARRAY_SIZE(versions));
	suite_add_tcase(s, bare);

	SRunner *r = srunner_create(s);
	fixture_setup();
	srunner_run_all(r, CK_NORMAL);
	fixture_teardown();
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
