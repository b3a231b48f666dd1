/*
 * tracer/consume: records in order, their columns, what goes wrong.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "dlang/base/str.h"
#include "t/unit/consume_fixture.h"

#define HEAD  "CPU     ID                    FUNCTION:NAME\n"
#define BEGIN "  0      1                           :BEGIN "

static struct fx *f;

static void
setup(void)
{
	f = fx_create(3);
}

static void
teardown(void)
{
	fx_destroy(f);
}

/* An ECB whose clause prints a constant. */
static uint32_t
text_ecb(uint32_t probe_ref, const char *text)
{
	struct prog_clause *c = fx_clause(f);

	fx_stmt(f, c, ACT_PRINTF)->fmt = fx_fmt(f, text);
	return fx_ecb(f, probe_ref, c);
}

/* An ECB of one printf() of an int. */
static uint32_t
number_ecb(const char *fmt)
{
	struct prog_clause *c = fx_clause(f);
	struct prog_stmt *st = fx_stmt(f, c, ACT_PRINTF);

	st->fmt = fx_fmt(f, fmt);
	fx_rec(c, st, REC_INT, 8, true);
	return fx_ecb(f, fx_begin(f), c);
}

static void
fire_number(uint32_t lane, uint32_t epid, uint64_t when, int64_t n)
{
	f->now = when;
	uint8_t *at = fx_record(f, lane, epid, sizeof(struct rec_hdr) + 8);
	memcpy(at + sizeof(struct rec_hdr), &n, 8);
	fx_commit(f, lane);
}

/* ---- order ---- */

START_TEST(lanes_in_order_of_time)
{
	uint32_t epid = number_ecb("%d ");

	option_parse(&f->opts, "quiet", false);
	fire_number(2, epid, 10, 1);
	fire_number(0, epid, 20, 2);
	fire_number(1, epid, 30, 3);
	fire_number(2, epid, 40, 4);
	fire_number(2, epid, 50, 5);
	fire_number(0, epid, 60, 6);
	fx_expect(f, "1 2 3 4 5 6 ");
	fire_number(1, epid, 70, 7);
	fx_expect(f, "1 2 3 4 5 6 7 ");
}
END_TEST

START_TEST(lanes_one_by_one_if_not_temporal)
{
	uint32_t epid = number_ecb("%d ");

	option_parse(&f->opts, "quiet", false);
	option_parse(&f->opts, "temporal=no", false);
	fire_number(2, epid, 10, 1);
	fire_number(0, epid, 20, 2);
	fire_number(1, epid, 30, 3);
	fire_number(2, epid, 40, 4);
	fx_expect(f, "2 3 1 4 ");
}
END_TEST

START_TEST(buffers_wrap)
{
	uint32_t epid = number_ecb("%d\n");
	struct str want = { 0 };

	option_parse(&f->opts, "quiet", false);
	for (int n = 0; n < 5000; n++) {
		fire_number(0, epid, 10 + (uint64_t)n, n);
		str_printf(&want, "%d\n", n);
		if (n % 500 == 0)
			ck_assert_int_eq(consume_records(fx_consume(f)), 0);
	}
	fx_expect(f, str_c(&want));
	str_fini(&want);
	consume_drops(f->c);
	ck_assert_str_eq(fx_err(f), "");
}
END_TEST

/* ---- columns ---- */

START_TEST(header_once_then_columns)
{
	uint32_t malloc_ref =
	    fx_probe(f, 4711, "pid1", "libc.so.6", "malloc", "entry");
	uint32_t epid = text_ecb(malloc_ref, "x");
	struct prog_clause *none = fx_clause(f);
	fx_rec(none, fx_stmt(f, none, ACT_NONE), REC_EPID, 0, false);

	f->cpu = 12;
	fx_fire(f, epid, NULL, 0);
	fx_expect(f, HEAD " 12   4711                     malloc:entry x\n");
	f->cpu = 0;
	fx_fire(f, fx_ecb(f, fx_begin(f), none), NULL, 0);
	fx_expect(f,
	    HEAD " 12   4711                     malloc:entry x\n" BEGIN "\n");
}
END_TEST

