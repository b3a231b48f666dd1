/*
 * What one thread does with locks: its calls of lock functions, and the events
 * that follow from them.  Nothing here knows of a process: who has seen the
 * thread enter, wait or return says so, and fires what comes out.
 *
 *	enter --> [wait --> block] --> return --> blocked, acquire or error
 *
 * A call whose entry was not seen (nobody asked for acquisitions) begins when
 * it waits.  A signal handler may make calls of its own meanwhile; so may the C
 * library, which is not told of: see `inner'.
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

/* What a function does, and to what. */
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

/* The events that a verb can bring about, by PLOCK_BIT(). */
uint32_t plock_events_of(enum plock_verb verb);

/* A call in progress. */
struct plock_call {
	const struct plock_row *row;
	uint64_t sp;  /* where its return address is; if its entry was not
			* seen, below that */
	bool entered; /* its entry was seen */
	bool returns; /* ... and its return will be */
	bool inner;   /* the C library's own, within another: not told of */
	bool blocked; /* it has waited */
	bool flag;    /* recursive, or writer */
	uint32_t spins;
	uint64_t object; /* mutex, rwlock, ... */
	uint64_t mutex;  /* PLOCK_CONDWAIT */
	uint64_t args[2];
	uint64_t
	    ra; /* return address; 0 where the entry was seen: sp says more */
};

#define PLOCK_DEPTH 8

struct plock_calls {
	unsigned n;
	struct plock_call at[PLOCK_DEPTH];
};

/* What is to be fired, in this order. */
struct plock_fire {
	enum plock_event event;
	uint64_t args[3];
};

struct plock_fires {
	const struct plock_row *row;
	unsigned n;
	struct plock_fire at[4];
};

/* What is known of the C library. */
struct plock_lib {
	/* pthread_cond_wait() gives the mutex back and takes it again by calls
	 * that are seen (musl), not inside of itself (glibc). */
	bool cond_calls;
	uint8_t mutex_word; /* where in a mutex the waited-for word is */
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
 * The call that a thread at sp is in; NULL when its entry was not seen.  What
 * lies deeper on the stack than sp is over.
 */
struct plock_call *plock_in(struct plock_calls *pc, uint64_t sp);

/* Its beginning is noticed only now, at sp inside of it; it returns to ra. */
struct plock_call *plock_found(struct plock_calls *pc,
    const struct plock_row *row, uint64_t sp, uint64_t ra, uint64_t object);

/* It is about to sleep for its lock.  `out' is empty from the second time
 * on. */
void plock_blocks(struct plock_call *call, struct plock_fires *out);
/* It has found the lock held and tries again. */
void plock_spins(struct plock_call *call, struct plock_fires *out);

/* The call that returns when a thread returns to ra, which stands at sp: NULL
 * when it is none that is known. */
struct plock_call *plock_returning(
    struct plock_calls *pc, uint64_t sp, uint64_t ra);

/* It returns `result'; `flag': the lock is now held recursively (PLOCK_LOCK).
 * The call and what it called are over. */
void plock_return(struct plock_calls *pc, const struct plock_lib *lib,
    struct plock_call *call, uint64_t result, bool flag,
    struct plock_fires *out);

#endif
