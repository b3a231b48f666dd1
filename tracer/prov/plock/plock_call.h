/*
 * The lock functions that one thread is in, as a state machine.  It knows no
 * process: plock_hit.c reports that the thread enters, waits or returns, and
 * fires the resulting events.
 *
 *	enter --> [wait --> block] --> return --> blocked, acquire or error
 *
 * A call whose entry was not seen (no probe needed it) begins when it waits.  A
 * signal handler may make calls meanwhile.  The C library itself may too; those
 * cause no events (`inner').
 */
#ifndef TRACER_PROV_PLOCK_PLOCK_CALL_H
#define TRACER_PROV_PLOCK_PLOCK_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The probes; names and arguments are in plock_rows.c. */
enum plock_event {
	PLOCK_MUTEX_ACQUIRE, /* mutex, recursive, spins */
	PLOCK_MUTEX_BLOCK,   /* mutex */
	PLOCK_MUTEX_BLOCKED, /* mutex, acquired */
	PLOCK_MUTEX_SPIN,    /* mutex */
	PLOCK_MUTEX_SPUN,    /* mutex, acquired, spins */
	PLOCK_MUTEX_RELEASE, /* mutex, recursive */
	PLOCK_MUTEX_ERROR,   /* mutex, errno */
	PLOCK_RW_ACQUIRE,    /* rwlock, writer */
	PLOCK_RW_BLOCK,      /* rwlock, writer */
	PLOCK_RW_BLOCKED,    /* rwlock, writer, acquired */
	PLOCK_RW_RELEASE,    /* rwlock, writer */
	PLOCK_RW_ERROR,      /* rwlock, writer, errno */
	PLOCK_COND_WAIT,     /* cond, mutex */
	PLOCK_COND_WAITED,   /* cond, mutex, errno */
	PLOCK_COND_SIGNAL,   /* cond */
	PLOCK_COND_BROADCAST,
	PLOCK_SEM_ACQUIRE,   /* semaphore */
	PLOCK_SEM_BLOCK,     /* semaphore */
	PLOCK_SEM_BLOCKED,   /* semaphore, acquired */
	PLOCK_SEM_POST,      /* semaphore */
	PLOCK_THREAD_CREATE, /* thread, function, its argument */
	PLOCK_THREAD_START,  /* the same, in the thread */
	PLOCK_THREAD_JOIN,   /* thread, errno */
	PLOCK_THREAD_EXIT,   /* thread */
	PLOCK_EVENTS
};

#define PLOCK_BIT(event) (UINT32_C(1) << (event))

/* What a function does. */
enum plock_verb {
	PLOCK_LOCK, /* a mutex */
	PLOCK_TRYLOCK,
	PLOCK_UNLOCK,
	PLOCK_SPINLOCK,
	PLOCK_RDLOCK,
	PLOCK_TRYRDLOCK,
	PLOCK_WRLOCK,
	PLOCK_TRYWRLOCK,
	PLOCK_RWUNLOCK,
	PLOCK_CONDWAIT,
	PLOCK_SIGNAL,
	PLOCK_BROADCAST,
	PLOCK_SEMWAIT,
	PLOCK_SEMTRY,
	PLOCK_SEMPOST,
	PLOCK_CREATE,
	PLOCK_JOIN,
	PLOCK_VERBS
};

/* One function of the C library. */
struct plock_row {
	const char *func;
	enum plock_verb verb;
	bool spin; /* the lock is a pthread_spinlock_t */
};

extern const struct plock_row plock_rows[];
extern const size_t plock_nrows;

/* One of the probes, by enum plock_event. */
struct plock_name {
	const char *name;
	const char *types[3]; /* of args[]; NULL behind the last */
};

extern const struct plock_name plock_names[PLOCK_EVENTS];

/* The events that a verb can cause, as PLOCK_BIT()s. */
uint32_t plock_events_of(enum plock_verb verb);

/* A call in progress. */
struct plock_call {
	const struct plock_row *row;
	uint64_t sp;  /* where its return address is; if its entry was not seen,
		      * a lower address */
	bool entered; /* its entry was seen */
	bool returns; /* its return will be seen too */
	bool inner;   /* a call of the C library within another: no events */
	bool blocked; /* it has waited */
	bool flag;    /* recursive, or writer */
	uint32_t spins;
	uint64_t object; /* mutex, rwlock, ... */
	uint64_t mutex;  /* PLOCK_CONDWAIT */
	uint64_t args[2];
	uint64_t
	    ra; /* return address; 0 if the entry was seen, then sp identifies
		 * it */
};

#define PLOCK_DEPTH 8

struct plock_calls {
	unsigned n;
	struct plock_call at[PLOCK_DEPTH];
};

/* The events to fire, in this order. */
struct plock_fire {
	enum plock_event event;
	uint64_t args[3];
};

struct plock_fires {
	const struct plock_row *row;
	unsigned n;
	struct plock_fire at[4];
};

/* Properties of the C library. */
struct plock_lib {
	/* pthread_cond_wait() unlocks and locks the mutex by calling lock
	 * functions (musl), not in its own code (glibc). */
	bool cond_calls;
	uint8_t mutex_word; /* offset in a mutex of the futex word */
};

/* A thread is at the first instruction of row's function. */
struct plock_entry {
	const struct plock_row *row;
	uint64_t sp;
	uint64_t args[4];
	bool flag;    /* PLOCK_UNLOCK, PLOCK_RWUNLOCK: the lock is held
		       * recursively, or for writing */
	bool returns; /* the return will be seen */
};

void plock_enter(struct plock_calls *pc, const struct plock_lib *lib,
    const struct plock_entry *en, struct plock_fires *out);

/*
 * The call that a thread with stack pointer sp is in; NULL if its entry was not
 * seen.  Calls deeper on the stack than sp are removed: they are over.
 */
struct plock_call *plock_in(struct plock_calls *pc, uint64_t sp);

/* Add a call that is noticed only now, at stack pointer sp; it returns to
 * ra. */
struct plock_call *plock_found(struct plock_calls *pc,
    const struct plock_row *row, uint64_t sp, uint64_t ra, uint64_t object);

/* The call is about to sleep.  `out' is empty from the second time on. */
void plock_blocks(struct plock_call *call, struct plock_fires *out);
/* The call has found the lock held and spins. */
void plock_spins(struct plock_call *call, struct plock_fires *out);

/* The call that returns when a thread returns to ra, which is stored at sp;
 * NULL if it is unknown. */
struct plock_call *plock_returning(
    struct plock_calls *pc, uint64_t sp, uint64_t ra);

/* The call returns `result'.  `flag': the lock is now held recursively
 * (PLOCK_LOCK).  The call and the calls inside of it are removed. */
void plock_return(struct plock_calls *pc, const struct plock_lib *lib,
    struct plock_call *call, uint64_t result, bool flag,
    struct plock_fires *out);

#endif
