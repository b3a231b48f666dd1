/*
 * tracer/consume/page: runs that are read from JSON, whole, cut and damaged.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/mem.h"
#include "tracer/consume/page_impl.h"

#define BEGIN                                                           \
	"{\"type\":\"begin\",\"format\":1,\"version\":\"1\",\"time\":"  \
	"\"2026-01-02T03:04:05.000000000Z\",\"timestamp\":1000,"        \
	"\"programs\":[{\"kind\":\"script\",\"name\":\"a.d\",\"text\":" \
	"\"</script>\\u0000\",\"probes\":3}],\"operands\":[\"one\"],"   \
	"\"processes\":[{\"pid\":7,\"command\":\"x\"}],"                \
	"\"options\":{\"quiet\":1}}\n"
#define HIT(when, name)                                              \
	"{\"type\":\"probe\",\"timestamp\":" when ",\"cpu\":0,"      \
	"\"id\":1,\"provider\":\"p\",\"module\":\"m\",\"function\":" \
	"\"f\",\"name\":\"" name "\",\"pid\":7,\"tid\":8,\"output\":["
#define STACK                                                            \
	"{\"ustack-frames\":[{\"symbol\":\"m`in+0x1\",\"module\":\"m\"," \
	"\"name\":\"in\",\"offset\":\"0x1\",\"address\":\"0x11\"},"      \
	"{\"symbol\":\"go (a.py:1)\",\"name\":\"go\"}],\"cut\":true}"
#define END                                                              \
	"{\"type\":\"end\",\"time\":\"2026-01-02T03:04:06.000000000Z\"," \
	"\"timestamp\":5000,\"records\":1,\"errors\":0,\"drops\":0,"     \
	"\"status\":3}\n"
#define SUM(when, since, data)              \
	HIT(when, "tick")                   \
	"{\"aggregation-data\":[" data "]," \
	"\"aggregation-name\":\"a\",\"function\":\"count\"" since "}]}\n"
#define ROW(key, n) "{\"keys\":[{\"value\":\"" key "\"}],\"count\":" n "}"
#define HIST(when, since, buckets)                                 \
	HIT(when, "tick")                                          \
	"{\"aggregation-data\":[{\"keys\":[],\"buckets\":"         \
	"[" buckets "]}],\"aggregation-name\":\"q\",\"function\":" \
	"\"quantize\"" since "}]}\n"
#define BUCKET(v, n) \
	"{\"value\":" v ",\"count\":" n ",\"min\":" v ",\"max\":" v "}"

static const char whole[] = BEGIN HIT("1100", "entry") "]}\n" HIT("1400",
    "return") "{\"value\":1},{\"message\":\"\\ud83d\\ude00\"}]}\n"
	      "{\"type\":\"error\",\"timestamp\":1,\"cpu\":0,\"msg\":\"bad\"}\n"
	      "{\"type\":\"error\",\"msg\":\"bad\",\"count\":12}\n"
	      "{\"type\":\"drop\",\"timestamp\":1200,\"count\":5,\"total\":9,"
	      "\"tag\":\"PRINC\",\"msg\":\"5 drops\"}\n" SUM(
		  "2000", "", ROW("x", "3") "," ROW("y", "1")) HIST("2500", "",
		  BUCKET("1", "2") "," BUCKET("2",
		      "0")) "{\"type\":\"aggregation\",\"timestamp\":4000,\"aggregation-data\":[{"
			    "\"keys\":[" STACK ",{\"value\":4}],\"count\":7}],"
			    "\"aggregation-name\":\"s\",\"function\":\"count\"}\n" END;

static struct page *p;

static void
setup(void)
{
	p = page_create();
}

static void
teardown(void)
{
	page_destroy(p);
}

static bool
reads(const char *text, size_t n, size_t piece)
{
	bool ok = true;

	for (size_t at = 0; ok && at < n; at += piece)
		ok = page_text(p, text + at, MIN(piece, n - at));
	return ok && page_complete(p);
}

static void
must_read(const char *text)
{
	bool ok = reads(text, strlen(text), strlen(text));

	ck_assert_msg(ok, "%s", page_wrong(p));
}

static struct page_agg *
agg(const char *name)
{
	vec_foreach(a, &p->aggs)
		if (strcmp((*a)->name, name) == 0)
			return *a;
	ck_abort_msg("no @%s", name);
	return NULL;
}

static int64_t
value_of(const struct page_agg *a, const char *key)
{
	vec_foreach(e, &a->entries)
		if (strcmp((*e)->text, key) == 0)
			return (*e)->value;
	ck_abort_msg("no key %s", key);
	return 0;
}

static void
check_whole(void)
{
	page_run_finish(p);
	ck_assert_uint_eq(p->records, 4);
	ck_assert_uint_eq(p->errors, 1);
	ck_assert_uint_eq(p->drops, 5);
	ck_assert_uint_eq(p->lost.len, 3);
	ck_assert_uint_eq(p->asked.len, 4);
	ck_assert_str_eq(p->asked.at[0].text, "</script> ");
	ck_assert_int_eq(p->status, 3);
	ck_assert(page_ended(p));
	ck_assert_uint_eq(p->slices.len, 1);
	ck_assert_uint_eq(p->slices.at[0].length, 300);
	ck_assert_int_eq(value_of(agg("a"), "x"), 3);
	struct tree *t = agg("s")->tree;
	struct node *outer = t->root.child;
	ck_assert_uint_eq(t->root.count[0], 7);
	ck_assert_str_eq(p->names.at[outer->name].text, "go (a.py:1)");
	ck_assert_int_eq(p->names.at[outer->name].kind, PAGE_LANGUAGE);
	ck_assert_uint_eq(tree_cut(outer), 7);
	ck_assert_str_eq(p->names.at[outer->child->name].text, "m`in");
	ck_assert_int_eq(p->names.at[outer->child->name].kind, PAGE_NATIVE);
	ck_assert_str_eq(p->names.at[outer->child->child->name].text, "4");
}

START_TEST(a_whole_run)
{
	must_read(whole);
	check_whole();
}
END_TEST

START_TEST(pieces_of_any_size)
{
	ck_assert(reads(whole, sizeof(whole) - 1, (size_t)_i));
	check_whole();
}
END_TEST

START_TEST(members_in_any_order)
{
	must_read(BEGIN
	    "{\"function\":\"avg\",\"aggregation-name\":\"m\","
	    "\"aggregation-data\":[{\"avg\":5,\"count\":2,\"keys\":[{\"value\":"
	    "1}],\"total\":10},{\"count\":9,\"keys\":[{\"bytes\":\"00ff\","
	    "\"value\":\"v\"}],\"stddev\":4}],\"timestamp\":9,"
	    "\"type\":\"aggregation\"}\n");
	ck_assert_int_eq(value_of(agg("m"), "1"), 5);
	ck_assert_int_eq(value_of(agg("m"), "v"), 4);
}
END_TEST

/* Values grow until a clear(); what was before it is added. */
START_TEST(prints_add_up)
{
	must_read(BEGIN SUM("2000", "", ROW("x", "3") "," ROW("y", "1"))
		SUM("3000", "", ROW("x", "5") "," ROW("y", "1"))
		    SUM("4000", ",\"since\":3500", ROW("x", "2"))
			SUM("5000", ",\"since\":4500", "") END);
	struct page_agg *a = agg("a");
	ck_assert_uint_eq(a->prints, 4);
	ck_assert_uint_eq(a->times.len, 4);
	page_agg_finish(p, a);
	ck_assert_int_eq(value_of(a, "x"), 7);
	ck_assert_int_eq(value_of(a, "y"), 1);
	ck_assert_int_eq(a->total, 8);
	ck_assert_int_eq(a->entries.at[0]->series[1], 5);
	ck_assert_int_eq(a->entries.at[0]->series[2], 2);
	ck_assert(!a->entries.at[0]->has[3]);
}
END_TEST

