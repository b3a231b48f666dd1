/*
 * Slots are allocated in chunks of the target's memory: 64 KiB mapped near the
 * text, or, where the target may not map (seccomp, execmem), the unused tail of
 * a text segment, called a cave.
 *
 *	chunk     |mark|gran|gran|gran| ...        16 bytes each
 *	owner[] rsvd tpA NULL tpB whose slot it is
 *	image      bytes as the target has them, or will after slots_flush()
 *	dirty      [lo, hi) of image that the target does not have yet
 *
 * The invariant: a granule with an owner is never handed out; only slot_free()
 * takes the owner away, and its caller has seen that no thread is inside.
 *
 * Chunks are few (one for some thousand slots), so they are searched in turn.
 *
 * Code that threads execute all the time has chunks of its own, and lies there such
 * that it takes few of the processor's cache lines.
 */
#include "inject/slot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/fault.h"
#include "dlang/base/log.h"
#include "dlang/base/vec.h"
#include "inject/tracepoint.h"

/* Most slots are a short instruction and a jump of five bytes. */
#define GRANULE 16
/* What the processor's caches load at once, as a rule. */
#define LINE       64U

#define CHUNK_SIZE SLOT_MEMORY

/* The first bytes of each chunk that dtrap has mapped. */
static const uint8_t mark[SLOT_MARK] = TRAP_MARK;
static_assert(SLOT_MARK == GRANULE, "the mark takes the first granule");
/* The owner of the granule with the mark, which no thread executes. */
static struct tracepoint reserved;

/* A cave smaller than this is not worth a system call at detach. */
#define CAVE_MIN 64

struct chunk {
	uint64_t start, size;
	struct tracepoint **owner; /* per granule */
	uint8_t *image;
	uint8_t *original; /* of a cave; NULL for memory of ours */
	size_t hint;       /* granule where the search goes on */
	size_t free;       /* granules */
	size_t no_run;     /* no run of so many was found; 0: not known */
	size_t dirty_lo, dirty_hi;
	bool failed; /* could not be written */
	bool dense;  /* slot_alloc_dense() */
};

struct slots {
	struct target *target;
	VEC(struct chunk) chunks;
	int refused; /* map_near() must not be asked again: its errno */
	bool held;   /* nothing is to be mapped now */
	bool full;   /* no room near full_near, as of the last try */
	uint64_t full_near;
};

size_t
slot_room(size_t size)
{
	return ROUND_UP(size, GRANULE);
}

struct slots *
slots_create(struct target *t)
{
	struct slots *s = mem_zalloc(sizeof(*s));

	s->target = t;
	return s;
}

static void
chunk_fini(struct chunk *c)
{
	mem_free(c->owner);
	mem_free(c->image);
	mem_free(c->original);
}

void
slots_destroy(struct slots *s)
{
	vec_foreach(c, &s->chunks)
		chunk_fini(c);
	vec_fini(&s->chunks);
	mem_free(s);
}

static struct chunk *
chunk_of(const struct slots *s, uint64_t addr)
{
	for (size_t i = 0; i < s->chunks.len; i++)
		if (addr - s->chunks.at[i].start < s->chunks.at[i].size)
			return &s->chunks.at[i];
	return NULL;
}

/* Begin to use a chunk.  New memory reads as zeroes; filling it with int3 would
 * be safer, but would use every page. */
static struct chunk *
chunk_add(struct slots *s, uint64_t start, uint64_t size)
{
	struct chunk made = { .start = start,
		.size = size,
		.owner = mem_zalloc(size / GRANULE * sizeof(*made.owner)),
		.image = mem_zalloc(size),
		.free = size / GRANULE };
	struct chunk *c = vec_push(&s->chunks);

	*c = made;
	LOG("slot", "chunk of %#lx bytes at %#lx", (unsigned long)size,
	    (unsigned long)start);
	return c;
}

/* Write the mark; the chunk must be mapped by dtrap, not a cave. */
static void
chunk_mark(struct chunk *c)
{
	memcpy(c->image, mark, sizeof(mark));
	c->owner[0] = &reserved;
	c->free--;
	c->dirty_hi = sizeof(mark);
}

/* Does [addr, addr + size) lie in [lo, hi]? */
static bool
within(uint64_t addr, size_t size, uint64_t lo, uint64_t hi)
{
	return addr >= lo && addr <= hi && size - 1 <= hi - addr;
}

/* Does a slot there take as few cache lines as possible? */
static bool
lies_well(const struct chunk *c, size_t at, size_t size)
{
	size_t before = at * GRANULE % LINE;

	return !c->dense || before + size <= ROUND_UP(size, (size_t)LINE);
}

