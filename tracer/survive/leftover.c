/*
 * A killed tracer leaves its int3s, its handler for SIGTRAP with the area, and
 * all slots.  The list in the area, which survives tracer and guardian, tells
 * what must be restored; the rest is removed when no thread needs it.
 *
 * A thread that sleeps in a slot when it is detached (its vfork child runs, a
 * file server is dead) returns there after the tracer has ended.  So the memory
 * of that slot stays mapped, and the next tracer unmaps it; otherwise such
 * memory would grow with each trace.
 *
 * When the next tracer attaches, the thread may be in a signal handler that was
 * called while it left the slot.  The signal frame on its stack then leads back
 * into the slot.  So the frames of each thread are examined.  If unwind entries
 * do not lead to the last frame, every word on the stack that points into the
 * memory is taken for such a frame.
 *
 * A stack is the memory from the stack pointer to the end of its mapping.  If a
 * word on it points into other memory that looks like a stack, that is read,
 * too: a handler on an alternate stack leads to the thread's own stack.  It is
 * not read if it is the stack of another thread, because below that thread's
 * stack pointer are only stale frames.  If a stack is too large to be searched,
 * or the stack pointer of a thread is not known, all memory is kept until the
 * next trace.
 */
#include "tracer/survive/leftover.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dlang/base/clock.h"
#include "dlang/base/fault.h"
#include "dlang/base/log.h"
#include "dlang/base/machine.h"
#include "inject/stub.h"
#include "inject/tracepoint.h"
#include "inject/trapmend.h"
#include "inject/trapset.h"
#include "symbols/addrspace.h"
#include "symbols/maps.h"
#include "symbols/unwind.h"
#include "tracer/survive/guardian.h"
#include "tracer/ptrace/super.h"
#include "tracer/ptrace/target_ptrace.h"
#include "tracer/survive/trapguard.h"

/* The most bytes of stacks that are read; takes a few milliseconds. */
#define STACKS_MAX (32UL << 20)
/* The same for a stack on which another handler may have interrupted
 * dtrap's. */
#define NESTED_DEPTH (64UL << 10)
#define PAGE         4096
#define FRAMES_MAX   256

/*
 * dtrap's memory is in mappings of its own, or at the ends of a larger mapping
 * with which the kernel has merged it.  So PAGES_MAX present pages are searched
 * from each end of a mapping, among at most RANGE_MAX pages.
 */
#define PAGES_MAX 8192
#define RANGE_MAX (1U << 20)
#define CHUNK     4096 /* of pagemap, pages */
/* Bits of an entry of /proc/PID/pagemap: the page is in memory, or swapped
 * out. */
#define PAGE_THERE (3ULL << 62)

/* How long the guardian of another tracer may take. */
#define KEEPER_S 30

enum piece_kind {
	PIECE_SLOTS,
	PIECE_AREA,
	PIECE_WAYBACK,
	PIECE_LANES /* what code in PIECE_SLOTS may work on */
};

struct piece {
	uint64_t start, size;
	enum piece_kind kind;
	bool needed;
};

/* What is to be restored when no thread can be there any more. */
struct board {
	struct trap_entry entry;
	bool needed;
};

struct leftover {
	VEC(struct piece) found;
	VEC(struct board) boards;
	struct hash by_board; /* index + 1, by address */
	/* An area: a thread is in the handler; a frame on a stack leads
	 * there. */
	bool runs, in_use;
};

struct search {
	struct space *sp;
	pid_t pid;
	struct maps maps;
	struct addrspace *as; /* of frames_point_to(), or NULL */
	struct unwinder *unwinder;
	struct leftover *l;
	/* For each mapping (by its begin) the address from which on it has been
	 * read, or will be. */
	struct hash from;
	struct hash taken;  /* mappings that have a thread's stack pointer */
	VEC(uint64_t) todo; /* addresses to read from */
	size_t depth;       /* how much of a stack is read */
	size_t read;
	bool again;  /* it was tried before */
	bool failed; /* not all could be looked at */
};

