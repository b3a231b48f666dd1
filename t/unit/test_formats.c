/*
 * tracer/consume: the formats folded, pprof, chrome and prometheus, as far as
 * no tool is needed to read them.
 */
#include <string.h>
#include <zlib.h>

#include "t/unit/consume_fixture.h"
#include "tracer/consume/consume_impl.h"

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

static void
format(const char *name)
{
	char *option = mem_printf("oformat=%s", name);

	ck_assert_int_eq(option_parse(&f->opts, option, false), 0);
	mem_free(option);
}

static const char *
finish(void)
{
	ck_assert_int_eq(consume_finish(fx_consume(f)), 0);
	ck_assert_int_eq(consume_end(f->c, 0), 0);
	return fx_out(f);
}

static bool
printed(const char *line)
{
	const char *at = strstr(fx_out(f), line);

	return at != NULL && (at == fx_out(f) || at[-1] == '\n');
}

/* ---- stacks ---- */

struct key {
	struct rec_stack head;
	uint64_t pc[3];
	char name[16];
};

static struct prog_agg *
stacks(const char *name, enum dif_agg func)
{
	struct prog_agg *a = fx_agg(f, name, func, 0);

	fx_key(a, REC_STACK, offsetof(struct key, name), false);
	fx_key(a, REC_STRING, 16, false);
	return a;
}

static void
put_stack(struct prog_agg *a, uint64_t pc, const char *name, int64_t n)
{
	struct key key = { { .space = 7 }, { pc, 0x1200, 0 }, "" };
	uint64_t word = (uint64_t)n;

	strncpy(key.name, name, sizeof(key.name) - 1);
	fx_put(f, 0, a, &key, &word);
}

START_TEST(folded_lines)
{
	struct prog_agg *a = stacks("a", AGG_SUM);

	format("folded");
	put_stack(a, 0x1101, "x y;z", 3);
	put_stack(a, 0x1102, "n", -1);
	put_stack(a, 0x1300, "n", 0);
	ck_assert_str_eq(finish(), "a.out`f2;a.out`f1;x_y:z 3\n");
	ck_assert_ptr_nonnull(
	    strstr(fx_err(f), "1 value of @a below 0 left out\n"));
}
END_TEST

START_TEST(folded_of_several)
{
	format("folded");
	put_stack(stacks("a", AGG_SUM), 0x1101, "n", 3);
	put_stack(stacks("b", AGG_SUM), 0x1101, "n", 4);
	stacks("c", AGG_MAX);
	ck_assert_str_eq(finish(),
	    "@a;a.out`f2;a.out`f1;n 3\n"
	    "@b;a.out`f2;a.out`f1;n 4\n");
	ck_assert_ptr_nonnull(strstr(fx_err(f), "@c is left out"));
}
END_TEST

/* normalize() counts, as in text. */
START_TEST(folded_normalized)
{
	struct prog_agg *a = stacks("a", AGG_SUM);

	format("folded");
	put_stack(a, 0x1101, "n", 30);
	aggs_table(&fx_consume(f)->aggs, a->id)->normal = 10;
	ck_assert_str_eq(finish(), "a.out`f2;a.out`f1;n 3\n");
}
END_TEST

/* ---- pprof ---- */

/* The uncompressed profile. */
static size_t
profile(uint8_t *buf, size_t size)
{
	z_stream z = { 0 };

	finish();
	z.next_in = (Bytef *)f->out_text;
	z.avail_in = (uInt)f->out_len;
	z.next_out = buf;
	z.avail_out = (uInt)size;
	ck_assert_int_eq(inflateInit2(&z, 15 + 16), Z_OK);
	ck_assert_int_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
	ck_assert_uint_eq(z.avail_in, 0);
	inflateEnd(&z);
	return size - z.avail_out;
}

static uint64_t
varint(const uint8_t **at)
{
	uint64_t v = 0;

	for (unsigned shift = 0;; shift += 7) {
		uint8_t byte = *(*at)++;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return v;
	}
}

