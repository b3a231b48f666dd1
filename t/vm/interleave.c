/*
 * Two writers, each in its lane of a thread store, and the reader, in every order
 * of their marked steps (STEP() in dlang/vm/ and tracer/consume/): what is
 * aggregated and recorded is read once each, whole, and nothing else is; each
 * run begins with lanes that are given anew.
 *
 * They run as coroutines.  A run follows the choices of the one before it up to
 * the last that had an alternative, takes the next, and goes on with the first
 * that can: so all are tried.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "dlang/base/mem.h"
#include "dlang/vm/agg.h"
#include "dlang/vm/buf.h"
#include "dlang/vm/lane.h"
#include "t/fake/env.h"
#include "tracer/consume/consume_impl.h"

#define FAIL(...)                             \
	do {                                  \
		fprintf(stderr, __VA_ARGS__); \
		fputc('\n', stderr);          \
		exit(1);                      \
	} while (0)

/* ---- the scheduler ---- */

#define STEPS_MOST 256

#define RUNNERS    3 /* two writers, and the reader */

static struct coroutine {
	ucontext_t at;
	bool over;
	void (*run)(void);
	char stack[256 * 1024];
} who[RUNNERS];

static ucontext_t scheduler;
static int current = -1; /* outside: steps are nothing */
static unsigned char choice[STEPS_MOST], last[STEPS_MOST];
static unsigned depth;

void vm_step(void);
void
vm_step(void)
{
	if (current >= 0)
		swapcontext(&who[current].at, &scheduler);
}

static void
begin(void)
{
	struct coroutine *c = &who[current];

	c->run();
	c->over = true;
	swapcontext(&c->at, &scheduler);
}

static void
prepare(void)
{
	for (int i = 0; i < RUNNERS; i++) {
		who[i].over = who[i].run == NULL;
		if (who[i].over)
			continue;
		getcontext(&who[i].at);
		who[i].at.uc_stack.ss_sp = who[i].stack;
		who[i].at.uc_stack.ss_size = sizeof(who[i].stack);
		makecontext(&who[i].at, begin, 0);
	}
}

/* Who can go on, from `from' on; RUNNERS: nobody. */
static int
able(int from)
{
	while (from < RUNNERS && who[from].over)
		from++;
	return from;
}

static int
last_able(void)
{
	int i = RUNNERS - 1;

	while (who[i].over)
		i--;
	return i;
}

static void
run_once(void)
{
	prepare();
	for (depth = 0; able(0) < RUNNERS; depth++) {
		if (depth == STEPS_MOST)
			FAIL("more than %d steps", STEPS_MOST);
		choice[depth] = (unsigned char)able(choice[depth]);
		last[depth] = (unsigned char)last_able();
		current = choice[depth];
		swapcontext(&scheduler, &who[current].at);
		current = -1;
	}
}

/* The next order; false: there is none. */
static bool
next_order(void)
{
	while (depth > 0 && choice[depth - 1] == last[depth - 1])
		depth--;
	if (depth == 0)
		return false;
	choice[depth - 1]++;
	memset(choice + depth, 0, STEPS_MOST - depth);
	return true;
}

static void before(void);

static void
all_orders(const char *name, void (*first)(void), void (*second)(void),
    void (*reader)(void), void (*after)(void))
{
	unsigned long n = 0;

	memset(choice, 0, sizeof(choice));
	who[0].run = first;
	who[1].run = second;
	who[2].run = reader;
	do {
		before();
		run_once();
		after();
		n++;
	} while (next_order());
	printf("%s: %lu orders\n", name, n);
}

/* ---- what is tried ---- */

#define ADDED 7 /* each update adds this */

static struct kit k;
static struct consume consumer;
static struct img_agg avg, least, sum_of;
static uint64_t count, sum;
static int64_t lowest;
static uint64_t now;        /* the clock of records */
static uint64_t ends[32];   /* when that of a time had been written */
static uint64_t printed[8]; /* in this order: thread << 32 | time */
static unsigned nprinted;
static bool with_tracer; /* its lane is read, too */
static bool trapped;     /* the first thread waits for the tracer */

uint64_t
consume_now(void)
{
	return now;
}

