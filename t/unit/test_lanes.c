/*
 * Lanes of a thread store: given and taken back, what a thread has of its own, and
 * what the consumer makes of many.
 */
#include <check.h>
#include <stdlib.h>

#include "dlang/base/mem.h"
#include "dlang/vm/agg.h"
#include "dlang/vm/buf.h"
#include "dlang/vm/dyn.h"
#include "dlang/vm/vars.h"
#include "t/fake/env.h"
#include "tracer/consume/consume_impl.h"

#define WORD 0x500 /* self->word */
#define TEXT 0x501 /* self->text */
#define HERE 0x502 /* this->here */

static struct kit k;
static struct consume_env cenv;
static struct consume *c;
static char *err_text;
static size_t err_len;
static struct img_agg sums;

static void
up(void)
{
	kit_init(&k);
	kit_var(&k, DIF_THREAD, DIF_SCALAR, WORD);
	kit_ref_var(&k, DIF_THREAD, DIF_SCALAR, TEXT, true, 32);
	kit_ref_var(&k, DIF_LOCAL, DIF_SCALAR, HERE, true, 32);
	struct prog_agg *a = kit_agg(&k, AGG_SUM, 8, 0);
	kit_clause(&k, NULL, 24 + 40);
	kit_publish(&k);
	kit_probe(&k, 0, 0, -1);
	sums = (struct img_agg){ a->id, AGG_SUM, 8, a->words, 0 };
	cenv = (struct consume_env){ .image = k.image,
		.store = k.store,
		.globals = &k.globals,
		.opts = &k.opts,
		.out = fopen("/dev/null", "w"),
		.err = open_memstream(&err_text, &err_len),
		.prog = "dtrap" };
	c = consume_create(&cenv);
}

static void
down(void)
{
	consume_destroy(c);
	fclose(cenv.out);
	fclose(cenv.err);
	free(err_text);
	kit_fini(&k);
}

static void
threads(uint32_t n)
{
	kit_threads(&k, n);
	ck_assert(consume_lanes_add(c, &k.threads, 77));
}

static void
assign(struct vm_env *env, enum dif_scope scope, uint32_t id, uint64_t value)
{
	env->fault.code = FLT_NONE;
	vars_store(env, scope, id, NULL, 0, false, value);
	ck_assert_int_eq(env->fault.code, FLT_NONE);
}

static uint64_t
value(struct vm_env *env, enum dif_scope scope, uint32_t id)
{
	env->fault.code = FLT_NONE;
	uint64_t v = vars_load(env, scope, id, NULL, 0, false);
	ck_assert_int_eq(env->fault.code, FLT_NONE);
	return v;
}

static const char *
text_at(struct vm_env *env, uint64_t addr)
{
	static char text[32];

	ck_assert_int_eq(vm_copy_str(env, text, addr, sizeof(text)), 0);
	return text;
}

/* A string for the machine: in the fake target. */
static uint64_t
string(const char *s)
{
	return fake_env_str(&k.target, 0, s);
}

/* ---- given and taken back ---- */

/* What nobody has written to is as it was when it was given first. */
static void
check_same(const struct lane_view *v, const struct lane *as, const uint8_t *agg,
    const uint8_t *vars)
{
	size_t nagg = v->aggs[0].first - v->aggs[0].ref;
	const uint8_t *zero = mem_zalloc(sizeof(struct vm_env));

	struct lane want = *as;
	/* Pins of an earlier owner are not valid. */
	ck_assert_uint_eq(v->lane->agg_area & 1, 0);
	want.agg_area = v->lane->agg_area;
	ck_assert_mem_eq(v->lane, &want, sizeof(want));
	ck_assert_mem_eq(v->base + v->aggs[0].ref, agg, nagg);
	ck_assert_mem_eq(v->base + v->aggs[1].ref, agg, nagg);
	ck_assert_mem_eq(v->self.hdr, vars, 32 + 4 * (v->self.mask + 1));
	ck_assert_mem_eq(v->locals, zero, v->image->locals_size);
	ck_assert_mem_eq(lane_env(v->lane), zero, sizeof(struct vm_env));
	mem_free((void *)(uintptr_t)zero);
}