/* How many members of a message have this number; their bytes in *last. */
static unsigned
members(const uint8_t *at, size_t n, unsigned member, const uint8_t **last,
    size_t *len)
{
	const uint8_t *end = at + n;
	unsigned count = 0;

	while (at < end) {
		uint64_t tag = varint(&at);
		ck_assert((tag & 7) == 0 || (tag & 7) == 2);
		const uint8_t *begin = at;
		uint64_t size = varint(&at);
		if ((tag & 7) == 2) {
			begin = at;
			at += size;
		}
		ck_assert(at <= end);
		if (tag >> 3 != member)
			continue;
		count++;
		*last = begin;
		*len = (size_t)(at - begin);
	}
	return count;
}

/* Is it one of the texts of a profile? */
static bool
has_text(const uint8_t *at, size_t n, const char *text)
{
	const uint8_t *end = at + n;
	bool has = false;

	while (at < end) {
		uint64_t tag = varint(&at), size = varint(&at);
		if ((tag & 7) != 2)
			continue;
		has |= tag >> 3 == 6 && size == strlen(text) &&
		    memcmp(at, text, size) == 0;
		at += size;
	}
	return has;
}

START_TEST(profile_of_two_types)
{
	uint8_t buf[4096];
	const uint8_t *at, *in;
	size_t len, n;

	format("pprof");
	put_stack(stacks("a", AGG_SUM), 0x1101, "n\xff", 300);
	put_stack(stacks("b", AGG_SUM), 0x1101, "n", 1);
	size_t size = profile(buf, sizeof(buf));
	ck_assert_uint_eq(members(buf, size, 1, &at, &len), 2);
	/* Samples; the last is of the second type, with one label. */
	ck_assert_uint_eq(members(buf, size, 2, &at, &len), 2);
	ck_assert_uint_eq(members(at, len, 1, &in, &n), 1);
	ck_assert_uint_eq(n, 2); /* the same two locations */
	ck_assert_mem_eq(in, "\1\2", 2);
	ck_assert_uint_eq(members(at, len, 2, &in, &n), 1);
	ck_assert_uint_eq(n, 2);
	ck_assert_mem_eq(in, "\0\1", 2);
	ck_assert_uint_eq(members(at, len, 3, &in, &n), 1);
	/* One module, two functions, two locations. */
	ck_assert_uint_eq(members(buf, size, 3, &at, &len), 1);
	ck_assert_uint_eq(members(buf, size, 4, &at, &len), 2);
	ck_assert_uint_eq(members(buf, size, 5, &at, &len), 2);
	/* A byte that is not UTF-8 becomes a question mark. */
	ck_assert(has_text(buf, size, "n?"));
	ck_assert(has_text(buf, size, "n"));
	ck_assert(!has_text(buf, size, "n\xff"));
	/* The first one is "". */
	members(buf, size, 6, &at, &len);
	for (at = buf; varint(&at) >> 3 != 6;)
		at += varint(&at);
	ck_assert_uint_eq(*at, 0);
}
END_TEST

/* ---- chrome ---- */

static uint32_t
empty_ecb(const char *func, const char *name)
{
	return fx_ecb(f, fx_probe(f, 7, "pid1", "m", func, name), fx_clause(f));
}

static void
expect_phases(const char *phases)
{
	char got[64] = "";
	size_t n = 0;

	ck_assert_int_eq(consume_records(fx_consume(f)), 0);
	for (const char *at = fx_out(f);
	     (at = strstr(at, "{\"ph\":\"")) != NULL && n < sizeof(got) - 1;
	     at++)
		got[n++] = at[7];
	ck_assert_str_eq(got, phases);
}

START_TEST(slices_nest)
{
	uint32_t in = empty_ecb("f", "entry"), out = empty_ecb("f", "return");
	uint32_t g = empty_ecb("g", "entry"), back = empty_ecb("g", "return");
	uint32_t only = empty_ecb("h", "entry");

	format("chrome");
	fx_fire(f, back, NULL, 0); /* its entry was not seen */
	fx_fire(f, in, NULL, 0);
	fx_fire(f, only, NULL, 0); /* its return is not traced */
	fx_fire(f, g, NULL, 0);    /* does not return: longjmp() */
	fx_fire(f, out, NULL, 0);
	fx_fire(f, in, NULL, 0);
	expect_phases("iBiBEEB");
	ck_assert_ptr_nonnull(strstr(fx_out(f), "{\"no-return\":true}"));
	finish();
	expect_phases("iBiBEEBEM");
	ck_assert_ptr_nonnull(strstr(fx_out(f), "{\"unfinished\":true}"));
}
END_TEST

