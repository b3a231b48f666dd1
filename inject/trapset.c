/*
 * Chunks of the area are appended to and never moved: the handler and the
 * guardian may read them at any time.  A place that is armed again keeps its
 * entry.
 */
#include "inject/trapset.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "dlang/base/fault.h"
#include "dlang/base/hash.h"
#include "dlang/base/log.h"
#include "dlang/base/vec.h"

/* Offsets of scratch and entries in the first chunk; trap.ld ensures that the
 * code ends before. */
#define SCRATCH_AT  2816
#define CODE_SIZE   (SCRATCH_AT + TRAP_SCRATCH)
#define FIRST_CHUNK 16384
#ifdef DTRAP_SHRINK
#define NEXT_CHUNK 4096
#else
#define NEXT_CHUNK 65536
#endif

/* The handler runs on the program's signal stack if there is one (Go's normal
 * stacks are too small), and interrupted calls are restarted. */
#define OUR_FLAGS (SA_SIGINFO | SA_ONSTACK | SA_RESTART | 0x04000000)
/* All signals, in the form in which the kernel returns the mask: dtrap
 * recognises its own action by the mask. */
#define OUR_MASK \
	(~(UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1) << (SIGSTOP - 1)))
/* Those of the program's own action that matter to its handler, but for
 * SA_RESETHAND, by which the kernel would forget ours.  SIGTRAP our handler blocks
 * itself, when it hands on: a handler that is called on top of it may meet an int3
 * of ours, which kills where SIGTRAP is blocked. */
#define KEPT_FLAGS  (SA_ONSTACK | SA_RESTART)
#define SIGTRAP_BIT (UINT64_C(1) << (SIGTRAP - 1))

struct chunk {
	uint64_t start;
	uint32_t size, first;
	VEC(struct trap_entry) entries;
	uint32_t written; /* of them are in the target and counted */
	/* Of these, those from stale_from up to stale_to have been changed here
	 * since. */
	uint32_t stale_from, stale_to;
	bool linked; /* the chunk before names it */
};

struct trapset {
	struct target *target;
	VEC(struct chunk) chunks;
	struct hash by_addr[TRAP_BOARD + 1]; /* where the entry is, + 1 */
	int refused;                         /* map_near()'s answer */
	bool closing;                        /* it is about to be unmapped */
	uint32_t keeper;
	uint64_t keeper_since;
	bool alone;
	bool handles; /* what the head says of the program */
};

static void
forget_all(struct trapset *ts)
{
	vec_foreach(c, &ts->chunks)
		vec_fini(&c->entries);
	vec_fini(&ts->chunks);
	for (size_t i = 0; i < ARRAY_SIZE(ts->by_addr); i++)
		hash_fini(&ts->by_addr[i]);
}

struct trapset *
trapset_create(struct target *t)
{
	struct trapset *ts = mem_zalloc(sizeof(*ts));

	ts->target = t;
	return ts;
}

void
trapset_destroy(struct trapset *ts)
{
	forget_all(ts);
	mem_free(ts);
}

void
trapset_lost(struct trapset *ts)
{
	forget_all(ts);
}

bool
trapset_intact(struct trapset *ts)
{
	const struct target_ops *ops = ts->target->ops;

	vec_foreach(c, &ts->chunks) {
		struct trap_area head;
		if (c->linked &&
		    (ops->read(ts->target, c->start, &head, sizeof(head)) !=
			    0 ||
			head.magic != TRAP_MAGIC || head.count != c->written))
			return false;
	}
	return true;
}

/* ---- a copy of the memory ---- */

/*
 * The copy may be older than the list: a child is reported some time after the
 * fork, and entries may have been written to the parent in between.
 */

/* Does the copy have this chunk?  Its count of entries is then *count. */
static bool
chunk_is_there(struct target *t, const struct chunk *c, uint32_t *count)
{
	struct trap_area head;

	*count = 0;
	if (t->ops->read(t, c->start, &head, sizeof(head)) != 0)
		return false;
	if (!c->linked)
		return true;
	*count = head.count;
	return head.magic == TRAP_MAGIC && head.first == c->first &&
	    head.size == c->size;
}

