/*
 * See trapmend.h.  The area may be damaged: walks are bounded, and only int3s
 * and semaphores are overwritten.
 */
#include "inject/trapmend.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "dlang/base/base.h"

#define PAGE 4096U
/* Entries at a time; chunks of an area. */
#define BATCH      256
#define CHUNKS_MAX 4096

struct walk {
	int mem;
	struct trap_entry at[BATCH];
	uint32_t n;    /* of them are there */
	uint64_t addr; /* of the first */
	uint64_t next; /* chunk */
	uint32_t left; /* entries of this chunk that are still to come */
	unsigned chunks;
	bool alone;
};

static bool
get(int mem, uint64_t addr, void *buf, size_t len)
{
	return pread(mem, buf, len, (off_t)addr) == (ssize_t)len;
}

static bool
put(int mem, uint64_t addr, const void *buf, size_t len)
{
	return pwrite(mem, buf, len, (off_t)addr) == (ssize_t)len;
}

bool
trapmend_head(int mem, uint64_t addr, struct trap_area *head)
{
	return get(mem, addr, head, sizeof(*head)) && head->magic == TRAP_MAGIC;
}

static void
walk_begin(struct walk *w, int mem, uint64_t area)
{
	struct trap_area head;

	*w = (struct walk){ .mem = mem, .next = area };
	w->alone = trapmend_head(mem, area, &head) && head.alone != 0;
}

/* The next entries; false after the last. */
static bool
walk_on(struct walk *w)
{
	struct trap_area head;

	w->addr += w->n * sizeof(*w->at);
	w->n = 0;
	while (w->left == 0) {
		if (w->next == 0 || w->chunks++ == CHUNKS_MAX ||
		    !trapmend_head(w->mem, w->next, &head))
			return false;
		w->addr = w->next + head.first;
		w->left = head.count;
		w->next = head.next;
	}
	uint32_t n = MIN(w->left, (uint32_t)BATCH);
	if (!get(w->mem, w->addr, w->at, n * sizeof(*w->at)))
		return false;
	w->n = n;
	w->left -= n;
	return true;
}

/* How many of at[0 .. n) are places in the page of the first. */
static uint32_t
run_length(const struct walk *w, uint32_t from)
{
	const struct trap_entry *e = &w->at[from];
	uint32_t n = 1;

	while (!w->alone && from + n < w->n && e[n].kind == TRAP_TEXT &&
	    e[n].late == e->late && e[n].addr / PAGE == e->addr / PAGE)
		n++;
	return n;
}

/* Over the int3s among e[0 .. n), which are in one page. */
static unsigned
mend_run(int mem, const struct trap_entry *e, uint32_t n)
{
	uint64_t lo = e->addr, hi = lo;
	unsigned int3s = 0;
	uint8_t bytes[PAGE];

	for (uint32_t i = 1; i < n; i++) {
		lo = MIN(lo, e[i].addr);
		hi = MAX(hi, e[i].addr);
	}
	if (!get(mem, lo, bytes, hi + sizeof(trap_insn) - lo))
		return 0; /* it is not there any more */
	for (uint32_t i = 0; i < n; i++)
		if (trap_is_at(bytes + (e[i].addr - lo)) &&
		    e[i].saved != TRAP_INSN) {
			memcpy(bytes + (e[i].addr - lo), &e[i].saved,
			    sizeof(trap_insn));
			int3s++;
		}
	return int3s == 0 || put(mem, lo, bytes, hi + sizeof(trap_insn) - lo) ?
	    0 :
	    int3s;
}

static unsigned
mend_places(int mem, uint64_t area, bool late)
{
	struct walk w;
	unsigned left = 0;

	walk_begin(&w, mem, area);
	while (walk_on(&w))
		for (uint32_t i = 0, n; i < w.n; i += n) {
			n = 1;
			if (w.at[i].kind != TRAP_TEXT ||
			    (w.at[i].late != 0) != late)
				continue;
			n = run_length(&w, i);
			left += mend_run(mem, &w.at[i], n);
		}
	return left;
}

unsigned
trapmend_most(int mem, uint64_t area)
{
	return mend_places(mem, area, false);
}

unsigned
trapmend_text(int mem, uint64_t area)
{
	unsigned left = trapmend_most(mem, area);

	return left + mend_places(mem, area, true);
}

