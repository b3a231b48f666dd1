/*
 * Semaphores of static probes; see semaphore.h.
 */
#include "tracer/survive/semaphore.h"

#include <unistd.h>

#include "dlang/base/fault.h"
#include "dlang/base/log.h"
#include "dlang/base/mem.h"
#include "inject/tracepoint.h"
#include "inject/trapset.h"
#include "tracer/ptrace/proc.h"

struct semaphore {
	uint64_t addr;
	bool raised; /* false: will be raised by the next commit */
};

struct semaphores {
	VEC(struct semaphore) list;
};

/* Add `by' to the counter: other tracers may have raised it, too. */
static int
change(struct space *sp, uint64_t addr, int by)
{
	struct target *t = &sp->target;
	uint16_t count;
	int error = t->ops->read(t, addr, &count, sizeof(count));

	/* Another process has reset it: there is nothing to lower. */
	if (error == 0 && by < 0 && count == 0)
		return 0;
	count = (uint16_t)(count + by);
	sp->changes++;
	if (error == 0)
		error = t->ops->write(t, addr, &count, sizeof(count));
	return error;
}

/* Record the semaphore in the area, which survives dtrap, and then raise it. */
static int
raise_one(struct space *sp, uint64_t addr, bool unlisted)
{
	struct trapset *ts = tptable_traps(sp->tab);
	int r = trapset_add(ts, TRAP_SEMAPHORE, addr, 0);

	if (r == 0)
		r = trapset_flush(ts);
	if (r == 0 || unlisted)
		r = change(sp, addr, 1);
	if (r != 0)
		trapset_drop(ts, TRAP_SEMAPHORE, addr);
	fault_kill("semaphore-raised");
	return r;
}

static void
lower(struct space *sp, uint64_t addr)
{
	change(sp, addr, -1);
	trapset_drop(tptable_traps(sp->tab), TRAP_SEMAPHORE, addr);
}

void
semaphore_raise(struct space *sp, uint64_t addr)
{
	if (sp->sems == NULL)
		sp->sems = mem_zalloc(sizeof(*sp->sems));
	vec_foreach(s, &sp->sems->list)
		if (s->addr == addr)
			return;
	*vec_push(&sp->sems->list) = (struct semaphore){ .addr = addr };
}

void
semaphores_commit(struct space *sp, bool unlisted)
{
	if (sp->sems == NULL)
		return;
	vec_foreach(s, &sp->sems->list) {
		if (s->raised)
			continue;
		s->raised = raise_one(sp, s->addr, unlisted) == 0;
		if (!s->raised)
			LOG("usdt", "no semaphore at %#lx", s->addr);
	}
}

void
semaphores_forget(struct space *sp, uint64_t start, uint64_t end)
{
	size_t kept = 0;

	if (sp->sems == NULL)
		return;
	for (size_t i = 0; i < sp->sems->list.len; i++) {
		struct semaphore s = sp->sems->list.at[i];
		if (s.addr < start || s.addr >= end)
			sp->sems->list.at[kept++] = s;
	}
	sp->sems->list.len = kept;
}

void
semaphores_fork(const struct space *parent, struct space *child)
{
	if (parent->sems == NULL || child->sems != NULL)
		return;
	child->sems = mem_zalloc(sizeof(*child->sems));
	vec_foreach(s, &parent->sems->list)
		*vec_push(&child->sems->list) = *s;
}

void
semaphores_lower(struct space *sp)
{
	if (sp->sems == NULL)
		return;
	vec_foreach(s, &sp->sems->list) {
		if (!s->raised)
			continue;
		s->raised = false;
		lower(sp, s->addr);
		fault_kill("semaphore-lowered");
	}
}

void
semaphores_lower_copy(const struct space *sp, int fd)
{
	uint16_t count;

	if (sp->sems == NULL)
		return;
	vec_foreach(s, &sp->sems->list)
		if (s->raised &&
		    pread(fd, &count, sizeof(count), (off_t)s->addr) ==
			sizeof(count) &&
		    count-- > 0 &&
		    pwrite(fd, &count, sizeof(count), (off_t)s->addr) < 0)
			return;
}

void
semaphores_drop(struct space *sp)
{
	if (sp->sems == NULL)
		return;
	vec_fini(&sp->sems->list);
	mem_free(sp->sems);
	sp->sems = NULL;
}
