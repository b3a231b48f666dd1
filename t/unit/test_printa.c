/*
 * tracer/consume/printa, aggs: aggregations merged, ordered and printed.
 */
#include "t/unit/consume_fixture.h"
#include "tracer/consume/consume_impl.h"

#define PAD10 "          "

static struct fx *f;

static void
setup(void)
{
	f = fx_create(2);
	option_parse(&f->opts, "quiet", false);
	/* The program's aggregations exist before the consumer. */
}

static void
teardown(void)
{
	fx_destroy(f);
}

static struct prog_agg *
named(const char *name, enum dif_agg func)
{
	struct prog_agg *a = fx_agg(f, name, func, 0);

	fx_key(a, REC_STRING, 16, false);
	return a;
}

/* A clause that carries out one aggregation action, fired now. */
static struct prog_stmt *
act(enum dif_act kind, const struct prog_agg *a, const struct prog_agg *b,
    const char *fmt)
{
	struct prog_clause *c = fx_clause(f);
	struct prog_stmt *st = fx_stmt(f, c, kind);

	st->aggs[st->naggs++] = a->id;
	if (b != NULL)
		st->aggs[st->naggs++] = b->id;
	if (fmt != NULL)
		st->fmt = fx_fmt(f, fmt);
	fx_fire(f, fx_ecb(f, fx_begin(f), c), NULL, 0);
	return st;
}

static void
act_arg(enum dif_act kind, const struct prog_agg *a, int64_t arg)
{
	struct prog_clause *c = fx_clause(f);
	struct prog_stmt *st = fx_stmt(f, c, kind);

	st->aggs[st->naggs++] = a->id;
	st->has_arg = true;
	fx_rec(c, st, REC_INT, 8, true);
	fx_fire(f, fx_ecb(f, fx_begin(f), c), &arg, 8);
}

static void
finish(void)
{
	ck_assert_int_eq(consume_finish(fx_consume(f)), 0);
}

START_TEST(report_at_the_end)
{
	struct prog_agg *a = named("a", AGG_COUNT);

	fx_put_named(f, a, "cat", 3);
	finish();
	ck_assert_str_eq(fx_out(f),
	    "\n  cat                                              "
	    "                 3\n");
}
END_TEST

START_TEST(report_of_nothing_is_a_newline)
{
	named("a", AGG_COUNT);
	finish();
	ck_assert_str_eq(fx_out(f), "\n");
}
END_TEST

START_TEST(keys_by_kind)
{
	struct prog_agg *a = fx_agg(f, "a", AGG_SUM, 0);
	struct {
		int64_t i8;
		int32_t i4, pad4;
		int16_t i2, pad2[3];
		int8_t i1, pad1[7];
		struct rec_sym sym;
	} key = { -8, -4, 0, -2, { 0 }, -1, { 0 }, { 1, 7, 0x1210 } };

	fx_key(a, REC_INT, 8, true);
	fx_key(a, REC_INT, 4, true);
	fx_key(a, REC_INT, 2, true);
	fx_key(a, REC_INT, 1, true);
	fx_key(a, REC_USYM, 16, false);
	ck_assert_uint_eq(a->key_size, sizeof(key));
	fx_put(f, 0, a, &key, &(uint64_t){ (uint64_t)-5 });
	finish();
	ck_assert_str_eq(fx_out(f),
	    "\n               -8       -4 65534 255"
	    "  a.out`f2                                          "
	    "               -5\n");
}
END_TEST

START_TEST(stack_keys_take_lines)
{
	struct prog_agg *a = fx_agg(f, "a", AGG_COUNT, 0);
	uint64_t key[4] = { 0, 0x1110, 0x1200, 0 };
	struct rec_stack head = { .pid = 1, .space = 7 };

	memcpy(key, &head, sizeof(head));
	fx_key(a, REC_STACK, sizeof(key), false);
	fx_put(f, 0, a, key, &(uint64_t){ 2 });
	finish();
	ck_assert_str_eq(fx_out(f),
	    "\n\n"
	    "              a.out`f1+0x10\n"
	    "              a.out`f2\n"
	    "                2\n");
}
END_TEST

