/*
 * deadlock KIND: threads that wait for each other, for ever.
 *
 *	two	two threads, each with the mutex that the other wants
 *	three	three in a ring, by an error-checking mutex, one with priority
 *		inheritance, and a read-write lock
 *	self	a thread that takes its mutex twice
 *	join	a thread that waits for the end of one that wants its mutex
 *	stack	two, one of the mutexes on the stack of the second
 *	none	a thread waits for a mutex that one has that sleeps
 *
 * Says "ready PID" when each of them has what it holds; the test looks until
 * all sleep.
 */
#include <pthread.h>
#include <stdint.h>

#include "trigger.h"

pthread_mutex_t lock_a = PTHREAD_MUTEX_INITIALIZER,
		lock_b = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t lock_c = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_t first;

static void
name(const char *s)
{
	pthread_setname_np(pthread_self(), s);
}

NOINLINE void
take_b_then_a(void)
{
	pthread_mutex_lock(&lock_b);
	pthread_barrier_wait(&barrier);
	pthread_mutex_lock(&lock_a);
	__asm__ volatile("" ::: "memory"); /* no tail call */
}

static void *
run_ba(void *arg)
{
	name("second");
	take_b_then_a();
	return NULL;
}

static pthread_mutex_t *on_stack;

static void *
run_stack(void *arg)
{
	pthread_mutex_t mine = PTHREAD_MUTEX_INITIALIZER;

	name("second");
	pthread_mutex_lock(&mine);
	on_stack = &mine;
	pthread_barrier_wait(&barrier);
	pthread_mutex_lock(&lock_a);
	return NULL;
}

static void *
run_bc(void *arg)
{
	name("second");
	pthread_mutex_lock(&lock_b);
	pthread_barrier_wait(&barrier);
	pthread_rwlock_rdlock(&lock_c);
	return NULL;
}

static void *
run_ca(void *arg)
{
	name("third");
	pthread_rwlock_wrlock(&lock_c);
	pthread_barrier_wait(&barrier);
	pthread_mutex_lock(&lock_a);
	return NULL;
}

static void *
run_a(void *arg)
{
	name("second");
	pthread_barrier_wait(&barrier);
	pthread_mutex_lock(&lock_a);
	return NULL;
}

static void
make(pthread_mutex_t *m, int type, int protocol)
{
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, type);
	pthread_mutexattr_setprotocol(&a, protocol);
	pthread_mutex_init(m, &a);
}

static void
begin(unsigned n, void *(*second)(void *), void *(*third)(void *))
{
	pthread_t t;

	pthread_barrier_init(&barrier, NULL, n);
	pthread_mutex_lock(&lock_a);
	pthread_create(&first, NULL, second, NULL);
	if (third != NULL)
		pthread_create(&t, NULL, third, NULL);
	pthread_barrier_wait(&barrier);
	printf("ready %d\n", (int)getpid());
}

int
main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "two";

	trigger_init();
	name("first");
	if (strcmp(kind, "three") == 0) {
		make(&lock_a, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE);
		make(&lock_b, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT);
		begin(3, run_bc, run_ca);
		pthread_mutex_lock(&lock_b);
	} else if (strcmp(kind, "self") == 0) {
		printf("ready %d\n", (int)getpid());
		pthread_mutex_lock(&lock_a);
		pthread_mutex_lock(&lock_a);
	} else if (strcmp(kind, "join") == 0) {
		begin(2, run_a, NULL);
		pthread_join(first, NULL);
	} else if (strcmp(kind, "stack") == 0) {
		begin(2, run_stack, NULL);
		pthread_mutex_lock(on_stack);
	} else if (strcmp(kind, "none") == 0) {
		begin(2, run_a, NULL);
		pause();
	} else {
		begin(2, run_ba, NULL);
		pthread_mutex_lock(&lock_b);
	}
	return 0;
}
