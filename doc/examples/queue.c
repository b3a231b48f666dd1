/* Four threads that want one lock a hundred times, to be traced. */
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER;

static void *
worker(void *unused)
{
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&queue);
		usleep(100);
		pthread_mutex_unlock(&queue);
	}
	return unused;
}

int
main(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, worker, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