/* A number, a stack and a text. */
static struct prog_agg *
stack_between(void)
{
	struct prog_agg *a = fx_agg(f, "a", AGG_COUNT, 0);
	uint64_t key[6] = { 5, 0, 0x1110, 0x1200, 0, 0 };
	struct rec_stack head = { .pid = 1, .space = 7 };

	memcpy(key + 1, &head, sizeof(head));
	memcpy(key + 5, "x y", 4);
	fx_key(a, REC_INT, 8, true);
	fx_key(a, REC_STACK, 32, false);
	fx_key(a, REC_STRING, 8, false);
	fx_put(f, 0, a, key, &(uint64_t){ 2 });
	option_parse(&f->opts, "stackformat=folded", false);
	return a;
}

START_TEST(folded_stacks_come_first)
{
	stack_between();
	finish();
	ck_assert_str_eq(fx_out(f), "\na.out`f2;a.out`f1 5 x y 2\n");
}
END_TEST

START_TEST(folded_stacks_in_a_format)
{
	act(ACT_PRINTA, stack_between(), NULL, "%d<%k>%s=%@d\n");
	finish();
	ck_assert_str_eq(fx_out(f), "5<a.out`f2;a.out`f1>x y=2\n\n");
}
END_TEST

START_TEST(keys_that_are_no_text_are_dumped)
{
	struct prog_agg *a = fx_agg(f, "a", AGG_COUNT, 0);

	fx_key(a, REC_BYTES, 2, false);
	fx_put(f, 0, a, "\001\002\0\0\0\0\0", &(uint64_t){ 2 });
	finish();
	ck_assert_str_eq(fx_out(f),
	    "\n\n             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f"
	    "  0123456789abcdef\n"
	    "         0: 01 02                                            "
	    "..\n"
	    "                2\n");
}
END_TEST

START_TEST(values_of_each_function)
{
	struct prog_agg *a;

	a = fx_agg(f, "count", AGG_COUNT, 0);
	fx_put(f, 0, a, "", (uint64_t[]){ 12 });
	a = fx_agg(f, "sum", AGG_SUM, 0);
	fx_put(f, 0, a, "", (uint64_t[]){ (uint64_t)-12 });
	a = fx_agg(f, "min", AGG_MIN, 0);
	fx_put(f, 0, a, "", (uint64_t[]){ (uint64_t)-3 });
	a = fx_agg(f, "max", AGG_MAX, 0);
	fx_put(f, 0, a, "", (uint64_t[]){ 3 });
	a = fx_agg(f, "avg", AGG_AVG, 0);
	fx_put(f, 0, a, "", (uint64_t[]){ 3, (uint64_t)-11 });
	/* 2, 4, 4, 4, 5, 5, 7, 9: mean 5, deviation 2 */
	a = fx_agg(f, "stddev", AGG_STDDEV, 0);
	fx_put(f, 0, a, "", (uint64_t[]){ 8, 40, 232, 0 });
	/* 2^62 and -2^62: the squares need 128 bits */
	a = fx_agg(f, "wide", AGG_STDDEV, 0);
	fx_put(f, 0, a, "", (uint64_t[]){ 2, 0, 0, 1ULL << 61 });
	finish();
	ck_assert_str_eq(fx_out(f),
	    "\n"
	    "               12\n"
	    "              -12\n"
	    "               -3\n"
	    "                3\n"
	    "               -3\n"
	    "                2\n"
	    " 4611686018427387904\n");
}
END_TEST