/* The next flush writes entry i again. */
static void
chunk_stale(struct chunk *c, uint32_t i)
{
	c->stale_from = c->stale_to == 0 ? i : MIN(c->stale_from, i);
	c->stale_to = MAX(c->stale_to, i + 1);
}

/* Find out which entries of the chunk the copy has; the next flush writes the
 * others. */
static void
chunk_compare(struct target *t, struct chunk *c, uint32_t count)
{
	const struct trap_entry *e = c->entries.at;
	size_t n = MIN((size_t)count, c->entries.len);
	struct trap_entry *now = mem_zalloc((n + 1) * sizeof(*now));
	bool known =
	    t->ops->read(t, c->start + c->first, now, n * sizeof(*now)) == 0;

	c->written = (uint32_t)n;
	c->stale_from = c->stale_to = 0;
	for (uint32_t i = 0; i < n; i++)
		if (!known || memcmp(&now[i], &e[i], sizeof(*e)) != 0)
			chunk_stale(c, i);
	mem_free(now);
}

struct trapset *
trapset_fork(const struct trapset *ts, struct target *child)
{
	struct trapset *copy = trapset_create(child);
	size_t kept = 0; /* entries in the chunks that the copy has */
	uint32_t count;

	copy->refused = ts->refused;
	copy->keeper = ts->keeper;
	copy->keeper_since = ts->keeper_since;
	copy->alone = ts->alone;
	copy->handles = ts->handles;
	for (size_t i = 0; i < ts->chunks.len; i++) {
		const struct chunk *c = &ts->chunks.at[i];
		/* Of a chunk that was mapped later, and of what it lists, the
		 * copy has nothing. */
		if (!chunk_is_there(child, c, &count))
			break;
		struct chunk *d = vec_push(&copy->chunks);
		*d = *c;
		memset(&d->entries, 0, sizeof(d->entries));
		for (size_t k = 0; k < c->entries.len; k++)
			*vec_push(&d->entries) = c->entries.at[k];
		chunk_compare(child, d, count);
		kept += (c->size - c->first) / sizeof(struct trap_entry);
	}
	for (size_t i = 0; i < ARRAY_SIZE(ts->by_addr); i++)
		hash_foreach(h, &ts->by_addr[i])
			if ((uintptr_t)h->value <= kept)
				hash_set(&copy->by_addr[i], h->key, h->value);
	return copy;
}

static int
put(struct trapset *ts, uint64_t addr, const void *buf, size_t len)
{
	return ts->target->ops->write(ts->target, addr, buf, len);
}

static int
chunk_map(struct trapset *ts, uint64_t near, uint32_t size, uint32_t first)
{
	struct target *t = ts->target;
	uint64_t start;

	if (ts->refused != 0)
		return ts->refused;
	int r = t->ops->map_near(t, near, size, &start);
	if (r != 0) {
		LOG("trap", "no memory for what outlives us: %s", strerror(-r));
		/* These are of the moment: no thread can make the call. */
		ts->refused = r == -EBUSY || r == -ESRCH ? 0 : r;
		return r;
	}
	*vec_push(&ts->chunks) =
	    (struct chunk){ .start = start, .size = size, .first = first };
	return 0;
}

int
trapset_map(struct trapset *ts, uint64_t near)
{
	struct trap_area head;

	if (ts->chunks.len > 0)
		return 0;
	int r = chunk_map(ts, near, FIRST_CHUNK, CODE_SIZE);
	if (r != 0)
		return r;
	struct chunk *c = &ts->chunks.at[0];
	ASSERT(trap_code_size <= SCRATCH_AT);
	memcpy(&head, trap_code, sizeof(head));
	head.first = CODE_SIZE;
	head.size = c->size;
	head.keeper = ts->keeper;
	head.keeper_since = ts->keeper_since;
	head.alone = ts->alone;
	c->linked = true;
	/* The head is written last: until then the mark of the mapping
	 * identifies it. */
	r = put(ts, c->start + sizeof(head), trap_code + sizeof(head),
	    trap_code_size - sizeof(head));
	fault_kill("trapset-code");
	if (r == 0)
		r = put(ts, c->start, &head, sizeof(head));
	if (r != 0)
		ts->chunks.len = 0;
	return r;
}