START_TEST(reference_example)
{
	struct prog_clause *c = fx_clause(f);

	fx_rec(c, fx_stmt(f, c, ACT_TRACE), REC_INT, 4, true);
	fx_fire(f, fx_ecb(f, fx_begin(f), c), &(int){ 42 }, 4);
	fx_expect(f,
	    "CPU     ID                    FUNCTION:NAME\n"
	    "  0      1                           :BEGIN          42\n");
}
END_TEST

START_TEST(long_names_shift)
{
	uint32_t ref = fx_probe(f, 1234567, "pid1", "m",
	    "a_function_with_a_name_of_forty_columns_", "entry");

	fx_fire(f, text_ecb(ref, "x"), NULL, 0);
	fx_expect(f,
	    HEAD "  0 1234567 "
		 "a_function_with_a_name_of_forty_columns_:entry x\n");
}
END_TEST

START_TEST(testing_leaves_numbers_out)
{
	f->env.testing = true;
	fx_fire(f, text_ecb(fx_begin(f), "x"), NULL, 0);
	fx_expect(f,
	    "                   FUNCTION:NAME\n"
	    "                          :BEGIN x\n");
}
END_TEST

START_TEST(quiet_prints_only_what_is_printed)
{
	option_parse(&f->opts, "quiet", false);
	fx_fire(f, text_ecb(fx_begin(f), "x"), NULL, 0);
	fx_expect(f, "x");
}
END_TEST

START_TEST(statements_in_order)
{
	struct prog_clause *c = fx_clause(f);
	struct {
		int64_t a;
		char s[8];
		int64_t status;
	} v = { 1, "two", 3 };

	fx_rec(c, fx_stmt(f, c, ACT_TRACE), REC_INT, 8, true);
	struct prog_stmt *st = fx_stmt(f, c, ACT_PRINTF);
	st->fmt = fx_fmt(f, "<%s>");
	fx_rec(c, st, REC_STRING, 8, false);
	fx_rec(c, fx_stmt(f, c, ACT_EXIT), REC_INT, 4, true);
	fx_fire(f, fx_ecb(f, fx_begin(f), c), &v, sizeof(v));
	fx_expect(f, HEAD BEGIN "                   1<two>\n");
}
END_TEST

/* ---- -F ---- */

#define FLOW_HEAD "CPU FUNCTION                                 \n"

START_TEST(flow_of_the_reference)
{
	struct prog_clause *c = fx_clause(f), *d = fx_clause(f);
	uint32_t main_ref = fx_probe(f, 5, "pid1", "a.out", "main", "entry");
	uint32_t in_ref = fx_probe(f, 6, "pid1", "a.out", "fact", "entry");
	uint32_t out_ref = fx_probe(f, 7, "pid1", "a.out", "fact", "return");
	uint32_t at_ref = fx_probe(f, 8, "pid1", "a.out", "fact", "1a");
	uint32_t sys_ref = fx_probe(f, 9, "syscall", "", "write", "entry");

	option_parse(&f->opts, "flowindent", false);
	fx_rec(c, fx_stmt(f, c, ACT_TRACE), REC_INT, 8, true);
	uint32_t enter = fx_ecb(f, main_ref, c);
	uint32_t in = fx_ecb(f, in_ref, d), out = fx_ecb(f, out_ref, d);
	uint32_t at = fx_ecb(f, at_ref, d), sys = fx_ecb(f, sys_ref, d);
	fx_fire(f, enter, &(int64_t){ 7 }, 8);
	fx_fire(f, in, NULL, 0);
	fx_fire(f, at, NULL, 0);
	fx_fire(f, out, NULL, 0);
	ck_assert_int_eq(consume_records(fx_consume(f)), 0);
	fx_fire(f, sys, NULL, 0); /* the indent is kept between passes */
	fx_fire(f, out, NULL, 0);
	fx_fire(f, out, NULL, 0);
	fx_fire(f, out, NULL, 0); /* not below 0 */
	fx_expect(f,
	    FLOW_HEAD "  0  -> main                                          "
		      "           7\n"
		      "  0    -> fact                                \n"
		      "  0     | fact:1a                             \n"
		      "  0    <- fact                                \n"
		      "  0    => write                               \n"
		      "  0    <- fact                                \n"
		      "  0  <- fact                                  \n"
		      "  0  <- fact                                  \n");
}
END_TEST