START_TEST(values_that_make_no_sense)
{
	struct prog_agg *a = fx_agg(f, "avg", AGG_AVG, 0);
	struct prog_agg *b = fx_agg(f, "stddev", AGG_STDDEV, 0);

	fx_put(f, 0, a, "", (uint64_t[]){ (uint64_t)-1, 1ULL << 63 });
	fx_put(f, 0, b, "", (uint64_t[]){ (uint64_t)-1, 1ULL << 63, 1, 1 });
	finish();
	ck_assert_str_eq(fx_out(f), "\n                0\n                0\n");
}
END_TEST

START_TEST(lanes_and_snapshots_are_merged)
{
	struct prog_agg *a = named("a", AGG_COUNT);
	struct prog_agg *min = named("min", AGG_MIN);
	char key[16] = "cat";

	fx_put(f, 0, a, key, &(uint64_t){ 3 });
	fx_put(f, 1, a, key, &(uint64_t){ 4 });
	fx_put(f, 0, min, key, &(uint64_t){ 9 });
	fx_put(f, 1, min, key, &(uint64_t){ 7 });
	consume_aggs(fx_consume(f));
	consume_aggs(fx_consume(f)); /* the stores are empty now */
	fx_put(f, 0, a, key, &(uint64_t){ 10 });
	finish();
	ck_assert_str_eq(fx_out(f),
	    "\n  cat                                              "
	    "                17\n"
	    "  cat                                              "
	    "                 7\n");
}
END_TEST

START_TEST(symbols_of_one_function_are_one_key)
{
	struct prog_agg *a = fx_agg(f, "a", AGG_COUNT, 0);
	struct prog_agg *m = fx_agg(f, "m", AGG_COUNT, 0);
	struct rec_sym s = { 1, 7, 0x1210 }, t = { 1, 7, 0x1290 },
		       u = { 1, 7, 0x1310 };

	fx_key(a, REC_USYM, sizeof(s), false);
	fx_key(m, REC_UMOD, sizeof(s), false);
	fx_put(f, 0, a, &s, &(uint64_t){ 1 });
	fx_put(f, 0, a, &t, &(uint64_t){ 1 });
	fx_put(f, 0, a, &u, &(uint64_t){ 1 });
	fx_put(f, 0, m, &s, &(uint64_t){ 1 });
	fx_put(f, 0, m, &u, &(uint64_t){ 1 });
	finish();
	ck_assert_str_eq(fx_out(f),
	    "\n"
	    "  a.out`f3                                          "
	    "                1\n"
	    "  a.out`f2                                          "
	    "                2\n"
	    "  a.out                                             "
	    "                2\n");
}
END_TEST

START_TEST(entries_that_make_no_sense_are_left_out)
{
	struct prog_agg *a = named("a", AGG_COUNT);
	struct prog_agg wrong = *a;
	char key[32] = "x";

	wrong.id = 77;
	fx_put(f, 0, &wrong, key, &(uint64_t){ 1 });
	wrong.id = a->id;
	wrong.key_size = 32;
	fx_put(f, 0, &wrong, key, &(uint64_t){ 1 });
	fx_put_named(f, a, "ok", 5);
	finish();
	ck_assert_str_eq(fx_out(f),
	    "\n  ok                                               "
	    "                 5\n");
}
END_TEST

/* ---- order ---- */

static struct prog_agg *
animals(void)
{
	struct prog_agg *a = named("a", AGG_SUM);

	fx_put_named(f, a, "dog", 3);
	fx_put_named(f, a, "ant", 3);
	fx_put_named(f, a, "cow", -1);
	fx_put_named(f, a, "bee", 10);
	return a;
}

static void
expect_order(const char *opt, const char *opt2, const char *text)
{
	struct prog_agg *a = animals();

	if (opt != NULL)
		ck_assert_int_eq(option_parse(&f->opts, opt, false), 0);
	if (opt2 != NULL)
		ck_assert_int_eq(option_parse(&f->opts, opt2, false), 0);
	act(ACT_PRINTA, a, NULL, "%s%@d ");
	fx_expect(f, text);
}

