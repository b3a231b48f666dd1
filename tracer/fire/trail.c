/*
 * See trail.h.
 */
#include "tracer/fire/trail.h"

#include "dlang/base/vec.h"
#include "symbols/addrspace.h"
#include "tracer/fast/fast.h"
#include "tracer/ptrace/proc.h"

/* What is recorded for each thread. */
struct trail {
	uint64_t skip_addr, skip_sp; /* skip_addr 0: there is none */
	uint64_t loop_addr, loop_sp; /* the same */
	uint64_t door_sp;            /* 0: it did not enter by a door */
};

static struct trail *
trail_of(struct thread *th)
{
	static const struct part part = { .size = sizeof(struct trail) };

	return part_of(&th->parts, &part);
}

/* ---- skips ---- */

/* What is recorded for each space: tracepoints that goroutines will hit a
 * second time, with the stack pointer of the goroutine. */
struct skip {
	uint64_t addr, sp;
};

struct skips {
	VEC(struct skip) list;
};

static void
skips_end(void *part)
{
	vec_fini(&((struct skips *)part)->list);
}

static const struct part skips_part = { .size = sizeof(struct skips),
	.end = skips_end };

/* The number of interrupted goroutines that are remembered. */
#define SKIPS_MOST 64

/* The run time of Go interrupts goroutines by signals, and any thread may
 * continue them. The stack pointer identifies the goroutine. */
static void
skip_anywhere(struct space *sp, uint64_t addr, uint64_t stack)
{
	struct skips *s = part_of(&sp->parts, &skips_part);

	if (s->list.len == SKIPS_MOST)
		s->list.at[0] = vec_pop(&s->list);
	*vec_push(&s->list) = (struct skip){ addr, stack };
}

static bool
is_skipped(struct space *sp, uint64_t addr, uint64_t stack)
{
	struct skips *all = part_had(&sp->parts, &skips_part);

	for (size_t i = all != NULL ? all->list.len : 0; i-- > 0;) {
		struct skip *s = &all->list.at[i];
		if (s->addr != addr || s->sp != stack)
			continue;
		*s = vec_pop(&all->list);
		return true;
	}
	return false;
}

static bool
is_in_go(const struct space *sp, uint64_t addr)
{
	const struct load *l =
	    sp->as != NULL ? addrspace_load_at(sp->as, addr) : NULL;

	return l != NULL && object_is_go(l->object);
}

void
trail_skip(struct thread *th, uint64_t addr, uint64_t sp)
{
	struct trail *t = trail_of(th);

	if (is_in_go(th->proc->space, addr)) {
		skip_anywhere(th->proc->space, addr, sp);
		return;
	}
	/* If the thread has a lane, the record is in the lane, where the code
	 * in the target sees it too. */
	if (fast_skip(th, addr, sp))
		return;
	t->skip_addr = addr;
	t->skip_sp = sp;
}

/* The record is kept until the second trap arrives: before it, a signal handler
 * may hit other tracepoints, at lower stack addresses. */
bool
trail_is_second(struct thread *th, uint64_t addr, uint64_t sp)
{
	struct trail *t = trail_of(th);
	bool second = t->skip_addr == addr && t->skip_sp == sp;

	if (sp >= t->skip_sp)
		t->skip_addr = 0;
	/* It has left in another way. */
	if (t->door_sp != 0 && sp > t->door_sp)
		trail_leave(th);
	return second || fast_skips(th, addr, sp) ||
	    is_skipped(th->proc->space, addr, sp);
}

/* ---- loops and doors ---- */

void
trail_loop(struct thread *th, uint64_t addr, uint64_t sp)
{
	struct trail *t = trail_of(th);

	t->loop_addr = addr;
	t->loop_sp = sp;
}

bool
trail_is_loop(struct thread *th, uint64_t addr, uint64_t sp)
{
	struct trail *t = trail_of(th);
	bool looped = t->loop_addr == addr && t->loop_sp == sp;

	if (sp >= t->loop_sp)
		t->loop_addr = 0;
	return looped;
}

void
trail_come_by_door(struct thread *th, uint64_t sp)
{
	trail_of(th)->door_sp = sp;
	/* Jumps do not ask where the thread has come from. */
	fast_by_trap(th, true);
}

void
trail_leave(struct thread *th)
{
	trail_of(th)->door_sp = 0;
	fast_by_trap(th, false);
}

bool
trail_is_by_door(struct thread *th, uint64_t sp)
{
	uint64_t door = trail_of(th)->door_sp;

	return door != 0 && door == sp;
}