/* ---- finding ---- */

struct look {
	int mem, pagemap;
	struct leftover *l;
	unsigned pages; /* looked at */
};

/* What begins in the page at addr, if it is dtrap's. */
static uint64_t
look_at(int mem, uint64_t addr, enum piece_kind *kind)
{
	union {
		struct trap_area head;
		uint8_t mark[SLOT_MARK];
	} page;

	if (pread(mem, &page, sizeof(page), (off_t)addr) != sizeof(page))
		return 0;
	*kind = page.head.magic == TRAP_MAGIC ? PIECE_AREA : PIECE_SLOTS;
	if (*kind == PIECE_AREA)
		return page.head.size % PAGE == 0 ? page.head.size : 0;
	return slot_memory_is_marked(page.mark) ? SLOT_MEMORY : 0;
}

/* Check the page at addr, which is present.  False: the limit of pages is
 * reached. */
static bool
take(struct look *k, uint64_t addr, uint64_t end)
{
	enum piece_kind kind;

	vec_foreach(p, &k->l->found)
		if (addr - p->start < p->size)
			return true;
	uint64_t size = look_at(k->mem, addr, &kind);
	if (size != 0 && size <= end - addr)
		*vec_push(&k->l->found) =
		    (struct piece){ addr, size, kind, false };
	return ++k->pages < PAGES_MAX;
}

/* Pages [first, first + n) of the mapping that ends at `end', in either
 * direction. */
static bool
look_through(
    struct look *k, uint64_t first, size_t n, uint64_t end, bool backwards)
{
	uint64_t there[CHUNK];
	const size_t len = n * sizeof(*there);

	if (pread(k->pagemap, there, len, (off_t)(first * sizeof(*there))) !=
	    (ssize_t)len)
		memset(there, 0xff, len); /* unknown: assume all present */
	for (size_t i = 0; i < n; i++) {
		size_t at = backwards ? n - 1 - i : i;
		if ((there[at] & PAGE_THERE) != 0 &&
		    !take(k, (first + at) * PAGE, end))
			return false;
	}
	return true;
}

static void
look_from_ends(struct look *k, uint64_t start, uint64_t end)
{
	uint64_t first = start / PAGE, n = (end - start) / PAGE;

	k->pages = 0;
	for (uint64_t at = 0; at < n && at < RANGE_MAX; at += CHUNK)
		if (!look_through(
			k, first + at, MIN(n - at, CHUNK), end, false))
			break;
	if (n <= RANGE_MAX && k->pages < PAGES_MAX)
		return;
	k->pages = 0;
	for (uint64_t at = 0; at < n && at < RANGE_MAX; at += CHUNK) {
		size_t size = MIN(n - at, CHUNK);
		if (!look_through(k, first + n - at - size, size, end, true))
			break;
	}
}

static int
open_of(pid_t pid, const char *name, int flags)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return open(path, flags | O_CLOEXEC);
}

/* The process could have changed the number in its memory.  dtrap must not send
 * a signal to any process but a living guardian. */
static bool
is_guardian(pid_t pid)
{
	struct proc_status st;

	return procfs_status(pid, &st) == 0 && st.state != 'Z' &&
	    st.state != 'X' && strcmp(st.comm, GUARDIAN_NAME) == 0;
}

/* The guardian named in the areas, if it still lives. */
static pid_t
keeper_of(int mem, const struct leftover *l)
{
	struct trap_area head;
	uint64_t since;

	vec_foreach(p, &l->found) {
		pid_t pid;
		if (p->kind != PIECE_AREA ||
		    !trapmend_head(mem, p->start, &head) || head.mended ||
		    (pid = (pid_t)head.keeper) <= 1)
			continue;
		if (is_guardian(pid) &&
		    procfs_stat(pid, STAT_SINCE, &since) == 0 &&
		    since == head.keeper_since)
			return pid;
	}
	return 0;
}