START_TEST(order_by_value_then_key)
{
	expect_order(NULL, NULL, "cow-1 ant3 dog3 bee10 ");
}
END_TEST

START_TEST(order_by_value_reversed)
{
	expect_order("aggsortrev", NULL, "bee10 dog3 ant3 cow-1 ");
}
END_TEST

START_TEST(order_by_key)
{
	expect_order("aggsortkey", NULL, "ant3 bee10 cow-1 dog3 ");
}
END_TEST

START_TEST(order_by_key_reversed)
{
	expect_order("aggsortkey", "aggsortrev", "dog3 cow-1 bee10 ant3 ");
}
END_TEST

/* Addresses by process, then by address, then by address space. */
START_TEST(order_of_addresses)
{
	struct prog_agg *a = fx_agg(f, "a", AGG_COUNT, 0);
	const struct rec_sym keys[] = { { 1, 7, 0x1310 }, { 1, 7, 0x1110 },
		{ 1, 8, 0x1110 }, { 1, 6, 0x1110 }, { 1, 7, 0x1210 } };

	fx_key(a, REC_UADDR, sizeof(keys[0]), false);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		fx_put(f, 0, a, &keys[i], &(uint64_t){ i });
	option_parse(&f->opts, "aggsortkey", false);
	act(ACT_PRINTA, a, NULL, "%@d ");
	fx_expect(f, "3 1 2 4 0 ");
}
END_TEST

START_TEST(order_by_second_key)
{
	struct prog_agg *a = fx_agg(f, "a", AGG_COUNT, 0);

	fx_key(a, REC_INT, 8, true);
	fx_key(a, REC_INT, 8, true);
	fx_put(f, 0, a, (int64_t[]){ 1, 3 }, &(uint64_t){ 1 });
	fx_put(f, 0, a, (int64_t[]){ 2, 2 }, &(uint64_t){ 1 });
	fx_put(f, 0, a, (int64_t[]){ 3, 2 }, &(uint64_t){ 1 });
	fx_put(f, 0, a, (int64_t[]){ -4, 1 }, &(uint64_t){ 1 });
	option_parse(&f->opts, "aggsortkey", false);
	act(ACT_PRINTA, a, NULL, "%d,%d ");
	option_parse(&f->opts, "aggsortkeypos=1", false);
	fx_expect(f, "-4,1 2,2 3,2 1,3 ");
	/* Keys compare as unsigned: -4 is the largest. */
	option_parse(&f->opts, "aggsortkeypos=0", false);
	act(ACT_PRINTA, a, NULL, "%d,%d ");
	fx_expect(f, "-4,1 2,2 3,2 1,3 1,3 2,2 3,2 -4,1 ");
}
END_TEST

START_TEST(order_of_quantizations)
{
	struct prog_agg *a = named("q", AGG_QUANTIZE);
	uint64_t v[QUANTIZE_BUCKETS] = { 0 };
	char key[16] = "eight";

	v[QUANTIZE_ZERO + 4] = 1; /* 8 */
	fx_put(f, 0, a, key, v);
	v[QUANTIZE_ZERO + 4] = 0;
	v[QUANTIZE_ZERO + 2] = 3; /* 3 of 2 */
	strcpy(key, "six");
	fx_put(f, 0, a, key, v);
	memset(v, 0, sizeof(v));
	v[QUANTIZE_ZERO - 1] = 9; /* -1 */
	memset(key, 0, sizeof(key));
	strcpy(key, "minus");
	fx_put(f, 0, a, key, v);
	act(ACT_PRINTA, a, NULL, "%s ");
	fx_expect(f, "minus six eight ");
}
END_TEST

/* ---- several at once ---- */

static void
join(struct prog_agg **a, struct prog_agg **b)
{
	*a = named("a", AGG_COUNT);
	*b = named("b", AGG_AVG);
	fx_put_named(f, *a, "x", 2);
	fx_put_named(f, *a, "y", 1);
	char key[16] = "y";
	fx_put(f, 0, *b, key, (uint64_t[]){ 2, 14 });
	strcpy(key, "z");
	fx_put(f, 0, *b, key, (uint64_t[]){ 1, 3 });
}