START_TEST(flow_is_kept_by_thread)
{
	struct prog_clause *d = fx_clause(f);
	uint32_t in_ref = fx_probe(f, 6, "pid1", "a.out", "f", "entry");
	uint32_t in = fx_ecb(f, in_ref, d);

	option_parse(&f->opts, "flowindent", false);
	option_parse(&f->opts, "quiet", false); /* the names stay */
	fx_fire(f, in, NULL, 0);
	f->tid = 200;
	fx_fire(f, in, NULL, 0);
	f->tid = 100;
	fx_fire(f, in, NULL, 0);
	fx_expect(f,
	    FLOW_HEAD "  0  -> f                                     "
		      "  0  -> f                                     "
		      "  0    -> f                                   ");
}
END_TEST

START_TEST(flow_of_two_clauses_on_one_probe)
{
	uint32_t in_ref = fx_probe(f, 6, "pid1", "a.out", "f", "entry");
	uint32_t out_ref = fx_probe(f, 7, "pid1", "a.out", "f", "return");
	uint32_t in1 = text_ecb(in_ref, "1"), in2 = text_ecb(in_ref, "2");
	uint32_t out1 = text_ecb(out_ref, "1"), out2 = text_ecb(out_ref, "2");

	option_parse(&f->opts, "flowindent", false);
	for (int depth = 0; depth < 2; depth++) {
		fx_fire(f, in1, NULL, 0);
		f->now--; /* of the same firing */
		fx_fire(f, in2, NULL, 0);
	}
	for (int depth = 0; depth < 2; depth++) {
		fx_fire(f, out1, NULL, 0);
		f->now--;
		fx_fire(f, out2, NULL, 0);
	}
	fx_expect(f,
	    FLOW_HEAD "  0  -> f                                     1\n"
		      "  0   | f:entry                               2\n"
		      "  0    -> f                                   1\n"
		      "  0     | f:entry                             2\n"
		      "  0     | f:return                            1\n"
		      "  0    <- f                                   2\n"
		      "  0   | f:return                              1\n"
		      "  0  <- f                                     2\n");
}
END_TEST

/* ---- faults ---- */

static void
fault(uint32_t epid, enum dif_fault code, uint32_t action, int32_t offset,
    uint64_t value)
{
	struct rec_fault r = { .hdr = { .epid = EPID_FAULT,
				   .timestamp = f->now++ },
		.epid = epid,
		.action = action,
		.offset = offset,
		.code = (uint32_t)code,
		.value = value };
	const struct lane_view v = fx_lane(f, 0);
	void *at = buf_reserve(&v, sizeof(r));

	memcpy(at, &r, sizeof(r));
	fx_commit(f, 0);
}

START_TEST(faults)
{
	uint32_t ref = fx_probe(f, 9, "pid1", "a.out", "main", "entry");
	uint32_t epid = text_ecb(ref, "x");

#define FAULT \
	"dtrap: error in dt_clause_0 for probe ID 9 (pid1:a.out:main:entry): "
	fault(epid, FLT_BADADDR, 2, 16, 0xdead);
	fault(epid, FLT_DIVZERO, 0, 4, 0xdead);
	fault(epid, FLT_ILLOP, 1, -1, 0);
	fault(epid, (enum dif_fault)99, 3, -1, 0);
	fault(77, FLT_BADSTACK, 1, 0, 1);
	fx_expect(f, "");
	ck_assert_str_eq(fx_err(f),
	    FAULT "invalid address (0xdead) at DIF offset 16\n" FAULT
		  "divide-by-zero at DIF offset 4\n" FAULT
		  "illegal operation\n" FAULT "unknown fault\n"
		  "dtrap: error in dtrace for probe ID 0 (:::): "
		  "bad stack (0x1) at DIF offset 0\n");
}
END_TEST

START_TEST(faults_come_in_their_place)
{
	uint32_t epid = text_ecb(fx_begin(f), "x");

	/* Both on one stream, as on a terminal. */
	f->env.err = f->out;
	fx_fire(f, epid, NULL, 0);
	fault(epid, FLT_DIVZERO, 1, 4, 0);
	fx_fire(f, epid, NULL, 0);
	fx_expect(f,
	    HEAD BEGIN
	    "x\n"
	    "dtrap: error in dt_clause_0 for probe ID 1 (dtrace:::BEGIN): "
	    "divide-by-zero at DIF offset 4\n" BEGIN "x\n");
}
END_TEST

