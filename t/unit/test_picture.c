/*
 * tracer/consume/picture: what is in the SVG file of a run.
 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t/unit/consume_fixture.h"
#include "tracer/consume/sink.h"
#include "tracer/consume/text.h"

static struct fx *f;
static char dir[] = "/tmp/dtrap-picture.XXXXXX";
static char *text;

static void
setup(void)
{
	f = fx_create(1);
	option_parse(&f->opts, "quiet", false);
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void
teardown(void)
{
	char *path = mem_printf("%s/x.svg", dir);

	unlink(path);
	rmdir(dir);
	mem_free(path);
	mem_free(text);
	fx_destroy(f);
}

static struct consume *
asked(void)
{
	const struct asked a = { .version = "1", .opts = &f->opts };

	consume_asked(fx_consume(f), &a);
	return f->c;
}

static const char *
report(void)
{
	char *path = mem_printf("%s/x.svg", dir);
	char *arg = mem_printf("report=%s", path);
	struct str all = { 0 };

	ck_assert_int_eq(option_parse(&f->opts, arg, false), 0);
	ck_assert_int_eq(consume_finish(asked()), 0);
	ck_assert_int_eq(consume_end(f->c, 0), 0);
	ck_assert_int_eq(consume_pictures(f->c), 0);
	FILE *file = fopen(path, "re");
	ck_assert_ptr_nonnull(file);
	ck_assert(str_add_file(&all, file));
	fclose(file);
	mem_free(arg);
	mem_free(path);
	text = str_take(&all);
	return text;
}

static struct prog_agg *
stacks(enum dif_agg func)
{
	struct prog_agg *a = fx_agg(f, "a", func, 0);

	fx_key(a, REC_STACK, 32, false);
	return a;
}

static void
put(const struct prog_agg *a, uint64_t inner, uint64_t outer, int64_t n)
{
	struct rec_stack head = { .pid = 1, .space = 7 };
	uint64_t key[4] = { 0, inner, outer, 0 };
	uint64_t words[QUANTIZE_BUCKETS] = { (uint64_t)n };

	memcpy(key, &head, sizeof(head));
	fx_put(f, 0, a, key, words);
}

static unsigned
times(const char *what)
{
	unsigned n = 0;

	for (const char *at = text; (at = strstr(at, what)) != NULL; at++)
		n++;
	return n;
}

#define has(what) ck_assert_ptr_nonnull(strstr(text, (what)))

START_TEST(xml_holds_any_name)
{
	static const struct {
		const char *from, *to;
	} rows[] = {
		{ "a<b>&\"c'", "a&lt;b&gt;&amp;&quot;c'" },
		{ "\303\251\360\237\224\245", "\303\251\360\237\224\245" },
		{ "\001\033\n\177",
		    "\357\277\275\357\277\275\357\277\275"
		    "\357\277\275" },
		/* cut short; too long a form; half a surrogate pair; no
		 * character; above the last one: byte by byte where it is none */
		{ "\303", "\357\277\275" },
		{ "\340\200\200", "\357\277\275\357\277\275\357\277\275" },
		{ "\355\240\200", "\357\277\275\357\277\275\357\277\275" },
		{ "\357\277\277", "\357\277\275" },
		{ "\364\220\200\200",
		    "\357\277\275\357\277\275"
		    "\357\277\275\357\277\275" },
		/* what turns the direction of text */
		{ "a\342\200\256b", "a\357\277\275b" },
	};
	struct str s = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		text_add_xml(&s, rows[i].from);
		ck_assert_str_eq(str_c(&s), rows[i].to);
		str_clear(&s);
	}
	text_add_xml_cut(&s, "<\303\251\303\251\303\251>", 5);
	ck_assert_str_eq(str_c(&s), "&lt;\303\251\303\251\303\251&gt;");
	str_clear(&s);
	text_add_xml_cut(&s, "<\303\251\303\251\303\251>", 4);
	ck_assert_str_eq(str_c(&s), "&lt;\303\251..");
	str_fini(&s);
}
END_TEST

