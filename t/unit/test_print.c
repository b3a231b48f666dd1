/*
 * tracer/consume/print, stack_text: values in their default form.
 */
#include "t/unit/consume_fixture.h"

#define HEAD  "CPU     ID                    FUNCTION:NAME\n"
#define BEGIN "  0      1                           :BEGIN "

static struct fx *f;

static void
setup(void)
{
	f = fx_create(1);
}

static void
teardown(void)
{
	fx_destroy(f);
}

/* A clause of one statement with one value. */
static void
fire_one(enum dif_act kind, enum rec_kind rec, const void *v, uint32_t size,
    bool is_signed)
{
	struct prog_clause *c = fx_clause(f);

	fx_rec(c, fx_stmt(f, c, kind), rec, size, is_signed);
	fx_fire(f, fx_ecb(f, fx_begin(f), c), v, size);
}

static void
fire_int(int64_t v, uint32_t size, bool is_signed)
{
	fire_one(ACT_TRACE, REC_INT, &v, size, is_signed);
}

START_TEST(integers_in_columns)
{
	fire_int(42, 8, true);
	fire_int(-1, 8, false);
	fire_int(42, 4, true);
	fire_int(-1, 4, false);
	fire_int(-1, 2, true);
	fire_int(-1, 2, false);
	fire_int(-1, 1, true);
	fire_int(-1, 1, false);
	fx_expect(f,
	    HEAD BEGIN "                  42\n" BEGIN
		       " 18446744073709551615\n" BEGIN "         42\n" BEGIN
		       " 4294967295\n" BEGIN "    -1\n" BEGIN " 65535\n" BEGIN
		       "  -1\n" BEGIN " 255\n");
}
END_TEST

START_TEST(integers_when_quiet)
{
	option_parse(&f->opts, "quiet", false);
	fire_int(-42, 8, true);
	fire_int(7, 4, true);
	fire_int(-1, 2, true);
	fire_int(3, 1, true);
	fx_expect(f, "-427-13");
}
END_TEST

START_TEST(strings)
{
	char text[64] = "hello";
	char raw[4] = { 'a', 'b', 'c', 'd' };

	fire_one(ACT_TRACE, REC_STRING, text, sizeof(text), false);
	fire_one(ACT_TRACE, REC_CHARS, raw, sizeof(raw), false);
	text[0] = '\0';
	fire_one(ACT_TRACE, REC_STRING, text, sizeof(text), false);
	fx_expect(f,
	    HEAD BEGIN "  hello                            \n" BEGIN
		       "  abcd                             \n" BEGIN
		       "                                   \n");
}
END_TEST

START_TEST(strings_when_quiet)
{
	option_parse(&f->opts, "quiet", false);
	fire_one(ACT_TRACE, REC_STRING, "hello\0\0", 8, false);
	fire_one(ACT_TRACE, REC_STRING, "caf\303\251\n\0", 8, false);
	fx_expect(f, "hellocaf\303\251\n");
}
END_TEST

#define DUMP_HEAD                                                         \
	"\n             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  " \
	"0123456789abcdef\n"

START_TEST(bytes_that_are_no_text)
{
	static const uint8_t five[] = { 0, 1, 2, 65, 66 };
	static const uint8_t esc[] = { 'a', 27, 'b', 0, 0 };

	option_parse(&f->opts, "quiet", false);
	fire_one(ACT_TRACE, REC_BYTES, five, 5, false);
	fire_one(ACT_TRACE, REC_CHARS, esc, 5, false);
	fx_expect(f,
	    DUMP_HEAD
	    "         0: 00 01 02 41 42                                   "
	    "...AB\n" DUMP_HEAD
	    "         0: 61 1b 62 00 00                                   "
	    "a.b..\n");
}
END_TEST