/* Its tracer has ended, so the guardian ends by itself, unless it was stopped.
 * A signal makes it end before it has waited for everything. */
static int
await_keeper(pid_t pid, int mem, const struct leftover *l,
    bool (*stopping)(void), char *why, size_t size)
{
	const struct timespec nap = { 0, 1000000 };
	uint64_t begin = clock_coarse_ms();
	pid_t keeper, told = 0;

	while ((keeper = keeper_of(mem, l)) != 0) {
		if (keeper != told) {
			kill(keeper, SIGTERM);
			kill(keeper, SIGCONT);
			told = keeper;
		}
		if (stopping() || clock_coarse_ms() - begin > KEEPER_S * 1000) {
			snprintf(why, size,
			    "the code of process %d is still being restored "
			    "by the guardian of a killed dtrap (process %d)",
			    (int)pid, (int)keeper);
			return -EBUSY;
		}
		nanosleep(&nap, NULL);
	}
	return 0;
}

/* The memory in which clauses ran, and the page before it. */
static void
find_lanes(struct leftover *l, const struct maps *maps)
{
	static const char name[] = "/memfd:" STUB_MEMORY;
	struct piece *last = NULL;

	for (size_t i = 1; i < maps->list.len; i++) {
		const struct map *m = &maps->list.at[i], *before = m - 1;
		if (!m->shared || strcmp(m->path, name) != 0)
			continue;
		if (last != NULL && last->start + last->size == m->start) {
			last->size += m->end - m->start;
			continue;
		}
		bool own = before->end == m->start && before->inode == 0 &&
		    before->end - before->start == PAGE;
		uint64_t start = own ? before->start : m->start;
		last = vec_push(&l->found);
		*last =
		    (struct piece){ start, m->end - start, PIECE_LANES, false };
	}
}

int
leftover_find(pid_t pid, bool (*stopping)(void), struct leftover **out,
    char *why, size_t size)
{
	struct look k = { .mem = open_of(pid, "mem", O_RDONLY),
		.pagemap = open_of(pid, "pagemap", O_RDONLY),
		.l = mem_zalloc(sizeof(*k.l)) };
	struct maps maps = { 0 };
	int r = 0;

	*out = NULL;
	if (k.mem >= 0 && maps_read(pid, &maps) == 0)
		vec_foreach(m, &maps.list)
			if (m->exec && !m->write && !m->shared &&
			    m->inode == 0 && m->path[0] == '\0')
				look_from_ends(&k, m->start, m->end);
	find_lanes(k.l, &maps);
	LOG("leftover", "%d: %zu pieces", (int)pid, k.l->found.len);
	if (stopping != NULL)
		r = await_keeper(pid, k.mem, k.l, stopping, why, size);
	maps_fini(&maps);
	if (k.mem >= 0)
		close(k.mem);
	if (k.pagemap >= 0)
		close(k.pagemap);
	if (r == 0 && k.l->found.len > 0)
		*out = k.l;
	else
		leftover_free(k.l);
	return r;
}

void
leftover_drop(struct space *sp)
{
	leftover_free(sp->leftover);
	sp->leftover = NULL;
}

void
leftover_free(struct leftover *l)
{
	if (l != NULL) {
		vec_fini(&l->found);
		vec_fini(&l->boards);
		hash_fini(&l->by_board);
	}
	mem_free(l);
}

/* ---- restoring ---- */

static bool
inherit(void *ctx, const struct trap_entry *e)
{
	tracepoint_inherit(ctx, e->addr);
	return true;
}

/* Is it the memory of slots? */
static bool
is_found(void *ctx, uint64_t to)
{
	const struct leftover *l = ctx;

	vec_foreach(p, &l->found)
		if (p->kind == PIECE_SLOTS && to - p->start < p->size)
			return true;
	return false;
}

