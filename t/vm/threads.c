/*
 * Two threads at a time that write, each to its lane of a thread store, and one
 * that reads both, for ThreadSanitizer: every update and every record is read
 * once, whole, and in its thread's order.  A lane goes from a thread that ends to
 * a new one, four times.
 */
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "dlang/base/mem.h"
#include "dlang/vm/agg.h"
#include "dlang/vm/buf.h"
#include "dlang/vm/lane.h"
#include "t/fake/env.h"
#include "tracer/consume/consume_impl.h"

#define LANES   2
#define GIVEN   4
#define UPDATES 25000 /* by a thread */
#define EACH    64    /* updates for a record */
#define KEYS    50
#define ADDED   3

static struct kit k;
static struct consume consumer;
static struct img_agg avg;
static uint64_t count, records, drops;

static struct writer {
	pthread_t thread;
	const struct lane_view *v;
	unsigned given;  /* how often the lane was */
	uint64_t newest; /* time of a record that was read */
	bool over;
} writers[LANES];

static void
fail(const char *what)
{
	fprintf(stderr, "threads: %s\n", what);
	exit(1);
}

/* The doors of aggs.c, record.c and consume.c. */
void
aggs_add(struct aggs *a, uint32_t id, uint8_t *key, uint32_t cpu,
    const uint64_t *value)
{
	if (value[1] != value[0] * ADDED)
		fail("a torn value");
	count += value[0];
}

uint32_t
record_size(const struct consume *c, uint32_t epid)
{
	return epid == 1 ? sizeof(struct rec_hdr) : 0;
}

uint64_t
consume_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* The barrier that the tracer has every thread of the system run through. */
static void
barrier(void)
{
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

static void *
writer(void *arg)
{
	struct writer *w = arg;

	for (uint64_t i = 0; i < UPDATES; i++) {
		uint64_t key = i % KEYS;
		agg_update(w->v, &avg, &key, 0, ADDED, 1, AGG_NO_PIN);
		if (i % EACH != 0)
			continue;
		struct rec_hdr *h = buf_reserve(w->v, sizeof(*h));
		if (h == NULL)
			continue; /* a drop, which is counted */
		h->epid = 1;
		h->tid = (uint32_t)(w - writers);
		h->timestamp = consume_now();
		buf_commit(w->v);
	}
	__atomic_store_n(&w->over, true, __ATOMIC_RELEASE);
	return NULL;
}

static void
take_records(void)
{
	struct rec_hdr next;
	bool followed;

	lanes_begin(&consumer);
	while (lanes_take(&consumer, &next, &followed)) {
		const struct rec_hdr *h = consumer.rec.hdr;
		if (h->epid != 1 || h->tid >= LANES ||
		    h->timestamp < writers[h->tid].newest)
			fail("a torn record, or not the next");
		writers[h->tid].newest = h->timestamp;
		records++;
	}
	lanes_tidy(&consumer);
}

static void
count_drops(struct feed *f)
{
	drops += lane_drops(f, DROP_PRINCIPAL);
	if (lane_drops(f, DROP_AGG) != 0)
		fail("an update was dropped");
}

/* Give the lane to a new thread. */
static void
begin(uint32_t lane)
{
	struct writer *w = &writers[lane];
	struct lane_owner owner = { .thread = lane + 1 };

	lane_give(w->v, &owner);
	w->over = false;
	w->given++;
	if (pthread_create(&w->thread, NULL, writer, w) != 0)
		fail("no thread");
}

/* True: the last thread of this lane has ended. */
static bool
look_after(uint32_t lane)
{
	struct writer *w = &writers[lane];

	if (!__atomic_load_n(&w->over, __ATOMIC_ACQUIRE))
		return false;
	if (w->thread == 0)
		return true;
	pthread_join(w->thread, NULL);
	w->thread = 0;
	count_drops(&consumer.lanes.at[0]->at[lane]);
	lanes_end(&consumer, &k.threads, lane);
	lane_take(w->v);
	if (w->given < GIVEN)
		begin(lane);
	return w->given == GIVEN && w->thread == 0;
}

int
main(void)
{
	kit_init(&k);
	k.sizes.bufsize = 131072;
	k.sizes.aggsize = 131072;
	struct prog_agg *a = kit_agg(&k, AGG_AVG, 8, 0);
	avg = (struct img_agg){ a->id, AGG_AVG, 8, agg_words(AGG_AVG, 0), 0 };
	kit_clause(&k, NULL, sizeof(struct rec_hdr));
	kit_publish(&k);
	kit_probe(&k, 0, 0, -1);
	kit_threads(&k, LANES);
	consumer.env.globals = &k.globals;
	consumer.env.opts = &k.opts;
	consumer.env.image = k.image;
	consumer.env.barrier = barrier;
	if (!lanes_add(&consumer, &k.threads, 1))
		fail("no lanes");
	for (uint32_t i = 0; i < LANES; i++) {
		writers[i].v = &k.lanes[i];
		begin(i);
	}
	bool first = false, second = false;
	for (int i = 0; !first || !second; i++) {
		snapshots_read(&consumer);
		if (i % 8 == 0)
			snapshots_flip(&consumer);
		take_records();
		first = look_after(0);
		second = look_after(1);
	}
	consumer.over = true;
	take_records();
	uint64_t written = LANES * GIVEN * ((UPDATES + EACH - 1) / EACH);
	printf("%llu updates, %llu records, %llu drops\n",
	    (unsigned long long)count, (unsigned long long)records,
	    (unsigned long long)drops);
	mem_free(consumer.rec.at);
	lanes_fini(&consumer);
	kit_fini(&k);
	return count == LANES * GIVEN * UPDATES && records + drops == written ?
	    0 :
	    1;
}