/* Free granules in a row for `size' bytes within [lo, hi]; -1 if there are none.
 * The search starts where the last one ended and comes round once. */
static long
chunk_find(const struct chunk *c, size_t size, uint64_t lo, uint64_t hi)
{
	size_t n = slot_room(size) / GRANULE;
	size_t total = c->size / GRANULE, run = 0, at = c->hint;

	if (c->free < n || total < n || (c->no_run != 0 && n >= c->no_run))
		return -1;
	for (size_t seen = 0; seen < total + n; seen++, at++) {
		if (at >= total) {
			at = 0;
			run = 0;
		}
		run = c->owner[at] == NULL ? run + 1 : 0;
		size_t first = at + 1 - n;
		if (run >= n && lies_well(c, first, size) &&
		    within(c->start + first * GRANULE, n * GRANULE, lo, hi))
			return (long)first;
	}
	return -1;
}

/* Allocate a slot in a chunk.  0, or -ENOMEM. */
static int
chunk_cut(struct chunk *c, uint64_t lo, uint64_t hi, size_t size,
    struct tracepoint *owner, uint64_t *addr)
{
	size_t n = slot_room(size) / GRANULE;

	/* A chunk wholly out of the window is not searched. */
	if (c->start > hi || c->start + c->size - 1 < lo || c->failed)
		return -ENOMEM;
	long at = chunk_find(c, size, lo, hi);

	if (at < 0) {
		if (within(c->start, c->size, lo, hi))
			c->no_run = c->no_run != 0 ? MIN(c->no_run, n) : n;
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		c->owner[(size_t)at + i] = owner;
	c->free -= n;
	c->hint = (size_t)at + n;
	*addr = c->start + (size_t)at * GRANULE;
	return 0;
}

/* A new chunk in the first unused cave within reach. */
static struct chunk *
chunk_from_cave(struct slots *s, uint64_t near, uint64_t lo, uint64_t hi)
{
	struct target *t = s->target;
	unsigned cookie = 0;
	uint64_t start, end;
	size_t size;

	while (t->ops->cave != NULL &&
	    t->ops->cave(t, near, &cookie, &start, &size) == 0) {
		end = (start + size) / GRANULE * GRANULE;
		start = ROUND_UP(start, GRANULE);
		if (end < start + CAVE_MIN || chunk_of(s, start) != NULL ||
		    !within(start, end - start, lo, hi))
			continue;
		uint8_t *original = mem_alloc(end - start);
		if (t->ops->read(t, start, original, end - start) != 0) {
			mem_free(original);
			continue;
		}
		struct chunk *c = chunk_add(s, start, end - start);
		c->original = original;
		memcpy(c->image, original, end - start);
		return c;
	}
	return NULL;
}

/*
 * Has the kernel already placed memory near there that is outside of this
 * window?  Then it would do so again: map_near() accepts 2 GiB in either
 * direction, but data on one side of the text limits the window to the other
 * side.
 */
static bool
mapped_beside(
    const struct slots *s, uint64_t near, uint64_t lo, uint64_t hi, size_t size)
{
	for (size_t i = 0; i < s->chunks.len; i++) {
		const struct chunk *c = &s->chunks.at[i];
		if (c->free * GRANULE >= size && c->original == NULL &&
		    (c->start > hi || c->start + c->size - 1 < lo) &&
		    c->start - near + (UINT64_C(1) << 31) < UINT64_C(1) << 32)
			return true;
	}
	return false;
}

/* New chunks by mapping, the first of them in *c.  0, or a negative errno. */
static int
chunks_by_mapping(
    struct slots *s, uint64_t near, size_t n, bool dense, struct chunk **c)
{
	struct target *t = s->target;
	uint64_t start;

	if (s->refused != 0)
		return s->refused;
	/* map_near() searches the target's maps, so it is not called for each
	 * tracepoint after it has failed once. */
	if (s->full && near - s->full_near + (1U << 28) < (1U << 29))
		return -ENOMEM;
	fault_kill("slot-map");
	int err = t->ops->map_near(t, near, n * CHUNK_SIZE, &start);
	fault_kill("slot-mapped");