/* Does the jump at addr, of which bytes[] are the first, lead to what is ours? */
static bool
is_jump(uint64_t addr, const uint8_t bytes[TRAP_JUMP_LEN],
    bool (*ours)(void *ctx, uint64_t to), void *ctx)
{
	int32_t to = 0;

	memcpy(&to, bytes + 1, TRAP_TAIL);
	return bytes[0] == TRAP_JUMP &&
	    ours(ctx, addr + TRAP_JUMP_LEN + (uint64_t)to);
}

/* The length of the jump at addr, or of a short one whose board leads to what is
 * ours; 0: there is none. */
static unsigned
jump_length(
    int mem, uint64_t addr, bool (*ours)(void *ctx, uint64_t to), void *ctx)
{
	uint8_t bytes[TRAP_JUMP_LEN], short_one[2];

	if (get(mem, addr, bytes, sizeof(bytes)) &&
	    is_jump(addr, bytes, ours, ctx))
		return TRAP_JUMP_LEN;
	if (TRAP_SHORT_LEN == 0 ||
	    !get(mem, addr, short_one, sizeof(short_one)) ||
	    short_one[0] != TRAP_SHORT)
		return 0;
	addr += TRAP_SHORT_LEN + (uint64_t)(int64_t)(int8_t)short_one[1];
	return get(mem, addr, bytes, sizeof(bytes)) &&
		is_jump(addr, bytes, ours, ctx) ?
	    TRAP_SHORT_LEN :
	    0;
}

/* Write the first `len' of the bytes that e lists. */
static bool
put_own(int mem, const struct trap_entry *e, unsigned len)
{
	uint8_t bytes[TRAP_JUMP_LEN];

	bytes[0] = e->saved;
	memcpy(bytes + 1, &e->size, TRAP_TAIL);
	return put(mem, e->addr, bytes, len);
}

unsigned
trapmend_jumps(
    int mem, uint64_t area, bool (*ours)(void *ctx, uint64_t to), void *ctx)
{
	unsigned left = 0;
	struct walk w;

	walk_begin(&w, mem, area);
	while (walk_on(&w))
		for (uint32_t i = 0; i < w.n; i++) {
			const struct trap_entry *e = &w.at[i];
			unsigned len = e->kind == TRAP_LEAP ?
			    jump_length(mem, e->addr, ours, ctx) :
			    0;
			if (len != 0)
				left += !put_own(mem, e, len);
		}
	return left;
}

bool
trapmend_board(int mem, const struct trap_entry *e,
    bool (*ours)(void *ctx, uint64_t to), void *ctx)
{
	uint8_t bytes[TRAP_JUMP_LEN];

	return !get(mem, e->addr, bytes, sizeof(bytes)) ||
	    !is_jump(e->addr, bytes, ours, ctx) ||
	    put_own(mem, e, TRAP_JUMP_LEN);
}

/* The entry is removed first, so that the semaphore cannot be lowered twice.  A
 * semaphore that stays raised only costs the program time; one that is lowered
 * twice may turn off the probe of another tracer. */
static void
lower(int mem, uint64_t entry, uint64_t addr)
{
	static const struct trap_entry none;
	uint16_t count;

	if (put(mem, entry, &none, sizeof(none)) &&
	    get(mem, addr, &count, sizeof(count)) && count-- > 0)
		put(mem, addr, &count, sizeof(count));
}

void
trapmend_semaphores(int mem, uint64_t area)
{
	struct walk w;

	walk_begin(&w, mem, area);
	while (walk_on(&w))
		for (uint32_t i = 0; i < w.n; i++)
			if (w.at[i].kind == TRAP_SEMAPHORE)
				lower(mem, w.addr + i * sizeof(*w.at),
				    w.at[i].addr);
}

void
trapmend_done(int mem, uint64_t area)
{
	const uint32_t yes = 1;

	put(mem, area + offsetof(struct trap_area, mended), &yes, sizeof(yes));
}

void
trapmend_each(int mem, uint64_t area, enum trap_kind kind,
    bool (*fn)(void *ctx, const struct trap_entry *e), void *ctx)
{
	struct walk w;

	walk_begin(&w, mem, area);
	while (walk_on(&w))
		for (uint32_t i = 0; i < w.n; i++)
			if (w.at[i].kind == kind && !fn(ctx, &w.at[i]))
				return;
}
