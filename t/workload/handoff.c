/*
 * handoff ITEMS WORKERS: one thread hands ITEMS pieces of work to WORKERS
 * others through a queue under a mutex, with a condition variable to wait for
 * them, and joins them in the end.  take() and put() are the two places that
 * lock the mutex: put() ITEMS + 1 times (the last says that there is no more),
 * take() ITEMS + WORKERS times.
 */
#include <pthread.h>
#include <stdbool.h>

#include "t/workload/workload.h"

#define WORKERS_MOST 64

pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_more = PTHREAD_COND_INITIALIZER;
static int queued, done;
static bool no_more;

NOINLINE static void
put(bool last)
{
	must(pthread_mutex_lock(&queue_lock) == 0);
	if (last)
		no_more = true;
	else
		queued++;
	pthread_cond_broadcast(&queue_more);
	pthread_mutex_unlock(&queue_lock);
}

NOINLINE static bool
take(void)
{
	bool got;

	must(pthread_mutex_lock(&queue_lock) == 0);
	while (queued == 0 && !no_more)
		pthread_cond_wait(&queue_more, &queue_lock);
	got = queued > 0;
	if (got) {
		queued--;
		done++;
	}
	pthread_mutex_unlock(&queue_lock);
	return got;
}

static void *
work(void *arg)
{
	while (take())
		;
	return NULL;
}

int
main(int argc, char **argv)
{
	pthread_t threads[WORKERS_MOST];
	int items, workers;

	if (argc != 3)
		return 2;
	items = atoi(argv[1]);
	workers = atoi(argv[2]);
	must(workers > 0 && workers <= WORKERS_MOST);
	for (int i = 0; i < workers; i++)
		must(pthread_create(&threads[i], NULL, work, NULL) == 0);
	for (int i = 0; i < items; i++)
		put(false);
	put(true);
	for (int i = 0; i < workers; i++)
		must(pthread_join(threads[i], NULL) == 0);
	must(done == items);
	return 0;
}
