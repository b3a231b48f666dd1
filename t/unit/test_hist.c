/*
 * tracer/consume/hist: histograms as text.
 *
 * What is expected is written out by the rules of the output format: a label
 * of 16 columns, a bar of 40, a count of 9.
 */
#include "t/unit/consume_fixture.h"
#include "tracer/consume/consume_impl.h"

#define HEAD \
	"\n           value  ------------- Distribution ------------- count    \n"
#define B10 "@@@@@@@@@@"
#define S10 "          "

static struct hist_style plain;

static struct prog_agg
agg(enum dif_agg func, uint64_t param)
{
	return (struct prog_agg){ .name = "a",
		.id = 1,
		.func = func,
		.param = param,
		.words = agg_words(func, param) };
}

static void
expect(const struct prog_agg *def, const uint64_t *value, uint64_t normal,
    const struct hist_style *style, const char *text)
{
	struct str s = { 0 };

	hist_print(&s, def, value, normal, style);
	ck_assert_str_eq(str_c(&s), text);
	str_fini(&s);
}

START_TEST(quantize_of_1_2_2_9)
{
	struct prog_agg a = agg(AGG_QUANTIZE, 0);
	uint64_t v[QUANTIZE_BUCKETS] = { 0 };

	v[QUANTIZE_ZERO + 1] = 1; /* 1 */
	v[QUANTIZE_ZERO + 2] = 2; /* 2 .. 3 */
	v[QUANTIZE_ZERO + 4] = 1; /* 8 .. 15 */
	expect(&a, v, 1, &plain,
	    HEAD "               0 |" S10 S10 S10 S10 " 0        \n"
		 "               1 |" B10 S10 S10 S10 " 1        \n"
		 "               2 |" B10 B10 S10 S10 " 2        \n"
		 "               4 |" S10 S10 S10 S10 " 0        \n"
		 "               8 |" B10 S10 S10 S10 " 1        \n"
		 "              16 |" S10 S10 S10 S10 " 0        \n");
}
END_TEST

START_TEST(quantize_of_nothing)
{
	struct prog_agg a = agg(AGG_QUANTIZE, 0);
	uint64_t v[QUANTIZE_BUCKETS] = { 0 };

	expect(&a, v, 1, &plain,
	    HEAD "              -1 |" S10 S10 S10 S10 " 0        \n"
		 "               0 |" S10 S10 S10 S10 " 0        \n"
		 "               1 |" S10 S10 S10 S10 " 0        \n");
}
END_TEST

START_TEST(quantize_at_the_ends)
{
	struct prog_agg a = agg(AGG_QUANTIZE, 0);
	uint64_t v[QUANTIZE_BUCKETS] = { 0 };
	struct str s = { 0 };

	v[0] = 3;
	v[QUANTIZE_BUCKETS - 1] = 1;
	hist_print(&s, &a, v, 1, &plain);
	/* From the first to the last, no more. */
	ck_assert_ptr_nonnull(strstr(str_c(&s),
	    "count    \n-4611686018427387904 |" B10 B10 B10 S10 " 3"));
	ck_assert_ptr_nonnull(strstr(str_c(&s),
	    "\n4611686018427387904 |" B10 S10 S10 S10 " 1        \n"));
	ck_assert_str_eq(str_c(&s) + s.len - 11, " 1        \n");
	str_fini(&s);
}
END_TEST

START_TEST(negative_counts)
{
	struct prog_agg a = agg(AGG_QUANTIZE, 0);
	uint64_t v[QUANTIZE_BUCKETS] = { 0 };

	v[QUANTIZE_ZERO] = (uint64_t)-3;
	v[QUANTIZE_ZERO + 1] = (uint64_t)-1;
	expect(&a, v, 1, &plain,
	    HEAD "              -1 " S10 S10 S10 S10 "| 0        \n"
		 "               0 " S10 B10 B10 B10 "| -3       \n"
		 "               1 " S10 S10 S10 B10 "| -1       \n"
		 "               2 " S10 S10 S10 S10 "| 0        \n");

	/* Both: twenty columns each side. */
	v[QUANTIZE_ZERO] = 3;
	expect(&a, v, 1, &plain,
	    HEAD "              -1 " S10 S10 "|" S10 S10 " 0        \n"
		 "               0 " S10 S10 "|" B10 "@@@@@     "
		 " 3        \n"
		 "               1 " S10 "     @@@@@"
		 "|" S10 S10 " -1       \n"
		 "               2 " S10 S10 "|" S10 S10 " 0        \n");
}
END_TEST