/* A field of the head. */
static int
put_head(struct trapset *ts, size_t at, const void *value, size_t len)
{
	return ts->chunks.len == 0 ?
	    0 :
	    put(ts, ts->chunks.at[0].start + at, value, len);
}

int
trapset_keeper(struct trapset *ts, uint32_t pid, uint64_t since)
{
	if (ts->keeper == pid && ts->keeper_since == since)
		return 0;
	ts->keeper = pid;
	ts->keeper_since = since;
	int r = put_head(ts, offsetof(struct trap_area, keeper_since), &since,
	    sizeof(since));
	return r != 0 ?
	    r :
	    put_head(ts, offsetof(struct trap_area, keeper), &pid, sizeof(pid));
}

void
trapset_alone(struct trapset *ts)
{
	const uint32_t yes = 1;

	if (!ts->alone)
		put_head(
		    ts, offsetof(struct trap_area, alone), &yes, sizeof(yes));
	ts->alone = true;
}

void
trapset_mended(struct trapset *ts)
{
	const uint32_t yes = 1;

	put_head(ts, offsetof(struct trap_area, mended), &yes, sizeof(yes));
}

uint64_t
trapset_area(const struct trapset *ts)
{
	return ts->chunks.len > 0 ? ts->chunks.at[0].start : 0;
}

uint64_t
trapset_scratch(const struct trapset *ts)
{
	return ts->chunks.len > 0 && !ts->closing ?
	    ts->chunks.at[0].start + SCRATCH_AT :
	    0;
}

uint64_t
trapset_action(struct trapset *ts, const uint64_t old[4], bool own)
{
	uint64_t start = trapset_area(ts), words[4];
	struct trap_area head;
	bool handled = old[0] > 1; /* neither SIG_DFL nor SIG_IGN */

	if (start == 0)
		return 0;
	if (old[0] != 0) {
		const uint32_t yes = 1;
		ts->handles = true;
		put_head(
		    ts, offsetof(struct trap_area, handles), &yes, sizeof(yes));
	}
	memcpy(&head, trap_code, sizeof(head));
	if (own) {
		memcpy(words, old, sizeof(words));
	} else {
		words[0] = start + head.handler;
		words[1] = OUR_FLAGS;
		words[2] = start + head.restorer;
		words[3] = OUR_MASK;
		/* The program's handler must not return into the area, because
		 * it may still be running when the area is unmapped. */
		if (handled && old[2] != 0) {
			words[1] = (old[1] & KEPT_FLAGS) | SA_NODEFER |
			    (OUR_FLAGS & ~(uint64_t)KEPT_FLAGS);
			words[2] = old[2];
			words[3] = old[3] & ~SIGTRAP_BIT;
		}
	}
	if (put(ts, start + offsetof(struct trap_area, old_handler), old, 32) !=
		0 ||
	    put(ts, start + offsetof(struct trap_area, action), words, 32) != 0)
		return 0;
	return start + offsetof(struct trap_area, action);
}

static struct trap_entry *
entry_at(struct trapset *ts, size_t n, struct chunk **chunk, size_t *at)
{
	vec_foreach(c, &ts->chunks) {
		if (n < c->entries.len) {
			*chunk = c;
			*at = n;
			return &c->entries.at[n];
		}
		n -= (c->size - c->first) / sizeof(struct trap_entry);
	}
	return NULL;
}

/* An entry that is in the target already is changed in place.  0; -ENOENT: it
 * is not; -EFAULT. */
static int
entry_change(struct trapset *ts, size_t n, const struct trap_entry *to)
{
	struct chunk *c = NULL;
	size_t at = 0;
	struct trap_entry *e = entry_at(ts, n, &c, &at);

	if (e == NULL)
		return -ENOENT;
	const struct trap_entry was = *e;
	*e = *to;
	if (at >= c->written)
		return -ENOENT;
	if (memcmp(&was, to, sizeof(was)) == 0)
		return 0;
	int r = put(ts, c->start + c->first + at * sizeof(*e), e, sizeof(*e));
	if (r != 0)
		*e = was; /* what the target has */
	return r;
}