static bool
add_board(void *ctx, const struct trap_entry *e)
{
	struct leftover *l = ctx;

	*vec_push(&l->boards) = (struct board){ *e, false };
	hash_set(&l->by_board, e->addr, (void *)(uintptr_t)l->boards.len);
	return true;
}

static struct board *
board_at(const struct leftover *l, uint64_t addr)
{
	uintptr_t i = (uintptr_t)hash_get(&l->by_board, addr);

	return i != 0 ? &l->boards.at[i - 1] : NULL;
}

int
leftover_mend(struct leftover *l, struct space *sp)
{
	struct trap_area head;
	unsigned left = 0;

	if (sp->mem_fd < 0)
		return -EMFILE;
	vec_foreach(p, &l->found) {
		if (p->kind != PIECE_AREA ||
		    !trapmend_head(sp->mem_fd, p->start, &head))
			continue;
		/* The guardian leaves these, because threads run while it
		 * works. */
		left += trapmend_jumps(sp->mem_fd, p->start, is_found, l);
		trapmend_each(sp->mem_fd, p->start, TRAP_BOARD, add_board, l);
		fault_kill("leftover-jumps");
		if (!head.mended) {
			unsigned n = trapmend_text(sp->mem_fd, p->start);
			fault_kill("leftover-text");
			trapmend_semaphores(sp->mem_fd, p->start);
			/* Check the result: do not rely on the first pass. */
			unsigned again = trapmend_text(sp->mem_fd, p->start);
			n = MAX(n, again);
			if (n == 0)
				trapmend_done(sp->mem_fd, p->start);
			left += n;
		}
		if (sp->tab == NULL)
			sp->tab = tptable_create(&sp->target);
		trapmend_each(
		    sp->mem_fd, p->start, TRAP_TEXT, inherit, sp->tab);
		sp->inherited = true;
		fault_kill("leftover-mended");
	}
	return left == 0 ? 0 : -EFAULT;
}

static bool
is_listed(void *ctx, const struct trap_entry *e)
{
	*(bool *)ctx = true;
	return false;
}

/*
 * Set SIGTRAP in the masks of threads from which dtrap had removed it.  Not
 * only in threads that the area lists: a thread that one of them has created
 * since inherited its mask, and each may have changed its mask.
 */
static void
show_masks(struct space *sp, uint64_t area)
{
	bool any = false;

	trapmend_each(sp->mem_fd, area, TRAP_MASK, is_listed, &any);
	if (any)
		space_foreach_thread(th, sp) sigtrap_reveal(th);
}

/* ---- which memory does a thread still need?  ---- */

static void
points_to(struct search *s, uint64_t addr)
{
	struct board *b = board_at(s->l, addr);

	vec_foreach(p, &s->l->found)
		p->needed |= addr - p->start < p->size;
	if (b != NULL)
		b->needed = true;
}

/* Is the thread in the handler, which it will leave as soon as it runs? */
static bool
is_in_area(const struct search *s, const struct thread *th, uint64_t pc)
{
	vec_foreach(p, &s->l->found)
		if (p->kind == PIECE_AREA && pc - p->start < p->size)
			return th->stop.state != TH_LISTENING &&
			    th->stop.kind != EV_GROUP_STOP;
	return false;
}

static bool
is_in_lanes(const struct search *s, const struct thread *th, uint64_t addr)
{
	vec_foreach(p, &s->l->found)
		if (p->kind == PIECE_LANES && addr - p->start < p->size)
			return th->stop.state != TH_LISTENING &&
			    th->stop.kind != EV_GROUP_STOP;
	return false;
}

/* The same for words on a stack, many of which are stale.  Only a signal frame
 * returns into this memory: slots push the program's own return addresses, and
 * calls made by the handler are over if the thread's pc is not in it. */