	switch (err) {
	case 0: break;
	case -ENOMEM: /* fewer may do */
		s->full = n == 1;
		s->full_near = near;
		return err;
	case -EBUSY: /* of the moment: no thread can make the call */
	case -ESRCH: return err;
	default: return s->refused = err;
	}
	for (size_t i = 0; i < n; i++) {
		*c = chunk_add(s, start + i * CHUNK_SIZE, CHUNK_SIZE);
		(*c)->dense = dense;
		chunk_mark(*c);
	}
	*c = &s->chunks.at[s->chunks.len - n];
	return 0;
}

static uint64_t
middle_of(uint64_t near, uint64_t lo, uint64_t hi)
{
	return hi - lo == UINT64_MAX ? near : lo + (hi - lo) / 2;
}

int
slots_reserve(struct slots *s, uint64_t near, uint64_t lo, uint64_t hi,
    size_t bytes, bool dense)
{
	uint64_t middle = middle_of(near, lo, hi);
	struct chunk *c;

	vec_foreach(have, &s->chunks)
		if (!have->failed && have->dense == dense &&
		    within(have->start, have->size, lo, hi))
			bytes -= MIN(bytes, have->free * GRANULE);
	if (bytes == 0)
		return 0;
	if (mapped_beside(s, middle, lo, hi, GRANULE))
		return -ENOMEM;
	return chunks_by_mapping(
	    s, middle, 1 + (bytes - 1) / (CHUNK_SIZE - GRANULE), dense, &c);
}

void
slots_hold(struct slots *s, bool hold)
{
	s->held = hold;
}

static int
alloc(struct slots *s, uint64_t near, uint64_t lo, uint64_t hi, size_t size,
    struct tracepoint *owner, bool caves, bool dense, uint64_t *addr)
{
	struct chunk *c = NULL;

	ASSERT(size != 0 && size <= CHUNK_SIZE / 4);
	if (fault_due(FAULT_SLOT))
		return -ENOMEM;
	vec_foreach(have, &s->chunks)
		if ((caves || have->original == NULL) && have->dense == dense &&
		    chunk_cut(have, lo, hi, size, owner, addr) == 0)
			return 0;
	if (s->held)
		return -EBUSY;
	/* The middle of the window is the best place to look for room. */
	uint64_t middle = middle_of(near, lo, hi);
	int err = mapped_beside(s, middle, lo, hi, size) ?
	    -ENOMEM :
	    chunks_by_mapping(s, middle, 1, dense, &c);

	if (err == 0)
		return chunk_cut(c, lo, hi, size, owner, addr);
	/* Chunks of caves are small: the next cave may still do. */
	while (caves && (c = chunk_from_cave(s, near, lo, hi)) != NULL)
		if (chunk_cut(c, lo, hi, size, owner, addr) == 0)
			return 0;
	return err;
}

int
slot_alloc(struct slots *s, uint64_t near, uint64_t lo, uint64_t hi,
    size_t size, struct tracepoint *owner, uint64_t *addr)
{
	return alloc(s, near, lo, hi, size, owner, true, false, addr);
}

int
slot_alloc_mapped(struct slots *s, uint64_t near, uint64_t lo, uint64_t hi,
    size_t size, struct tracepoint *owner, uint64_t *addr)
{
	return alloc(s, near, lo, hi, size, owner, false, false, addr);
}

int
slot_alloc_dense(struct slots *s, uint64_t near, uint64_t lo, uint64_t hi,
    size_t size, struct tracepoint *owner, uint64_t *addr)
{
	return alloc(s, near, lo, hi, size, owner, false, true, addr);
}

void
slot_free(struct slots *s, uint64_t addr, size_t size)
{
	struct chunk *c = chunk_of(s, addr);

	if (c == NULL)
		return;
	size_t first = (addr - c->start) / GRANULE;
	size_t n = slot_room(size) / GRANULE;

	for (size_t i = first; i < first + n; i++)
		c->owner[i] = NULL;
	c->free += n;
	c->no_run = 0;
}

void
slot_write(struct slots *s, uint64_t addr, const void *bytes, size_t len)
{
	struct chunk *c = chunk_of(s, addr);

	ASSERT(c != NULL && len <= c->size - (addr - c->start));
	size_t at = addr - c->start;

	memcpy(c->image + at, bytes, len);
	if (c->dirty_lo == c->dirty_hi) {
		c->dirty_lo = at;
		c->dirty_hi = at + len;
	} else {
		c->dirty_lo = MIN(c->dirty_lo, at);
		c->dirty_hi = MAX(c->dirty_hi, at + len);
	}
}

int
slots_flush(struct slots *s)
{
	struct target *t = s->target;
	int err = 0;

	/* Unchanged bytes between the first and the last changed byte of a
	 * chunk are written with their present value, because threads may
	 * execute them.  If chunks were mapped together, the begin of the first
	 * one still identifies the whole mapping (tracer/ptrace/remote.c), so
	 * it is written last. */
	for (size_t i = s->chunks.len; i-- > 0;) {
		struct chunk *c = &s->chunks.at[i];
		if (c->dirty_lo == c->dirty_hi)
			continue;
		if (t->ops->write(t, c->start + c->dirty_lo,
			c->image + c->dirty_lo,
			c->dirty_hi - c->dirty_lo) != 0) {
			c->failed = true;
			err = -EFAULT;
		}
		fault_kill("slot-flush");
		c->dirty_lo = c->dirty_hi = 0;
	}
	s->full = false;
	return err;
}

bool
slot_written(const struct slots *s, uint64_t addr)
{
	const struct chunk *c = chunk_of(s, addr);

	return c != NULL && !c->failed && c->dirty_lo == c->dirty_hi;
}

struct tracepoint *
slot_owner(const struct slots *s, uint64_t pc)
{
	const struct chunk *c = chunk_of(s, pc);
	struct tracepoint *owner =
	    c != NULL ? c->owner[(pc - c->start) / GRANULE] : NULL;

	return owner != &reserved ? owner : NULL;
}

bool
slot_memory_is_marked(const uint8_t bytes[SLOT_MARK])
{
	return memcmp(bytes, mark, sizeof(mark)) == 0;
}

bool
slot_bounds(const struct slots *s, uint64_t addr, uint64_t *start, size_t *size)
{
	const struct chunk *c = chunk_of(s, addr);

	if (c == NULL)
		return false;
	*start = c->start;
	*size = c->size;
	return true;
}

struct slots *
slots_fork(const struct slots *s, struct target *child)
{
	struct slots *copy = slots_create(child);

	copy->refused = s->refused;
	for (size_t i = 0; i < s->chunks.len; i++) {
		const struct chunk *c = &s->chunks.at[i];
		struct chunk *d = chunk_add(copy, c->start, c->size);
		if (c->original == NULL)
			chunk_mark(d);
		memcpy(d->image, c->image, c->size);
		d->failed = c->failed;
		d->dense = c->dense;
		d->dirty_lo = c->dirty_lo;
		d->dirty_hi = c->dirty_hi;
		if (c->original != NULL) {
			d->original = mem_alloc(c->size);
			memcpy(d->original, c->original, c->size);
		}
	}
	return copy;
}

void
slot_adopt(
    struct slots *s, uint64_t addr, size_t size, struct tracepoint *owner)
{
	struct chunk *c = chunk_of(s, addr);