START_TEST(bars_are_rounded)
{
	struct prog_agg a = agg(AGG_QUANTIZE, 0);
	uint64_t v[QUANTIZE_BUCKETS] = { 0 };

	/* 40 * 1 / 3 = 13.3, 40 * 2 / 3 = 26.7 */
	v[QUANTIZE_ZERO] = 1;
	v[QUANTIZE_ZERO + 1] = 2;
	expect(&a, v, 1, &plain,
	    HEAD "              -1 |" S10 S10 S10 S10 " 0        \n"
		 "               0 |" B10 "@@@       " S10 S10 " 1        \n"
		 "               1 |" B10 B10 "@@@@@@@   " S10 " 2        \n"
		 "               2 |" S10 S10 S10 S10 " 0        \n");
}
END_TEST

START_TEST(normalized_counts_keep_their_bars)
{
	struct prog_agg a = agg(AGG_QUANTIZE, 0);
	uint64_t v[QUANTIZE_BUCKETS] = { 0 };

	v[QUANTIZE_ZERO + 1] = 19;
	expect(&a, v, 10, &plain,
	    HEAD "               0 |" S10 S10 S10 S10 " 0        \n"
		 "               1 |" B10 B10 B10 B10 " 1        \n"
		 "               2 |" S10 S10 S10 S10 " 0        \n");
}
END_TEST

START_TEST(zoom)
{
	struct prog_agg a = agg(AGG_QUANTIZE, 0);
	struct hist_style style = { .zoom = true };
	uint64_t v[QUANTIZE_BUCKETS] = { 0 };

	/* The largest takes 0.95 of 40. */
	v[QUANTIZE_ZERO + 1] = 10;
	v[QUANTIZE_ZERO + 2] = 5;
	expect(&a, v, 1, &style,
	    HEAD "               0 |" S10 S10 S10 S10 " 0        \n"
		 "               1 |" B10 B10 B10 "@@@@@@@@  "
		 " 10       \n"
		 "               2 |" B10 "@@@@@@@@@ " S10 S10 " 5        \n"
		 "               4 |" S10 S10 S10 S10 " 0        \n");
}
END_TEST

START_TEST(utf8_bars)
{
	struct prog_agg a = agg(AGG_QUANTIZE, 0);
	struct hist_style style = { .utf8 = true };
	uint64_t v[QUANTIZE_BUCKETS] = { 0 };

	/* 40 * 1 / 16 = 2 and 4 eighths; 40 * 15 / 16 = 37 and 4 eighths. */
	v[QUANTIZE_ZERO + 1] = 1;
	v[QUANTIZE_ZERO + 2] = 15;
#define U5 "\u2588\u2588\u2588\u2588\u2588"
	expect(&a, v, 1, &style,
	    HEAD "               0 |" S10 S10 S10 S10 " 0        \n"
		 "               1 |\u2588\u2588\u258c       " S10 S10 S10
		 " 1        \n"
		 "               2 |" U5 U5 U5 U5 U5 U5 U5
		 "\u2588\u2588\u258c  "
		 " 15       \n"
		 "               4 |" S10 S10 S10 S10 " 0        \n");
}
END_TEST

START_TEST(lquantize)
{
	/* 0 .. 30 in steps of 10 */
	struct prog_agg a = agg(AGG_LQUANTIZE, LQUANTIZE_ENCODE(0, 3, 10));
	uint64_t v[6] = { a.param, 1, 0, 2, 0, 1 };

	ck_assert_uint_eq(a.words, 6);
	expect(&a, v, 1, &plain,
	    HEAD "             < 0 |" B10 S10 S10 S10 " 1        \n"
		 "               0 |" S10 S10 S10 S10 " 0        \n"
		 "              10 |" B10 B10 S10 S10 " 2        \n"
		 "              20 |" S10 S10 S10 S10 " 0        \n"
		 "           >= 30 |" B10 S10 S10 S10 " 1        \n");

	uint64_t none[6] = { a.param };
	expect(&a, none, 1, &plain,
	    HEAD "             < 0 |" S10 S10 S10 S10 " 0        \n"
		 "               0 |" S10 S10 S10 S10 " 0        \n"
		 "              10 |" S10 S10 S10 S10 " 0        \n");
}
END_TEST

START_TEST(lquantize_below_zero)
{
	struct prog_agg a = agg(AGG_LQUANTIZE, LQUANTIZE_ENCODE(-20, 4, 10));
	uint64_t v[7] = { a.param, 0, 0, 5 };

	expect(&a, v, 1, &plain,
	    HEAD "             -20 |" S10 S10 S10 S10 " 0        \n"
		 "             -10 |" B10 B10 B10 B10 " 5        \n"
		 "               0 |" S10 S10 S10 S10 " 0        \n");
}
END_TEST