static void
use_all(struct vm_env *env, const struct lane_view *v)
{
	uint64_t key = 5;

	assign(env, DIF_THREAD, WORD, 1);
	assign(env, DIF_THREAD, TEXT, string("mine"));
	assign(env, DIF_LOCAL, HERE, string("here"));
	agg_update(v, &sums, &key, 0, 3, 1, AGG_NO_PIN);
	agg_flip(v, 1);
	agg_update(v, &sums, &key, 0, 3, 1, AGG_NO_PIN);
	ck_assert_ptr_nonnull(buf_reserve(v, 64));
	buf_commit(v);
	memset(&v->lane->regs, 7, sizeof(v->lane->regs));
	v->lane->busy = v->lane->lost = v->lane->hits = 9;
	v->lane->drops[DROP_AGG] = v->lane->random = 9;
	v->lane->buf_ref = v->lane->agg_size = 0xffffffff;
	memset(v->self.hdr, 0xff, 24);
	memset(lane_env(v->lane), 0xee, 64);
}

START_TEST(a_lane_is_given_fresh)
{
	struct vm_env env;
	struct lane was;

	threads(2);
	kit_give(&k, 1, 33);
	const struct lane_view *v = &k.lanes[1];
	size_t nagg = v->aggs[0].first - v->aggs[0].ref;
	size_t nvars = 32 + 4 * (v->self.mask + 1);
	uint8_t *agg = mem_alloc(nagg), *vars = mem_alloc(nvars);
	was = *v->lane;
	memcpy(agg, v->base + v->aggs[0].ref, nagg);
	memcpy(vars, v->self.hdr, nvars);
	ck_assert_uint_eq(was.thread, 33);
	ck_assert_uint_eq(was.number, 1);

	kit_inside(&k, 1, &env);
	use_all(&env, v);
	lane_take(v);
	ck_assert_uint_eq(v->lane->thread, 0);
	ck_assert(lane_is_busy(v));
	kit_give(&k, 1, 33);
	check_same(v, &was, agg, vars);
	ck_assert(!lane_is_busy(v));
	kit_inside(&k, 1, &env);
	ck_assert_uint_eq(value(&env, DIF_THREAD, WORD), 0);
	ck_assert_uint_eq(value(&env, DIF_THREAD, TEXT), 0);
	mem_free(agg);
	mem_free(vars);
}
END_TEST

/* Each has its pages, and below its stack a gap. */
START_TEST(lanes_lie_apart)
{
	threads(3);
	const uint8_t *end = k.threads.base + sizeof(struct store_hdr);
	for (int i = 0; i < 3; i++) {
		const uint8_t *lane = (void *)k.lanes[i].lane;
		ck_assert_uint_eq((size_t)(lane - k.threads.base) % 4096, 0);
		ck_assert(lane - LANE_STACK - LANE_GAP >= end);
		ck_assert(k.lanes[i].locals >=
		    (const uint8_t *)(lane_env((void *)(uintptr_t)lane) + 1));
		end = lane + k.lanes[i].lane->size;
		ck_assert(k.lanes[i].base + k.lanes[i].aggs[1].end <= end);
		ck_assert_ptr_null(k.lanes[i].statics);
		ck_assert_ptr_null(k.lanes[i].dyn.hdr);
		ck_assert_ptr_null(k.lanes[i].spec);
	}
	ck_assert(end <= k.threads.base + k.threads.size);
}
END_TEST