static void
word_points_to(struct search *s, const uint64_t *word)
{
	if (regs_in_frame(word))
		points_to(s, *word);
}

/* Is it [stack], or a mapping with a guard page before it? */
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

/*
 * Walk the thread's stack by unwind entries, and note what each frame needs.
 * False if that does not lead to the end of the stack.  If it does, all signal
 * frames that are in use have been found: others are stale, in memory that a
 * function has reserved and not written yet.
 */
static bool
frames_point_to(struct search *s, struct thread *th)
{
	const struct uregs *regs = thread_regs(th);
	uint64_t pcs[FRAMES_MAX];

	if (regs == NULL)
		return false;
	/* By the maps as they are now: what the space knows may be older. */
	if (s->unwinder == NULL) {
		s->as = addrspace_create(s->pid, &s->sp->mem);
		addrspace_refresh(s->as, NULL, NULL);
		s->unwinder = unwinder_create(s->as);
	}
	size_t n =
	    unwind_whole(s->unwinder, regs, &s->sp->text, pcs, ARRAY_SIZE(pcs));
	for (size_t i = 0; i < n; i++)
		points_to(s, pcs[i]);
	return n > 0;
}

static void
search_end(struct search *s)
{
	unwinder_destroy(s->unwinder);
	if (s->as != NULL) {
		addrspace_detach(s->as);
		addrspace_put(s->as);
	}
	maps_fini(&s->maps);
}

/* Queue the stack at addr for reading, if it is not read yet.  `is_sp': addr is
 * a stack pointer, so the memory counts as a stack in any case. */
static void
follow(struct search *s, uint64_t addr, bool is_sp)
{
	const struct map *m = maps_at(&s->maps, addr);

	if (m == NULL)
		return;
	size_t i = (size_t)(m - s->maps.list.at);
	if (is_sp)
		hash_set(&s->taken, m->start, s);
	else if (!is_stack(&s->maps, i) || hash_get(&s->taken, m->start))
		return;
	uint64_t from = (uintptr_t)hash_get(&s->from, m->start);
	if (from != 0 && from <= addr)
		return;
	hash_set(&s->from, m->start, (void *)(uintptr_t)addr);
	*vec_push(&s->todo) = addr;
}

/* Find what the thread's frames need.  If they cannot be walked to the end,
 * queue its whole stack for reading.  In both cases the mapping is marked, so
 * that a word on another stack that points here does not queue it. */
static void
look_at_stack(struct search *s, struct thread *th, uint64_t sp)
{
	const struct map *m = maps_at(&s->maps, sp);

	if (!frames_point_to(s, th))
		follow(s, sp, true);
	else if (m != NULL)
		hash_set(&s->taken, m->start, s);
}

