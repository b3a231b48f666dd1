/*
 * Reads locks in memory, and the futex calls for them.
 *
 * The layouts are those of public headers: glibc's bits/struct_mutex.h and
 * bits/struct_rwlock.h for x86-64 (2.26 and later), and musl's arrays of ints
 * (alltypes.h), as its functions use them.
 */
#ifndef TRACER_PROV_PLOCK_PLOCK_MEM_H
#define TRACER_PROV_PLOCK_PLOCK_MEM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "dlang/base/reader.h"
#include "dlang/uregs.h"
#include "tracer/prov/plock/plock_call.h"
#include "tracer/prov/plock/plock_code.h"

#define PLOCK_RWLOCK_SIZE 56 /* sizeof(pthread_rwlock_t), in both */

/* A futex call. */
struct plock_futex {
	uint64_t addr;
	uint32_t op; /* FUTEX_WAIT and its like, without flags */
	uint32_t value;
};

/* Decode the futex call that a thread is about to make from its registers.
 * False: it is not one that sleeps. */
bool plock_futex(
    const struct uregs *regs, enum plock_wait how, struct plock_futex *fx);

/* Will the call sleep?  It will not if the word has changed meanwhile. */
bool plock_sleeps(const struct reader *mem, const struct plock_futex *fx);

/* The lock that a function with this verb waits for by that call; for
 * PLOCK_CONDWAIT the mutex.  False: it waits for something else. */
bool plock_object_of(bool musl, enum plock_verb verb,
    const struct plock_futex *fx, uint64_t *object);

/* The owner of a lock. */
struct plock_owner {
	pid_t tid; /* in the process's own pid namespace; 0: no thread, or */
	unsigned readers; /* this many unknown readers, or */
	bool unknown;     /* the lock does not store its owner */
};

/* The owner of the lock that a function with this verb waits for. */
struct plock_owner plock_owner(
    const struct reader *mem, bool musl, enum plock_verb verb, uint64_t object);

/* Is a mutex that a thread holds held more than once? */
bool plock_is_recursive(const struct reader *mem, bool musl, uint64_t mutex);

/* Is a read-write lock held for writing? */
bool plock_is_writer(const struct reader *mem, bool musl, uint64_t rwlock);

#endif
