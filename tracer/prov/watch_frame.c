/*
 * The watch provider: variables in stack frames; see watch.h.
 *
 *	entry of f: the stack pointer tells where the frame will be
 *	     |      watch there in this thread
 *	     v
 *	an access -- the call goes on ----> fire
 *	     |
 *	     +------ it has ended --------> no more watch, until the next entry
 *
 * Calls end by returns, jumps, longjmp() and exceptions, so nothing waits for
 * their end.  Instead each access checks whether the call goes on: the stack
 * pointer is below the frame's begin, the return address is where it was, and
 * a frame of the stack is of the function.
 */
#include "dlang/base/machine.h"
#include "inject/tracepoint.h"
#include "symbols/addrspace.h"
#include "tracer/fire/stack.h"
#include "tracer/ptrace/proc.h"
#include "tracer/prov/watch.h"
#include "tracer/sites/site.h"

/* A stack that is deeper is not known to its end. */
#define FRAMES_MOST 1024

/* The call in which a thread is watched. */
struct frame {
	uint32_t id;
	uint64_t top; /* the stack pointer before the call */
	uint64_t returns;
	uint64_t value;
};

/* Part of a thread. */
struct frames {
	VEC(struct frame) list;
};

static void
frames_end(void *part)
{
	vec_fini(&((struct frames *)part)->list);
}

static const struct part frames_part = { .size = sizeof(struct frames),
	.end = frames_end };

static struct frame *
frame_of(struct thread *th, uint32_t id)
{
	struct frames *fs = part_of(&th->parts, &frames_part);

	vec_foreach(f, &fs->list)
		if (f->id == id)
			return f;
	return NULL;
}

/* top: the stack pointer before a call. */
static uint64_t
return_at(const struct thread *th, uint64_t top)
{
	uint64_t addr = 0;

	reader_read(&th->proc->space->mem, top - MACHINE_CALL_BYTES, &addr,
	    MACHINE_CALL_BYTES);
	return addr;
}

static bool
is_of(const struct watched *w, uint64_t pc)
{
	for (unsigned i = 0; i < w->kept.nranges; i++)
		if (pc >= w->kept.ranges[i].start && pc < w->kept.ranges[i].end)
			return true;
	return false;
}

/* Is a frame of the function on the stack, from number `first' on?  True if that
 * is not known. */
static bool
is_on_stack(struct thread *th, const struct watched *w, size_t first)
{
	static uint64_t pcs[FRAMES_MOST];
	bool whole;
	size_t n = stack_tell(th, pcs, FRAMES_MOST, &whole);

	/* A call may be the last instruction of a function. */
	for (size_t i = first; i < n; i++)
		if (is_of(w, i == 0 ? pcs[i] : pcs[i] - 1))
			return true;
	return !whole;
}

/* `entered': the thread is at the entry of another call. */
static bool
goes_on(struct thread *th, const struct watched *w, const struct frame *f,
    bool entered)
{
	const struct uregs *regs = thread_regs(th);

	return regs != NULL && regs->r[UREG_SP] < f->top &&
	    return_at(th, f->top) == f->returns &&
	    is_on_stack(th, w, entered ? 1 : 0);
}

/* ---- entries ---- */

static void
enter(struct state *st, struct thread *th, struct watched *w, uint32_t id)
{
	const struct uregs *regs = thread_regs(th);
	struct frame *f = frame_of(th, id);

	if (regs == NULL || (f != NULL && goes_on(th, w, f, true)))
		return;
	if (f == NULL) {
		struct frames *fs = part_of(&th->parts, &frames_part);
		f = vec_push(&fs->list);
	}
	uint64_t top = regs->r[UREG_SP] + MACHINE_CALL_BYTES;
	uint64_t addr = top + (uint64_t)w->kept.offset;
	*f = (struct frame){ .id = id,
		.top = top,
		.returns = return_at(th, top),
		.value = watch_value(th, w, addr) };
	datawatch_drop(th, id);
	watch_arm(st, w, id, th, addr);
}

static void
at_entry(struct state *st, struct thread *th, struct tracepoint *tp)
{
	struct watching *ws = watching_of(st);

	for (uint32_t i = 0; i < ws->list.len; i++) {
		struct watched *w = &ws->list.at[i];
		if (w->kept.entry == tp->addr && watch_is_in(w, th) &&
		    watch_is_enabled(w))
			enter(st, th, w, i);
	}
}

static const struct arrival entries = { .before = at_entry };

void
watch_frame_begin(struct state *st, struct space *sp, const struct watched *w)
{
	const char *why = "";
	struct tracepoint *tp = site_tracepoint(st, sp, w->kept.entry, &why);

	if (tp == NULL) {
		site_failed(st, w->probe, w->kept.entry, why);
		return;
	}
	site_tell(tp, &entries);
	site_probed(sp);
}

/* ---- accesses ---- */

bool
watch_frame_accessed(
    struct thread *th, const struct watched *w, uint32_t id, uint64_t words[3])
{
	struct frame *f = frame_of(th, id);

	if (f == NULL || !goes_on(th, w, f, false)) {
		datawatch_drop(th, id);
		return false;
	}
	words[0] = f->value;
	words[2] = f->top + (uint64_t)w->kept.offset;
	words[1] = f->value = watch_value(th, w, words[2]);
	return true;
}
