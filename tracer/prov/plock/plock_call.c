/*
 * The calls of a thread; see plock_call.h.
 *
 * Calls are distinguished by the stack addresses of their return addresses. An
 * inner call has a lower address, unless it is made by a signal handler on a
 * stack of its own. So a call that is entered or returns at the address of
 * another call ends that one. Nothing is concluded from a higher address.
 */
#include "tracer/prov/plock/plock_call.h"

#include <errno.h>
#include <string.h>

static void
add(struct plock_fires *out, enum plock_event event, uint64_t a, uint64_t b,
    uint64_t c)
{
	out->at[out->n++] =
	    (struct plock_fire){ .event = event, .args = { a, b, c } };
}

static void
begin(struct plock_fires *out, const struct plock_row *row)
{
	out->row = row;
	out->n = 0;
}

static void
remove_at(struct plock_calls *pc, unsigned i)
{
	pc->n--;
	memmove(&pc->at[i], &pc->at[i + 1], (pc->n - i) * sizeof(pc->at[0]));
}

static struct plock_call *
push(struct plock_calls *pc, const struct plock_row *row, uint64_t sp)
{
	/* A call at the same address is over: it was left by longjmp() or ended
	 * in a tail call. */
	for (unsigned i = pc->n; i-- > 0;)
		if (pc->at[i].sp == sp)
			remove_at(pc, i);
	if (pc->n == PLOCK_DEPTH)
		remove_at(pc, 0);
	struct plock_call *call = &pc->at[pc->n++];
	*call = (struct plock_call){ .row = row, .sp = sp };
	return call;
}

/* Is this call made within a lock function for the same lock? */
static bool
is_inner(const struct plock_calls *pc, const struct plock_call *call)
{
	for (const struct plock_call *c = pc->at; c < call; c++)
		if (c->returns && c->sp > call->sp &&
		    c->object == call->object &&
		    (c->row->verb == PLOCK_LOCK ||
			c->row->verb == PLOCK_RDLOCK ||
			c->row->verb == PLOCK_WRLOCK ||
			c->row->verb == PLOCK_SEMWAIT))
			return true;
	return false;
}

/*
 * A lock function may end in a jump to another one with the same effect (in
 * musl, pthread_mutex_lock() to pthread_mutex_timedlock()). Return the row of
 * the first, whose call it is. Only a call whose return will be seen is known
 * to be in progress.
 */
static const struct plock_row *
tail_of(const struct plock_calls *pc, const struct plock_entry *en)
{
	for (unsigned i = pc->n; i-- > 0;) {
		const struct plock_call *c = &pc->at[i];
		if (c->entered && c->sp == en->sp && c->row != en->row &&
		    c->row->verb == en->row->verb && c->object == en->args[0] &&
		    (c->returns || c->row->verb != PLOCK_CONDWAIT))
			return c->row;
	}
	return NULL;
}

void
plock_enter(struct plock_calls *pc, const struct plock_lib *lib,
    const struct plock_entry *en, struct plock_fires *out)
{
	const struct plock_row *tail = tail_of(pc, en);
	const uint64_t *args = en->args;
	struct plock_call *call =
	    push(pc, tail != NULL ? tail : en->row, en->sp);

	begin(out, call->row);
	call->entered = true;
	call->returns = en->returns;
	call->object = args[0];
	call->flag = en->flag;
	call->inner = is_inner(pc, call);
	switch (en->row->verb) {
	case PLOCK_CONDWAIT:
		call->mutex = args[1];
		if (tail != NULL)
			break;
		add(out, PLOCK_COND_WAIT, args[0], args[1], 0);
		if (!lib->cond_calls)
			add(out, PLOCK_MUTEX_RELEASE, args[1], 0, 0);
		break;
	case PLOCK_SIGNAL: add(out, PLOCK_COND_SIGNAL, args[0], 0, 0); break;
	case PLOCK_BROADCAST:
		add(out, PLOCK_COND_BROADCAST, args[0], 0, 0);
		break;
	case PLOCK_SEMPOST: add(out, PLOCK_SEM_POST, args[0], 0, 0); break;
	case PLOCK_CREATE:
		call->args[0] = args[2];
		call->args[1] = args[3];
		break;
	default: break;
	}
}

struct plock_call *
plock_in(struct plock_calls *pc, uint64_t sp)
{
	for (unsigned i = pc->n; i-- > 0;)
		if (pc->at[i].sp >= sp)
			return &pc->at[i];
	return NULL;
}

struct plock_call *
plock_found(struct plock_calls *pc, const struct plock_row *row, uint64_t sp,
    uint64_t ra, uint64_t object)
{
	struct plock_call *call = push(pc, row, sp);

	call->ra = ra;
	call->object = object;
	if (row->verb == PLOCK_CONDWAIT)
		call->mutex = object;
	return call;
}

void
plock_blocks(struct plock_call *call, struct plock_fires *out)
{
	begin(out, call->row);
	if (call->blocked || call->inner)
		return;
	call->blocked = true;
	switch (call->row->verb) {
	case PLOCK_LOCK: add(out, PLOCK_MUTEX_BLOCK, call->object, 0, 0); break;
	case PLOCK_CONDWAIT:
		add(out, PLOCK_MUTEX_BLOCK, call->mutex, 0, 0);
		break;
	case PLOCK_RDLOCK: add(out, PLOCK_RW_BLOCK, call->object, 0, 0); break;
	case PLOCK_WRLOCK: add(out, PLOCK_RW_BLOCK, call->object, 1, 0); break;
	case PLOCK_SEMWAIT:
		add(out, PLOCK_SEM_BLOCK, call->object, 0, 0);
		break;
	default: call->blocked = false; break;
	}
}