/* ---- drops ---- */

START_TEST(drops_are_differences)
{
	struct lane *l0 = fx_lane(f, 0).lane;
	struct lane *l2 = fx_lane(f, 2).lane;

	consume_drops(fx_consume(f));
	ck_assert_str_eq(fx_err(f), "");
	l0->drops[DROP_PRINCIPAL] = 1;
	l2->drops[DROP_PRINCIPAL] = 3;
	l2->drops[DROP_AGG] = 2;
	l0->drops[DROP_DYNAMIC] = 1;
	l2->drops[DROP_DYNAMIC] = 1;
	l0->drops[DROP_SPEC_BUSY] = 1;
	consume_drops(f->c);
	consume_drops(f->c); /* nothing new */
	l0->drops[DROP_PRINCIPAL] = 3;
	l2->drops[DROP_PRINCIPAL] = 0; /* scribbled on */
	consume_drops(f->c);
	ck_assert_str_eq(fx_err(f),
	    "dtrap: 1 drop on CPU 0\n"
	    "dtrap: 3 drops on CPU 2\n"
	    "dtrap: 2 aggregation drops on CPU 2\n"
	    "dtrap: 2 dynamic variable drops\n"
	    "dtrap: 1 failed speculation (available buffer(s) still busy)\n"
	    "dtrap: 2 drops on CPU 0\n");
}
END_TEST

START_TEST(drops_with_tags)
{
	struct lane *l = fx_lane(f, 1).lane;

	option_parse(&f->opts, "droptags", false);
	for (unsigned k = 0; k < DROP_COUNT; k++)
		l->drops[k] = 1 + k % 2;
	consume_drops(fx_consume(f));
	ck_assert_str_eq(fx_err(f),
	    "dtrap: [DTRACEDROP_PRINCIPAL] 1 drop on CPU 1\n"
	    "dtrap: [DTRACEDROP_AGGREGATION] 2 aggregation drops on CPU 1\n"
	    "dtrap: [DTRACEDROP_DYNAMIC] 1 dynamic variable drop\n"
	    "dtrap: [DTRACEDROP_DYNRINSE] 2 dynamic variable drops with "
	    "non-empty rinsing list\n"
	    "dtrap: [DTRACEDROP_DYNDIRTY] 1 dynamic variable drop with "
	    "non-empty dirty list\n"
	    "dtrap: [DTRACEDROP_SPEC] 2 speculative drops\n"
	    "dtrap: [DTRACEDROP_SPECBUSY] 1 failed speculation "
	    "(available buffer(s) still busy)\n"
	    "dtrap: [DTRACEDROP_SPECUNAVAIL] 2 failed speculations "
	    "(no speculative buffer available)\n"
	    "dtrap: [DTRACEDROP_STKSTROVERFLOW] 1 jstack()/ustack() string "
	    "table overflow\n"
	    "dtrap: [DTRACEDROP_DBLERROR] 2 errors in ERROR probe "
	    "enabling\n"
	    "dtrap: [DTRACEDROP_KERNEL] 1 drop of a record of the kernel\n");
}
END_TEST

/* ---- a store that was scribbled on ---- */

START_TEST(records_that_make_no_sense_are_skipped)
{
	uint32_t epid = number_ecb("%d ");

	option_parse(&f->opts, "quiet", false);
	fire_number(0, epid, 10, 1);
	fire_number(0, epid, 20, 2);
	fire_number(0, epid, 30, 3);
	fire_number(1, epid, 40, 4);
	struct lane *l = fx_lane(f, 0).lane;
	uint32_t *second = region_at(&f->store, l->buf_ref + 32, 4);
	*second = 12345; /* no such EPID */
	fx_expect(f, "1 4 ");
	ck_assert_uint_eq(l->head, l->tail);
	consume_drops(f->c);
	consume_drops(f->c);
	ck_assert_str_eq(
	    fx_err(f), "dtrap: 64 bytes of trace data are invalid: skipped\n");
	/* And what comes after is read again. */
	fire_number(0, epid, 50, 5);
	fx_expect(f, "1 4 5 ");
}
END_TEST

