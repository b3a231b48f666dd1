/*
 * tracer/consume: the format json, its lines byte by byte.
 */
#include <string.h>
#include <unistd.h>

#include "t/unit/consume_fixture.h"
#include "tracer/consume/json.h"

#define PROBE(when)                                                      \
	"{\"type\":\"probe\",\"timestamp\":" when ",\"cpu\":0,\"id\":1," \
	"\"provider\":\"dtrace\",\"module\":\"\",\"function\":\"\","     \
	"\"name\":\"BEGIN\",\"pid\":100,\"tid\":100,\"output\":["

static struct fx *f;

static void
setup(void)
{
	f = fx_create(3);
	ck_assert_int_eq(option_parse(&f->opts, "oformat=json", false), 0);
}

static void
teardown(void)
{
	fx_destroy(f);
}

/* An ECB that traces one value. */
static uint32_t
value_ecb(enum rec_kind kind, uint32_t size, bool is_signed)
{
	struct prog_clause *c = fx_clause(f);

	fx_rec(c, fx_stmt(f, c, ACT_TRACE), kind, size, is_signed);
	return fx_ecb(f, fx_begin(f), c);
}

static void
expect_value(enum rec_kind kind, bool is_signed, const void *v, uint32_t size,
    const char *json)
{
	struct str want = { 0 };

	fx_fire(f, value_ecb(kind, size, is_signed), v, size);
	str_printf(&want, PROBE("1000") "%s]}\n", json);
	fx_expect(f, str_c(&want));
	str_fini(&want);
}

#define VALUE(name, kind, is_signed, value, json)                             \
	START_TEST(name)                                                      \
	{                                                                     \
		expect_value(kind, is_signed, &(value), sizeof(value), json); \
	}                                                                     \
	END_TEST

/* ---- values ---- */

static const int64_t least = INT64_MIN;
static const uint64_t most = UINT64_MAX;
static const double quarter = 0.25, infinite = -__builtin_inf();
static const char latin[8] = "caf\xe9";
static const char bells[8] = "\a\x1b\"\\\n";
static const char utf8[8] = "\xc3\xa9\xe2\x82\xac";
static const char bytes[4] = { 0, 1, '\xff', 'a' };

VALUE(least_number, REC_INT, true, least, "{\"value\":-9223372036854775808}")
VALUE(greatest_number, REC_INT, false, most, "{\"value\":18446744073709551615}")
VALUE(fraction, REC_FLOAT, true, quarter, "{\"value\":0.25}")
VALUE(no_number, REC_FLOAT, true, infinite, "{\"value\":\"-inf\"}")
VALUE(string_of_other_letters, REC_STRING, false, utf8,
    "{\"value\":\"\xc3\xa9\xe2\x82\xac\"}")
/* The byte as the character of that number, and what it was. */
VALUE(string_that_is_not_utf8, REC_STRING, false, latin,
    "{\"value\":\"caf\\u00e9\",\"bytes\":\"636166e9\"}")
VALUE(string_for_terminals, REC_STRING, false, bells,
    "{\"value\":\"\\u0007\\u001b\\\"\\\\\\u000a\",\"bytes\":\"071b225c0a\"}")
/* Text ends at its NUL. */
VALUE(array, REC_CHARS, false, bytes, "{\"value\":\"\"}")
VALUE(structure, REC_BYTES, false, bytes, "{\"bytes\":\"0001ff61\"}")

START_TEST(raw_bytes)
{
	option_parse(&f->opts, "rawbytes", false);
	expect_value(
	    REC_INT, true, &(int){ 258 }, 4, "{\"bytes\":\"02010000\"}");
}
END_TEST

START_TEST(symbols_in_parts)
{
	struct rec_sym sym = { .space = 7, .addr = 0x1110 };

	expect_value(REC_UADDR, false, &sym, sizeof(sym),
	    "{\"uaddr\":\"a.out`f1+0x10\",\"object\":\"a.out\","
	    "\"name\":\"f1\",\"offset\":\"0x10\",\"address\":\"0x1110\"}");
}
END_TEST

START_TEST(stack_of_objects)
{
	struct {
		struct rec_stack head;
		uint64_t pc[4];
	} stack = { { .space = 7 }, { 0x1120, 0x1200, 0x77, 0 } };

	option_parse(&f->opts, "usrcline", false);
	expect_value(REC_STACK, false, &stack, sizeof(stack),
	    "{\"ustack-frames\":["
	    "{\"symbol\":\"a.out`f1+0x20\",\"module\":\"a.out\","
	    "\"name\":\"f1\",\"offset\":\"0x20\",\"filename\":\"f.c\","
	    "\"line\":1,\"address\":\"0x1120\"},"
	    "{\"symbol\":\"a.out`f2\",\"module\":\"a.out\",\"name\":\"f2\","
	    "\"filename\":\"f.c\",\"line\":1,\"address\":\"0x1200\"},"
	    "{\"symbol\":\"0x77\",\"offset\":\"0x77\","
	    "\"address\":\"0x77\"}]}");
}
END_TEST