/* The doors of aggs.c and record.c: what the reader hands on. */
void
aggs_add(struct aggs *a, uint32_t id, uint8_t *key, uint32_t cpu,
    const uint64_t *value)
{
	if (id == least.id) {
		if ((int64_t)value[0] < lowest)
			lowest = (int64_t)value[0];
		return;
	}
	if (id == avg.id && value[1] != value[0] * ADDED)
		FAIL("torn: %llu values, sum %llu",
		    (unsigned long long)value[0], (unsigned long long)value[1]);
	count += id == avg.id ? value[0] : value[0] / ADDED;
	sum += id == avg.id ? value[1] : value[0];
}

uint32_t
record_size(const struct consume *c, uint32_t epid)
{
	return epid == 1 ? sizeof(struct rec_hdr) : 0;
}

static struct img_agg
define(enum dif_agg func)
{
	struct prog_agg *a = kit_agg(&k, func, 8, 0);

	return (struct img_agg){ a->id, func, 8, agg_words(func, 0), 0 };
}

static void
publish(void)
{
	kit_init(&k);
	k.sizes.bufsize = 4096;
	k.sizes.aggsize = 2048;
	avg = define(AGG_AVG);
	least = define(AGG_MIN);
	sum_of = define(AGG_SUM);
	kit_clause(&k, NULL, sizeof(struct rec_hdr));
	kit_publish(&k);
	kit_probe(&k, 0, 0, -1);
	kit_threads(&k, 2);
}

static void
before(void)
{
	kit_give(&k, 0, 0x101);
	kit_give(&k, 1, 0x202);
	memset(&consumer, 0, sizeof(consumer));
	consumer.env.globals = &k.globals;
	consumer.env.opts = &k.opts;
	consumer.env.image = k.image;
	/* Steps of lanes that nobody writes to would only add orders. */
	if ((with_tracer && !lanes_add(&consumer, &k.store, 0)) ||
	    !lanes_add(&consumer, &k.threads, 1))
		FAIL("no lanes");
	if (who[1].run == NULL)
		consumer.lanes.at[with_tracer]->n = 1;
	count = sum = now = 0;
	lowest = INT64_MAX;
	nprinted = 0;
	trapped = false;
}

/* As when the process has ended. */
static void
after(void)
{
	for (int i = 0; i < 2; i++)
		if (k.lanes[i].lane->drops[DROP_AGG] != 0)
			FAIL("an update was dropped");
	lanes_end_all(&consumer, &k.threads);
	lanes_fini(&consumer);
}

static void
add(unsigned lane, const struct img_agg *agg, uint64_t key, int64_t value)
{
	agg_update(&k.lanes[lane], agg, &key, 0, value, 1, AGG_NO_PIN);
}

/* An entry that is there, and one that is new, while the reader reads, goes
 * over to the other area, and reads. */
static void
two_updates(void)
{
	add(0, &avg, 1, ADDED);
	add(0, &avg, 2, ADDED);
}

static void
read_and_flip(void)
{
	snapshots_read(&consumer);
	snapshots_flip(&consumer);
	snapshots_read(&consumer);
}

static void
after_two(void)
{
	after();
	if (count != 2 || sum != 2 * ADDED)
		FAIL("%llu updates read of 2", (unsigned long long)count);
}

/* The writer is on its way in the new area when the old one is read last. */
static void
three_updates(void)
{
	add(0, &avg, 1, ADDED);
	add(0, &avg, 1, ADDED);
	add(0, &avg, 1, ADDED);
}

static void
flip_and_read(void)
{
	snapshots_flip(&consumer);
	snapshots_read(&consumer);
	snapshots_read(&consumer);
}

static void
after_three(void)
{
	after();
	if (count != 3 || sum != 3 * ADDED)
		FAIL("%llu updates read of 3", (unsigned long long)count);
}

static void
three_flips(void)
{
	for (int i = 0; i < 3; i++)
		snapshots_flip(&consumer);
}

/* The smallest value before the area was left is not that of after. */
static void
two_values(void)
{
	add(0, &least, 1, 30);
	add(0, &least, 1, 20);
}

static void
after_values(void)
{
	after();
	if (lowest != 20)
		FAIL("smallest value %lld, not 20", (long long)lowest);
}

/* Both threads under one key. */
static void
update_first(void)
{
	add(0, &sum_of, 1, ADDED);
}

static void
update_second(void)
{
	add(1, &sum_of, 1, ADDED);
}

static void
read_once(void)
{
	snapshots_read(&consumer);
}

static void
flip_once(void)
{
	snapshots_flip(&consumer);
}

/* ---- records ---- */