START_TEST(joined_by_key)
{
	struct prog_agg *a, *b;

	join(&a, &b);
	act(ACT_PRINTA, a, b, "%s=%@d/%@d;");
	/* z has no count: 0. */
	fx_expect(f, "z=0/3;y=1/7;x=2/0;");
	option_parse(&f->opts, "aggsortpos=1", false);
	act(ACT_PRINTA, a, b, "%s=%@d/%@d/%@d;"); /* the last one again */
	fx_expect(f, "z=0/3;y=1/7;x=2/0;x=2/0/0;z=0/3/3;y=1/7/7;");
}
END_TEST

START_TEST(joined_in_the_default_form)
{
	struct prog_agg *a, *b;

	join(&a, &b);
	act(ACT_PRINTA, a, b, NULL);
	fx_expect(f,
	    "\n"
	    "  z                                                 "
	    "                0                3\n"
	    "  y                                                 "
	    "                1                7\n"
	    "  x                                                 "
	    "                2                0\n");
	/* Both have been printed. */
	size_t len = strlen(fx_out(f));
	finish();
	ck_assert_str_eq(fx_out(f) + len, "\n");
}
END_TEST

/* ---- formats ---- */

START_TEST(formats)
{
	struct prog_agg *a = named("a", AGG_SUM);

	fx_put_named(f, a, "cat", -3);
	act(ACT_PRINTA, a, NULL, "%-5s|%@5d|%-@5d|%@05d|%@\n");
	act(ACT_PRINTA, a, NULL, "%@x %@u %5.2s\n");
	fx_expect(f,
	    "cat  |   -3|-3   |-0003|-3\n"
	    "fffffffffffffffd 18446744073709551613    ca\n");
}
END_TEST

START_TEST(format_of_a_histogram)
{
	struct prog_agg *a = named("q", AGG_QUANTIZE);
	uint64_t v[QUANTIZE_BUCKETS] = { 0 };
	char key[16] = "cat";

	v[QUANTIZE_ZERO + 1] = 4;
	fx_put(f, 0, a, key, v);
	act(ACT_PRINTA, a, NULL, "<%s>%@d<end>");
#define ROWS                                                            \
	"\n           value  ------------- Distribution ------------- " \
	"count    \n"                                                   \
	"               0 |" PAD10 PAD10 PAD10 PAD10 " 0        \n"     \
	"               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@"    \
	" 4        \n"                                                  \
	"               2 |" PAD10 PAD10 PAD10 PAD10 " 0        \n"
	fx_expect(f, "<cat>" ROWS "<end>");
	act(ACT_PRINTA, a, NULL, NULL);
	fx_expect(f,
	    "<cat>" ROWS "<end>"
	    "\n  cat                                               " ROWS "\n");
}
END_TEST

/* ---- clear, trunc, normalize ---- */

START_TEST(clear_keeps_keys)
{
	struct prog_agg *a = named("a", AGG_COUNT);
	struct prog_agg *m = named("m", AGG_MIN);

	fx_put_named(f, a, "cat", 3);
	fx_put_named(f, m, "cat", 3);
	act(ACT_CLEAR, a, NULL, NULL);
	act(ACT_CLEAR, m, NULL, NULL);
	act(ACT_PRINTA, a, NULL, "%s %@d\n");
	act(ACT_PRINTA, m, NULL, "%s %@d\n");
	fx_expect(f, "cat 0\ncat 0\n");
	/* And what comes after counts from there. */
	fx_put_named(f, a, "cat", 2);
	fx_put_named(f, m, "cat", 5);
	act(ACT_PRINTA, a, m, "%s %@d %@d\n");
	fx_expect(f, "cat 0\ncat 0\ncat 2 5\n");
}
END_TEST