START_TEST(positions_that_make_no_sense)
{
	uint32_t epid = number_ecb("%d ");
	struct lane *l = fx_lane(f, 0).lane;

	option_parse(&f->opts, "quiet", false);
	l->head = UINT64_MAX - 7;
	fire_number(1, epid, 10, 1);
	fx_expect(f, "1 ");
	l->head = 0;
	l->tail = 0;
	l->head = 64;
	memset(region_at(&f->store, l->buf_ref, 64), 0, 64);
	((uint32_t *)region_at(&f->store, l->buf_ref, 64))[1] = 3; /* a pad */
	fx_expect(f, "1 ");
	consume_drops(f->c);
	ck_assert_ptr_nonnull(strstr(fx_err(f), "are invalid"));
}
END_TEST

START_TEST(records_cut_short_by_the_end)
{
	uint32_t epid = number_ecb("%d ");
	struct lane *l = fx_lane(f, 0).lane;

	option_parse(&f->opts, "quiet", false);
	fire_number(0, epid, 10, 1);
	l->head -= 8;
	fx_expect(f, "");
	consume_drops(f->c);
	ck_assert_str_eq(
	    fx_err(f), "dtrap: 24 bytes of trace data are invalid: skipped\n");
}
END_TEST

START_TEST(strings_without_an_end)
{
	struct prog_clause *c = fx_clause(f);
	struct prog_stmt *st = fx_stmt(f, c, ACT_PRINTF);

	option_parse(&f->opts, "quiet", false);
	st->fmt = fx_fmt(f, "[%s]");
	fx_rec(c, st, REC_STRING, 8, false);
	fx_fire(f, fx_ecb(f, fx_begin(f), c), "12345678", 8);
	fx_expect(f, "[12345678]");
}
END_TEST

/* Whatever a target writes where: the consumer comes back, and stays inside.
 * What it prints is of no interest. */
START_TEST(scribbling_does_no_harm)
{
	struct prog_clause *c = fx_clause(f);
	struct prog_stmt *st = fx_stmt(f, c, ACT_PRINTF);
	struct prog_agg *a = fx_agg(f, "a", AGG_AVG, 0);
	struct prog_agg *q =
	    fx_agg(f, "q", AGG_LLQUANTIZE, LLQUANTIZE_ENCODE(10, 0, 6, 20));
	uint64_t v[512] = { 1, 2, 3 }, seed = 1;

	st->fmt = fx_fmt(f, "%s %*d %k %A %Y %c\n");
	fx_rec(c, st, REC_STRING, 24, false);
	fx_rec(c, st, REC_INT, 4, true);
	fx_rec(c, st, REC_INT, 2, true);
	fx_rec(c, st, REC_STACK, 24, false);
	fx_rec(c, st, REC_USYM, 16, false);
	fx_rec(c, st, REC_INT, 8, true);
	fx_rec(c, st, REC_INT, 1, true);
	struct prog_stmt *trace = fx_stmt(f, c, ACT_TRACE);
	fx_rec(c, trace, REC_CHARS, 16, false);
	fx_key(a, REC_USYM, 16, false);
	ck_assert_uint_le(q->words, ARRAY_SIZE(v));
	uint32_t epid = fx_ecb(f, fx_begin(f), c);
	uint8_t *clean = mem_alloc(f->store.size);
	for (int i = 0; i < 20; i++)
		fx_fire(f, epid, NULL, 0);
	fx_put(f, 0, a, "0123456789abcde", v);
	v[0] = q->param;
	fx_put(f, 0, q, "", v);
	memcpy(clean, f->store.base, f->store.size);

	uint32_t lane_bytes = 4096;
	uint32_t lane_ref =
	    (uint32_t)((uint8_t *)fx_lane(f, 0).lane - f->store.base);
	FILE *null = fopen("/dev/null", "w");
	f->env.out = f->env.err = null;
	for (int round = 0; round < 400; round++) {
		memcpy(f->store.base, clean, f->store.size);
		/* Before it is written to, as it is; and a store that made no
		 * sense from the beginning. */
		if (round % 4 != 0)
			fx_consume(f);
		for (int i = 0; i < 1 + round % 40; i++) {
			seed = seed * 6364136223846793005ULL +
			    1442695040888963407ULL;
			/* Half of it where the lane begins. */
			uint32_t at = (uint32_t)(seed >> 33) %
			    (i % 2 ? lane_bytes : f->store.size);
			at = (i % 2 ? lane_ref + at : at) % f->store.size;
			f->store.base[at] = (uint8_t)(seed >> 20);
		}
		consume_records(fx_consume(f));
		consume_finish(f->c);
		consume_destroy(f->c);
		f->c = NULL;
	}
	fclose(null);
	mem_free(clean);
}
END_TEST