START_TEST(columns_have_what_was_added)
{
	must_read(BEGIN HIST("2000", "", BUCKET("1", "2") "," BUCKET("2", "1"))
		HIST("3000", "", BUCKET("1", "2") "," BUCKET("2", "4"))
		    HIST("4000", ",\"since\":3500", BUCKET("2", "6")) END);
	struct page_agg *a = agg("q");
	struct page_entry *e = a->entries.at[0];
	static const struct page_cell want[] = { { 0, 1, 2 }, { 0, 2, 1 },
		{ 1, 2, 3 }, { 2, 2, 6 } };
	ck_assert_uint_eq(e->cells.len, ARRAY_SIZE(want));
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		ck_assert_uint_eq(e->cells.at[i].column, want[i].column);
		ck_assert_int_eq(e->cells.at[i].value, want[i].value);
		ck_assert_int_eq(e->cells.at[i].count, want[i].count);
	}
	page_agg_finish(p, a);
	ck_assert_int_eq(e->value, 12);
	ck_assert_int_eq(e->buckets.at[1].count, 10);
}
END_TEST

/* More prints than columns: neighbours become one, and nothing is lost. */
START_TEST(many_prints)
{
	int64_t sum = 0;

	must_read(BEGIN);
	for (unsigned i = 1; i <= 5 * PAGE_COLUMNS; i++) {
		char line[1024];
		int n = snprintf(line, sizeof(line),
		    HIST("%u", "", "{\"value\":1,\"count\":%u}"), i, i);
		ck_assert(page_text(p, line, (size_t)n));
	}
	struct page_agg *a = agg("q");
	ck_assert_uint_le(a->times.len, PAGE_COLUMNS);
	ck_assert_uint_eq(a->times.at[a->times.len - 1], 5 * PAGE_COLUMNS);
	vec_foreach(c, &a->entries.at[0]->cells) {
		ck_assert_uint_lt(c->column, a->times.len);
		sum += c->count;
	}
	ck_assert_int_eq(sum, 5 * PAGE_COLUMNS);
}
END_TEST

