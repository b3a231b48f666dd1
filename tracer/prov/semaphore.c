/*
 * Semaphores of static probes; see semaphore.h.
 */
#include "tracer/prov/semaphore.h"

#include <unistd.h>

#include "dlang/base/fault.h"
#include "dlang/base/log.h"
#include "dlang/base/mem.h"
#include "inject/tracepoint.h"
#include "inject/trapset.h"
#include "tracer/proc.h"
#include "tracer/trapguard.h"

struct semaphores {
	VEC(uint64_t) raised;
};

/* Others may have it raised, too: it is counted, not set. */
static int
change(struct space *sp, uint64_t addr, int by)
{
	struct target *t = &sp->target;
	uint16_t count;
	int error = t->ops->read(t, addr, &count, sizeof(count));

	/* Somebody has reset it: there is nothing to lower. */
	if (error == 0 && by < 0 && count == 0)
		return 0;
	count = (uint16_t)(count + by);
	if (error == 0)
		error = t->ops->write(t, addr, &count, sizeof(count));
	return error;
}

/* Before it is raised, it is known in the area that outlives us. */
static void
guard(struct space *sp, uint64_t addr)
{
	struct trapset *ts = tptable_traps(sp->tab);

	if (trapset_area(ts) == 0) {
		space_stop(sp);
		trapguard_begin(sp, addr);
		space_resume(sp);
	}
	trapset_add(ts, TRAP_SEMAPHORE, addr, 0);
	trapset_flush(ts);
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
	vec_foreach(a, &sp->sems->raised)
		if (*a == addr)
			return;
	guard(sp, addr);
	/* What is raised is noted, whatever runs short. */
	vec_reserve(&sp->sems->raised);
	if (change(sp, addr, 1) == 0)
		*vec_push(&sp->sems->raised) = addr;
	else
		LOG("usdt", "no semaphore at %#lx", addr);
	fault_kill("semaphore-raised");
}

void
semaphores_forget(struct space *sp, uint64_t start, uint64_t end)
{
	size_t kept = 0;

	if (sp->sems == NULL)
		return;
	for (size_t i = 0; i < sp->sems->raised.len; i++) {
		uint64_t a = sp->sems->raised.at[i];
		if (a < start || a >= end)
			sp->sems->raised.at[kept++] = a;
	}
	sp->sems->raised.len = kept;
}

void
semaphores_fork(const struct space *parent, struct space *child)
{
	if (parent->sems == NULL || child->sems != NULL)
		return;
	child->sems = mem_zalloc(sizeof(*child->sems));
	vec_foreach(a, &parent->sems->raised)
		*vec_push(&child->sems->raised) = *a;
}

void
semaphores_lower(struct space *sp)
{
	if (sp->sems == NULL)
		return;
	while (sp->sems->raised.len > 0) {
		lower(sp, sp->sems->raised.at[--sp->sems->raised.len]);
		fault_kill("semaphore-lowered");
	}
}

void
semaphores_lower_copy(const struct space *sp, int fd)
{
	uint16_t count;

	if (sp->sems == NULL)
		return;
	vec_foreach(a, &sp->sems->raised)
		if (pread(fd, &count, sizeof(count), (off_t)*a) ==
			sizeof(count) &&
		    count-- > 0 &&
		    pwrite(fd, &count, sizeof(count), (off_t)*a) < 0)
			return;
}

void
semaphores_drop(struct space *sp)
{
	if (sp->sems == NULL)
		return;
	vec_fini(&sp->sems->raised);
	mem_free(sp->sems);
	sp->sems = NULL;
}
