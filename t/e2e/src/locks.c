/*
 * locks: every kind of lock, used in every way by the first thread, which says
 * beforehand what a tracer should see of it: "+ FUNCTION EVENT ARGS...", with
 * the arguments that the event has.  A second thread holds what is to be held.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <time.h>

#include "trigger.h"

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, other, robust, held;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t sem;
static pthread_barrier_t barrier;

#define L(l)          ((long)(uintptr_t)(l))
#define SAY(fmt, ...) printf("+ " fmt "\n", ##__VA_ARGS__)
#define MUST(call, n)                                      \
	do {                                               \
		int got_ = (call);                         \
		if (got_ != (n)) {                         \
			printf("%s is %d\n", #call, got_); \
			exit(4);                           \
		}                                          \
	} while (0)

/* Who gives a condition's mutex back, and takes it again. */
#ifdef __GLIBC__
#define COND_UNLOCK "pthread_cond_timedwait"
#define COND_LOCK   "pthread_cond_timedwait"
#else
#define COND_UNLOCK "pthread_mutex_unlock"
#define COND_LOCK   "pthread_mutex_lock"
#endif

static struct timespec
soon(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_nsec += 20000000;
	if (ts.tv_nsec >= 1000000000) {
		ts.tv_nsec -= 1000000000;
		ts.tv_sec++;
	}
	return ts;
}

static void
make(pthread_mutex_t *m, int type, int is_robust)
{
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, type);
	if (is_robust)
		pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	MUST(pthread_mutex_init(m, &a), 0);
}

static void
mutexes(void)
{
	SAY("pthread_mutex_lock mutex-acquire %lx 0 0", L(&plain));
	MUST(pthread_mutex_lock(&plain), 0);
	SAY("pthread_mutex_unlock mutex-release %lx 0", L(&plain));
	MUST(pthread_mutex_unlock(&plain), 0);
	SAY("pthread_mutex_trylock mutex-acquire %lx 0 0", L(&plain));
	MUST(pthread_mutex_trylock(&plain), 0);
	SAY("pthread_mutex_unlock mutex-release %lx 0", L(&plain));
	MUST(pthread_mutex_unlock(&plain), 0);

	make(&other, PTHREAD_MUTEX_RECURSIVE, 0);
	for (int i = 0; i < 3; i++) {
		SAY("pthread_mutex_lock mutex-acquire %lx %d 0", L(&other),
		    i > 0);
		MUST(pthread_mutex_lock(&other), 0);
	}
	for (int i = 0; i < 3; i++) {
		SAY("pthread_mutex_unlock mutex-release %lx %d", L(&other),
		    i < 2);
		MUST(pthread_mutex_unlock(&other), 0);
	}
	make(&other, PTHREAD_MUTEX_ERRORCHECK, 0);
	SAY("pthread_mutex_unlock mutex-error %lx %d", L(&other), EPERM);
	MUST(pthread_mutex_unlock(&other), EPERM);
	SAY("pthread_mutex_lock mutex-acquire %lx 0 0", L(&other));
	MUST(pthread_mutex_lock(&other), 0);
	SAY("pthread_mutex_lock mutex-error %lx %d", L(&other), EDEADLK);
	MUST(pthread_mutex_lock(&other), EDEADLK);
	SAY("pthread_mutex_unlock mutex-release %lx 0", L(&other));
	MUST(pthread_mutex_unlock(&other), 0);
}

/* The second thread holds `held', and dies with `robust'. */
static void *
holder(void *arg)
{
	/* The same code as pthread_spin_unlock(), in one library. */
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	pthread_mutex_lock(&held);
	pthread_mutex_lock(&robust);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	pthread_mutex_unlock(&held);
	return NULL;
}

static void
contended(void)
{
	struct timespec ts;
	pthread_t t;

	make(&robust, PTHREAD_MUTEX_NORMAL, 1);
	make(&held, PTHREAD_MUTEX_NORMAL, 0);
	MUST(pthread_create(&t, NULL, holder, &held), 0);
	SAY("pthread_create thread-create %lx %lx %lx", (long)t, L(holder),
	    L(&held));
	pthread_barrier_wait(&barrier);
	/* Neither an event nor an error. */
	MUST(pthread_mutex_trylock(&held), EBUSY);
	SAY("pthread_mutex_timedlock mutex-block %lx", L(&held));
	SAY("pthread_mutex_timedlock mutex-blocked %lx 0", L(&held));
	SAY("pthread_mutex_timedlock mutex-error %lx %d", L(&held), ETIMEDOUT);
	ts = soon();
	MUST(pthread_mutex_timedlock(&held, &ts), ETIMEDOUT);
	pthread_barrier_wait(&barrier);
	MUST(pthread_join(t, NULL), 0);
	SAY("pthread_join thread-join %lx 0", (long)t);
	SAY("pthread_mutex_lock mutex-acquire %lx 0 0", L(&robust));
	MUST(pthread_mutex_lock(&robust), EOWNERDEAD);
	MUST(pthread_mutex_consistent(&robust), 0);
	SAY("pthread_mutex_unlock mutex-release %lx 0", L(&robust));
	MUST(pthread_mutex_unlock(&robust), 0);
}