START_TEST(tracemem_dumps_rows_of_sixteen)
{
	struct prog_clause *c = fx_clause(f);
	struct prog_stmt *st = fx_stmt(f, c, ACT_TRACEMEM);
	uint8_t v[40];

	for (unsigned i = 0; i < 24; i++)
		v[i] = (uint8_t)('a' + i);
	fx_rec(c, st, REC_BYTES, 24, false);
	uint32_t len = fx_rec(c, st, REC_INT, 8, true) - 24;
	st->has_arg = true;
	uint32_t epid = fx_ecb(f, fx_begin(f), c);
	option_parse(&f->opts, "quiet", false);
	/* 17 of them; then a length that is no length: all of them. */
	memcpy(v + len, &(int64_t){ 17 }, 8);
	fx_fire(f, epid, v, 32);
	memcpy(v + len, &(int64_t){ -5 }, 8);
	fx_fire(f, epid, v, 32);
#define ROW0                                                            \
	"         0: 61 62 63 64 65 66 67 68 69 6a 6b 6c 6d 6e 6f 70  " \
	"abcdefghijklmnop\n"
	fx_expect(f,
	    DUMP_HEAD ROW0
	    "        10: 71                                               "
	    "q\n" DUMP_HEAD ROW0
	    "        10: 71 72 73 74 75 76 77 78                          "
	    "qrstuvwx\n");
}
END_TEST

START_TEST(rawbytes_dumps_values)
{
	option_parse(&f->opts, "quiet", false);
	option_parse(&f->opts, "rawbytes", false);
	fire_int(0x41424344, 4, true);
	fx_expect(f,
	    DUMP_HEAD
	    "         0: 44 43 42 41                                      "
	    "DCBA\n");
}
END_TEST

START_TEST(stacks)
{
	uint64_t s[6] = { 0, 0x1110, 0x1250, 0xdead, 0, 0x1300 };
	struct rec_stack head = { .pid = 1, .space = 7 };

	memcpy(s, &head, sizeof(head));
	fire_one(ACT_USTACK, REC_STACK, s, sizeof(s), false);
	fx_expect(f,
	    HEAD BEGIN "\n"
		       "              a.out`f1+0x10\n"
		       "              a.out`f2+0x50\n"
		       "              0xdead\n"
		       "\n");
}
END_TEST

START_TEST(stacks_of_a_space_unknown)
{
	/* No 0 at the end: as many as there is room for. */
	uint64_t s[3] = { 0, 0x1110, 0x1250 };
	struct rec_stack head = { .pid = 1, .space = 8 };

	memcpy(s, &head, sizeof(head));
	option_parse(&f->opts, "stackindent=2", false);
	option_parse(&f->opts, "quiet", false);
	fire_one(ACT_USTACK, REC_STACK, s, sizeof(s), false);
	fx_expect(f, "\n  0x1110\n  0x1250\n");
}
END_TEST

START_TEST(stacks_in_one_line)
{
	uint64_t s[6] = { 0, 0x1110, 0x1250, 0x1800, 0x1900, 0 };
	struct rec_stack head = { .pid = 1, .space = 7 };
	static const char text[] = "a.out`?f9;"
				   "a.out`op:_<&\"'\303\251?>_f8;"
				   "a.out`f2;a.out`f1\n";
	char *want = mem_printf("%s%s  %s%s-\n", HEAD, BEGIN, text, text);

	memcpy(s, &head, sizeof(head));
	option_parse(&f->opts, "stackformat=folded", false);
	option_parse(&f->opts, "usrcline", false);
	fire_one(ACT_USTACK, REC_STACK, s, sizeof(s), false);
	consume_records(fx_consume(f));
	/* A line of its own when there are no columns. */
	option_parse(&f->opts, "quiet", false);
	fire_one(ACT_USTACK, REC_STACK, s, sizeof(s), false);
	s[1] = 0;
	fire_one(ACT_USTACK, REC_STACK, s, sizeof(s), false);
	fx_expect(f, want);
	mem_free(want);
}
END_TEST

START_TEST(stacks_with_lines)
{
	uint64_t s[3] = { 0, 0x1110, 0x1200 };
	struct rec_stack head = { .pid = 1, .space = 7 };

	memcpy(s, &head, sizeof(head));
	option_parse(&f->opts, "stackindent=2", false);
	option_parse(&f->opts, "usrcline", false);
	option_parse(&f->opts, "quiet", false);
	fire_one(ACT_USTACK, REC_STACK, s, sizeof(s), false);
	fx_expect(f, "\n  a.out`f1+0x10 (f.c:1)\n  a.out`f2 (f.c:1)\n");
}
END_TEST

START_TEST(symbols)
{
	struct rec_sym s = { .pid = 1, .space = 7, .addr = 0x1210 };

	option_parse(&f->opts, "quiet", false);
	fire_one(ACT_USYM, REC_USYM, &s, sizeof(s), false);
	fire_one(ACT_UMOD, REC_UMOD, &s, sizeof(s), false);
	fire_one(ACT_UADDR, REC_UADDR, &s, sizeof(s), false);
	fx_expect(f,
	    "  a.out`f2                                          "
	    "  a.out                                             "
	    "  a.out`f2+0x10                                     ");
}
END_TEST