static void
check_parts(const char *name, const char *module, const char *function,
    const char *offset)
{
	char *text = mem_strdup(name);
	struct symbol_parts s;

	symbol_parts(&s, text, false);
	ck_assert_str_eq(s.text, name);
	ck_assert_uint_eq(s.module_len, strlen(module));
	ck_assert_int_eq(
	    strncmp(s.module != NULL ? s.module : "", module, s.module_len), 0);
	ck_assert_uint_eq(s.name_len, strlen(function));
	ck_assert_int_eq(
	    strncmp(s.name != NULL ? s.name : "", function, s.name_len), 0);
	ck_assert_str_eq(s.offset != NULL ? s.offset : "", offset);
	mem_free(text);
}

START_TEST(names_in_parts)
{
	check_parts("libc.so.6`write+0x14", "libc.so.6", "write", "0x14");
	check_parts("a`sub_1139-0x40", "a", "sub_1139", "-0x40");
	check_parts("a`operator+", "a", "operator+", "");
	check_parts("a`operator+(int)+0xf", "a", "operator+(int)", "0xf");
	check_parts("a`0x1139", "a", "", "0x1139");
	check_parts("0xbeef", "", "", "0xbeef");
	check_parts("a`", "a", "", "");
	check_parts("", "", "", "");
	check_parts("+0x1", "", "", "0x1");
	check_parts("x", "", "x", "");
}
END_TEST

/* ---- statements ---- */

START_TEST(message_and_its_values)
{
	struct prog_clause *c = fx_clause(f);
	struct prog_stmt *st = fx_stmt(f, c, ACT_PRINTF);

	st->fmt = fx_fmt(f, "%05d\n");
	fx_rec(c, st, REC_INT, 4, true);
	fx_fire(f, fx_ecb(f, fx_begin(f), c), &(int){ -7 }, 4);
	fx_expect(f,
	    PROBE("1000") "{\"message\":\"-0007\\u000a\"},{\"value\":-7}]}\n");
}
END_TEST

/* Quiet or not, with -F or without: the same line. */
START_TEST(columns_do_not_matter)
{
	option_parse(&f->opts, "quiet", false);
	option_parse(&f->opts, "flowindent", false);
	expect_value(REC_INT, true, &(int){ 1 }, 4, "{\"value\":1}");
}
END_TEST

/* The record goes on in the file that freopen() names. */
START_TEST(record_in_two_files)
{
	char path[] = "/tmp/dtrap-json-XXXXXX";
	struct prog_clause *c = fx_clause(f);
	int fd = mkstemp(path);
	char text[1024] = "";

	ck_assert_int_ge(fd, 0);
	fx_stmt(f, c, ACT_PRINTF)->fmt = fx_fmt(f, "one");
	fx_stmt(f, c, ACT_FREOPEN)->fmt = fx_fmt(f, path);
	fx_stmt(f, c, ACT_PRINTF)->fmt = fx_fmt(f, "two");
	fx_fire(f, fx_ecb(f, fx_begin(f), c), NULL, 0);
	fx_expect(f, PROBE("1000") "{\"message\":\"one\"}]}\n");
	fx_destroy(f);
	ck_assert_int_gt(read(fd, text, sizeof(text) - 1), 0);
	ck_assert_str_eq(text, PROBE("1000") "{\"message\":\"two\"}]}\n");
	close(fd);
	unlink(path);
	f = fx_create(1);
}
END_TEST

/* ---- what goes wrong ---- */

/* The error is a line behind the record in which it happened. */
START_TEST(error_inside_a_record)
{
	struct prog_clause *c = fx_clause(f);

	fx_stmt(f, c, ACT_PRINTF)->fmt = fx_fmt(f, "one");
	fx_stmt(f, c, ACT_FREOPEN)->fmt = fx_fmt(f, "/nonexistent/x");
	fx_fire(f, fx_ecb(f, fx_begin(f), c), NULL, 0);
	ck_assert_int_eq(consume_records(fx_consume(f)), 0);
	const char *error = strstr(fx_out(f), "{\"type\":\"error\"");
	ck_assert_ptr_nonnull(error);
	ck_assert_int_eq(error[-1], '\n');
	ck_assert_ptr_nonnull(strstr(error,
	    "\"msg\":\"couldn't freopen() \\\"/nonexistent/x\\\": No such "
	    "file or directory\"}\n"));
	ck_assert_ptr_nonnull(strstr(fx_err(f), "No such file"));
}
END_TEST