void
plock_spins(struct plock_call *call, struct plock_fires *out)
{
	begin(out, call->row);
	if (call->spins++ == 0 && !call->inner)
		add(out, PLOCK_MUTEX_SPIN, call->object, 0, 0);
}

struct plock_call *
plock_returning(struct plock_calls *pc, uint64_t sp, uint64_t ra)
{
	for (unsigned i = pc->n; i-- > 0;) {
		struct plock_call *c = &pc->at[i];
		if (c->entered ? c->sp == sp : c->sp <= sp && c->ra == ra)
			return c;
	}
	return NULL;
}

/* ---- what a return means ---- */

static void
mutex_returns(const struct plock_call *c, int error, bool recursive,
    struct plock_fires *out)
{
	/* The last owner of a robust mutex has died: the lock is acquired
	 * nevertheless. */
	bool ok = error == 0 || error == EOWNERDEAD;

	if (c->blocked)
		add(out, PLOCK_MUTEX_BLOCKED, c->object, ok, 0);
	if (c->spins > 0)
		add(out, PLOCK_MUTEX_SPUN, c->object, ok, c->spins);
	if (ok)
		add(out, PLOCK_MUTEX_ACQUIRE, c->object, recursive, c->spins);
	else if (c->row->verb != PLOCK_TRYLOCK || error != EBUSY)
		add(out, PLOCK_MUTEX_ERROR, c->object, (uint64_t)error, 0);
}

static void
rwlock_returns(const struct plock_call *c, int error, struct plock_fires *out)
{
	enum plock_verb verb = c->row->verb;
	bool writer = verb == PLOCK_WRLOCK || verb == PLOCK_TRYWRLOCK;
	bool tries = verb == PLOCK_TRYRDLOCK || verb == PLOCK_TRYWRLOCK;

	if (c->blocked)
		add(out, PLOCK_RW_BLOCKED, c->object, writer, error == 0);
	if (error == 0)
		add(out, PLOCK_RW_ACQUIRE, c->object, writer, 0);
	else if (!tries || error != EBUSY)
		add(out, PLOCK_RW_ERROR, c->object, writer, (uint64_t)error);
}

static void
cond_returns(const struct plock_lib *lib, const struct plock_call *c, int error,
    struct plock_fires *out)
{
	/* With EPERM and EINVAL the mutex was not released at the start. */
	bool held = error == 0 || error == ETIMEDOUT || error == EOWNERDEAD;

	if (c->blocked)
		add(out, PLOCK_MUTEX_BLOCKED, c->mutex, held, 0);
	if (!lib->cond_calls)
		add(out, PLOCK_MUTEX_ACQUIRE, c->mutex, 0, 0);
	if (c->entered)
		add(out, PLOCK_COND_WAITED, c->object, c->mutex,
		    (uint64_t)error);
}

static void
release_returns(const struct plock_call *c, int error, enum plock_event done,
    struct plock_fires *out)
{
	if (error == 0)
		add(out, done, c->object, c->flag, 0);
	else if (done == PLOCK_MUTEX_RELEASE)
		add(out, PLOCK_MUTEX_ERROR, c->object, (uint64_t)error, 0);
	else
		add(out, PLOCK_RW_ERROR, c->object, c->flag, (uint64_t)error);
}

static void
sem_returns(const struct plock_call *c, int result, struct plock_fires *out)
{
	if (c->blocked)
		add(out, PLOCK_SEM_BLOCKED, c->object, result == 0, 0);
	if (result == 0)
		add(out, PLOCK_SEM_ACQUIRE, c->object, 0, 0);
}

void
plock_return(struct plock_calls *pc, const struct plock_lib *lib,
    struct plock_call *call, uint64_t result, bool flag,
    struct plock_fires *out)
{
	struct plock_call c = *call;
	int r = (int)(uint32_t)result;

	pc->n = (unsigned)(call - pc->at);
	begin(out, c.row);
	if (c.inner)
		return;
	switch (c.row->verb) {
	case PLOCK_LOCK:
	case PLOCK_TRYLOCK:
	case PLOCK_SPINLOCK: mutex_returns(&c, r, flag, out); break;
	case PLOCK_UNLOCK:
		release_returns(&c, r, PLOCK_MUTEX_RELEASE, out);
		break;
	case PLOCK_RDLOCK:
	case PLOCK_TRYRDLOCK:
	case PLOCK_WRLOCK:
	case PLOCK_TRYWRLOCK: rwlock_returns(&c, r, out); break;
	case PLOCK_RWUNLOCK:
		release_returns(&c, r, PLOCK_RW_RELEASE, out);
		break;
	case PLOCK_CONDWAIT: cond_returns(lib, &c, r, out); break;
	case PLOCK_SEMWAIT:
	case PLOCK_SEMTRY: sem_returns(&c, r, out); break;
	case PLOCK_CREATE:
		if (r == 0)
			add(out, PLOCK_THREAD_CREATE, c.object, c.args[0],
			    c.args[1]);
		break;
	case PLOCK_JOIN:
		add(out, PLOCK_THREAD_JOIN, c.object, (uint64_t)r, 0);
		break;
	case PLOCK_SIGNAL:
	case PLOCK_BROADCAST:
	case PLOCK_SEMPOST:
	case PLOCK_VERBS: break;
	}
}
