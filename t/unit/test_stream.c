/*
 * consume/wire: lines of a stream.  merge/stream: what they say, and what of it is
 * refused.  merge/nodes: names of hosts.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/where.h"
#include "symbols/langname.h"
#include "tracer/merge/nodes.h"
#include "tracer/merge/stream.h"

/* ---- lines ---- */

static struct str line;

static void
write_line(const char *text, size_t n)
{
	struct wire w = { .stream = 0xabc, .next = 0x10 };

	str_clear(&line);
	wire_begin(&w, &line, WIRE_KEYS);
	wire_number(&line, 0);
	wire_number(&line, UINT64_MAX);
	wire_text(&line, text, n);
	wire_nothing(&line);
	wire_string(&line, "");
	wire_end(&w, &line, 0);
	ck_assert_int_eq(line.s[line.len - 1], '\n');
	ck_assert_ptr_eq(strchr(line.s, '\n'), line.s + line.len - 1);
}

START_TEST(line_is_read_back)
{
	static const char odd[] = "a\0b\n\033[31m %^'-\xff ";
	char text[32];
	struct wire_line l;

	write_line(odd, sizeof(odd) - 1);
	for (size_t i = 0; i + 1 < line.len; i++)
		ck_assert(line.s[i] >= 0x20 && line.s[i] < 0x7f);
	ck_assert_int_eq(wire_open(&l, line.s, line.len - 1), 0);
	ck_assert_uint_eq(l.stream, 0xabc);
	ck_assert_uint_eq(l.sequence, 0x10);
	ck_assert_int_eq(l.type, 'K');
	ck_assert_uint_eq(wire_get_number(&l), 0);
	ck_assert_uint_eq(wire_get_number(&l), UINT64_MAX);
	ck_assert_uint_eq(
	    wire_get_text(&l, text, sizeof(text)), sizeof(odd) - 1);
	ck_assert_mem_eq(text, odd, sizeof(odd) - 1);
	ck_assert(wire_get_nothing(&l));
	char *empty = wire_get_string(&l, 10);
	ck_assert_str_eq(empty, "");
	mem_free(empty);
	ck_assert(wire_is_over(&l));
}
END_TEST

START_TEST(any_other_line_is_not_read)
{
	struct wire_line l;

	write_line("x", 1);
	size_t n = line.len - 1;
	char *with = mem_printf("web-01: %s", line.s);
	ck_assert_int_eq(wire_open(&l, with, n + 8), 0);
	mem_free(with);
	for (size_t i = 3; i < n; i++) { /* each byte counts */
		line.s[i] ^= 1;
		ck_assert_int_ne(wire_open(&l, line.s, n), 0);
		line.s[i] ^= 1;
	}
	for (size_t i = 0; i < n; i++) /* and the length */
		ck_assert_int_ne(wire_open(&l, line.s, i), 0);
	ck_assert_int_eq(wire_open(&l, "hello", 5), -ENOMSG);
	ck_assert_int_eq(wire_open(&l, "^dt2 1 0 H 00000000", 19), -ENOTSUP);
	ck_assert_int_eq(wire_open(&l, "^dt", 3), -EBADMSG);
	ck_assert_int_eq(wire_open(&l, "", 0), -ENOMSG);
}
END_TEST

START_TEST(first_mistake_counts)
{
	char text[4];
	struct wire_line l;

	write_line("12345", 5);
	wire_open(&l, line.s, line.len - 1);
	wire_get_number(&l);
	ck_assert_uint_eq(wire_get_most(&l, 7), 0);
	ck_assert(l.bad);
	ck_assert_uint_eq(wire_get_number(&l), 0);
	ck_assert(!wire_is_over(&l));
	wire_open(&l, line.s, line.len - 1);
	wire_get_number(&l);
	wire_get_number(&l);
	ck_assert_uint_eq(wire_get_text(&l, text, sizeof(text)), 0);
	ck_assert(l.bad);
	wire_open(&l, line.s, line.len - 1);
	ck_assert_ptr_null(wire_get_string(&l, 10)); /* it is a number */
	ck_assert(l.bad);
}
END_TEST

/* ---- streams ---- */

static struct stream s;
static struct str heard;
static struct wire out;

static const char *
on_ready(void *ctx, struct stream *st)
{
	return ctx;
}

static void
on_row(void *ctx, struct stream *st, const struct prog_agg *a,
    const uint8_t *key, uint32_t cpu, const uint64_t *value)
{
	str_printf(
	    &heard, "row %s %llu;", a->name, (unsigned long long)value[0]);
}

static void
on_record(void *ctx, struct stream *st, const struct probe_text *p,
    uint8_t *rec, uint32_t size)
{
	str_printf(&heard, "record %s %u;", p->name, size);
}

static void
on_error(void *ctx, struct stream *st, const struct sink_error *e,
    const struct rec_hdr *hdr)
{
	str_printf(&heard, "error %s;", e->what);
}

static void
on_drop(void *ctx, struct stream *st, const struct sink_drop *d)
{
	str_printf(&heard, "drop %llu;", (unsigned long long)d->n);
}