	ASSERT(c != NULL);
	size_t first = (addr - c->start) / GRANULE;
	size_t n = slot_room(size) / GRANULE;

	for (size_t i = first; i < first + n; i++) {
		ASSERT(c->owner[i] == NULL);
		c->owner[i] = owner;
	}
	c->free -= n;
}

/* Is, or may be, any thread in the chunk? */
static bool
chunk_occupied(struct target *t, const struct chunk *c)
{
	uint64_t pc;
	int r;

	for (unsigned n = 0; (r = t->ops->thread_pc(t, n, &pc)) != -ENOENT; n++)
		if (r != 0 || pc - c->start < c->size)
			return true;
	return false;
}

/* n chunks, whose memory is in one piece. */
static void
chunks_release(struct slots *s, struct chunk *c, size_t n)
{
	struct target *t = s->target;
	int err;

	fault_kill("slot-release");
	if (c->original != NULL)
		err = t->ops->write(t, c->start, c->original, c->size);
	else
		err = t->ops->unmap(t, c->start, n * CHUNK_SIZE);
	fault_kill("slot-released");
	if (err != 0)
		LOG("slot", "%zu chunks at %#lx stay: %s", n,
		    (unsigned long)c->start, strerror(-err));
}

/* How many chunks from c on, at most `most', can be released at once; 0:
 * none. */
static size_t
release_together(const struct slots *s, const struct chunk *c, size_t most)
{
	size_t n = 0;

	while (n < most && !chunk_occupied(s->target, &c[n]) &&
	    (n == 0 ||
		(c[n].original == NULL && c->original == NULL &&
		    c[n].start == c[n - 1].start + CHUNK_SIZE)))
		n++;
	return n;
}

void
slots_release(struct slots *s,
    void (*gone)(void *ctx, uint64_t start, uint64_t end), void *ctx)
{
	size_t kept = 0;

	for (size_t i = 0, n; i < s->chunks.len; i += MAX(n, (size_t)1)) {
		struct chunk *c = &s->chunks.at[i];
		n = release_together(s, c, s->chunks.len - i);
		if (n == 0) {
			s->chunks.at[kept++] = *c;
			continue;
		}
		uint64_t start = c->start, end = c[n - 1].start + c[n - 1].size;
		chunks_release(s, c, n);
		for (size_t k = 0; k < n; k++)
			chunk_fini(&c[k]);
		gone(ctx, start, end);
	}
	s->chunks.len = kept;
}