/* ---- the output ---- */

static char path[] = "/tmp/test_consume.XXXXXX";

static const char *
file_text(void)
{
	static char text[4096];
	FILE *in = fopen(path, "r");

	ck_assert_ptr_nonnull(in);
	text[fread(text, 1, sizeof(text) - 1, in)] = '\0';
	fclose(in);
	return text;
}

/* Nobody waits for the thread that writes it, if that is slow. */
static void
file_becomes(const char *text)
{
	time_t end = time(NULL) + 60;

	while (strcmp(file_text(), text) != 0 && time(NULL) < end)
		sched_yield();
	ck_assert_str_eq(file_text(), text);
}

static uint32_t
outside_ecb(enum dif_act kind, const char *text)
{
	struct prog_clause *c = fx_clause(f);
	struct prog_stmt *st = fx_stmt(f, c, kind);

	if (text != NULL)
		st->fmt = fx_fmt(f, text);
	return fx_ecb(f, fx_begin(f), c);
}

START_TEST(freopen_and_back)
{
	close(mkstemp(path));
	option_parse(&f->opts, "quiet", false);
	uint32_t x = text_ecb(fx_begin(f), "x");
	fx_fire(f, x, NULL, 0);
	fx_fire(f, outside_ecb(ACT_FREOPEN, path), NULL, 0);
	fx_fire(f, x, NULL, 0);
	fx_fire(f, x, NULL, 0);
	fx_fire(f, outside_ecb(ACT_FREOPEN, ""), NULL, 0);
	fx_fire(f, x, NULL, 0);
	fx_expect(f, "xx");
	file_becomes("xx");
	/* It appends. */
	fx_fire(f, outside_ecb(ACT_FREOPEN, path), NULL, 0);
	fx_fire(f, x, NULL, 0);
	fx_expect(f, "xx");
	file_becomes("xxx");
	fx_fire(f, outside_ecb(ACT_FTRUNCATE, NULL), NULL, 0);
	fx_fire(f, text_ecb(fx_begin(f), "y"), NULL, 0);
	fx_expect(f, "xx");
	file_becomes("y");
	unlink(path);
}
END_TEST

START_TEST(freopen_that_fails)
{
	option_parse(&f->opts, "quiet", false);
	fx_fire(f, outside_ecb(ACT_FREOPEN, "/no/such/dir"), NULL, 0);
	fx_fire(f, text_ecb(fx_begin(f), "x"), NULL, 0);
	fx_expect(f, "x");
	ck_assert_str_eq(fx_err(f),
	    "dtrap: error in dt_clause_0 for probe ID 1 (dtrace:::BEGIN): "
	    "couldn't freopen() \"/no/such/dir\": "
	    "No such file or directory\n");
}
END_TEST

START_TEST(system_runs_in_its_place)
{
	FILE *out;

	close(mkstemp(path));
	out = fopen(path, "a");
	f->env.out = out;
	option_parse(&f->opts, "quiet", false);
	fx_fire(f, text_ecb(fx_begin(f), "a"), NULL, 0);
	struct prog_clause *c = fx_clause(f);
	struct prog_stmt *st = fx_stmt(f, c, ACT_SYSTEM);
	char *command = mem_printf("printf %%s b%%d >>%s", path);
	char *doubled = mem_printf("printf %%%%s b%%d >>%s", path);
	st->fmt = fx_fmt(f, doubled);
	fx_rec(c, st, REC_INT, 4, true);
	fx_fire(f, fx_ecb(f, fx_begin(f), c), &(int){ 7 }, 4);
	fx_fire(f, text_ecb(fx_begin(f), "c"), NULL, 0);
	ck_assert_int_eq(consume_records(fx_consume(f)), 0);
	file_becomes("ab7c");
	mem_free(command);
	mem_free(doubled);
	consume_destroy(f->c);
	f->c = NULL;
	fclose(out);
	unlink(path);
}
END_TEST