/* From addr to the end of its mapping. */
static void
read_stack(struct search *s, uint64_t addr)
{
	const struct map *m = maps_at(&s->maps, addr);
	uint64_t words[512 + REGS_FRAME], end = m->end;

	addr &= ~7ULL;
	end = addr + MIN(end - addr, s->depth);
	while (addr < end && !s->failed) {
		size_t len = MIN(512 * sizeof(*words), end - addr);
		size_t more = MIN(sizeof(words), m->end - addr);
		s->read += len;
		memset(words, 0, sizeof(words));
		s->failed = s->read > STACKS_MAX ||
		    reader_read(&s->sp->mem, addr, words, more) < 0;
		if (s->failed)
			LOG("leftover", "the stack at %#lx is not read",
			    (unsigned long)addr);
		for (size_t i = 0; !s->failed && i < len / 8; i++) {
			word_points_to(s, &words[i]);
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
		if (thread_gone(th))
			continue;
		if (thread_pc(th, &pc, &sp) < 0) {
			LOG("leftover", "%d: its pc is not known",
			    (int)th->tid);
			s->failed = true;
			continue;
		}
		points_to(s, pc);
		points_to(s, sp);
		s->l->runs |= is_in_lanes(s, th, pc) || is_in_lanes(s, th, sp);
		s->l->runs |= is_in_area(s, th, pc);
		if (sp > MACHINE_RED_ZONE)
			look_at_stack(s, th, sp - MACHINE_RED_ZONE);
	}
	while (s->todo.len > 0 && !s->failed)
		read_stack(s, vec_pop(&s->todo));
	hash_fini(&s->from);
	hash_fini(&s->taken);
	vec_fini(&s->todo);
}

/* A thread that returns to a board goes on in slot memory; and the list still says what
 * belongs there. */
static void
keep_boards(struct leftover *l)
{
	bool needed = false;

	vec_foreach(b, &l->boards)
		needed |= b->needed;
	vec_foreach(p, &l->found)
		p->needed |=
		    needed && (p->kind == PIECE_SLOTS || p->kind == PIECE_AREA);
}

/* A thread in the handler may have only the address of an entry in a register.
 * So the chunks of the areas are kept or removed together. */
static void
keep_chunks(struct leftover *l)
{
	bool needed = l->runs;

	vec_foreach(p, &l->found)
		needed |= p->kind == PIECE_AREA && p->needed;
	vec_foreach(p, &l->found)
		p->needed |= p->kind == PIECE_AREA && needed;
	l->in_use = needed;
}

/* Keep lanes and stubs together: a thread in a stub may be about to write to a
 * lane, and a thread in the middle of a firing will return to a stub. */
static void
keep_lanes(struct leftover *l)
{
	bool any = false, needed = false;

	vec_foreach(p, &l->found) {
		any |= p->kind == PIECE_LANES;
		needed |= p->needed &&
		    (p->kind == PIECE_LANES || p->kind == PIECE_SLOTS);
	}
	vec_foreach(p, &l->found)
		p->needed |= any && needed &&
		    (p->kind == PIECE_LANES || p->kind == PIECE_SLOTS);
	l->in_use |= any && needed;
}

/* Set UREG_LANE to 0 in each thread in which it is the address of a lane of the
 * killed tracer. */
static void
lead_away(struct search *s)
{
	space_foreach_thread(th, s->sp)
	{
		struct uregs *regs = thread_gone(th) ? NULL : thread_regs(th);
		vec_foreach(p, &s->l->found) {
			if (regs == NULL || p->kind != PIECE_LANES ||
			    regs->r[UREG_LANE] - p->start >= p->size)
				continue;
			regs->r[UREG_LANE] = 0;
			thread_regs_dirty(th);
		}
	}
}

/* A thread at a board goes back to where the short jump was. */
static void
lead_back(struct search *s)
{
	space_foreach_thread(th, s->sp)
	{
		struct uregs *regs = s->l->boards.len == 0 || thread_gone(th) ?
		    NULL :
		    thread_regs(th);
		const struct board *b =
		    regs != NULL ? board_at(s->l, regs->r[UREG_PC]) : NULL;
		if (b == NULL)
			continue;
		regs->r[UREG_PC] = trap_board_from(&b->entry);
		thread_regs_dirty(th);
	}
}

/* Restore those that no thread needs.  The others stay. */
static void
restore_boards(struct search *s)
{
	struct leftover *l = s->l;
	size_t kept = 0;

	if (s->failed)
		return;
	hash_fini(&l->by_board);
	for (size_t i = 0; i < l->boards.len; i++) {
		struct board *b = &l->boards.at[i];
		if (!b->needed &&
		    trapmend_board(s->sp->mem_fd, &b->entry, is_found, l))
			continue;
		b->needed = false;
		l->boards.at[kept++] = *b;
		hash_set(&l->by_board, b->entry.addr, (void *)(uintptr_t)kept);
	}
	l->boards.len = kept;
	fault_kill("leftover-boards");
}

bool
leftover_in_use(const struct leftover *l)
{
	return l != NULL && l->in_use;
}

bool
leftover_runs(const struct leftover *l)
{
	return l != NULL && l->runs;
}

bool
leftover_leads_to(struct space *sp, pid_t pid, uint64_t area)
{
	struct leftover l = { 0 };
	struct search s = {
		.sp = sp, .pid = pid, .l = &l, .depth = NESTED_DEPTH
	};
	bool leads = false;

	if (area == 0 || maps_read(pid, &s.maps) < 0)
		return false;
	*vec_push(&l.found) =
	    (struct piece){ area, trap_code_size, PIECE_AREA, false };
	look_at_threads(&s);
	leads = l.found.at[0].needed;
	vec_fini(&l.found);
	search_end(&s);
	return leads;
}

/* ---- undoing ---- */

/* Remove the handler of the killed tracer, and the debug register, which would
 * raise SIGTRAP too. */
static void
take_handlers_away(struct search *s)
{
	bool areas = false;

	vec_foreach(piece, &s->l->found) {
		if (piece->kind != PIECE_AREA)
			continue;
		areas = true;
		if (!s->again)
			show_masks(s->sp, piece->start);
		vec_foreach(p, &s->sp->procs) {
			if (trapguard_inherit(*p, piece->start, piece->size))
				continue;
			LOG("leftover", "%d: its handler stays",
			    (int)(*p)->pid);
			s->failed = true;
		}
	}
	if (!areas)
		return;
	space_foreach_thread(th, s->sp) regs_watch(th->tid, 0);
}

static int
give_back(struct space *sp, const struct piece *p)
{
	static const uint8_t zeros[WAYBACK_SIZE];
	struct target *t = &sp->target;

	return p->kind == PIECE_WAYBACK ?
	    t->ops->write(t, p->start, zeros, p->size) :
	    t->ops->unmap(t, p->start, p->size);
}

/* Find the code of remote calls that were made before there was an area. */
static void
find_waybacks(struct search *s)
{
	uint8_t code[WAYBACK_SIZE];
	uint64_t addr, sp;
	unsigned cookie = 0;

	while (
	    space_next_cave(s->sp, &s->maps, WAYBACK_SIZE, &cookie, &addr) == 0)
		if (reader_read(&s->sp->mem, addr, code, sizeof(code)) == 0 &&
		    wayback_is(code, &sp))
			*vec_push(&s->l->found) = (struct piece){ addr,
				WAYBACK_SIZE, PIECE_WAYBACK, false };
}

void
leftover_release(struct leftover *l, struct proc *p)
{
	struct search s = { .sp = p->space,
		.pid = p->pid,
		.l = l != NULL ? l : mem_zalloc(sizeof(*l)),
		.depth = SIZE_MAX,
		.again = l != NULL && l == p->space->leftover };
	size_t kept = 0;

	if (maps_read(p->pid, &s.maps) == 0 && !s.again)
		find_waybacks(&s);
	if (s.l->found.len > 0) {
		s.l->runs = false;
		take_handlers_away(&s);
		lead_back(&s);
		look_at_threads(&s);
		keep_boards(s.l);
		keep_chunks(s.l);
		keep_lanes(s.l);
		lead_away(&s);
		s.l->in_use &= !s.failed;
		restore_boards(&s);
	}
	for (size_t i = 0; i < s.l->found.len; i++) {
		struct piece *piece = &s.l->found.at[i];
		int r = -1;
		if (!s.failed && !piece->needed)
			r = give_back(s.sp, piece);
		LOG("leftover", "%d: %#lx: %s", (int)p->pid,
		    (unsigned long)piece->start, r == 0 ? "released" : "stays");
		piece->needed = false;
		if (r != 0)
			s.l->found.at[kept++] = *piece;
	}
	s.l->found.len = kept;
	search_end(&s);
	if (kept == 0)
		leftover_free(s.l);
	p->space->leftover = kept != 0 ? s.l : NULL;
}