/* ---- print() ---- */

static struct type type_int = { .kind = TYPE_INT,
	.name = "int",
	.size = 4,
	.is_signed = true };
static struct type type_char = { .kind = TYPE_INT,
	.name = "char",
	.size = 1,
	.is_signed = true };
static struct type type_int32 = { .kind = TYPE_TYPEDEF,
	.name = "int32_t",
	.size = 4,
	.base = &type_int };
static struct type type_text = { .kind = TYPE_ARRAY,
	.size = 4,
	.nelems = 4,
	.base = &type_char };
static struct type type_pair = { .kind = TYPE_ARRAY,
	.size = 8,
	.nelems = 2,
	.base = &type_int };
static struct type type_ptr = { .kind = TYPE_POINTER,
	.size = 8,
	.base = &type_int };
static struct type type_float = { .kind = TYPE_FLOAT,
	.name = "double",
	.size = 8 };
static struct type_enumerator colors[] = { { "RED", 1 }, { "BLUE", -2 } };
static struct type type_color = { .kind = TYPE_ENUM,
	.name = "color",
	.size = 4,
	.is_signed = true,
	.enumerators = colors,
	.nenumerators = 2 };
static struct type_member inner_members[] = {
	{ .name = "low", .type = &type_int, .bit_size = 3 },
	{ .name = "high", .type = &type_int, .bit_offset = 3, .bit_size = 5 },
};
static struct type type_inner = { .kind = TYPE_STRUCT,
	.name = "bits",
	.size = 4,
	.members = inner_members,
	.nmembers = 2 };
static struct type_member outer_members[] = {
	{ .name = "n", .type = &type_int32 },
	{ .name = "tag", .type = &type_text, .offset = 4 },
	{ .name = "xy", .type = &type_pair, .offset = 8 },
	{ .name = "b", .type = &type_inner, .offset = 16 },
	{ .name = "c", .type = &type_color, .offset = 20 },
	{ .name = "p", .type = &type_ptr, .offset = 24 },
	{ .name = "d", .type = &type_float, .offset = 32 },
};
static struct type type_outer = { .kind = TYPE_STRUCT,
	.name = "thing",
	.size = 40,
	.members = outer_members,
	.nmembers = 7 };

static void
fire_typed(const struct type *t, const void *v, uint32_t size)
{
	struct prog_clause *c = fx_clause(f);
	struct prog_stmt *st = fx_stmt(f, c, ACT_PRINT);

	fx_rec(c, st, REC_BYTES, size, false);
	st->recs[0].type = t;
	fx_fire(f, fx_ecb(f, fx_begin(f), c), v, size);
}

/* Of data of its own a record shows no address. */
START_TEST(print_scalars)
{
	option_parse(&f->opts, "quiet", false);
	fire_typed(&type_int32, &(int){ 5 }, 4);
	fire_typed(&type_int, &(int){ -1 }, 4);
	fire_typed(&type_char, "x", 1);
	fire_typed(&type_char, "", 1);
	fire_typed(&type_char, "\033", 1);
	fire_typed(&type_color, &(int){ -2 }, 4);
	fire_typed(&type_color, &(int){ 9 }, 4);
	fire_typed(&type_ptr, &(uint64_t){ 0x1234 }, 8);
	fire_typed(&type_float, &(double){ 0.5 }, 8);
	fx_expect(f,
	    "(int32_t)5\n"
	    "(int)-1\n"
	    "(char)'x'\n"
	    "(char)0\n"
	    "(char)27\n"
	    "(enum color)BLUE\n"
	    "(enum color)9\n"
	    "(int *)0x1234\n"
	    "(double)0.5\n");
}
END_TEST

#define INDENT "                                            "

START_TEST(print_arrays)
{
	option_parse(&f->opts, "quiet", false);
	fire_typed(&type_text, "ab\0x", 4);
	fire_typed(&type_pair, &(int[]){ 0, 3 }, 8);
	fire_typed(&type_pair, &(int[]){ 1, 3 }, 7);
	fx_expect(f,
	    "(char [4]) [\n" INDENT " (char)'a',\n" INDENT
	    " (char)'b',\n" INDENT "]\n"
	    "(int [2]) [\n" INDENT " (int)0,\n" INDENT " (int)3,\n" INDENT "]\n"
	    "(int [2]) [\n" INDENT " (int)1,\n" INDENT " ...\n" INDENT "]\n");
}
END_TEST