static void
on_snapshot(void *ctx, struct stream *st)
{
	str_add(&heard, "snapshot;");
}

static void
on_say(void *ctx, struct stream *st, const char *what)
{
	str_printf(&heard, "[%s]", what);
}

static const struct stream_ops ops = { on_ready, on_row, on_record, on_error,
	on_drop, on_snapshot, on_say };

static void
begin(const char *refusal)
{
	stream_init(&s, 1, &ops, (void *)refusal);
	str_clear(&heard);
	out = (struct wire){ .stream = 1 };
}

/* A line with these tokens, behind the sequence number that is next. */
static void
say(const char *type_and_tokens)
{
	struct str text = { 0 };
	struct wire_line l;

	wire_begin(&out, &text, type_and_tokens[0]);
	str_add(&text, type_and_tokens + 1);
	wire_end(&out, &text, 0);
	ck_assert_int_eq(wire_open(&l, text.s, text.len - 1), 0);
	stream_line(&s, &l);
	str_fini(&text);
}

#define HEAD  "H '0.1 'web 1 10 100 3b9aca00"
#define AGG   "A 1 'n 701 0 1 1 1 1 0 0 11 0"
#define BEGIN "B 20"

static void
heard_is(const char *want)
{
	ck_assert_str_eq(str_c(&heard), want);
	stream_fini(&s);
}

START_TEST(stream_is_followed)
{
	begin(NULL);
	say(HEAD);
	say("O 'quiet '1");
	say("S 3 0 'x 'BEGIN 1 'arg");
	say(AGG);
	say("C 0 1 3 '%25d - - 0 0 1 0 1 0 4 0");
	say(BEGIN);
	say("P 5 7 'p 'm 'f 'entry 0");
	say("R 5 30 0 1 1 2a");
	say("K 1 0 2 'a 3 'b 4");
	say("D 'AGGREGATION 1 9 0 0 '9%20drops");
	say("E 'bad - 0 - - - - 0 0 0 0 0");
	say("T 1 40 130 2 0");
	say("Z 2 1 1 9");
	ck_assert_str_eq(s.host, "web");
	ck_assert_msg(s.ended, "%s", str_c(&heard));
	ck_assert_int_eq(s.status, 2);
	heard_is("record entry 32;row n 3;row n 4;drop 9;error bad;snapshot;");
}
END_TEST

START_TEST(rows_of_the_whole_are_not_added)
{
	begin(NULL);
	say(HEAD);
	say(AGG);
	say(BEGIN);
	say("W 1");
	say("K 1 0 1 'a 3");
	say("T 1 40 130 1 1");
	say("K 1 0 1 'a 2");
	say("T 2 50 140 1 0");
	heard_is("row n 2;snapshot;");
}
END_TEST

START_TEST(lost_and_repeated_lines)
{
	begin(NULL);
	say(HEAD);
	say(AGG);
	say(BEGIN);
	out.next += 2;
	say("K 1 0 1 'a 1");
	out.next--;
	say("K 1 0 1 'a 1");
	say("T 1 40 130 5 0");
	ck_assert_uint_eq(s.lost, 2);
	ck_assert_uint_eq(s.repeated, 1);
	ck_assert_uint_eq(s.short_rows, 4);
	heard_is("[lines are missing: what was in them is not in the answer]"
		 "row n 1;[lines are repeated: the second is left out]"
		 "snapshot;");
}
END_TEST

/* One line that cannot be, after a good beginning. */
static const char *const lies[] = {
	"K 2 0 1 'a 1", /* no such aggregation */
	"K 0 0 1 'a 1",
	"K 1 0 2 'a 1",                    /* one row is missing */
	"K 1 0 1 'a 1 1",                  /* one word too many */
	"K 1 0 1 'aaaaaaaaaaaaaaaaaaaa 1", /* longer than its place */
	"K 1 0 1 5 1",
	"K 1 0 ffffffffffffffff 'a 1",
	"R 5 30 0 1 1 2a",         /* no such probe */
	"P 5 7 'p 'm 'f 'entry 0", /* no such clause */
	"T 1 40 130 1 0",          /* rows that were not there */
	"N 8000 1 'f - 0",         /* a number that is too high */
	"D 'x 1 9 0 0 'what",
	"A 2 'm 701 0 1 1 0", /* it has begun */
	"? 1",
};

START_TEST(lies_are_refused)
{
	begin(NULL);
	say(HEAD);
	say(AGG);
	say(BEGIN);
	say(lies[_i]);
	ck_assert_msg(s.refused, "%s", lies[_i]);
	say("K 1 0 1 'a 1"); /* nothing is heard any more */
	ck_assert_ptr_null(strstr(str_c(&heard), "snapshot"));
	stream_fini(&s);
}
END_TEST

