/*
 * The lock functions of C libraries, and the probes that each of them can fire.
 */
#include "dlang/base/base.h"
#include "tracer/prov/plock/plock_call.h"

const struct plock_row plock_rows[] = {
	{ "pthread_mutex_lock", PLOCK_LOCK, false },
	{ "pthread_mutex_timedlock", PLOCK_LOCK, false },
	{ "pthread_mutex_clocklock", PLOCK_LOCK, false },
	{ "pthread_mutex_trylock", PLOCK_TRYLOCK, false },
	{ "pthread_mutex_unlock", PLOCK_UNLOCK, false },
	{ "pthread_spin_lock", PLOCK_SPINLOCK, true },
	{ "pthread_spin_trylock", PLOCK_TRYLOCK, true },
	{ "pthread_spin_unlock", PLOCK_UNLOCK, true },
	{ "pthread_rwlock_rdlock", PLOCK_RDLOCK, false },
	{ "pthread_rwlock_timedrdlock", PLOCK_RDLOCK, false },
	{ "pthread_rwlock_clockrdlock", PLOCK_RDLOCK, false },
	{ "pthread_rwlock_tryrdlock", PLOCK_TRYRDLOCK, false },
	{ "pthread_rwlock_wrlock", PLOCK_WRLOCK, false },
	{ "pthread_rwlock_timedwrlock", PLOCK_WRLOCK, false },
	{ "pthread_rwlock_clockwrlock", PLOCK_WRLOCK, false },
	{ "pthread_rwlock_trywrlock", PLOCK_TRYWRLOCK, false },
	{ "pthread_rwlock_unlock", PLOCK_RWUNLOCK, false },
	{ "pthread_cond_wait", PLOCK_CONDWAIT, false },
	{ "pthread_cond_timedwait", PLOCK_CONDWAIT, false },
	{ "pthread_cond_clockwait", PLOCK_CONDWAIT, false },
	{ "pthread_cond_signal", PLOCK_SIGNAL, false },
	{ "pthread_cond_broadcast", PLOCK_BROADCAST, false },
	{ "sem_wait", PLOCK_SEMWAIT, false },
	{ "sem_timedwait", PLOCK_SEMWAIT, false },
	{ "sem_clockwait", PLOCK_SEMWAIT, false },
	{ "sem_trywait", PLOCK_SEMTRY, false },
	{ "sem_post", PLOCK_SEMPOST, false },
	{ "pthread_create", PLOCK_CREATE, false },
	{ "pthread_join", PLOCK_JOIN, false },
	{ "pthread_timedjoin_np", PLOCK_JOIN, false },
	{ "pthread_clockjoin_np", PLOCK_JOIN, false },
	{ "pthread_tryjoin_np", PLOCK_JOIN, false },
};
const size_t plock_nrows = ARRAY_SIZE(plock_rows);

const struct plock_name plock_names[PLOCK_EVENTS] = {
	[PLOCK_MUTEX_ACQUIRE] = { "mutex-acquire",
	    { "pthread_mutex_t *", "int", "int" } },
	[PLOCK_MUTEX_BLOCK] = { "mutex-block", { "pthread_mutex_t *" } },
	[PLOCK_MUTEX_BLOCKED] = { "mutex-blocked",
	    { "pthread_mutex_t *", "int" } },
	[PLOCK_MUTEX_SPIN] = { "mutex-spin", { "pthread_mutex_t *" } },
	[PLOCK_MUTEX_SPUN] = { "mutex-spun",
	    { "pthread_mutex_t *", "int", "int" } },
	[PLOCK_MUTEX_RELEASE] = { "mutex-release",
	    { "pthread_mutex_t *", "int" } },
	[PLOCK_MUTEX_ERROR] = { "mutex-error", { "pthread_mutex_t *", "int" } },
	[PLOCK_RW_ACQUIRE] = { "rw-acquire", { "pthread_rwlock_t *", "int" } },
	[PLOCK_RW_BLOCK] = { "rw-block", { "pthread_rwlock_t *", "int" } },
	[PLOCK_RW_BLOCKED] = { "rw-blocked",
	    { "pthread_rwlock_t *", "int", "int" } },
	[PLOCK_RW_RELEASE] = { "rw-release", { "pthread_rwlock_t *", "int" } },
	[PLOCK_RW_ERROR] = { "rw-error",
	    { "pthread_rwlock_t *", "int", "int" } },
	[PLOCK_COND_WAIT] = { "cond-wait",
	    { "pthread_cond_t *", "pthread_mutex_t *" } },
	[PLOCK_COND_WAITED] = { "cond-waited",
	    { "pthread_cond_t *", "pthread_mutex_t *", "int" } },
	[PLOCK_COND_SIGNAL] = { "cond-signal", { "pthread_cond_t *" } },
	[PLOCK_COND_BROADCAST] = { "cond-broadcast", { "pthread_cond_t *" } },
	[PLOCK_SEM_ACQUIRE] = { "sem-acquire", { "sem_t *" } },
	[PLOCK_SEM_BLOCK] = { "sem-block", { "sem_t *" } },
	[PLOCK_SEM_BLOCKED] = { "sem-blocked", { "sem_t *", "int" } },
	[PLOCK_SEM_POST] = { "sem-post", { "sem_t *" } },
	[PLOCK_THREAD_CREATE] = { "thread-create",
	    { "pthread_t", "void *", "void *" } },
	[PLOCK_THREAD_START] = { "thread-start",
	    { "pthread_t", "void *", "void *" } },
	[PLOCK_THREAD_JOIN] = { "thread-join", { "pthread_t", "int" } },
	[PLOCK_THREAD_EXIT] = { "thread-exit", { "pthread_t" } },
};