START_TEST(clear_shows_the_empty_histogram)
{
	struct prog_agg *a = fx_agg(f, "q", AGG_QUANTIZE, 0);
	uint64_t v[QUANTIZE_BUCKETS] = { [QUANTIZE_ZERO + 5] = 1 };

	fx_put(f, 0, a, "", v);
	act(ACT_CLEAR, a, NULL, NULL);
	act(ACT_PRINTA, a, NULL, "%@d");
	fx_expect(f,
	    "\n           value  ------------- Distribution ------------- "
	    "count    \n"
	    "              -1 |" PAD10 PAD10 PAD10 PAD10 " 0        \n"
	    "               0 |" PAD10 PAD10 PAD10 PAD10 " 0        \n"
	    "               1 |" PAD10 PAD10 PAD10 PAD10 " 0        \n");
}
END_TEST

START_TEST(trunc_removes)
{
	struct prog_agg *a = animals();

	act_arg(ACT_TRUNC, a, 3);
	act(ACT_PRINTA, a, NULL, "%s%@d ");
	act_arg(ACT_TRUNC, a, -2);
	act(ACT_PRINTA, a, NULL, "%s%@d ");
	act_arg(ACT_TRUNC, a, 100);
	act(ACT_PRINTA, a, NULL, "%s%@d ");
	act(ACT_TRUNC, a, NULL, NULL);
	act(ACT_PRINTA, a, NULL, "%s%@d ");
	fx_expect(f, "ant3 dog3 bee10 ant3 dog3 ant3 dog3 ");
	/* Removed is removed: it begins again at nothing. */
	fx_put_named(f, a, "ant", 1);
	act(ACT_PRINTA, a, NULL, "%s%@d ");
	fx_expect(f, "ant3 dog3 bee10 ant3 dog3 ant3 dog3 ant1 ");
	/* So is the room that it took. */
	ck_assert_uint_gt(f->c->aggs.used, 0);
	act(ACT_TRUNC, a, NULL, NULL);
	fx_expect(f, "ant3 dog3 bee10 ant3 dog3 ant3 dog3 ant1 ");
	ck_assert_uint_eq(f->c->aggs.used, 0);
}
END_TEST

START_TEST(trunc_ignores_the_order_options)
{
	struct prog_agg *a = animals();

	option_parse(&f->opts, "aggsortkey", false);
	option_parse(&f->opts, "aggsortrev", false);
	act_arg(ACT_TRUNC, a, 1);
	act(ACT_PRINTA, a, NULL, "%s%@d ");
	fx_expect(f, "bee10 ");
}
END_TEST

START_TEST(normalize_divides_what_is_shown)
{
	struct prog_agg *a = named("a", AGG_SUM);
	struct prog_agg *v = named("v", AGG_AVG);

	fx_put_named(f, a, "p", 19);
	fx_put_named(f, a, "q", 11);
	fx_put(
	    f, 0, v, "p\0\0\0\0\0\0\0\0\0\0\0\0\0\0", (uint64_t[]){ 2, 100 });
	act_arg(ACT_NORMALIZE, a, 10);
	act_arg(ACT_NORMALIZE, v, 5);
	act(ACT_PRINTA, a, NULL, "%s%@d ");
	act(ACT_PRINTA, v, NULL, "%s%@d ");
	act_arg(ACT_NORMALIZE, a, 2); /* instead, not on top */
	act(ACT_PRINTA, a, NULL, "%s%@d ");
	act(ACT_DENORMALIZE, a, NULL, NULL);
	act(ACT_PRINTA, a, NULL, "%s%@d ");
	/* Ordered by what they are: q before p. */
	fx_expect(f, "q1 p1 p10 q5 p9 q11 p19 ");
	act_arg(ACT_NORMALIZE, a, 0);
	fx_expect(f, "q1 p1 p10 q5 p9 q11 p19 ");
	ck_assert_ptr_nonnull(strstr(fx_err(f), "couldn't normalize() by 0\n"));
}
END_TEST

