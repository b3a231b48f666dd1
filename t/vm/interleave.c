/*
 * A writer and the reader of one lane, in every order of their marked steps
 * (STEP() in dlang/vm/ and tracer/consume/snapshot.c): what is aggregated and
 * recorded is read once each, whole, and nothing else is.
 *
 * Both run as coroutines.  A run follows the choices of the one before it up to
 * the last that had an alternative, takes that, and goes on with the writer as
 * long as it can: so all are tried.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "dlang/vm/agg.h"
#include "dlang/vm/buf.h"
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

static struct coroutine {
	ucontext_t at;
	bool over;
	void (*run)(void);
	char stack[256 * 1024];
} who[2];

static ucontext_t scheduler;
static int current = -1; /* outside: steps are nothing */
static unsigned char choice[STEPS_MOST], alternatives[STEPS_MOST];
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
run_once(void)
{
	depth = 0;
	for (int i = 0; i < 2; i++) {
		who[i].over = false;
		getcontext(&who[i].at);
		who[i].at.uc_stack.ss_sp = who[i].stack;
		who[i].at.uc_stack.ss_size = sizeof(who[i].stack);
		makecontext(&who[i].at, begin, 0);
	}
	while (!who[0].over || !who[1].over) {
		bool both = !who[0].over && !who[1].over;
		if (depth == STEPS_MOST)
			FAIL("more than %d steps", STEPS_MOST);
		alternatives[depth] = both;
		if (!both)
			choice[depth] = who[0].over;
		current = choice[depth++];
		swapcontext(&scheduler, &who[current].at);
		current = -1;
	}
}

/* The next order; false: there is none. */
static bool
next_order(void)
{
	while (
	    depth > 0 && !(alternatives[depth - 1] && choice[depth - 1] == 0))
		depth--;
	if (depth == 0)
		return false;
	choice[depth - 1] = 1;
	memset(choice + depth, 0, STEPS_MOST - depth);
	return true;
}

static unsigned long
all_orders(void (*before)(void), void (*writer)(void), void (*reader)(void),
    void (*after)(void))
{
	unsigned long n = 0;

	memset(choice, 0, sizeof(choice));
	who[0].run = writer;
	who[1].run = reader;
	do {
		before();
		run_once();
		after();
		n++;
	} while (next_order());
	return n;
}

/* ---- what is tried ---- */

#define ADDED 7 /* each update adds this */

static struct kit k;
static struct prog_globals *globals;
static struct consume consumer;
static struct img_agg avg, least;
static uint64_t count, sum;
static int64_t lowest;
static unsigned records, next_record;

/* The door of aggs.c: what the reader hands on. */
void
aggs_add(struct aggs *a, uint32_t id, uint8_t *key, uint32_t cpu,
    const uint64_t *value)
{
	if (id == 2) {
		if ((int64_t)value[0] < lowest)
			lowest = (int64_t)value[0];
		return;
	}
	if (value[1] != value[0] * ADDED)
		FAIL("torn: %llu values, sum %llu",
		    (unsigned long long)value[0], (unsigned long long)value[1]);
	count += value[0];
	sum += value[1];
}

static struct img_agg
define(enum dif_agg func)
{
	struct prog_agg *a = kit_agg(&k, func, 8, 0);

	return (struct img_agg){ a->id, func, 8, agg_words(func, 0), 0 };
}

static void
before(void)
{
	kit_init(&k);
	k.sizes.bufsize = 4096;
	k.sizes.aggsize = 4096;
	avg = define(AGG_AVG);
	least = define(AGG_MIN);
	kit_clause(&k, NULL, sizeof(struct rec_hdr));
	kit_publish(&k);
	kit_probe(&k, 0, 0, -1);
	globals = &k.globals;
	memset(&consumer, 0, sizeof(consumer));
	consumer.env.globals = globals;
	consumer.env.store = k.store;
	consumer.env.image = k.image;
	*vec_push(&consumer.lanes) = k.env.at;
	count = sum = 0;
	lowest = INT64_MAX;
	records = next_record = 0;
}

static void
after(void)
{
	consumer.over = true;
	snapshots_read(&consumer);
	snapshots_fini(&consumer);
	vec_fini(&consumer.lanes);
	if (k.env.at.lane->drops[DROP_AGG] != 0)
		FAIL("an update was dropped");
	kit_fini(&k);
}

static void
update(uint64_t key)
{
	agg_update(&k.env.at, &avg, &key, 0, ADDED, 1);
}

/* An entry that is there, and one that is new, while the reader reads, goes
 * over to the other area, and reads. */
static void
two_updates(void)
{
	update(1);
	update(2);
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
	update(1);
	update(1);
	update(1);
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
	uint64_t key = 1;

	agg_update(&k.env.at, &least, &key, 0, 30, 1);
	agg_update(&k.env.at, &least, &key, 0, 20, 1);
}

static void
after_values(void)
{
	after();
	if (lowest != 20)
		FAIL("smallest value %lld, not 20", (long long)lowest);
}

static void
two_records(void)
{
	for (uint64_t i = 1; i <= 2; i++) {
		struct rec_hdr *h = buf_reserve(&k.env.at, sizeof(*h));
		if (h == NULL)
			FAIL("no room");
		h->epid = 1;
		vm_step();
		h->timestamp = i;
		buf_commit(&k.env.at);
	}
}

static void
take_records(void)
{
	const struct rec_hdr *h;
	uint32_t avail;

	while ((h = buf_peek(&k.env.at, &avail)) != NULL) {
		if (h->epid != 1 || h->timestamp != ++next_record)
			FAIL("record %u is not whole, or not the next",
			    next_record);
		vm_step();
		buf_advance(&k.env.at, sizeof(*h));
		records++;
	}
}

static void
after_records(void)
{
	take_records();
	after();
	if (records != 2)
		FAIL("%u records read of 2", records);
}

int
main(void)
{
	unsigned long n;

	n = all_orders(before, two_updates, read_and_flip, after_two);
	printf("updates, read, flip, read: %lu orders\n", n);
	n = all_orders(before, three_updates, flip_and_read, after_three);
	printf("updates, flip, read, read: %lu orders\n", n);
	n = all_orders(before, two_updates, three_flips, after_two);
	printf("updates, three flips: %lu orders\n", n);
	n = all_orders(before, two_values, read_and_flip, after_values);
	printf("smallest values: %lu orders\n", n);
	n = all_orders(before, two_records, take_records, after_records);
	printf("records: %lu orders\n", n);
	return 0;
}
