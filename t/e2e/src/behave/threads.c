/* Threads: how they end, what they hold, and what wakes them. */
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "behave.h"

static volatile int count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

static void
on_cancel(void *arg)
{
	__sync_fetch_and_add(&count, work(0));
}

/* Cancelled in a function that is probed, at a point or anywhere. */
NOINLINE void
cancelled_here(bool anywhere)
{
	if (anywhere)
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;) {
		work(1);
		if (!anywhere)
			pthread_testcancel();
	}
}

static void *
cancel_thread(void *arg)
{
	pthread_cleanup_push(on_cancel, NULL);
	switch ((intptr_t)arg % 3) {
	case 0: cancelled_here(false); break;
	case 1: cancelled_here(true); break;
	default: pause(); /* a point that sleeps */
	}
	pthread_cleanup_pop(0);
	return NULL;
}

static int
cancels(void)
{
	for (intptr_t i = 0; i < 30; i++) {
		pthread_t t;
		void *r;

		pthread_create(&t, NULL, cancel_thread, (void *)i);
		hot(20);
		pthread_cancel(t);
		pthread_join(t, &r);
		if (r != PTHREAD_CANCELED)
			printf("not cancelled\n");
	}
	printf("cleaned up %d\n", count);
	return 0;
}

NOINLINE void
exits_here(long n)
{
	pthread_exit((void *)hot((int)n));
}

static void *
exit_thread(void *arg)
{
	pthread_cleanup_push(on_cancel, NULL);
	exits_here((long)(intptr_t)arg);
	pthread_cleanup_pop(0);
	return NULL;
}

static int
exits(void)
{
	long sum = 0;

	for (intptr_t i = 0; i < 50; i++) {
		pthread_t t;
		void *r;

		pthread_create(&t, NULL, exit_thread, (void *)i);
		pthread_join(t, &r);
		sum += (long)r;
	}
	printf("sum %ld cleaned up %d\n", sum, count);
	return 0;
}

static int turn;

static void *
turns_thread(void *arg)
{
	int me = (int)(intptr_t)arg;

	for (int i = 0; i < 200; i++) {
		pthread_mutex_lock(&mutex);
		while (turn != me)
			pthread_cond_wait(&cond, &mutex);
		turn = !me;
		count = work(count);
		pthread_cond_broadcast(&cond);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static int
conditions(void)
{
	struct timespec ts;
	pthread_t t[2];

	for (intptr_t i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, turns_thread, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("turns %d\n", count);
	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_nsec += 2000000;
	if (ts.tv_nsec >= 1000000000) {
		ts.tv_sec++;
		ts.tv_nsec -= 1000000000;
	}
	pthread_mutex_lock(&mutex);
	printf("timed: %s\n",
	    strerror(pthread_cond_timedwait(&cond, &mutex, &ts)));
	pthread_mutex_unlock(&mutex);
	sem_t sem;
	sem_init(&sem, 0, 0);
	int r = sem_timedwait(&sem, &ts);
	printf("sem: %d %s\n", r, strerror(errno));
	uint32_t word = 0;
	struct timespec rel = { 0, 2000000 };
	long f = syscall(SYS_futex, &word, FUTEX_WAIT, 0, &rel, NULL, 0);
	printf("futex: %ld %s\n", f, strerror(errno));
	f = syscall(SYS_futex, &word, FUTEX_WAIT, 1, &rel, NULL, 0);
	printf("futex: %ld %s\n", f, strerror(errno));
	return 0;
}

/* A lock whose owner ends holding it. */
static pthread_mutex_t *robust;

static void *
lock_and_end(void *arg)
{
	pthread_mutex_lock(robust);
	hot(20);
	return NULL;
}

static int
robust_locks(void)
{
	pthread_mutexattr_t attr;
	pthread_t t;

	robust = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(robust, &attr);
	for (int i = 0; i < 5; i++) {
		pthread_create(&t, NULL, lock_and_end, NULL);
		pthread_join(t, NULL);
		int r = pthread_mutex_lock(robust);
		printf("thread: %s\n", strerror(r));
		pthread_mutex_consistent(robust);
		pthread_mutex_unlock(robust);
		fflush(stdout);
		int *has = (int *)(robust + 1);
		__atomic_store_n(has, 0, __ATOMIC_SEQ_CST);
		pid_t pid = fork();
		if (pid == 0) {
			pthread_mutex_lock(robust);
			__atomic_store_n(has, 1, __ATOMIC_SEQ_CST);
			hot(20);
			raise(SIGKILL);
		}
		while (!__atomic_load_n(has, __ATOMIC_SEQ_CST))
			work(1);
		r = pthread_mutex_lock(robust);
		printf("process: %s\n", strerror(r));
		say_end("child", pid);
		pthread_mutex_consistent(robust);
		pthread_mutex_unlock(robust);
	}
	return 0;
}

static pthread_mutex_t pi;

static void *
pi_thread(void *arg)
{
	for (int i = 0; i < 200; i++) {
		pthread_mutex_lock(&pi);
		count = work(count);
		sched_yield();
		pthread_mutex_unlock(&pi);
	}
	return NULL;
}

static int
pi_locks(void)
{
	pthread_mutexattr_t attr;
	pthread_t t[3];

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&pi, &attr);
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, pi_thread, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("count %d\n", count);
	return 0;
}

/* Many short threads, each with storage and a destructor of its own. */
static pthread_key_t key;
static __thread int mine;

static void
destroy(void *arg)
{
	__sync_fetch_and_add(&count, work(mine) - mine);
}

static void *
short_thread(void *arg)
{
	mine = (int)(intptr_t)arg;
	pthread_setspecific(key, &mine);
	return (void *)(intptr_t)(work(mine) - 1 == mine);
}

static int
short_lives(void)
{
	pthread_t t[10];
	long right = 0;
	void *r;

	pthread_key_create(&key, destroy);
	for (int round = 0; round < 20; round++) {
		for (intptr_t i = 0; i < 10; i++)
			pthread_create(&t[i], NULL, short_thread, (void *)i);
		for (int i = 0; i < 10; i++) {
			pthread_join(t[i], &r);
			right += (long)r;
		}
	}
	printf("right %ld destroyed %d\n", right, count);
	return 0;
}

/* The whole process ends while its threads run into probes. */
static void *
run_for_ever(void *arg)
{
	for (;;)
		count = work(count);
	return NULL;
}

static int
sudden_ends(void)
{
	for (int i = 0; i < 5; i++) {
		fflush(stdout);
		pid_t pid = fork();
		if (pid == 0) {
			pthread_t t;
			for (int n = 0; n < 4; n++)
				pthread_create(&t, NULL, run_for_ever, NULL);
			hot(20);
			switch (i) {
			case 0: exit(3);
			case 1: _exit(4);
			case 2: abort();
			case 3: kill(getpid(), SIGKILL); break;
			default: syscall(SYS_exit_group, 5);
			}
		}
		say_end("child", pid);
	}
	return 0;
}

const struct behaviour behave_threads[] = {
	{ "cancels", cancels },
	{ "exits", exits },
	{ "conditions", conditions },
	{ "robust-locks", robust_locks },
	{ "pi-locks", pi_locks },
	{ "short-lives", short_lives },
	{ "sudden-ends", sudden_ends },
	{ 0 },
};