START_TEST(the_largest_keys_stay)
{
	struct str text = { 0 };
	const unsigned n = 3 * PAGE_KEYS;

	must_read(BEGIN);
	str_add(&text, "{\"type\":\"aggregation\",\"aggregation-data\":[");
	for (unsigned i = 1; i <= n; i++)
		str_printf(&text, "%s{\"keys\":[{\"value\":%u}],\"sum\":%u}",
		    i > 1 ? "," : "", i, i);
	str_add(&text, "],\"aggregation-name\":\"a\",\"function\":\"sum\"}\n");
	ck_assert(page_text(p, str_c(&text), text.len));
	str_fini(&text);
	struct page_agg *a = agg("a");
	page_agg_finish(p, a);
	ck_assert_uint_eq(a->keys, n);
	ck_assert_int_eq(a->total, (int64_t)n * (n + 1) / 2);
	ck_assert_uint_eq(a->entries.len, PAGE_KEYS);
	ck_assert_int_eq(a->entries.at[0]->value, n);
	ck_assert_int_eq(
	    a->entries.at[PAGE_KEYS - 1]->value, n - PAGE_KEYS + 1);
}
END_TEST

/* Callers count what was given up above them. */
START_TEST(too_many_boxes)
{
	struct tree *t = tree_create();
	const uint32_t n = PAGE_NODES + 1000;

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t path[] = { 1, i % 2, i };
		tree_add(t, path, 3, i % 4 == 0 ? 2 : 1, i % 8 == 0);
	}
	ck_assert_uint_le(t->nodes, PAGE_NODES);
	ck_assert_uint_gt(t->pruned, 0);
	ck_assert_uint_eq(t->root.count[0], n + n / 4);
	ck_assert_uint_eq(t->root.child->count[0], n + n / 4);
	ck_assert_uint_eq(tree_cut(&t->root), n / 8 * 2);
	tree_destroy(t);
}
END_TEST