/* However many share them, the largest record, some entries and variables fit. */
START_TEST(shares_are_large_enough)
{
	static const uint32_t counts[] = { 1, 7, 1000 };

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		struct store_sizes s =
		    store_share(image_hdr(k.im), &k.sizes, counts[i], true);
		ck_assert_uint_ge(s.bufsize, 2 * 64);
		ck_assert(agg_holds(s.aggsize, image_hdr(k.im)->agg_data));
		ck_assert_uint_ge(dyn_count(image_hdr(k.im), s.dynvarsize), 16);
		ck_assert_uint_le(s.bufsize, MAX(k.sizes.bufsize, 128));
	}
	struct store_sizes s = store_share(image_hdr(k.im), &k.sizes, 1, true);
	ck_assert_uint_eq(s.aggsize, k.sizes.aggsize);
	/* Few have as much as they may, many share. */
	struct store_sizes whole = k.sizes;
	whole.bufsize = whole.aggsize = 4U << 20;
	s = store_share(image_hdr(k.im), &whole, 32, true);
	ck_assert_uint_eq(s.aggsize, whole.aggsize);
	ck_assert_uint_eq(s.bufsize, 16U << 20 >> 5);
	s = store_share(image_hdr(k.im), &whole, 32, false);
	ck_assert_uint_eq(s.aggsize, whole.aggsize / 32);
	ck_assert_uint_eq(s.bufsize, whole.bufsize / 32);
	s = store_share(image_hdr(k.im), &whole, 1024, true);
	ck_assert_uint_eq(s.aggsize, 128U << 10);
	ck_assert_uint_eq(s.bufsize, 16U << 10);
	whole.aggsize = whole.bufsize = 256U << 20;
	s = store_share(image_hdr(k.im), &whole, 64, true);
	ck_assert_uint_eq(s.aggsize, 4U << 20);
	ck_assert_uint_eq(s.bufsize, 4U << 20);
	kit_threads(&k, 1000);
	for (uint32_t i = 0; i < 1000; i++)
		kit_give(&k, i, i + 1);
	for (uint64_t key = 0; key < 4; key++)
		agg_update(&k.lanes[500], &sums, &key, 0, 1, 1, AGG_NO_PIN);
	for (int n = 0; n < 2; n++) {
		ck_assert_ptr_nonnull(buf_reserve(&k.lanes[999], 64));
		buf_commit(&k.lanes[999]);
	}
	ck_assert_uint_eq(k.lanes[500].lane->drops[DROP_AGG], 0);
}
END_TEST

/* ---- what a thread has of its own ---- */

/* The tracer's environment, for the thread in lane n. */
static void
as_thread(uint32_t n)
{
	k.env.own = &k.lanes[n];
	k.env.thread = k.lanes[n].lane->thread;
	ck_assert_int_eq(vm_begin(&k.env), 0);
}

START_TEST(self_is_in_the_lane)
{
	struct vm_env inside;

	threads(2);
	kit_give(&k, 0, 10);
	kit_give(&k, 1, 11);
	as_thread(0);
	assign(&k.env, DIF_THREAD, WORD, 100);
	assign(&k.env, DIF_THREAD, TEXT, string("zero"));
	as_thread(1);
	ck_assert_uint_eq(value(&k.env, DIF_THREAD, WORD), 0);
	assign(&k.env, DIF_THREAD, TEXT, string("one"));

	kit_inside(&k, 0, &inside);
	ck_assert_uint_eq(value(&inside, DIF_THREAD, WORD), 100);
	uint64_t addr = value(&inside, DIF_THREAD, TEXT);
	ck_assert_uint_eq(VMA_REGION(addr), VMA_THREADS);
	ck_assert_str_eq(text_at(&inside, addr), "zero");
	assign(&inside, DIF_THREAD, WORD, 200);
	as_thread(0);
	ck_assert_uint_eq(value(&k.env, DIF_THREAD, WORD), 200);
	/* The same address for the tracer. */
	ck_assert_uint_eq(value(&k.env, DIF_THREAD, TEXT), addr);
	ck_assert_str_eq(text_at(&k.env, addr), "zero");
	/* Without a lane they are the tracer's. */
	k.env.own = NULL;
	ck_assert_uint_eq(value(&k.env, DIF_THREAD, WORD), 0);
	ck_assert_ptr_null(vm_readable(&k.env, addr, 1));
}
END_TEST