static const char *const bad_heads[] = {
	BEGIN,
	AGG,
	"K 1 0 1 'a 1",
	"H '0.1",
	"A 2 'n 701 0 1 1 0",    /* not the first */
	"A 1 'n%1b 701 0 1 1 0", /* no identifier */
	"A 1 'n 701 0 2 1 0",    /* a count has one word */
	"A 1 'n 70a 0 1 1 0",    /* no such function */
	"A 1 'n 708 0 3 1 0",    /* steps of 0 */
	"A 1 'n 709 0 3 1 0",
	"A 1 'n 701 0 1 1 1 0 0 0 3 0", /* an integer of three bytes */
	"A 1 'n 701 0 1 1 1 5 0 0 8 2", /* a stack that has no room */
	"A 1 'n 701 0 1 1 ffff",
	"C 0 1 203 'touch - - 0 0 0", /* system() */
	"C 0 1 204 'file - - 0 0 0",  /* freopen() */
	"C 0 1 3 '%25 - - 0 0 0",     /* no format */
	"C 0 1 3 - - - 0 0 0",
	"C 0 1 4 - - - 0 1 1 0", /* no such aggregation */
	"C 0 ffffffff 1 - - - 0 0 0",
};

START_TEST(bad_heads_are_refused)
{
	begin(NULL);
	if (_i >= 4)
		say(HEAD);
	say(bad_heads[_i]);
	ck_assert_msg(s.refused, "%s", bad_heads[_i]);
	stream_fini(&s);
}
END_TEST

START_TEST(reader_may_refuse)
{
	begin("no");
	say(HEAD);
	say(BEGIN);
	heard_is("[refused: no]");
}
END_TEST

START_TEST(description_is_bounded)
{
	begin(NULL);
	say(HEAD);
	for (int i = 0; i < STREAM_LINES + 1 && !s.refused; i++)
		say("O 'quiet '1");
	heard_is("[refused: its description is too long]");
}
END_TEST

/* ---- names ---- */

START_TEST(names_are_parsed)
{
	static const struct {
		const char *text, *want; /* NULL: it is refused */
	} rows[] = {
		{ "a", "a" },
		{ "a,b,a", "a b" },
		{ "web[01-03]", "web01 web02 web03" },
		{ "web[8-11]x", "web8x web9x web10x web11x" },
		{ "r[1,3-4]-n[1-2]", "r1-n1 r1-n2 r3-n1 r3-n2 r4-n1 r4-n2" },
		{ "user@10.0.0.1,lxc:box", "user@10.0.0.1 lxc:box" },
		{ "", NULL },
		{ "-oProxyCommand=x", NULL },
		{ "a b", NULL },
		{ "a;b", NULL },
		{ "a[1-", NULL },
		{ "a[]", NULL },
		{ "a[3-1]", NULL },
		{ "a[x]", NULL },
		{ "a[1-99999999]", NULL },
		{ "a[1-1000][1-1000]", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct nodes n = { 0 };
		struct str all = { 0 };
		const char *why;
		int r = nodes_parse(&n, rows[i].text, NULL, &why);
		ck_assert_msg(
		    (r == 0) == (rows[i].want != NULL), "%s", rows[i].text);
		vec_foreach(name, &n.list) {
			str_add(&all, all.len != 0 ? " " : "");
			str_add(&all, *name);
		}
		if (r == 0)
			ck_assert_str_eq(str_c(&all), rows[i].want);
		else
			ck_assert_ptr_nonnull(why);
		str_fini(&all);
		nodes_fini(&n);
	}
}
END_TEST

/* ---- where ---- */

START_TEST(clauses_of_the_merge)
{
	static const struct {
		const char *desc;
		bool merged;
	} rows[] = {
		{ "tick-1s", true },
		{ "profile:::tick-100ms", true },
		{ ":::tick-1", true },
		{ "END", true },
		{ "dtrace:::END", true },
		{ "BEGIN", false },
		{ "profile-97", false },
		{ "pid1:a.out:END:entry", false },
		{ "pid1:a.out::END", false },
		{ "syscall:::END", false },
		{ "dtrace:::", false },
		{ "pid1:a.out:a::b::c:tick-1", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		ck_assert_msg(
		    where_text_is_merged(rows[i].desc) == rows[i].merged, "%s",
		    rows[i].desc);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("stream");
	TCase *t = tcase_create("all");

	tcase_add_test(t, line_is_read_back);
	tcase_add_test(t, any_other_line_is_not_read);
	tcase_add_test(t, first_mistake_counts);
	tcase_add_test(t, stream_is_followed);
	tcase_add_test(t, rows_of_the_whole_are_not_added);
	tcase_add_test(t, lost_and_repeated_lines);
	tcase_add_loop_test(t, lies_are_refused, 0, ARRAY_SIZE(lies));
	tcase_add_loop_test(t, bad_heads_are_refused, 0, ARRAY_SIZE(bad_heads));
	tcase_add_test(t, reader_may_refuse);
	tcase_add_test(t, description_is_bounded);
	tcase_add_test(t, names_are_parsed);
	tcase_add_test(t, clauses_of_the_merge);
	suite_add_tcase(suite, t);
	SRunner *r = srunner_create(suite);
	srunner_run_all(r, CK_NORMAL);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