static void
rwlocks(void)
{
	struct timespec ts;

	for (int i = 0; i < 2; i++) {
		SAY("pthread_rwlock_rdlock rw-acquire %lx 0", L(&rw));
		MUST(pthread_rwlock_rdlock(&rw), 0);
	}
	MUST(pthread_rwlock_trywrlock(&rw), EBUSY);
	SAY("pthread_rwlock_timedwrlock rw-block %lx 1", L(&rw));
	SAY("pthread_rwlock_timedwrlock rw-blocked %lx 1 0", L(&rw));
	SAY("pthread_rwlock_timedwrlock rw-error %lx 1 %d", L(&rw), ETIMEDOUT);
	ts = soon();
	MUST(pthread_rwlock_timedwrlock(&rw, &ts), ETIMEDOUT);
	for (int i = 0; i < 2; i++) {
		SAY("pthread_rwlock_unlock rw-release %lx 0", L(&rw));
		MUST(pthread_rwlock_unlock(&rw), 0);
	}
	SAY("pthread_rwlock_tryrdlock rw-acquire %lx 0", L(&rw));
	MUST(pthread_rwlock_tryrdlock(&rw), 0);
	SAY("pthread_rwlock_unlock rw-release %lx 0", L(&rw));
	MUST(pthread_rwlock_unlock(&rw), 0);
	SAY("pthread_rwlock_wrlock rw-acquire %lx 1", L(&rw));
	MUST(pthread_rwlock_wrlock(&rw), 0);
	SAY("pthread_rwlock_unlock rw-release %lx 1", L(&rw));
	MUST(pthread_rwlock_unlock(&rw), 0);
}

static void
others(void)
{
	struct timespec ts = soon();

	SAY("pthread_spin_lock mutex-acquire %lx 0 0", L(&spin));
	MUST(pthread_spin_lock(&spin), 0);
	SAY("pthread_spin_unlock mutex-release %lx 0", L(&spin));
	MUST(pthread_spin_unlock(&spin), 0);

	SAY("pthread_mutex_lock mutex-acquire %lx 0 0", L(&plain));
	MUST(pthread_mutex_lock(&plain), 0);
	SAY("pthread_cond_timedwait cond-wait %lx %lx", L(&cond), L(&plain));
	SAY(COND_UNLOCK " mutex-release %lx 0", L(&plain));
	SAY(COND_LOCK " mutex-acquire %lx 0 0", L(&plain));
	SAY("pthread_cond_timedwait cond-waited %lx %lx %d", L(&cond),
	    L(&plain), ETIMEDOUT);
	MUST(pthread_cond_timedwait(&cond, &plain, &ts), ETIMEDOUT);
	SAY("pthread_cond_signal cond-signal %lx", L(&cond));
	MUST(pthread_cond_signal(&cond), 0);
	SAY("pthread_cond_broadcast cond-broadcast %lx", L(&cond));
	MUST(pthread_cond_broadcast(&cond), 0);
	SAY("pthread_mutex_unlock mutex-release %lx 0", L(&plain));
	MUST(pthread_mutex_unlock(&plain), 0);

	MUST(sem_init(&sem, 0, 1), 0);
	SAY("sem_wait sem-acquire %lx", L(&sem));
	MUST(sem_wait(&sem), 0);
	MUST(sem_trywait(&sem), -1);
	ts = soon();
	SAY("sem_timedwait sem-block %lx", L(&sem));
	SAY("sem_timedwait sem-blocked %lx 0", L(&sem));
	MUST(sem_timedwait(&sem, &ts), -1);
	SAY("sem_post sem-post %lx", L(&sem));
	MUST(sem_post(&sem), 0);
	SAY("sem_trywait sem-acquire %lx", L(&sem));
	MUST(sem_trywait(&sem), 0);
}

int
main(void)
{
	trigger_init();
	MUST(pthread_barrier_init(&barrier, NULL, 2), 0);
	mutexes();
	contended();
	rwlocks();
	others();
	return 0;
}