static size_t
chunk_room(const struct chunk *c)
{
	return (c->size - c->first) / sizeof(struct trap_entry) -
	    c->entries.len;
}

size_t
trapset_room(const struct trapset *ts)
{
	size_t room = 0;

	vec_foreach(c, &ts->chunks)
		room += chunk_room(c);
	return room;
}

int
trapset_reserve(struct trapset *ts, size_t n)
{
	size_t have = trapset_room(ts);

	if (ts->chunks.len == 0)
		return -ENOENT;
	if (have >= n)
		return 0;
	size_t size =
	    sizeof(struct trap_area) + (n - have) * sizeof(struct trap_entry);
	return chunk_map(ts, ts->chunks.at[0].start,
	    (uint32_t)ROUND_UP(size, (size_t)NEXT_CHUNK),
	    sizeof(struct trap_area));
}

static int
chunk_with_room(struct trapset *ts, struct chunk **room)
{
	struct chunk *c = &ts->chunks.at[ts->chunks.len - 1];
	int r = 0;

	vec_foreach(have, &ts->chunks)
		if (chunk_room(have) > 0) {
			*room = have;
			return 0;
		}
	r = chunk_map(ts, c->start, NEXT_CHUNK, sizeof(struct trap_area));
	*room = &ts->chunks.at[ts->chunks.len - 1];
	return r;
}

/* Append an entry; the next flush writes it. */
static int
entry_append(struct trapset *ts, const struct trap_entry *e)
{
	size_t before = 0;
	struct chunk *c;
	int r = chunk_with_room(ts, &c);

	if (r != 0)
		return r;
	for (struct chunk *b = ts->chunks.at; b != c; b++)
		before += b->entries.len;
	*vec_push(&c->entries) = *e;
	hash_set(&ts->by_addr[e->kind], e->addr,
	    (void *)(uintptr_t)(before + c->entries.len));
	return 0;
}

int
trapset_add(
    struct trapset *ts, enum trap_kind kind, uint64_t addr, uint64_t what)
{
	struct trap_entry e = { .addr = addr, .kind = (uint8_t)kind };

	if (ts->chunks.len == 0)
		return -ENOENT;
	if (kind == TRAP_TEXT) {
		e.saved = (trap_insn)what;
		e.late = (what & TRAP_IS_LATE) != 0;
	} else {
		e.size = (uint32_t)what;
	}
	uintptr_t have = (uintptr_t)hash_get(&ts->by_addr[kind], addr);
	if (have == 0)
		return entry_append(ts, &e);
	entry_change(ts, have - 1, &e);
	return 0;
}

static int
add_bytes(
    struct trapset *ts, struct trap_entry e, const uint8_t own[TRAP_JUMP_LEN])
{
	uintptr_t have = (uintptr_t)hash_get(&ts->by_addr[e.kind], e.addr);
	struct chunk *c = NULL;
	size_t at = 0;

	if (ts->chunks.len == 0)
		return -ENOENT;
	e.saved = own[0];
	memcpy(&e.size, own + 1, TRAP_TAIL);
	if (have == 0)
		return entry_append(ts, &e);
	struct trap_entry *was = entry_at(ts, have - 1, &c, &at);
	if (was == NULL)
		return -ENOENT;
	if (at < c->written && memcmp(was, &e, sizeof(e)) != 0)
		chunk_stale(c, (uint32_t)at);
	*was = e;
	return 0;
}

int
trapset_jump(
    struct trapset *ts, uint64_t addr, const uint8_t own[TRAP_JUMP_LEN])
{
	return add_bytes(
	    ts, (struct trap_entry){ .addr = addr, .kind = TRAP_LEAP }, own);
}

int
trapset_board(struct trapset *ts, uint64_t addr,
    const uint8_t own[TRAP_JUMP_LEN], int8_t way)
{
	return add_bytes(ts,
	    (struct trap_entry){ .addr = addr, .kind = TRAP_BOARD, .way = way },
	    own);
}

void
trapset_drop(struct trapset *ts, enum trap_kind kind, uint64_t addr)
{
	uintptr_t have = (uintptr_t)hash_get(&ts->by_addr[kind], addr);

	if (have != 0)
		entry_change(ts, have - 1, &(struct trap_entry){ 0 });
}

