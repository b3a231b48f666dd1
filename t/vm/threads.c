/*
 * Two threads that write, each to its lane, and one that reads both, for
 * ThreadSanitizer: every update and every record is read once, whole.
 */
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dlang/vm/agg.h"
#include "dlang/vm/buf.h"
#include "t/fake/env.h"
#include "tracer/consume/consume_impl.h"

#define LANES   2
#define UPDATES 100000
#define KEYS    50
#define ADDED   3

static struct kit k;
static struct consume consumer;
static struct img_agg avg;
static struct lane_view lanes[LANES];
static uint64_t count, records, next_record[LANES];
static int writing = LANES;

void
aggs_add(struct aggs *a, uint32_t id, uint8_t *key, uint32_t cpu,
    const uint64_t *value)
{
	if (value[1] != value[0] * ADDED) {
		fprintf(stderr, "a torn value\n");
		exit(1);
	}
	count += value[0];
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
	const struct lane_view *v = arg;
	uint64_t wrote = 0;

	for (uint64_t i = 0; i < UPDATES; i++) {
		uint64_t key = i % KEYS;
		agg_update(v, &avg, &key, 0, ADDED, 1);
		if (i % 64 != 0)
			continue;
		struct rec_hdr *h = buf_reserve(v, sizeof(*h));
		if (h == NULL)
			continue; /* a drop, which is counted */
		h->epid = 1;
		h->timestamp = ++wrote;
		buf_commit(v);
	}
	__atomic_fetch_sub(&writing, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void
take_records(void)
{
	for (int i = 0; i < LANES; i++) {
		const struct rec_hdr *h;
		uint32_t avail;
		while ((h = buf_peek(&lanes[i], &avail)) != NULL) {
			if (h->epid != 1 || h->timestamp != ++next_record[i]) {
				fprintf(stderr, "a torn record\n");
				exit(1);
			}
			buf_advance(&lanes[i], sizeof(*h));
			records++;
		}
	}
}

int
main(void)
{
	pthread_t threads[LANES];
	uint64_t drops = 0;

	kit_init(&k);
	k.sizes.nlanes = LANES;
	k.sizes.bufsize = 65536;
	k.sizes.aggsize = 65536;
	struct prog_agg *a = kit_agg(&k, AGG_AVG, 8, 0);
	avg = (struct img_agg){ a->id, AGG_AVG, 8, agg_words(AGG_AVG, 0), 0 };
	kit_clause(&k, NULL, sizeof(struct rec_hdr));
	kit_publish(&k);
	kit_probe(&k, 0, 0, -1);
	consumer.env.globals = &k.globals;
	consumer.env.barrier = barrier;
	for (uint32_t i = 0; i < LANES; i++) {
		if (!store_view(&k.image, &k.store, i, &lanes[i]))
			return 1;
		*vec_push(&consumer.lanes) = lanes[i];
	}
	for (int i = 0; i < LANES; i++)
		if (pthread_create(&threads[i], NULL, writer, &lanes[i]) != 0)
			return 1;
	for (int i = 0; __atomic_load_n(&writing, __ATOMIC_ACQUIRE) > 0; i++) {
		snapshots_read(&consumer);
		if (i % 8 == 0)
			snapshots_flip(&consumer);
		take_records();
	}
	for (int i = 0; i < LANES; i++)
		pthread_join(threads[i], NULL);
	consumer.over = true;
	snapshots_read(&consumer);
	take_records();
	for (int i = 0; i < LANES; i++) {
		drops += lanes[i].lane->drops[DROP_PRINCIPAL];
		if (lanes[i].lane->drops[DROP_AGG] != 0)
			count = 0;
	}
	uint64_t written = LANES * ((UPDATES + 63) / 64);
	printf("%llu updates, %llu records, %llu drops\n",
	    (unsigned long long)count, (unsigned long long)records,
	    (unsigned long long)drops);
	snapshots_fini(&consumer);
	vec_fini(&consumer.lanes);
	kit_fini(&k);
	return count == LANES * UPDATES && records + drops == written ? 0 : 1;
}