/* A thread that got its lane later, or has executed a program. */
START_TEST(self_moves_between_stores)
{
	struct dyn_view *own = &k.env.at.self, *lane;

	threads(1);
	kit_give(&k, 0, 10);
	lane = &k.lanes[0].self;
	k.env.own = NULL;
	for (uint64_t thread = 10; thread <= 11; thread++) {
		k.env.thread = thread;
		assign(&k.env, DIF_THREAD, WORD, 100 + thread);
		assign(&k.env, DIF_THREAD, TEXT, string("text"));
	}
	ck_assert_uint_eq(dyn_move(own, lane, 10), 0);
	ck_assert_uint_eq(value(&k.env, DIF_THREAD, WORD), 111);
	k.env.thread = 10;
	ck_assert_uint_eq(value(&k.env, DIF_THREAD, WORD), 0);
	as_thread(0);
	ck_assert_uint_eq(value(&k.env, DIF_THREAD, WORD), 110);
	ck_assert_str_eq(
	    text_at(&k.env, value(&k.env, DIF_THREAD, TEXT)), "text");
	/* Back, over a value that is there. */
	assign(&k.env, DIF_THREAD, TEXT, 0);
	k.env.own = NULL;
	assign(&k.env, DIF_THREAD, WORD, 1);
	ck_assert_uint_eq(dyn_move(lane, own, 10), 0);
	ck_assert_uint_eq(value(&k.env, DIF_THREAD, WORD), 110);
	ck_assert_uint_eq(value(&k.env, DIF_THREAD, TEXT), 0);
	as_thread(0);
	ck_assert_uint_eq(value(&k.env, DIF_THREAD, WORD), 0);
}
END_TEST

START_TEST(self_that_has_no_room_is_lost)
{
	struct dyn_view *own = &k.env.at.self, *lane;
	uint64_t n = 0;

	threads(1);
	kit_give(&k, 0, 10);
	lane = &k.lanes[0].self;
	/* The lane has no room but for one. */
	as_thread(0);
	for (uint64_t thread = 20; n == 0; thread++) {
		k.env.thread = thread;
		assign(&k.env, DIF_THREAD, WORD, 1);
		n = k.env.at.lane->drops[DROP_DYNAMIC];
	}
	k.env.thread = 20;
	assign(&k.env, DIF_THREAD, WORD, 0);
	k.env.own = NULL;
	k.env.thread = 10;
	assign(&k.env, DIF_THREAD, WORD, 5);
	assign(&k.env, DIF_THREAD, TEXT, string("text"));
	ck_assert_uint_eq(dyn_move(own, lane, 10), 1);
	ck_assert_uint_eq(value(&k.env, DIF_THREAD, WORD), 0);
	ck_assert_uint_eq(value(&k.env, DIF_THREAD, TEXT), 0);
	/* A length that the target has written is not believed. */
	((struct dyn_chunk *)(void *)lane->chunk)->key_size = 0xffffffff;
	for (uint64_t thread = 10; thread < 30; thread++)
		ck_assert_uint_eq(dyn_move(lane, own, thread), 0);
	struct dyn_view none = { 0 };
	ck_assert_uint_eq(dyn_move(&none, own, 10), 0);
	ck_assert_uint_eq(dyn_move(lane, &none, 10), 0);
}
END_TEST

START_TEST(this_is_in_the_lane)
{
	threads(1);
	kit_give(&k, 0, 10);
	as_thread(0);
	assign(&k.env, DIF_LOCAL, HERE, string("this"));
	uint64_t addr = value(&k.env, DIF_LOCAL, HERE);
	ck_assert_uint_eq(addr, VMA(VMA_THREADS, k.lanes[0].locals_ref + 8));
	ck_assert_str_eq(text_at(&k.env, addr), "this");
	ck_assert_ptr_nonnull(vm_writable(&k.env, addr, 8));
	/* Each firing begins with none. */
	as_thread(0);
	ck_assert_int_eq(*vm_readable(&k.env, addr, 1), 0);
}
END_TEST

/* Of a lane there is nothing to be had by a VM address but what is the thread's:
 * not the ring, not scratch, not another lane. */