START_TEST(llquantize)
{
	/* factor 10, 10^0 .. 10^1, 10 steps: nine bins an order, bins 1 to 9
	 * and 10 to 90, and the same below 0. */
	struct prog_agg a =
	    agg(AGG_LLQUANTIZE, LLQUANTIZE_ENCODE(10, 0, 1, 10));
	uint64_t v[1 + 2 * 18 + 3] = { a.param };
	uint64_t *bin = v + 1, middle = 19;

	ck_assert_uint_eq(a.words, ARRAY_SIZE(v));
	bin[middle + 9] = 1;  /* 9 */
	bin[middle + 11] = 3; /* 20 .. 29 */
	expect(&a, v, 1, &plain,
	    HEAD "               8 |" S10 S10 S10 S10 " 0        \n"
		 "               9 |" B10 S10 S10 S10 " 1        \n"
		 "              10 |" S10 S10 S10 S10 " 0        \n"
		 "              20 |" B10 B10 B10 S10 " 3        \n"
		 "              30 |" S10 S10 S10 S10 " 0        \n");

	memset(v + 1, 0, sizeof(v) - 8);
	bin[0] = 1;
	bin[middle * 2] = 1;
	struct str s = { 0 };
	hist_print(&s, &a, v, 1, &plain);
	ck_assert_ptr_nonnull(
	    strstr(str_c(&s), "count    \n         <= -100 |"));
	ck_assert_ptr_nonnull(strstr(str_c(&s), "\n             -90 |"));
	ck_assert_ptr_nonnull(strstr(str_c(&s),
	    "\n              -1 |" S10 S10 S10 S10
	    " 0        \n               0 |"));
	ck_assert_ptr_nonnull(strstr(str_c(&s), "\n          >= 100 |"));
	str_fini(&s);

	memset(v + 1, 0, sizeof(v) - 8);
	expect(&a, v, 1, &plain,
	    HEAD "               0 |" S10 S10 S10 S10 " 0        \n"
		 "               1 |" S10 S10 S10 S10 " 0        \n"
		 "               2 |" S10 S10 S10 S10 " 0        \n");
}
END_TEST

START_TEST(llquantize_middle_and_holes)
{
	/* factor 10, from 10^2: the middle is all below 100. */
	struct prog_agg a =
	    agg(AGG_LLQUANTIZE, LLQUANTIZE_ENCODE(10, 2, 2, 10));
	uint64_t v[1 + 2 * 9 + 3] = { a.param };

	v[1 + 11] = 4;
	expect(&a, v, 1, &plain,
	    HEAD "           < 100 |" S10 S10 S10 S10 " 0        \n"
		 "             100 |" B10 B10 B10 B10 " 4        \n"
		 "             200 |" S10 S10 S10 S10 " 0        \n");
	v[1 + 11] = 0;
	v[1 + 10] = 4;
	expect(&a, v, 1, &plain,
	    HEAD "            -100 |" S10 S10 S10 S10 " 0        \n"
		 "     abs() < 100 |" B10 B10 B10 B10 " 4        \n"
		 "             100 |" S10 S10 S10 S10 " 0        \n");
	v[1 + 9] = 4;
	expect(&a, v, 1, &plain,
	    HEAD "            -200 |" S10 S10 S10 S10 " 0        \n"
		 "            -100 |" B10 B10 S10 S10 " 4        \n"
		 "     abs() < 100 |" B10 B10 S10 S10 " 4        \n"
		 "             100 |" S10 S10 S10 S10 " 0        \n");

	/* factor 2, steps 4: 1 .. 2 in halves; no integer is 1.5. */
	a = agg(AGG_LLQUANTIZE, LLQUANTIZE_ENCODE(2, 0, 1, 4));
	uint64_t h[1 + 2 * 4 + 3] = { a.param };
	ck_assert_uint_eq(a.words, ARRAY_SIZE(h));
	h[1 + 5 + 1] = 1; /* 1 */
	h[1 + 5 + 4] = 1; /* 3 */
	expect(&a, h, 1, &plain,
	    HEAD "               0 |" S10 S10 S10 S10 " 0        \n"
		 "               1 |" B10 B10 S10 S10 " 1        \n"
		 "               2 |" S10 S10 S10 S10 " 0        \n"
		 "               3 |" B10 B10 S10 S10 " 1        \n"
		 "            >= 4 |" S10 S10 S10 S10 " 0        \n");
}
END_TEST

