/*
 * Threads in the way of jumps; see raising.h.
 */
#include "tracer/sites/raising.h"

#include "inject/resume.h"
#include "symbols/addrspace.h"
#include "symbols/golang.h"
#include "symbols/maps.h"
#include "tracer/fast/fast.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/super.h"
#include "tracer/sites/site.h"

/* The most bytes of stacks that are searched; takes a few milliseconds. */
#define STACKS_MOST (32UL << 20)

void
raising_end(struct raising *r)
{
	vec_fini(&r->places);
	vec_fini(&r->list);
	vec_fini(&r->ready);
	vec_fini(&r->tops);
}

static bool
is_of(const struct group *g, const struct tracepoint *tp)
{
	size_t i = 0;

	while (i < g->n && g->at[i].of != tp)
		i++;
	return i < g->n;
}

/* A goroutine that was interrupted at a site may go on in another thread, and the
 * tracer knows by the trap whether it has fired there (tracer/fire/trail.c). */
static bool
is_interrupted_at(
    const struct raising *r, const struct covered *c, uint64_t addr)
{
	return r->go && addr == c->group.start && addr == c->group.at[0].addr;
}

/* A thread is at addr or may return there: mark the group that contains addr.
 * It comes from the code of `own', or that is NULL. */
static void
is_at(struct raising *r, uint64_t addr, const struct tracepoint *own)
{
	size_t lo = 0, hi = r->list.len;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (r->list.at[mid].group.start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	struct covered *c = lo > 0 ? &r->list.at[lo - 1] : NULL;
	if (c == NULL ||
	    (!group_has(&c->group, addr) && !is_interrupted_at(r, c, addr)))
		return;
	if (own != NULL && is_of(&c->group, own))
		c->own = true;
	else
		c->busy = true;
}

/* A thread in the code of a site goes on behind its window, or in the code of the
 * next one; or at one of the instructions in it if it has to leave that code, and
 * then there is no jump any more.  Windows of other tracepoints may contain these
 * addresses. */
static void
look_at_stub(struct raising *r, struct space *sp, uint64_t pc)
{
	const struct tracepoint *tp = resume_stub_at(sp->tab, pc);
	const uint64_t *at;

	for (; pc != 0; pc = resume_stub_onto(sp->tab, pc)) {
		unsigned n = resume_stub_leads(sp->tab, pc, &at);
		for (unsigned i = 0; i < n; i++)
			is_at(r, at[i], tp);
	}
}

/* A thread in an out-of-line slot goes on behind the displaced instruction, or
 * at it if it has to leave the slot before. */
static void
look_at_slot(struct raising *r, struct space *sp, uint64_t pc, uint64_t sp_at)
{
	struct uregs regs = { .r[UREG_PC] = pc };

	pc = resume_stub_pc(sp->tab, pc, sp_at);
	struct tracepoint *tp = resume_stub_at(sp->tab, pc);
	if (tp != NULL) {
		look_at_stub(r, sp, pc);
	} else if (resume_leave_slot(sp->tab, &regs, &tp) != SLOT_OUTSIDE &&
	    tp != NULL) {
		is_at(r, tp->addr, NULL);
		is_at(r, tp->addr + tp->len, NULL);
	}
}

/* Has the thread executed an int3 of ours, and is the hit not handled yet?
 * Then hit_trap() will set its pc. */
static bool
is_trapped(struct thread *th, uint64_t pc)
{
	struct tptable *tab = th->proc->space->tab;
	siginfo_t si;

	return th->stop.kind == EV_TRAP &&
	    tracepoint_lookup(tab, pc - TRAP_PC_AFTER) != NULL &&
	    thread_siginfo(th, &si) == 0 && si.si_code == TRAP_CODE;
}

/* A signal frame on the stack has an address to which the thread will return.
 * Every word of the stack is taken for such an address. */
static void
look_at_words(struct raising *r, struct space *sp, uint64_t addr, uint64_t end)
{
	uint64_t words[512];

	addr &= ~7ULL;
	while (addr < end && !r->failed) {
		size_t len = MIN(sizeof(words), end - addr);
		r->read += len;
		r->failed = r->read > STACKS_MOST ||
		    reader_read(&sp->mem, addr, words, len) < 0;
		for (size_t i = 0; !r->failed && i < len / 8; i++)
			is_at(r, words[i], NULL);
		addr += len;
	}
}

/* The mapping of a goroutine's stack contains all others, and the heap. */
static void
look_at_stack(struct raising *r, struct space *sp, const struct maps *maps,
    struct thread *th, uint64_t sp_at)
{
	const struct map *m = maps_at(maps, sp_at);
	const struct uregs *regs = r->go ? thread_regs(th) : NULL;
	uint64_t end = 0;

	*vec_push(&r->tops) = sp_at;
	if (regs != NULL) {
		struct uregs there = *regs;
		there.r[UREG_SP] = sp_at;
		end = go_stack_end(sp->as, &sp->mem, &there);
	}
	if (m != NULL)
		look_at_words(
		    r, sp, sp_at, end > sp_at ? MIN(end, m->end) : m->end);
}

struct parked {
	struct raising *raising;
	struct space *space;
};

/* A stack on which a thread is has been looked at from its top on.  Below the top of
 * another may be words of earlier times, which only hold a jump up. */
static void
look_at_parked(void *ctx, const struct go_part *part)
{
	const struct parked *p = ctx;

	vec_foreach(top, &p->raising->tops)
		if (part->whole && *top >= part->start && *top < part->end)
			return;
	look_at_words(p->raising, p->space, part->start, part->end);
}

/* Words near the end of a firing's stack, where the address is to which it returns in
 * the code of a site: a body takes fewer of the program's, and on a lane's, which
 * ends where the lane begins, it is the first. */
#define FIRING_WORDS 48

/* A thread in the middle of a firing goes on in the code of a site.  On a lane's stack
 * it has left its own, whose address is the lane's first word.  If it has come from a
 * body, the first word there leads to that code. */
static void
look_at_firing(struct raising *r, struct space *sp, const struct maps *maps,
    struct thread *th, uint64_t at)
{
	const struct uregs *regs = thread_regs(th);
	uint64_t lane = regs != NULL ? regs->r[UREG_LANE] : 0, own;
	uint64_t words[FIRING_WORDS];
	const struct map *m = maps_at(maps, at);
	bool away = fast_is_away(th);

	if (away && lane > at && lane - at > sizeof(words))
		at = lane - sizeof(words);
	size_t len = m != NULL ? MIN(sizeof(words), m->end - at) : 0;
	r->failed |= reader_read(&sp->mem, at, words, len) < 0;
	for (size_t i = 0; !r->failed && i < len / 8; i++)
		if (resume_stub_at(sp->tab, words[i]) != NULL)
			look_at_stub(r, sp, words[i]);
	if (!away)
		return;
	r->failed |= reader_read(&sp->mem, lane, &own, sizeof(own)) < 0;
	if (r->failed || own == 0)
		return;
	r->failed |= reader_read(&sp->mem, own, words, sizeof(*words)) < 0;
	if (!r->failed && resume_stub_at(sp->tab, words[0]) != NULL)
		look_at_stub(r, sp, words[0]);
	if (!r->failed)
		look_at_stack(r, sp, maps, th, own);
}

void
raising_look(struct raising *r, struct space *sp)
{
	struct maps maps = { 0 };
	uint64_t pc, at;

	r->go = go_there(sp->as);
	r->failed = maps_read(sp->procs.at[0]->pid, &maps) < 0;
	space_foreach_thread(th, sp)
	{
		if (thread_gone(th) || r->failed)
			continue;
		r->failed |= thread_pc(th, &pc, &at) < 0;
		/* The thread may have executed an int3 that has been removed
		 * since, and then goes back to where that was. */
		if (text_is_trapped(sp->tab, pc - TRAP_PC_AFTER))
			is_at(r, pc - TRAP_PC_AFTER, NULL);
		if (!is_trapped(th, pc))
			is_at(r, pc, NULL);
		look_at_slot(r, sp, pc, at);
		if (!fast_is_away(th))
			look_at_stack(r, sp, &maps, th, at);
		if (fast_fires(th))
			look_at_firing(r, sp, &maps, th, at);
	}
	if (r->go && !r->failed)
		r->failed = go_parked(sp->as, &sp->mem, look_at_parked,
				&(struct parked){ r, sp }) != 0;
	maps_fini(&maps);
}