START_TEST(the_rest_of_a_lane_is_out_of_reach)
{
	struct vm_env inside;

	threads(2);
	kit_give(&k, 0, 10);
	kit_give(&k, 1, 11);
	kit_inside(&k, 0, &inside);
	as_thread(0);
	const struct lane_view *v = &k.lanes[0];
	const uint64_t bad[] = { VMA(VMA_THREADS, 0),
		VMA(VMA_THREADS, v->locals_ref - 1),
		VMA(VMA_THREADS, v->thread_end),
		VMA(VMA_THREADS, v->scratch_ref),
		VMA(VMA_THREADS, (uint64_t)(v->buf - v->base)),
		VMA(VMA_THREADS, k.lanes[1].locals_ref),
		VMA(VMA_THREADS, 0xffffffff), VMA(3ULL, v->locals_ref) };
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		uint64_t room;
		ck_assert_ptr_null(vm_readable(&k.env, bad[i], 1));
		ck_assert_ptr_null(vm_writable(&k.env, bad[i], 1));
		ck_assert_ptr_null(vm_readable(&inside, bad[i], 1));
		ck_assert_ptr_null(vm_writable(&inside, bad[i], 1));
		ck_assert_ptr_null(vm_scratch_at(&inside, bad[i], &room));
	}
	ck_assert_ptr_nonnull(
	    vm_readable(&k.env, VMA(VMA_THREADS, v->thread_end - 1), 1));
}
END_TEST

/* ---- the consumer ---- */

static void
record(const struct lane_view *v, uint64_t when, uint32_t tid)
{
	struct rec_hdr *h = buf_reserve(v, 64);

	ck_assert_ptr_nonnull(h);
	memset(h, 0, 64);
	*h = (struct rec_hdr){ .epid = 1, .tid = tid, .timestamp = when };
	buf_commit(v);
}

/* Read all, which is in order; how many. */
static unsigned
take_all(void)
{
	struct rec_hdr next;
	bool followed;
	uint64_t when = 0;
	unsigned n = 0;

	lanes_begin(c);
	for (; lanes_take(c, &next, &followed); n++) {
		ck_assert_uint_ge(c->rec.hdr->timestamp, when);
		when = c->rec.hdr->timestamp;
	}
	lanes_tidy(c);
	return n;
}

#define MANY 300

START_TEST(records_come_in_order_of_time)
{
	uint64_t times[MANY] = { 0 }, seed = 1;
	unsigned written = 0;

	k.sizes.bufsize = MANY * 1024;
	threads(MANY);
	for (uint32_t i = 0; i < MANY; i++)
		kit_give(&k, i, i + 1);
	for (int n = 0; n < 3000; n++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		uint32_t i = (uint32_t)(seed >> 33) % MANY;
		times[i] += 1 + (seed >> 50);
		if (k.lanes[i].lane->head < k.lanes[i].buf_size)
			record(&k.lanes[i], times[i], i), written++;
	}
	record(&k.env.at, 5, 1);
	ck_assert_uint_gt(written, 2000);
	ck_assert_uint_eq(take_all(), written + 1);
	ck_assert_uint_eq(take_all(), 0);
	ck_assert_uint_eq(c->damaged, 0);
}
END_TEST

/* One that is not over when the pass begins waits for the next. */
START_TEST(later_records_wait)
{
	threads(2);
	kit_give(&k, 0, 1);
	record(&k.lanes[0], 10, 1);
	record(&k.lanes[0], consume_now() + 3600000000000ULL, 1);
	ck_assert_uint_eq(take_all(), 1);
	ck_assert_uint_eq(take_all(), 0);
	c->over = true;
	ck_assert_uint_eq(take_all(), 1);
}
END_TEST

static uint64_t
total(uint64_t key)
{
	struct agg_table *t = aggs_table(&c->aggs, sums.id);

	vec_foreach(row, &t->rows)
		if (memcmp((*row)->key, &key, 8) == 0)
			return (*row)->value[0];
	return 0;
}