uint32_t
plock_events_of(enum plock_verb verb)
{
	static const uint32_t of[PLOCK_VERBS] = {
		[PLOCK_LOCK] = PLOCK_BIT(PLOCK_MUTEX_ACQUIRE) |
		    PLOCK_BIT(PLOCK_MUTEX_BLOCK) |
		    PLOCK_BIT(PLOCK_MUTEX_BLOCKED) |
		    PLOCK_BIT(PLOCK_MUTEX_ERROR),
		[PLOCK_TRYLOCK] = PLOCK_BIT(PLOCK_MUTEX_ACQUIRE) |
		    PLOCK_BIT(PLOCK_MUTEX_ERROR),
		[PLOCK_UNLOCK] = PLOCK_BIT(PLOCK_MUTEX_RELEASE) |
		    PLOCK_BIT(PLOCK_MUTEX_ERROR),
		[PLOCK_SPINLOCK] = PLOCK_BIT(PLOCK_MUTEX_ACQUIRE) |
		    PLOCK_BIT(PLOCK_MUTEX_SPIN) | PLOCK_BIT(PLOCK_MUTEX_SPUN),
		[PLOCK_RDLOCK] = PLOCK_BIT(PLOCK_RW_ACQUIRE) |
		    PLOCK_BIT(PLOCK_RW_BLOCK) | PLOCK_BIT(PLOCK_RW_BLOCKED) |
		    PLOCK_BIT(PLOCK_RW_ERROR),
		[PLOCK_TRYRDLOCK] =
		    PLOCK_BIT(PLOCK_RW_ACQUIRE) | PLOCK_BIT(PLOCK_RW_ERROR),
		[PLOCK_WRLOCK] = PLOCK_BIT(PLOCK_RW_ACQUIRE) |
		    PLOCK_BIT(PLOCK_RW_BLOCK) | PLOCK_BIT(PLOCK_RW_BLOCKED) |
		    PLOCK_BIT(PLOCK_RW_ERROR),
		[PLOCK_TRYWRLOCK] =
		    PLOCK_BIT(PLOCK_RW_ACQUIRE) | PLOCK_BIT(PLOCK_RW_ERROR),
		[PLOCK_RWUNLOCK] =
		    PLOCK_BIT(PLOCK_RW_RELEASE) | PLOCK_BIT(PLOCK_RW_ERROR),
		[PLOCK_CONDWAIT] = PLOCK_BIT(PLOCK_COND_WAIT) |
		    PLOCK_BIT(PLOCK_COND_WAITED) |
		    PLOCK_BIT(PLOCK_MUTEX_RELEASE) |
		    PLOCK_BIT(PLOCK_MUTEX_ACQUIRE) |
		    PLOCK_BIT(PLOCK_MUTEX_BLOCK) |
		    PLOCK_BIT(PLOCK_MUTEX_BLOCKED),
		[PLOCK_SIGNAL] = PLOCK_BIT(PLOCK_COND_SIGNAL),
		[PLOCK_BROADCAST] = PLOCK_BIT(PLOCK_COND_BROADCAST),
		[PLOCK_SEMWAIT] = PLOCK_BIT(PLOCK_SEM_ACQUIRE) |
		    PLOCK_BIT(PLOCK_SEM_BLOCK) | PLOCK_BIT(PLOCK_SEM_BLOCKED),
		[PLOCK_SEMTRY] = PLOCK_BIT(PLOCK_SEM_ACQUIRE),
		[PLOCK_SEMPOST] = PLOCK_BIT(PLOCK_SEM_POST),
		[PLOCK_CREATE] = PLOCK_BIT(PLOCK_THREAD_CREATE) |
		    PLOCK_BIT(PLOCK_THREAD_START) |
		    PLOCK_BIT(PLOCK_THREAD_EXIT),
		[PLOCK_JOIN] = PLOCK_BIT(PLOCK_THREAD_JOIN),
	};

	return of[verb];
}