START_TEST(slices_of_threads)
{
	uint32_t in = empty_ecb("f", "entry"), out = empty_ecb("f", "return");

	format("chrome");
	fx_fire(f, in, NULL, 0);
	f->tid++;
	fx_fire(f, out, NULL, 0); /* of another thread */
	f->tid--;
	fx_fire(f, out, NULL, 0);
	expect_phases("BiE");
}
END_TEST

/* Times are microseconds, with all their nanoseconds. */
START_TEST(time_of_an_event)
{
	format("chrome");
	f->now = 1234567;
	fx_fire(f, empty_ecb("f", "entry"), NULL, 0);
	ck_assert_int_eq(consume_records(fx_consume(f)), 0);
	ck_assert_ptr_nonnull(strstr(fx_out(f), "\"ts\":1234.567,"));
}
END_TEST

/* ---- prometheus ---- */

START_TEST(metrics_with_labels)
{
	struct prog_agg *a = fx_agg(f, "a", AGG_COUNT, 0);

	format("prometheus");
	fx_key(a, REC_STRING, 16, false);
	fx_put_named(f, a, "x\"\\\n", 3);
	fx_put_named(f, a, "\xff", 4);
	fx_put_named(f, a, "\xfe", 5);
	finish();
	ck_assert(printed("# TYPE dtrap_a_total counter\n"));
	ck_assert(printed("dtrap_a_total{key0=\"x\\\"\\\\?\"} 3\n"));
	/* These look alike. */
	ck_assert(printed("dtrap_a_total{key0=\"?\"} 4\n"));
	ck_assert(printed("dtrap_a_total{key0=\"?\",like=\"2\"} 5\n"));
}
END_TEST

START_TEST(metrics_of_one_name)
{
	format("prometheus");
	fx_put(f, 0, fx_agg(f, "a", AGG_COUNT, 0), "", (uint64_t[]){ 1 });
	fx_put(f, 0, fx_agg(f, "a_total", AGG_SUM, 0), "", (uint64_t[]){ 2 });
	fx_put(f, 0, fx_agg(f, "_", AGG_SUM, 0), "", (uint64_t[]){ 3 });
	finish();
	ck_assert(printed("dtrap_a_total 1\n"));
	ck_assert(printed("dtrap_a_total_2 2\n"));
	ck_assert(printed("dtrap 3\n"));
}
END_TEST

START_TEST(cumulated_buckets)
{
	struct prog_agg *a =
	    fx_agg(f, "l", AGG_LQUANTIZE, LQUANTIZE_ENCODE(0, 2, 10));

	format("prometheus");
	fx_put(f, 0, a, "", (uint64_t[]){ a->param, 0, 2, 3, 0 });
	finish();
	ck_assert_ptr_nonnull(strstr(fx_out(f),
	    "dtrap_l_bucket{le=\"-1\"} 0\n"
	    "dtrap_l_bucket{le=\"9\"} 2\n"
	    "dtrap_l_bucket{le=\"19\"} 5\n"
	    "dtrap_l_bucket{le=\"+Inf\"} 5\n"
	    "dtrap_l_count 5\n"));
}
END_TEST

START_TEST(text_of_labels)
{
	struct str s = { 0 };

	text_add_label(&s, "a\\b\"c\nd\x1b\xff\xc3\xa9", 11);
	ck_assert_str_eq(
	    str_c(&s), "a\\\\b\\\"c\\nd\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9");
	str_fini(&s);
}
END_TEST

FX_MAIN("formats", setup, teardown, folded_lines, folded_of_several,
    folded_normalized, profile_of_two_types, slices_nest, slices_of_threads,
    time_of_an_event, metrics_with_labels, metrics_of_one_name,
    cumulated_buckets, text_of_labels)