static int
put_entries(struct trapset *ts, const struct chunk *c, uint32_t from, size_t to)
{
	return from >= to ?
	    0 :
	    put(ts, c->start + c->first + from * sizeof(struct trap_entry),
		&c->entries.at[from], (to - from) * sizeof(struct trap_entry));
}

static int
chunk_flush(struct trapset *ts, struct chunk *c)
{
	uint32_t n = (uint32_t)c->entries.len;
	const struct trap_area head = {
		.magic = TRAP_MAGIC, .first = c->first, .size = c->size
	};
	int r = 0;

	if (!c->linked) {
		r = put(ts, c->start, &head, sizeof(head));
		if (r == 0)
			r = put(ts,
			    c[-1].start + offsetof(struct trap_area, next),
			    &c->start, sizeof(c->start));
		c->linked = r == 0;
	}
	if (r == 0)
		r = put_entries(ts, c, c->stale_from, c->stale_to);
	if (r == 0)
		c->stale_from = c->stale_to = 0;
	if (r != 0 || c->written == n)
		return r;
	r = put_entries(ts, c, c->written, n);
	if (r == 0)
		r = put(ts, c->start + offsetof(struct trap_area, count), &n,
		    sizeof(n));
	if (r == 0)
		c->written = n;
	return r;
}

int
trapset_flush(struct trapset *ts)
{
	int r = 0;

	for (size_t i = 0; i < ts->chunks.len && r == 0; i++)
		r = chunk_flush(ts, &ts->chunks.at[i]);
	return r;
}

void
trapset_forget(struct trapset *ts, uint64_t start, uint64_t end)
{
	for (size_t kind = 0; kind < ARRAY_SIZE(ts->by_addr); kind++)
		hash_foreach(h, &ts->by_addr[kind])
			if (kind != TRAP_MASK && h->key >= start &&
			    h->key < end)
				entry_change(ts, (uintptr_t)h->value - 1,
				    &(struct trap_entry){ 0 });
	/* Their hash entries stay; the next place at the address uses them
	 * again. */
}

/* Is a thread in the area, and is the pc of a thread unknown? */
static void
look_at_threads(struct trapset *ts, bool *in, bool *unknown)
{
	struct target *t = ts->target;
	uint64_t pc;
	int r;

	*in = *unknown = false;
	for (unsigned n = 0; (r = t->ops->thread_pc(t, n, &pc)) != -ENOENT;
	     n++) {
		*unknown |= r != 0;
		vec_foreach(c, &ts->chunks)
			*in |= r == 0 && pc - c->start < c->size;
	}
}

bool
trapset_healed(struct trapset *ts)
{
	uint64_t at = trapset_area(ts), healed = 0;

	return at != 0 &&
	    ts->target->ops->read(ts->target,
		at + offsetof(struct trap_area, healed), &healed,
		sizeof(healed)) == 0 &&
	    healed != 0;
}

uint64_t
trapset_nested(const struct trapset *ts)
{
	return ts->handles ? trapset_area(ts) : 0;
}

bool
trapset_runs(struct trapset *ts)
{
	bool in, unknown;

	look_at_threads(ts, &in, &unknown);
	return in;
}

void
trapset_release(struct trapset *ts)
{
	struct target *t = ts->target;
	bool in, unknown;

	look_at_threads(ts, &in, &unknown);
	if (in || unknown) {
		LOG("trap", "the area stays: a thread %s in it",
		    in ? "is" : "may be");
		return;
	}
	ts->closing = true;
	/* From the last to the first, so that a reader never follows a link to
	 * an unmapped chunk. */
	while (ts->chunks.len > 0) {
		struct chunk *c = &ts->chunks.at[ts->chunks.len - 1];
		const uint64_t none = 0;

		if (ts->chunks.len > 1 &&
		    put(ts, c[-1].start + offsetof(struct trap_area, next),
			&none, sizeof(none)) != 0)
			return;
		if (t->ops->unmap(t, c->start, c->size) != 0)
			return;
		vec_fini(&c->entries);
		ts->chunks.len--;
	}
	forget_all(ts);
	ts->closing = false;
}