START_TEST(stacks_of_one_name_are_one_box)
{
	struct prog_agg *a = stacks(AGG_COUNT);

	put(a, 0x1110, 0x1210, 3);
	put(a, 0x1120, 0x1220, 4);
	put(a, 0x1310, 0x1220, 1);
	report();
	has("@a: 8 in 3 stacks");
	has("a.out`f2\n8 of 8 (100.00 %)");
	has("a.out`f1\n7 of 8 (87.50 %)</title>"
	    "<rect x=\"0.00\" y=\"0\" width=\"1032.50\"");
	has("a.out`f3\n1 of 8 (12.50 %)</title>"
	    "<rect x=\"1032.50\" y=\"0\" width=\"147.50\"");
	ck_assert_uint_eq(times("class=\"box\""), 4);
}
END_TEST

START_TEST(names_are_quoted)
{
	put(stacks(AGG_COUNT), 0x1800, 0x1900, 1);
	report();
	/* A byte that is no UTF-8 is the character with its number. */
	has("a.out`op; &lt;&amp;&quot;'\303\251\303\277&gt; f8\n1 of 1");
	has("a.out`\357\277\275f9\n1 of 1");
}
END_TEST

START_TEST(narrow_boxes_are_counted)
{
	struct prog_agg *a = stacks(AGG_SUM);

	put(a, 0x1110, 0x1210, 1000000);
	put(a, 0x1310, 0x1410, 1);
	put(a, 0x1510, 0x1410, 1);
	report();
	has("@a: 1000002 in 3 stacks");
	has(">3 boxes too narrow to be seen are left out<");
	ck_assert_uint_eq(times("class=\"box\""), 3);
}
END_TEST

START_TEST(what_does_not_add_up_is_not_drawn)
{
	struct prog_agg *a = stacks(AGG_SUM);

	put(a, 0x1110, 0x1210, -5);
	put(a, 0x1110, 0x1310, 0);
	put(stacks(AGG_MAX), 0x1110, 0x1210, 7);
	put(stacks(AGG_AVG), 0x1110, 0x1210, 7);
	fx_put_named(f, fx_agg(f, "n", AGG_COUNT, 0), "", 3);
	report();
	has("No stack and no quantization was recorded.");
	ck_assert_uint_eq(times("class=\"box\""), 0);
}
END_TEST

START_TEST(bars_are_as_long_as_counts)
{
	struct prog_agg *a = stacks(AGG_QUANTIZE);
	struct rec_stack head = { .pid = 1, .space = 7 };
	uint64_t key[4] = { 0, 0x1110, 0x1210, 0 };
	uint64_t words[QUANTIZE_BUCKETS] = { 0 };

	memcpy(key, &head, sizeof(head));
	words[QUANTIZE_ZERO] = 4;
	words[QUANTIZE_ZERO + 2] = (uint64_t)-1;
	fx_put(f, 0, a, key, words);
	report();
	has(">@a: a.out`f2;a.out`f1<");
	ck_assert_uint_eq(times("class=\"bar\""), 5);
	has("<title>0\n4</title>");
	has("width=\"800.00\"");
	has("<title>2\n-1</title>");
	has("width=\"200.00\"");
}
END_TEST

START_TEST(a_place_that_cannot_be_written)
{
	struct stat st;

	option_parse(&f->opts, "report=/nonexistent/x.svg", false);
	ck_assert_int_eq(consume_pictures(asked()), -ENOENT);
	ck_assert_str_eq(fx_err(f),
	    "dtrap: failed to write report '/nonexistent/x.svg': "
	    "No such file or directory\n");
	option_parse(&f->opts, "report=/dev/null", false);
	ck_assert_int_eq(consume_pictures(f->c), 0);
	ck_assert_int_eq(stat("/dev/null", &st), 0);
	ck_assert(S_ISCHR(st.st_mode));
}
END_TEST

FX_MAIN("picture", setup, teardown, xml_holds_any_name,
    stacks_of_one_name_are_one_box, names_are_quoted, narrow_boxes_are_counted,
    what_does_not_add_up_is_not_drawn, bars_are_as_long_as_counts,
    a_place_that_cannot_be_written)
