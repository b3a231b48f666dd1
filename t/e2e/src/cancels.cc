/*
 * cancels ROUNDS: exceptions and the end of threads by pthread_cancel(), through
 * frames with destructors and cleanup handlers.  Says how many of each were run; the
 * numbers depend on ROUNDS only.
 */
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <vector>

#include "t/workload/workload.h"

#define DEPTH 12

static long caught, destroyed, cleaned, ended, rethrown;

struct counted {
	~counted() { __atomic_add_fetch(&destroyed, 1, __ATOMIC_RELAXED); }
};

static void
clean(void *)
{
	__atomic_add_fetch(&cleaned, 1, __ATOMIC_RELAXED);
}

/* ---- exceptions ---- */

NOINLINE static int
fall(int depth, int n)
{
	counted c;
	std::string text(static_cast<size_t>(depth) + 20, 'x');

	if (depth == 0) {
		if (n % 3 == 0)
			throw n;
		if (n % 3 == 1)
			throw std::runtime_error(text);
		(void)std::vector<int>().at(static_cast<size_t>(n));
	}
	return fall(depth - 1, n) + static_cast<int>(text.size());
}

NOINLINE static int
again(int n)
{
	try {
		return fall(DEPTH, n);
	} catch (const std::exception &) {
		__atomic_add_fetch(&rethrown, 1, __ATOMIC_RELAXED);
		throw;
	}
}

static void *
throws(void *arg)
{
	for (int n = 0; n < *static_cast<int *>(arg); n++) {
		try {
			again(n);
		} catch (int) {
			__atomic_add_fetch(&caught, 1, __ATOMIC_RELAXED);
		} catch (...) {
			__atomic_add_fetch(&caught, 1, __ATOMIC_RELAXED);
		}
	}
	return nullptr;
}

/* ---- cancellation ---- */

enum form { SLEEPS, TESTS, SPINS, FORMS };

struct victim {
	form how;
	pthread_barrier_t *begun;
};

NOINLINE static void
wait_in(const victim *v, int depth)
{
	counted c;

	pthread_cleanup_push(clean, nullptr);
	if (depth > 0)
		wait_in(v, depth - 1);
	else
		pthread_barrier_wait(v->begun);
	for (volatile long n = 0; depth == 0 && v->how != SPINS; n++) {
		if (v->how == SLEEPS)
			pause();
		else
			pthread_testcancel();
	}
	pthread_cleanup_pop(0);
}

static void *
is_cancelled(void *arg)
{
	const victim *v = static_cast<victim *>(arg);

	/* The spinning one calls nothing that may not be cancelled anywhere. */
	if (v->how == SPINS) {
		pthread_barrier_wait(v->begun);
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
		for (volatile long n = 0;; n++)
			;
	}
	wait_in(v, DEPTH);
	return nullptr;
}

static void
cancel(form how)
{
	pthread_barrier_t begun;
	pthread_t th;
	void *result;
	victim v = { how, &begun };

	must(pthread_barrier_init(&begun, nullptr, 2) == 0);
	must(pthread_create(&th, nullptr, is_cancelled, &v) == 0);
	pthread_barrier_wait(&begun);
	must(pthread_cancel(th) == 0);
	must(pthread_join(th, &result) == 0);
	ended += result == PTHREAD_CANCELED;
	pthread_barrier_destroy(&begun);
}

int
main(int argc, char **argv)
{
	pthread_t threads[4];
	int rounds = argc > 1 ? atoi(argv[1]) : 10;

	for (pthread_t &th : threads)
		must(pthread_create(&th, nullptr, throws, &rounds) == 0);
	for (int n = 0; n < rounds / 10; n++)
		cancel(static_cast<form>(n % FORMS));
	for (pthread_t th : threads)
		must(pthread_join(th, nullptr) == 0);
	printf("caught %ld rethrown %ld destroyed %ld cleaned %ld ended %ld\n",
	    caught, rethrown, destroyed, cleaned, ended);
	return 0;
}