/* ---- agghist, aggpack ---- */

START_TEST(agghist_draws_counts)
{
	struct prog_agg *a = named("a", AGG_COUNT);

	fx_put_named(f, a, "cat", 1);
	fx_put_named(f, a, "dog", 3);
	option_parse(&f->opts, "agghist", false);
	finish();
	ck_assert_str_eq(fx_out(f),
	    "\n"
	    "\n             key  ------------- Distribution ------------- "
	    "count    \n"
	    "             cat |@@@@@@@@@@" PAD10 PAD10 PAD10 " 1        \n"
	    "             dog |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@" PAD10
	    " 3        \n");
}
END_TEST

START_TEST(aggpack_takes_one_line)
{
	struct prog_agg *a = named("q", AGG_QUANTIZE);
	uint64_t v[QUANTIZE_BUCKETS] = { [QUANTIZE_ZERO + 1] = 1,
		[QUANTIZE_ZERO + 2] = 1 };
	char key[16] = "cat";

	fx_put(f, 0, a, key, v);
	option_parse(&f->opts, "aggpack", false);
	option_parse(&f->opts, "encoding=ascii", false);
	finish();
	ck_assert_str_eq(fx_out(f),
	    "\n"
	    "\n             key  min .--. max | count\n"
	    "             cat    1 :xx: 2   | 2\n");
}
END_TEST

/* What a processor added, merged from both lanes, below the line of all. */
START_TEST(processors_below_their_line)
{
	struct prog_agg *a = fx_agg(f, "a", AGG_MIN, 0);
	struct prog_agg *b = fx_agg(f, "b", AGG_SUM, 0);
	struct img_agg min = { a->id, AGG_MIN, 0, a->words, 0 };
	struct img_agg sum = { b->id, AGG_SUM, 0, b->words, 0 };
	const struct lane_view l0 = fx_lane(f, 0), l1 = fx_lane(f, 1);

	agg_update(&l0, &min, "", 3, 9, 1, AGG_NO_PIN);
	agg_update(&l1, &min, "", 3, 5, 1, AGG_NO_PIN);
	agg_update(&l1, &min, "", 1, 8, 1, AGG_NO_PIN);
	agg_update(&l0, &sum, "", 2, 40, 1, AGG_NO_PIN);
	act(ACT_PRINTA, a, b, NULL);
	act(ACT_CLEAR, b, NULL, NULL);
	act(ACT_PRINTA, b, NULL, NULL);
	option_parse(&f->opts, "quiet", false);
	finish();
	ck_assert_str_eq(fx_out(f),
	    "\n                5               40\n"
	    "    [CPU 0]                8\n"
	    "    [CPU 2]                5\n"
	    "    [CPU 1]               40\n"
	    "\n                0\n"
	    "    [CPU 1]                0\n"
	    "\n");
}
END_TEST

FX_MAIN("printa", setup, teardown, report_at_the_end,
    report_of_nothing_is_a_newline, keys_by_kind, stack_keys_take_lines,
    folded_stacks_come_first, folded_stacks_in_a_format,
    keys_that_are_no_text_are_dumped, values_of_each_function,
    values_that_make_no_sense, lanes_and_snapshots_are_merged,
    symbols_of_one_function_are_one_key,
    entries_that_make_no_sense_are_left_out, order_by_value_then_key,
    order_by_value_reversed, order_by_key, order_by_key_reversed,
    order_of_addresses, order_by_second_key, order_of_quantizations,
    joined_by_key, joined_in_the_default_form, formats, format_of_a_histogram,
    clear_keeps_keys, clear_shows_the_empty_histogram, trunc_removes,
    trunc_ignores_the_order_options, normalize_divides_what_is_shown,
    agghist_draws_counts, aggpack_takes_one_line, processors_below_their_line)