START_TEST(aggregations_of_lanes_are_one)
{
	uint64_t key = 1, other = 2;

	threads(3);
	for (uint32_t i = 0; i < 3; i++) {
		kit_give(&k, i, i + 1);
		agg_update(&k.lanes[i], &sums, &key, 0, 10, 1, AGG_NO_PIN);
	}
	agg_update(&k.env.at, &sums, &key, 0, 1, 1, AGG_NO_PIN);
	consume_aggs(c);
	ck_assert_uint_eq(total(1), 31);
	agg_update(&k.lanes[1], &sums, &key, 0, 10, 1, AGG_NO_PIN);
	agg_update(&k.lanes[1], &sums, &other, 0, 7, 1, AGG_NO_PIN);
	/* The thread ends; another gets its lane. */
	consume_lanes_end(c, &k.threads, 1);
	ck_assert_uint_eq(total(1), 41);
	ck_assert_uint_eq(total(2), 7);
	consume_aggs(c);
	ck_assert_uint_eq(total(1), 41);
	kit_give(&k, 1, 9);
	consume_aggs(c);
	agg_update(&k.lanes[1], &sums, &key, 0, 100, 1, AGG_NO_PIN);
	consume_aggs(c);
	snapshots_flip(c);
	agg_update(&k.lanes[1], &sums, &key, 0, 100, 1, AGG_NO_PIN);
	consume_lanes_end(c, &k.threads, -1);
	consume_aggs(c);
	ck_assert_uint_eq(total(1), 241);
}
END_TEST

/* Those of a process together, also of lanes that were given twice. */
START_TEST(drops_are_told_for_the_process)
{
	threads(3);
	k.lanes[0].lane->drops[DROP_PRINCIPAL] = 2;
	k.lanes[2].lane->drops[DROP_PRINCIPAL] = 3;
	k.lanes[1].lane->lost = 1;
	k.lanes[1].lane->drops[DROP_DYNAMIC] = 4;
	consume_lanes_end(c, &k.threads, 2);
	ck_assert_uint_eq(k.lanes[2].lane->drops[DROP_PRINCIPAL], 0);
	k.lanes[2].lane->drops[DROP_PRINCIPAL] = 1;
	kit_lane(&k)->drops[DROP_PRINCIPAL] = 8;
	consume_drops(c);
	consume_drops(c);
	fflush(cenv.err);
	ck_assert_str_eq(err_text,
	    "dtrap: 8 drops on CPU 0\n"
	    "dtrap: 6 drops in process 77\n"
	    "dtrap: 1 drop of a hit during another hit in process 77\n"
	    "dtrap: 4 dynamic variable drops\n");
}
END_TEST

/* A lane may be given again at once: what it had is printed in its order, or
 * counted where too much waits. */
START_TEST(records_of_ended_lanes_wait)
{
	threads(2);
	kit_give(&k, 0, 1);
	kit_give(&k, 1, 2);
	record(&k.lanes[0], 10, 1);
	record(&k.lanes[0], 30, 1);
	record(&k.lanes[1], 20, 2);
	consume_lanes_end(c, &k.threads, 0);
	kit_give(&k, 0, 3);
	record(&k.lanes[0], 25, 3);
	ck_assert_uint_eq(take_all(), 4);
	ck_assert_uint_eq(c->left, 0);

	k.opts.value[OPT_BUFSIZE] = k.lanes[0].buf_size;
	record(&k.lanes[0], 40, 3);
	consume_lanes_end(c, &k.threads, 0);
	record(&k.lanes[1], 41, 2);
	record(&k.lanes[1], 42, 2);
	consume_lanes_end(c, &k.threads, -1);
	consume_drops(c);
	fflush(cenv.err);
	ck_assert_str_eq(err_text, "dtrap: 2 drops in process 77\n");
	ck_assert_uint_eq(take_all(), 1);
	ck_assert_uint_eq(c->lanes.len, 1);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = { a_lane_is_given_fresh, lanes_lie_apart,
		shares_are_large_enough, self_is_in_the_lane,
		self_moves_between_stores, self_that_has_no_room_is_lost,
		this_is_in_the_lane, the_rest_of_a_lane_is_out_of_reach,
		records_come_in_order_of_time, later_records_wait,
		aggregations_of_lanes_are_one, drops_are_told_for_the_process,
		records_of_ended_lanes_wait };
	Suite *s = suite_create("lanes");
	TCase *tc = tcase_create("lanes");

	tcase_add_checked_fixture(tc, up, down);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(tc, tests[i]);
	suite_add_tcase(s, tc);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
