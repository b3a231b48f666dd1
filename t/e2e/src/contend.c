/*
 * contend KIND ROUNDS [wait|last|full|MS]: a culprit holds a lock that eight
 * threads want, for MS milliseconds if that is said: the longer, the less is what
 * a tracer adds to a wait.  With "wait" it is told when to begin, and with "last"
 * also when to let go in the last round: before that it does not end.
 *
 * In every round each of them sleeps for the lock, is seen to be asleep, and
 * gets it: 8 * ROUNDS contended acquisitions, and not one more.  What it prints
 * is true on any machine, however slow:
 *
 *	count N		contended acquisitions
 *	low NS		they have all waited for at least that long together: from
 *			where all sleep to where the culprit begins to let go
 *	high NS		and not longer: around the calls
 *	held NS		the culprit held it for at least that long
 *	lock ADDR	hot_lock
 *	switches N	with KIND "free", ROUNDS times the one thread takes and
 *			gives a lock that nobody else wants: how often it has
 *			stopped meanwhile of its own accord, or by a tracer
 *
 * With "full" no thread has a debug register left; "full no" where the system
 * does not let us.
 */
#if __has_include(<linux/hw_breakpoint.h>)
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#endif
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "trigger.h"

enum { THREADS = 8, HOLD_NS = 10000000 };

union lock {
	pthread_mutex_t mutex;
	pthread_rwlock_t rwlock;
	pthread_spinlock_t spin;
	sem_t sem;
};

union lock hot_lock, cold_lock;
static pthread_barrier_t barrier;
static const char *kind;
static long rounds, hold_ns = HOLD_NS;
static int asks_last;
static atomic_int calling[THREADS];
static atomic_long tids[THREADS], waited;

static long
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000L + ts.tv_nsec;
}

static int
is(const char *name)
{
	return strcmp(kind, name) == 0;
}

static void
init(union lock *l)
{
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	if (is("rd") || is("wr") || is("rdwr")) {
		pthread_rwlock_init(&l->rwlock, NULL);
		return;
	}
	if (is("sem")) {
		sem_init(&l->sem, 0, 1);
		return;
	}
	if (is("spin")) {
		pthread_spin_init(&l->spin, PTHREAD_PROCESS_PRIVATE);
		return;
	}
	if (is("recursive"))
		pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
	if (is("errorcheck"))
		pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK);
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
	if (is("adaptive"))
		pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ADAPTIVE_NP);
#endif
	if (is("pi"))
		pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
	if (is("robust"))
		pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	if (is("shared"))
		pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	if (pthread_mutex_init(&l->mutex, &a) != 0)
		exit(4);
}

/* rdwr: the culprit reads and the others write.  Its caller is the lock's. */
static inline __attribute__((always_inline)) int
take(union lock *l, int culprit)
{
	struct timespec far;

	if (is("rd"))
		return culprit ? pthread_rwlock_wrlock(&l->rwlock) :
				 pthread_rwlock_rdlock(&l->rwlock);
	if (is("wr"))
		return pthread_rwlock_wrlock(&l->rwlock);
	if (is("rdwr"))
		return culprit ? pthread_rwlock_rdlock(&l->rwlock) :
				 pthread_rwlock_wrlock(&l->rwlock);
	if (is("sem"))
		return sem_wait(&l->sem);
	if (is("spin"))
		return pthread_spin_lock(&l->spin);
	if (is("timed")) {
		clock_gettime(CLOCK_REALTIME, &far);
		far.tv_sec += 1000;
		return pthread_mutex_timedlock(&l->mutex, &far);
	}
	return pthread_mutex_lock(&l->mutex);
}

static int
give(union lock *l)
{
	if (is("rd") || is("wr") || is("rdwr"))
		return pthread_rwlock_unlock(&l->rwlock);
	if (is("sem"))
		return sem_post(&l->sem);
	if (is("spin"))
		return pthread_spin_unlock(&l->spin);
	return pthread_mutex_unlock(&l->mutex);
}

static void
must(int error)
{
	if (error != 0)
		exit(5);
}