/* The time is read, and the record committed later. */
static void
record(const struct lane_view *v, uint64_t thread)
{
	uint64_t when = ++now;

	vm_step();
	struct rec_hdr *h = buf_reserve(v, sizeof(*h));
	if (h == NULL)
		FAIL("no room");
	h->epid = 1;
	h->tid = (uint32_t)thread;
	h->timestamp = when;
	buf_commit(v);
	ends[when] = ++now;
}

static void
two_records(void)
{
	record(&k.lanes[0], 1);
	vm_step();
	record(&k.lanes[0], 1);
}

static void
record_second(void)
{
	record(&k.lanes[1], 2);
}

/* A pass; within it, records are in order of time. */
static void
pass(void)
{
	struct rec_hdr next;
	bool followed;
	uint64_t before_it = 0;

	lanes_begin(&consumer);
	while (lanes_take(&consumer, &next, &followed)) {
		const struct rec_hdr *h = consumer.rec.hdr;
		if (h->timestamp <= before_it)
			FAIL("a pass is not in order of time");
		if (nprinted == 8)
			FAIL("too many records");
		before_it = h->timestamp;
		printed[nprinted++] = (uint64_t)h->tid << 32 | h->timestamp;
	}
	lanes_tidy(&consumer);
}

static void
two_passes(void)
{
	pass();
	pass();
}

/* Each thread's in its order, and `n' of them; one that had been written before
 * another began comes before it. */
static void
check_records(unsigned n)
{
	uint64_t newest[3] = { 0 };

	consumer.over = true;
	pass();
	for (unsigned i = 0; i < nprinted; i++) {
		uint64_t *at = &newest[printed[i] >> 32];
		for (unsigned j = i + 1; j < nprinted; j++)
			if (ends[(uint32_t)printed[j]] < (uint32_t)printed[i])
				FAIL("records are not in order of time");
		if ((uint32_t)printed[i] <= *at)
			FAIL("a thread's records are not in its order");
		*at = (uint32_t)printed[i];
	}
	if (nprinted != n || consumer.damaged != 0)
		FAIL("%u records read of %u", nprinted, n);
	mem_free(consumer.rec.at);
	after();
}

static void
after_records(void)
{
	check_records(2);
}

static void
after_three_records(void)
{
	check_records(3);
}

/* A thread records in its lane, and then runs into a trap: the tracer records
 * for it in its own. */
static void
record_and_trap(void)
{
	record(&k.lanes[0], 1);
	trapped = true;
}

static void
pass_and_trap(void)
{
	bool done = false;

	for (int i = 0; i < 3; i++) {
		if (trapped && !done) {
			record(&k.env.at, 1);
			done = true;
		}
		pass();
	}
	if (!done)
		record(&k.env.at, 1);
}

/* A lane ends, before or after what it had was read, and a new thread gets it. */
static void
pass_and_end(void)
{
	pass();
	if (!who[0].over)
		return;
	lanes_end(&consumer, &k.threads, 0);
	lane_take(&k.lanes[0]);
	kit_give(&k, 0, 0x303);
	snapshots_read(&consumer);
	pass();
}

static void
record_and_update(void)
{
	record(&k.lanes[0], 1);
	add(0, &sum_of, 1, ADDED);
}

static void
after_end(void)
{
	check_records(1);
	if (count != 1)
		FAIL("%llu updates read of 1", (unsigned long long)count);
}

int
main(void)
{
	publish();
	all_orders("updates, read, flip, read", two_updates, NULL,
	    read_and_flip, after_two);
	all_orders("updates, flip, read, read", three_updates, NULL,
	    flip_and_read, after_three);
	all_orders(
	    "updates, three flips", two_updates, NULL, three_flips, after_two);
	all_orders(
	    "smallest values", two_values, NULL, read_and_flip, after_values);
	all_orders("updates of two threads", update_first, update_second,
	    read_once, after_two);
	all_orders("updates of two threads, flip", update_first, update_second,
	    flip_once, after_two);
	all_orders("records of a thread", two_records, NULL, two_passes,
	    after_records);
	all_orders("records of two threads", two_records, record_second, pass,
	    after_three_records);
	with_tracer = true;
	all_orders("a record, and a trap", record_and_trap, NULL, pass_and_trap,
	    after_records);
	with_tracer = false;
	all_orders("the end of a lane", record_and_update, NULL, pass_and_end,
	    after_end);
	kit_fini(&k);
	return 0;
}