START_TEST(the_longest_slices_stay)
{
	struct page_hit h = { .pid = 1, .prov = "p", .mod = "m", .func = "f" };
	uint64_t least = UINT64_MAX;

	must_read(BEGIN);
	for (uint64_t i = 0; i < 3 * PAGE_SLICES; i++) {
		h.tid = (uint32_t)i % 7;
		h.time = 2000 + i * 100000;
		h.name = "entry";
		page_hit(p, &h);
		h.time += i * 7919 % (3 * PAGE_SLICES);
		h.name = "return";
		page_hit(p, &h);
	}
	ck_assert_uint_eq(p->nslices, 3 * PAGE_SLICES);
	ck_assert_uint_eq(p->slices.len, PAGE_SLICES);
	vec_foreach(s, &p->slices)
		least = MIN(least, s->length);
	ck_assert_uint_eq(least, 2 * PAGE_SLICES);
}
END_TEST

START_TEST(pairs_that_do_not_match)
{
	static const char *const calls[] = { "a+", "b+", "c+", "b-", "x-", "d+",
		"a-", "b+" };
	char func[2] = "";
	struct page_hit h = { .prov = "p", .mod = "m", .func = func };

	must_read(BEGIN);
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		func[0] = calls[i][0];
		h.time = 2000 + 10 * i;
		h.name = calls[i][1] == '+' ? "entry" : "return";
		page_hit(p, &h);
	}
	page_run_finish(p);
	/* a, the first b; the last b is unfinished.  Of c and d no call has
	 * returned. */
	ck_assert_uint_eq(p->slices.len, 3);
	vec_foreach(s, &p->slices) {
		bool is_a = *p->names.at[s->name].text == 'a';
		ck_assert_uint_eq(s->length,
		    is_a              ? 60 :
			s->unfinished ? 0 :
					20);
	}
}
END_TEST

/* ---- what is wrong ---- */

static const struct {
	const char *text, *says;
} wrongs[] = {
	{ "", "line 1: no run begins here" },
	{ "\n\n", "line 3: no run begins here" },
	{ END, "line 1: no run begins here" },
	{ "[1]\n", "line 1: not one object" },
	{ "12\n", "line 1: not one object" },
	{ "{}\n", "line 1: no run begins here" },
	{ "{} {}\n", "line 1: not one object" },
	{ "{\"type\":\"begin\"}\n",
	    "line 1: this version of the format is not known" },
	{ BEGIN "{\"type\":\"x\"}\n", "line 2: its type is not known" },
	{ BEGIN "{\"type\":\"end\"\n" END, "line 2: it is cut short" },
	{ BEGIN "{\"type\":\"end", "line 2: it is cut short" },
	{ BEGIN "text\n", "line 2: it is no JSON" },
	{ BEGIN "{\"a\":\"\377\"}\n", "line 2: it is no JSON" },
	{ BEGIN "{\"type\":\"aggregation\"}\n",
	    "line 2: an aggregation has no data" },
	{ BEGIN "{\"type\":\"aggregation\",\"aggregation-data\":[]}\n",
	    "line 2: an aggregation has no name" },
	{ BEGIN "{\"type\":\"aggregation\",\"aggregation-data\":[{}]}\n",
	    "line 2: a row of an aggregation has no value" },
	{ BEGIN "{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\n",
	    "line 2: too deep" },
};

START_TEST(what_is_wrong_is_said)
{
	const char *text = wrongs[_i].text;

	ck_assert(!reads(text, strlen(text), MAX(strlen(text), 1)));
	ck_assert_str_eq(page_wrong(p), wrongs[_i].says);
}
END_TEST