NOINLINE void
victim(long n)
{
	atomic_store(&calling[n], 1);
	long t = now();
	must(take(&hot_lock, 0));
	atomic_fetch_add(&waited, now() - t);
	atomic_store(&calling[n], 0);
	must(give(&hot_lock));
}

static void *
run(void *arg)
{
	long n = (long)arg;

	atomic_store(&tids[n], syscall(SYS_gettid));
	for (long i = 0; i < rounds; i++) {
		pthread_barrier_wait(&barrier);
		victim(n);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

/* Does thread n sleep in its call?  Stopped by a tracer is not asleep; one that
 * waits without sleeping never is. */
static int
sleeps(int n)
{
	char path[64], state = '?';
	FILE *f;

	if (!atomic_load(&calling[n]))
		return 0;
	if (is("spin"))
		return 1;
	snprintf(path, sizeof(path), "/proc/self/task/%ld/stat",
	    atomic_load(&tids[n]));
	if ((f = fopen(path, "r")) == NULL)
		return 0;
	if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = '?';
	fclose(f);
	return state == 'S';
}

NOINLINE long
culprit(int asks)
{
	const struct timespec hold = { 0, hold_ns };

	must(take(&hot_lock, 1));
	pthread_barrier_wait(&barrier);
	for (int n = 0; n < THREADS; n++)
		while (!sleeps(n))
			sched_yield();
	long t = now();
	if (asks)
		trigger_wait();
	nanosleep(&hold, NULL);
	t = now() - t;
	must(give(&hot_lock));
	return t;
}

static void
fill_debug_registers(void)
{
#if __has_include(<linux/hw_breakpoint.h>)
	struct perf_event_attr a = { .type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(a),
		.bp_type = HW_BREAKPOINT_X,
		.bp_len = sizeof(long),
		.inherit = 1,
		.exclude_kernel = 1 };

	for (unsigned i = 0; i < 4; i++) {
		a.bp_addr = (uintptr_t)fill_debug_registers + i;
		if (syscall(SYS_perf_event_open, &a, 0, -1, -1, 0) < 0) {
			printf("full no\n");
			return;
		}
	}
#else
	printf("full no\n");
#endif
}

static int
take_free_locks(void)
{
	struct rusage before, after;

	getrusage(RUSAGE_THREAD, &before);
	for (long i = 0; i < rounds; i++) {
		must(take(&cold_lock, 1));
		must(give(&cold_lock));
	}
	getrusage(RUSAGE_THREAD, &after);
	printf("switches %ld\n", after.ru_nvcsw - before.ru_nvcsw);
	return 0;
}

int
main(int argc, char **argv)
{
	pthread_t thread[THREADS];
	long held = 0;

	trigger_init();
	kind = argc > 1 ? argv[1] : "mutex";
	rounds = argc > 2 ? atol(argv[2]) : 1;
	init(&hot_lock);
	init(&cold_lock);
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	if (argc > 3 && strcmp(argv[3], "full") == 0)
		fill_debug_registers();
	else if (argc > 3 && atol(argv[3]) > 0)
		hold_ns = atol(argv[3]) * 1000000;
	else if (argc > 3)
		trigger_wait();
	asks_last = argc > 3 && strcmp(argv[3], "last") == 0;
	if (is("free"))
		return take_free_locks();
	for (long n = 0; n < THREADS; n++)
		if (pthread_create(&thread[n], NULL, run, (void *)n) != 0)
			return 2;
	for (long i = 0; i < rounds; i++) {
		must(take(&cold_lock, 1));
		must(give(&cold_lock));
		held += culprit(asks_last && i == rounds - 1);
		pthread_barrier_wait(&barrier);
	}
	for (long n = 0; n < THREADS; n++)
		pthread_join(thread[n], NULL);
	printf("count %ld\nlow %ld\nhigh %ld\nheld %ld\nlock 0x%lx\n",
	    rounds * THREADS, is("spin") ? 0 : held * THREADS,
	    atomic_load(&waited), held, (long)(uintptr_t)&hot_lock);
	return 0;
}