static void
drop(enum drop_kind kind, uint64_t n)
{
	const struct lane_view v = fx_lane(f, 0);

	v.lane->drops[kind] += n;
	consume_drops(fx_consume(f));
}

START_TEST(drops_add_up)
{
	drop(DROP_SPEC, 2);
	drop(DROP_SPEC, 5);
	drop(DROP_PRINCIPAL, 1);
	ck_assert_int_eq(consume_end(f->c, 3), 0);
	const char *out = fx_out(f);
	ck_assert_ptr_nonnull(strstr(out,
	    "\"cpu\":-1,\"id\":-1,\"provider\":\"dtrace\",\"module\":"
	    "\"INTERNAL\",\"function\":\"INTERNAL\",\"name\":\"DROP\","
	    "\"count\":2,\"total\":2,\"kind\":5,\"tag\":\"SPEC\","
	    "\"msg\":\"2 speculative drops\"}\n"));
	ck_assert_ptr_nonnull(
	    strstr(out, "\"count\":5,\"total\":7,\"kind\":5,"));
	ck_assert_ptr_nonnull(strstr(out,
	    "\"cpu\":0,\"id\":-1,\"provider\":\"dtrace\",\"module\":"
	    "\"INTERNAL\",\"function\":\"INTERNAL\",\"name\":\"DROP\","
	    "\"count\":1,\"total\":1,\"kind\":0,"));
	ck_assert_ptr_nonnull(strstr(
	    out, ",\"records\":0,\"errors\":0,\"drops\":8,\"status\":3}\n"));
}
END_TEST

/* ---- aggregations ---- */

/* What follows the time in the line. */
static void
expect_agg(const char *text)
{
	ck_assert_int_eq(consume_finish(fx_consume(f)), 0);
	const char *at = strstr(fx_out(f), "\"aggregation-data\"");
	ck_assert_ptr_nonnull(at);
	ck_assert_str_eq(at, text);
}

START_TEST(counts_by_key)
{
	struct prog_agg *a = fx_agg(f, "a", AGG_COUNT, 0);

	fx_key(a, REC_STRING, 16, false);
	fx_put_named(f, a, "two", 2);
	fx_put_named(f, a, "one\xff", 1);
	expect_agg("\"aggregation-data\":[{\"keys\":[{\"value\":\"one\\u00ff\","
		   "\"bytes\":\"6f6e65ff\"}],\"count\":1},"
		   "{\"keys\":[{\"value\":\"two\"}],\"count\":2}],"
		   "\"aggregation-name\":\"a\",\"function\":\"count\"}\n");
}
END_TEST

START_TEST(mean_with_its_parts)
{
	struct prog_agg *a = fx_agg(f, "m", AGG_AVG, 0);

	fx_put(f, 0, a, "", (uint64_t[]){ 3, 10 });
	expect_agg("\"aggregation-data\":[{\"keys\":[],\"avg\":3,\"count\":3,"
		   "\"total\":10}],\"aggregation-name\":\"m\","
		   "\"function\":\"avg\"}\n");
}
END_TEST

START_TEST(histogram_of_buckets)
{
	struct prog_agg *a =
	    fx_agg(f, "l", AGG_LQUANTIZE, LQUANTIZE_ENCODE(0, 1, 10));

	fx_put(f, 0, a, "", (uint64_t[]){ a->param, 1, 0, 4 });
	expect_agg("\"aggregation-data\":[{\"keys\":[],\"buckets\":["
		   "{\"value\":0,\"count\":1,\"max\":-1},"
		   "{\"value\":0,\"count\":0,\"min\":0,\"max\":9},"
		   "{\"value\":10,\"count\":4,\"min\":10}]}],"
		   "\"aggregation-name\":\"l\",\"function\":\"lquantize\"}\n");
}
END_TEST

FX_MAIN("json", setup, teardown, least_number, greatest_number, fraction,
    no_number, string_of_other_letters, string_that_is_not_utf8,
    string_for_terminals, array, structure, raw_bytes, symbols_in_parts,
    stack_of_objects, names_in_parts, message_and_its_values,
    columns_do_not_matter, record_in_two_files, error_inside_a_record,
    drops_add_up, counts_by_key, mean_with_its_parts, histogram_of_buckets)
