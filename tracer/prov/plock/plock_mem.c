/*
 * Locks in memory; see plock_mem.h.
 */
#include "tracer/prov/plock/plock_mem.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13 /* linux/futex.h since 5.14 */
#endif

/* glibc */
#define MUTEX_COUNT 4
#define MUTEX_OWNER 8
#define MUTEX_KIND  16
/* Bits of the kind: robust, or with priority inheritance. For these mutexes the
 * futex word contains the owner, and is set before the field for the owner. */
#define KIND_WORD       0x30
#define RW_READERS      0
#define RW_WRPHASE      8
#define RW_WRITERS      12
#define RW_CUR          24
#define RW_READER_SHIFT 3
#define RW_RWAITING     4 /* set in the word for readers if some readers wait */

/* musl: ints */
#define MUSL_TYPE  0
#define MUSL_LOCK  4
#define MUSL_COUNT 20
#define MUSL_HELD  0x7fffffff /* value of a read-write lock held by a writer */

#define TYPE_MASK  3 /* selects PTHREAD_MUTEX_RECURSIVE etc., in both */

bool
plock_futex(
    const struct uregs *regs, enum plock_wait how, struct plock_futex *fx)
{
	/* syscall(2) has the number as first argument, before the others. */
	bool call = how == PLOCK_CALL;
	int nr = (int)regs->r[call ? ureg_arg(0) : UREG_CALL];
	uint64_t args[3];

	for (unsigned i = 0; i < 3; i++)
		args[i] = regs->r[call ? ureg_arg(i + 1) : ureg_call_arg(i)];
	*fx = (struct plock_futex){
		.addr = args[0],
		.op = (uint32_t)args[1] & FUTEX_CMD_MASK,
		.value = (uint32_t)args[2],
	};
	if (nr != SYS_futex)
		return false;
	switch (fx->op) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2: return true;
	default: return false;
	}
}

static bool
is_pi(const struct plock_futex *fx)
{
	return fx->op == FUTEX_LOCK_PI || fx->op == FUTEX_LOCK_PI2;
}

static uint32_t
word(const struct reader *mem, uint64_t addr)
{
	uint32_t v = 0;

	return reader_read(mem, addr, &v, sizeof(v)) == 0 ? v : 0;
}

bool
plock_sleeps(const struct reader *mem, const struct plock_futex *fx)
{
	uint32_t now = word(mem, fx->addr);

	return is_pi(fx) ? (now & FUTEX_TID_MASK) != 0 : now == fx->value;
}

/*
 * A reader waits on the word of the writers' phase, whose value is below 4; or,
 * if the lock prefers writers, on the word for readers with RW_RWAITING set.
 * Both words are at multiples of 8; the word that writers wait on is not.
 */
static uint64_t
glibc_rwlock(const struct plock_futex *fx)
{
	if ((fx->addr & 7) != 0)
		return fx->addr - RW_WRITERS;
	return (fx->value & RW_RWAITING) != 0 ? fx->addr - RW_READERS :
						fx->addr - RW_WRPHASE;
}

bool
plock_object_of(bool musl, enum plock_verb verb, const struct plock_futex *fx,
    uint64_t *object)
{
	switch (verb) {
	case PLOCK_LOCK: *object = fx->addr - (musl ? 4 : 0); return true;
	case PLOCK_CONDWAIT:
		/* While it waits for the condition, it uses
		 * FUTEX_WAIT_BITSET. */
		*object = fx->addr;
		return !musl && (fx->op == FUTEX_WAIT || is_pi(fx));
	case PLOCK_RDLOCK:
	case PLOCK_WRLOCK:
		*object = musl ? fx->addr : glibc_rwlock(fx);
		return true;
	case PLOCK_SEMWAIT: *object = fx->addr; return true;
	default: return false;
	}
}

bool
plock_is_recursive(const struct reader *mem, bool musl, uint64_t mutex)
{
	uint32_t type = word(mem, mutex + (musl ? MUSL_TYPE : MUTEX_KIND));
	uint32_t count = word(mem, mutex + (musl ? MUSL_COUNT : MUTEX_COUNT));

	/* musl counts only the acquisitions after the first. */
	return (type & TYPE_MASK) == PTHREAD_MUTEX_RECURSIVE &&
	    count > (musl ? 0U : 1U);
}

bool
plock_is_writer(const struct reader *mem, bool musl, uint64_t rwlock)
{
	if (musl)
		return (word(mem, rwlock) & MUSL_HELD) == MUSL_HELD;
	return word(mem, rwlock + RW_CUR) != 0;
}

static struct plock_owner
mutex_owner(const struct reader *mem, bool musl, uint64_t mutex)
{
	struct plock_owner o = { 0 };
	uint32_t w;

	if (musl) {
		/* A normal mutex of musl does not record its owner. */
		o.unknown = (word(mem, mutex + MUSL_TYPE) & 0xf) == 0;
		w = o.unknown ? 0 : word(mem, mutex + MUSL_LOCK);
	} else if ((word(mem, mutex + MUTEX_KIND) & KIND_WORD) != 0) {
		w = word(mem, mutex);
	} else {
		w = word(mem, mutex + MUTEX_OWNER);
	}
	o.tid = (pid_t)(w & FUTEX_TID_MASK);
	return o;
}

static struct plock_owner
rwlock_owner(const struct reader *mem, bool musl, uint64_t rwlock)
{
	uint32_t w = word(mem, rwlock);
	struct plock_owner o = { 0 };

	if (musl) {
		o.unknown = (w & MUSL_HELD) == MUSL_HELD;
		o.readers = o.unknown ? 0 : w & MUSL_HELD;
	} else {
		o.tid = (pid_t)word(mem, rwlock + RW_CUR);
		o.readers = o.tid == 0 ? w >> RW_READER_SHIFT : 0;
	}
	return o;
}

struct plock_owner
plock_owner(
    const struct reader *mem, bool musl, enum plock_verb verb, uint64_t object)
{
	switch (verb) {
	case PLOCK_LOCK:
	case PLOCK_CONDWAIT: return mutex_owner(mem, musl, object);
	case PLOCK_RDLOCK:
	case PLOCK_WRLOCK: return rwlock_owner(mem, musl, object);
	default: return (struct plock_owner){ 0 };
	}
}