START_TEST(setopt)
{
	struct prog_clause *c = fx_clause(f);

	fx_stmt(f, c, ACT_SETOPT)->strs[0] = "quiet";
	fx_stmt(f, c, ACT_SETOPT)->strs[0] = "strsize";
	c->stmts[1].strs[1] = "1k";
	fx_stmt(f, c, ACT_SETOPT)->strs[0] = "nosuch";
	c->stmts[2].strs[1] = "1";
	f->opts.active = true;
	uint32_t x = text_ecb(fx_begin(f), "x");
	fx_fire(f, x, NULL, 0);
	fx_fire(f, fx_ecb(f, fx_begin(f), c), NULL, 0);
	fx_fire(f, x, NULL, 0);
	/* The line that began ends. */
	fx_expect(f, HEAD BEGIN "x\n" BEGIN "\nx");
	ck_assert_str_eq(fx_err(f),
	    "dtrap: error in dt_clause_0 for probe ID 1 (dtrace:::BEGIN): "
	    "couldn't set option \"strsize\" to \"1k\": "
	    "Operation illegal when tracing is active\n\n"
	    "dtrap: error in dt_clause_0 for probe ID 1 (dtrace:::BEGIN): "
	    "couldn't set option \"nosuch\" to \"1\": Invalid option name\n\n");
}
END_TEST

START_TEST(an_output_that_is_gone_is_returned)
{
	int fds[2];

	signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(pipe(fds), 0);
	close(fds[0]);
	FILE *out = fdopen(fds[1], "w");
	f->env.out = out;
	fx_fire(f, text_ecb(fx_begin(f), "x"), NULL, 0);
	ck_assert_int_eq(consume_records(fx_consume(f)), -EPIPE);
	ck_assert_int_eq(consume_finish(f->c), -EPIPE);
	consume_destroy(f->c);
	f->c = NULL;
	fclose(out);
}
END_TEST

/* What reaches a terminal, with its line discipline out of the way. */
START_TEST(terminals_get_no_escapes_of_the_target)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	char text[256];

	if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
		return; /* no pseudo-terminals here */
	FILE *out = fopen(ptsname(master), "w");
	ck_assert_ptr_nonnull(out);
	f->env.out = out;
	option_parse(&f->opts, "quiet", false);
	struct prog_clause *c = fx_clause(f);
	struct prog_stmt *st = fx_stmt(f, c, ACT_PRINTF);
	st->fmt = fx_fmt(f, "\033[1m%s.%A\n");
	fx_rec(c, st, REC_STRING, 32, false);
	fx_rec(c, st, REC_USYM, sizeof(struct rec_sym), false);
	struct {
		char s[32];
		struct rec_sym sym;
	} v = { "a\033]0;\a\x80\302\233\303\251\t", { 1, 7, 0x1900 } };
	fx_fire(f, fx_ecb(f, fx_begin(f), c), &v, sizeof(v));
	ck_assert_int_eq(consume_records(fx_consume(f)), 0);
	/* A terminal hands on what it has, which may be a part of a line. */
	size_t n = 0;
	while (n == 0 || text[n - 1] != '\n') {
		ssize_t more = read(master, text + n, sizeof(text) - 1 - n);
		ck_assert_int_gt(more, 0);
		n += (size_t)more;
	}
	text[n] = '\0';
	ck_assert_str_eq(text,
	    "\033[1m" /* the program's own */
	    "a\\033]0;\\a\\200\\302\\233\303\251\t.a.out`\\033f9\r\n");
	consume_destroy(f->c);
	f->c = NULL;
	fclose(out);
	close(master);
}
END_TEST

FX_MAIN("consume", setup, teardown, lanes_in_order_of_time,
    lanes_one_by_one_if_not_temporal, buffers_wrap, header_once_then_columns,
    reference_example, long_names_shift, testing_leaves_numbers_out,
    quiet_prints_only_what_is_printed, statements_in_order,
    flow_of_the_reference, flow_is_kept_by_thread,
    flow_of_two_clauses_on_one_probe, faults, faults_come_in_their_place,
    drops_are_differences, drops_with_tags,
    records_that_make_no_sense_are_skipped, positions_that_make_no_sense,
    records_cut_short_by_the_end, strings_without_an_end,
    scribbling_does_no_harm, freopen_and_back, freopen_that_fails,
    system_runs_in_its_place, setopt, an_output_that_is_gone_is_returned,
    terminals_get_no_escapes_of_the_target)
