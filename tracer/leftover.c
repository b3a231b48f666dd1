/*
 * A tracer that was killed leaves its handler of SIGTRAP, the area that this
 * stands in, and all slots.
 *
 * A thread that sleeps in a slot when it is let go (its vfork child runs, a
 * file server is dead) comes back there when we are gone, and nobody is left to
 * see that.  So the slot's memory stays, and the next tracer gives it back:
 * otherwise it would be more with each trace.
 *
 * By then the thread may be in a signal's handler, called while it was on its
 * way out of the slot: the handler's frame on the stack will bring it back.
 * What points into the memory from a stack is therefore taken for such a frame.
 * A stack is what lies from the stack pointer to the end of its mapping, and
 * whatever else that looks like one which it points to (a handler on an
 * alternate stack leads to the thread's own).  Where a stack is too large to be
 * looked through, or a thread's cannot be told, everything stays for another
 * time.
 */
#include "tracer/leftover.h"

#include <string.h>

#include "dlang/base/log.h"
#include "inject/tracepoint.h"
#include "inject/trap/area.h"
#include "symbols/maps.h"
#include "tracer/super_impl.h"
#include "tracer/trapguard.h"

/* How much of stacks is read: a few milliseconds' worth. */
#define STACKS_MAX (32UL << 20)
#define RED_ZONE   128
#define PAGE       4096

/* One with an area's head is that, and not memory of slots. */
struct piece {
	uint64_t start, size;
	bool area, needed;
};

struct search {
	struct space *sp;
	struct maps maps;
	VEC(struct piece) found;
	/* By the begin of a mapping: the address from which on it has been
	 * read, or is to be. */
	struct hash from;
	VEC(uint64_t) todo; /* addresses to read from */
	size_t read;
	bool failed; /* not all could be looked at */
};

static bool
is_marked(struct space *sp, uint64_t addr)
{
	uint8_t bytes[SLOT_MARK];

	return reader_read(&sp->mem, addr, bytes, sizeof(bytes)) == 0 &&
	    slot_memory_is_marked(bytes);
}

static uint64_t
area_size(struct space *sp, uint64_t addr)
{
	struct trap_area head;

	if (reader_read(&sp->mem, addr, &head, sizeof(head)) < 0 ||
	    head.magic != TRAP_MAGIC || head.size % PAGE != 0)
		return 0;
	return head.size;
}

/* Pieces that lie side by side are one mapping. */
static void
find_pieces(struct search *s)
{
	vec_foreach(m, &s->maps.list) {
		if (m->write || !m->exec || m->shared || m->inode != 0 ||
		    m->path[0] != '\0')
			continue;
		for (uint64_t at = m->start, size; at < m->end; at += size) {
			bool area = (size = area_size(s->sp, at)) != 0;
			if (!area)
				size = is_marked(s->sp, at) ? SLOT_MEMORY : 0;
			if (size != 0 && size <= m->end - at)
				*vec_push(&s->found) =
				    (struct piece){ at, size, area, false };
			else
				size = PAGE;
		}
	}
}

static void
points_to(struct search *s, uint64_t addr)
{
	vec_foreach(p, &s->found)
		p->needed |= addr - p->start < p->size;
}

/* The kernel's own, or a mapping with a guard in front of it. */
static bool
is_stack(const struct maps *maps, size_t i)
{
	const struct map *m = &maps->list.at[i];
	const struct map *before = i > 0 ? m - 1 : NULL;

	return m->write &&
	    (strcmp(m->path, "[stack]") == 0 ||
		(before != NULL && before->end == m->start && !before->read &&
		    !before->write && !before->exec));
}

/* Is there (more) to read from addr on?  `is_sp': whatever lies there. */
static void
follow(struct search *s, uint64_t addr, bool is_sp)
{
	const struct map *m = maps_at(&s->maps, addr);

	if (m == NULL)
		return;
	size_t i = (size_t)(m - s->maps.list.at);
	if (!is_sp && !is_stack(&s->maps, i))
		return;
	uint64_t from = (uintptr_t)hash_get(&s->from, m->start);
	if (from != 0 && from <= addr)
		return;
	hash_set(&s->from, m->start, (void *)(uintptr_t)addr);
	*vec_push(&s->todo) = addr;
}

/* From addr to the end of its mapping. */
static void
read_stack(struct search *s, uint64_t addr)
{
	const struct map *m = maps_at(&s->maps, addr);
	uint64_t words[512];

	addr &= ~7ULL;
	while (addr < m->end && !s->failed) {
		size_t len = MIN(sizeof(words), m->end - addr);
		s->read += len;
		s->failed = s->read > STACKS_MAX ||
		    reader_read(&s->sp->mem, addr, words, len) < 0;
		for (size_t i = 0; !s->failed && i < len / 8; i++) {
			points_to(s, words[i]);
			if (words[i] < m->start || words[i] >= m->end)
				follow(s, words[i], false);
		}
		addr += len;
	}
}

static void
look_at_threads(struct search *s)
{
	uint64_t pc, sp;

	space_foreach_thread(th, s->sp)
	{
		if (th->state == TH_GONE)
			continue;
		s->failed |= thread_pc(th, &pc, &sp) < 0;
		points_to(s, pc);
		if (sp > RED_ZONE)
			follow(s, sp - RED_ZONE, true);
	}
	while (s->todo.len > 0 && !s->failed)
		read_stack(s, vec_pop(&s->todo));
}

/* The handler of one who was killed goes, and so does what else would raise
 * SIGTRAP: a debug register. */
static void
take_handlers_away(struct search *s)
{
	vec_foreach(p, &s->sp->procs)
		vec_foreach(piece, &s->found)
			if (piece->area &&
			    !trapguard_inherit(*p, piece->start, piece->size))
				s->failed = true;
	space_foreach_thread(th, s->sp) regs_watch(th->tid, 0);
}

void
leftover_release(struct proc *p)
{
	struct search s = { .sp = p->space };
	struct target *t = &p->space->target;

	if (maps_read(p->pid, &s.maps) == 0)
		find_pieces(&s);
	bool areas = false;
	vec_foreach(piece, &s.found)
		areas |= piece->area;
	if (areas)
		take_handlers_away(&s);
	if (s.found.len > 0)
		look_at_threads(&s);
	vec_foreach(piece, &s.found) {
		int r = -1;
		if (!s.failed && !piece->needed)
			r = t->ops->unmap(t, piece->start, piece->size);
		LOG("leftover", "%d: %#lx: %s", (int)p->pid,
		    (unsigned long)piece->start, r == 0 ? "released" : "stays");
	}
	maps_fini(&s.maps);
	vec_fini(&s.found);
	vec_fini(&s.todo);
	hash_fini(&s.from);
}