START_TEST(a_text_without_end)
{
	char *text = mem_alloc(1 << 20);
	unsigned n = 0;

	memset(text, 'x', 1 << 20);
	ck_assert(
	    page_text(p, BEGIN "{\"a\":\"", sizeof(BEGIN "{\"a\":\"") - 1));
	while (page_text(p, text, 1 << 20) && n < 100)
		n++;
	ck_assert_uint_lt(n, 100);
	ck_assert_str_eq(page_wrong(p), "line 2: a text in it is too long");
	mem_free(text);
}
END_TEST

/* Read what may be anything, and write what came of it. */
static void
survive(const char *text, size_t n, size_t piece)
{
	struct str to = { 0 };

	teardown();
	setup();
	if (!reads(text, n, piece)) {
		ck_assert_int_eq(strncmp(page_wrong(p), "line ", 5), 0);
	} else {
		page_html(p, NULL, &to);
		ck_assert_ptr_nonnull(strstr(str_c(&to), "</html>"));
		str_clear(&to);
		page_svg(p, &to);
		ck_assert_ptr_nonnull(strstr(str_c(&to), "</svg>"));
	}
	str_fini(&to);
}

START_TEST(cut_anywhere)
{
	for (size_t n = 0; n < sizeof(whole); n++)
		survive(whole, n, 1000);
}
END_TEST

/* Bytes change places, lines are missing or come twice. */
START_TEST(damaged_anyhow)
{
	char text[sizeof(whole)];

	srand((unsigned)_i);
	for (unsigned round = 0; round < 400; round++) {
		memcpy(text, whole, sizeof(whole));
		for (int i = rand() % 4; i >= 0; i--) {
			size_t at = (size_t)rand() % (sizeof(whole) - 1);
			size_t from = (size_t)rand() % (sizeof(whole) - 1);
			size_t most = sizeof(whole) - 1 - MAX(at, from);
			size_t n = rand() % 2 ? 1 : (size_t)rand() % 60;
			memmove(text + at, text + from, MIN(n, most));
		}
		survive(text, sizeof(whole) - 1, 1 + (size_t)rand() % 300);
	}
}
END_TEST

/* Nothing in it ends the element that it is in. */
START_TEST(html_quotes)
{
	struct str to = { 0 };
	const char *at;

	must_read(whole);
	page_html(p, NULL, &to);
	at = strstr(str_c(&to), "id=\"run\">");
	ck_assert_ptr_nonnull(at);
	ck_assert_int_eq(
	    strncmp(strchr(at, '<'), "</script>\n<script>", 18), 0);
	ck_assert_ptr_nonnull(strstr(at, "\\u003c/script> "));
	str_fini(&to);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("page");
	TCase *tc = tcase_create("page");
	SRunner *r = srunner_create(s);

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_whole_run);
	tcase_add_loop_test(tc, pieces_of_any_size, 1, 20);
	tcase_add_test(tc, members_in_any_order);
	tcase_add_test(tc, prints_add_up);
	tcase_add_test(tc, columns_have_what_was_added);
	tcase_add_test(tc, many_prints);
	tcase_add_test(tc, the_largest_keys_stay);
	tcase_add_test(tc, too_many_boxes);
	tcase_add_test(tc, the_longest_slices_stay);
	tcase_add_test(tc, pairs_that_do_not_match);
	tcase_add_loop_test(
	    tc, what_is_wrong_is_said, 0, (int)ARRAY_SIZE(wrongs));
	tcase_add_test(tc, a_text_without_end);
	tcase_add_test(tc, cut_anywhere);
	tcase_add_loop_test(tc, damaged_anyhow, 0, 10);
	tcase_add_test(tc, html_quotes);
	suite_add_tcase(s, tc);
	srunner_run_all(r, CK_NORMAL);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? 0 : 1;
}