START_TEST(packed)
{
	struct prog_agg a = agg(AGG_QUANTIZE, 0);
	struct hist_style ascii = { 0 }, utf8 = { .pack_utf8 = true };
	uint64_t v[QUANTIZE_BUCKETS] = { 0 }, w[QUANTIZE_BUCKETS] = { 0 };
	struct hist_range r = { 0 };
	struct str s = { 0 };

	v[QUANTIZE_ZERO + 1] = 1;            /* 1: an eighth */
	v[QUANTIZE_ZERO + 3] = 7;            /* 4: seven eighths */
	w[QUANTIZE_ZERO + 5] = (uint64_t)-2; /* 16 */
	hist_range_add(&r, &a, v);
	hist_range_add(&r, &a, w);
	hist_pack_header(&s, &a, &r);
	ck_assert_str_eq(str_c(&s), " min .-----. max | count");
	str_clear(&s);
	hist_pack(&s, &a, v, 1, &r, &ascii);
	ck_assert_str_eq(str_c(&s), "   1 :_ X  : 16  | 8");
	str_clear(&s);
	hist_pack(&s, &a, w, 1, &r, &ascii);
	ck_assert_str_eq(str_c(&s), "   1 :    V: 16  | -2");
	str_clear(&s);
	hist_pack(&s, &a, v, 2, &r, &utf8);
	ck_assert_str_eq(str_c(&s), "   1 :\u2582 \u2588  : 16  | 4");
	str_fini(&s);
}
END_TEST

/* ---- bounds ---- */

struct bounds {
	const struct prog_agg *def;
	unsigned rows;
	int64_t next; /* the value behind the last row */
	bool more;    /* there are such values */
};

/* Each value is counted in the row that claims it, and the rows leave no value
 * between them. */
static void
check_bounds(void *ctx, const struct hist_bucket *b)
{
	struct bounds *seen = ctx;
	uint64_t param = seen->def->param;
	uint32_t at = agg_bucket(seen->def->func, param, b->low);

	ck_assert_int_le(b->low, b->high);
	ck_assert_uint_eq(at, agg_bucket(seen->def->func, param, b->high));
	if (b->open_below)
		ck_assert_uint_eq(
		    at, agg_bucket(seen->def->func, param, INT64_MIN));
	if (b->open_above)
		ck_assert_uint_eq(
		    at, agg_bucket(seen->def->func, param, INT64_MAX));
	if (seen->rows++ != 0) {
		ck_assert(seen->more);
		ck_assert_int_eq(b->low, seen->next);
	} else if (!b->open_below && b->low != INT64_MIN) {
		ck_assert_uint_ne(
		    at, agg_bucket(seen->def->func, param, b->low - 1));
	}
	seen->more = b->high != INT64_MAX;
	seen->next = seen->more ? b->high + 1 : 0;
	ck_assert_int_eq(b->count, 2 * b->shown);
}

static void
check_rows(enum dif_agg func, uint64_t param, unsigned rows)
{
	struct prog_agg a = agg(func, param);
	uint64_t v[1024] = { 0 };
	struct bounds seen = { .def = &a };

	ck_assert_uint_le(a.words, ARRAY_SIZE(v));
	v[0] = param; /* or the least bucket of quantize() */
	v[func == AGG_QUANTIZE ? 0 : 1] = 4;
	v[a.words - 1] = 4;
	hist_each(&a, v, 2, check_bounds, &seen);
	ck_assert_uint_eq(seen.rows, rows);
}

START_TEST(bounds_are_those_of_the_buckets)
{
	check_rows(AGG_QUANTIZE, 0, QUANTIZE_BUCKETS);
	check_rows(AGG_LQUANTIZE, LQUANTIZE_ENCODE(0, 5, 2), 5 + 2);
	check_rows(AGG_LQUANTIZE, LQUANTIZE_ENCODE(-20, 10, 7), 10 + 2);
	/* Four orders of nine bins on either side, the middle, both ends. */
	check_rows(
	    AGG_LLQUANTIZE, LLQUANTIZE_ENCODE(10, 0, 3, 10), 2 * 4 * 9 + 3);
	check_rows(
	    AGG_LLQUANTIZE, LLQUANTIZE_ENCODE(10, 1, 4, 20), 2 * 4 * 18 + 3);
	/* Four bins an order, but only one integer from 1 to 2, and two from 2
	 * to 4. */
	check_rows(AGG_LLQUANTIZE, LLQUANTIZE_ENCODE(2, 0, 8, 8),
	    2 * (1 + 2 + 7 * 4) + 3);
}
END_TEST

FX_MAIN("hist", NULL, NULL, quantize_of_1_2_2_9, quantize_of_nothing,
    quantize_at_the_ends, negative_counts, bars_are_rounded,
    normalized_counts_keep_their_bars, zoom, utf8_bars, lquantize,
    lquantize_below_zero, llquantize, llquantize_middle_and_holes, packed,
    bounds_are_those_of_the_buckets)
