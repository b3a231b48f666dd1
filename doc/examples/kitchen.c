/*
 * Two cooks who wait for each other, to be looked at: each has what the other one
 * wants.  Says so when they do, and stays as it is until it is ended.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t knife = PTHREAD_MUTEX_INITIALIZER,
		       board = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static atomic_int asking;
static atomic_int tids[2];

static void
take(pthread_mutex_t *one, pthread_mutex_t *other, int cook)
{
	tids[cook] = gettid();
	pthread_mutex_lock(one);
	pthread_barrier_wait(&both);
	asking++;
	pthread_mutex_lock(other);
	pthread_mutex_unlock(other);
	pthread_mutex_unlock(one);
}

static void *
slice_bread(void *unused)
{
	pthread_setname_np(pthread_self(), "bread");
	take(&knife, &board, 0);
	return unused;
}

static void *
chop_onions(void *unused)
{
	pthread_setname_np(pthread_self(), "onions");
	take(&board, &knife, 1);
	return unused;
}

/* Does the thread wait for something? */
static int
waits(int tid)
{
	char path[64], state = '?';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = fopen(path, "r");
	if (file != NULL) {
		if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
			state = '?';
		fclose(file);
	}
	return state == 'S';
}

int
main(void)
{
	pthread_t bread, onions;

	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&bread, NULL, slice_bread, NULL);
	pthread_create(&onions, NULL, chop_onions, NULL);
	while (asking < 2 || !waits(tids[0]) || !waits(tids[1]))
		usleep(1000);
	printf("nobody cooks\n");
	fflush(stdout);
	pthread_join(bread, NULL);
	return 0;
}