static const uint8_t outer[40] = { 7, 0, 0, 0, 'a', 'b', 'c', 0, 1, 0, 0, 0, 2,
	0, 0, 0, 0x2b, 0, 0, 0, 1 };

START_TEST(print_structs)
{
	uint8_t v[40];

	memcpy(v, outer, sizeof(v));
	memcpy(v + 32, &(double){ 2 }, 8);
	option_parse(&f->opts, "quiet", false);
	fire_typed(&type_outer, v, 40);
	/* What is 0 is left out, all of it. */
	memset(v, 0, 40);
	v[24] = 9;
	fire_typed(&type_outer, v, 40);
	fx_expect(f,
	    "(struct thing) {\n" INDENT " .n = (int32_t)7,\n" INDENT
	    " .tag = (char [4]) [\n" INDENT "  (char)'a',\n" INDENT
	    "  (char)'b',\n" INDENT "  (char)'c',\n" INDENT " ],\n" INDENT
	    " .xy = (int [2]) [\n" INDENT "  (int)1,\n" INDENT
	    "  (int)2,\n" INDENT " ],\n" INDENT " .b = (struct bits) {\n" INDENT
	    "  .low = (int)3,\n" INDENT "  .high = (int)5,\n" INDENT
	    " },\n" INDENT " .c = (enum color)RED,\n" INDENT
	    " .d = (double)2,\n" INDENT "}\n"
	    "(struct thing) {\n" INDENT " .p = (int *)0x9,\n" INDENT "}\n");
}
END_TEST

START_TEST(print_what_there_is)
{
	option_parse(&f->opts, "quiet", false);
	/* Recorded up to the middle of `tag'; nothing; and `printsize'. */
	fire_typed(&type_outer, outer, 6);
	fire_typed(&type_outer, outer, 3);
	fx_consume(f);
	option_parse(&f->opts, "printsize=20", false);
	fire_typed(&type_outer, outer, 40);
	fx_expect(f,
	    "(struct thing) {\n" INDENT " .n = (int32_t)7,\n" INDENT
	    " .tag = (char [4]) [\n" INDENT "  (char)'a',\n" INDENT
	    "  (char)'b',\n" INDENT " ],\n" INDENT " ...\n" INDENT "}\n"
	    "(struct thing) {\n" INDENT " ...\n" INDENT "}\n"
	    "(struct thing) {\n" INDENT " .n = (int32_t)7,\n" INDENT
	    " .tag = (char [4]) [\n" INDENT "  (char)'a',\n" INDENT
	    "  (char)'b',\n" INDENT "  (char)'c',\n" INDENT " ],\n" INDENT
	    " .xy = (int [2]) [\n" INDENT "  (int)1,\n" INDENT
	    "  (int)2,\n" INDENT " ],\n" INDENT " .b = (struct bits) {\n" INDENT
	    "  .low = (int)3,\n" INDENT "  .high = (int)5,\n" INDENT
	    " ...\n" INDENT " },\n" INDENT "}\n");
}
END_TEST

/* Of damaged debug information: each holds the next one twice, in one place. */
START_TEST(print_structs_that_breed)
{
	static struct type_member m[30][2];
	static struct type nested[30];
	struct type *t = &type_int;

	for (int i = 0; i < 30; i++) {
		m[i][0] = m[i][1] =
		    (struct type_member){ .name = "m", .type = t };
		t = &nested[i];
		*t = (struct type){ .kind = TYPE_STRUCT,
			.name = "s",
			.size = 4,
			.members = m[i],
			.nmembers = 2 };
	}
	fire_typed(t, &(int){ 5 }, 4);
	ck_assert_int_eq(consume_records(fx_consume(f)), 0);
	/* 64 times for each of 4 bytes and a few. */
	ck_assert_uint_lt(strlen(fx_out(f)), 1000000);
}
END_TEST

FX_MAIN("print", setup, teardown, integers_in_columns, integers_when_quiet,
    strings, strings_when_quiet, bytes_that_are_no_text,
    tracemem_dumps_rows_of_sixteen, rawbytes_dumps_values, stacks,
    stacks_of_a_space_unknown, stacks_in_one_line, stacks_with_lines, symbols,
    print_scalars, print_arrays, print_structs, print_what_there_is,
    print_structs_that_breed)
