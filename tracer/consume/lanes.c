/*
 * The lanes that the consumer reads, and the oldest record among them.
 *
 *	lane 0 of the tracer's store --+
 *	thread store: lane, lane, ... -+--> heap of next records --> c->rec
 *	what ended lanes have left ----+
 *
 * A pass takes what has a time before it began: then it ends, and a record that
 * was written before another began comes before it.  A thread's records are
 * exactly in its order, whether it wrote them or the tracer did: what is in lane
 * 0 was fired before the pass, and what the thread had in its lane by then is
 * older.
 *
 * The target may write to a thread store at any time.  A record is therefore
 * copied first; its EPID, read from the copy, gives its size; where that is not
 * possible, what is left of the buffer is skipped and counted.
 */
#include <string.h>

#include "dlang/vm/agg.h"
#include "dlang/vm/buf.h"
#include "tracer/consume/consume_impl.h"

/* ---- lanes that there are ---- */

/* The views of all lanes, as they are before a target can have changed them. */
bool
lanes_add(struct consume *c, const struct region *store, uint32_t pid)
{
	struct lane_view v;
	uint32_t n = 0;

	/* As many as fit, whatever the header says. */
	while (n < store->size / sizeof(struct lane) &&
	    store_view(&c->env.image, store, n, &v))
		n++;
	if (n == 0)
		return false;
	struct lanes *l = mem_zalloc(sizeof(*l) + (size_t)n * sizeof(l->at[0]));
	l->base = store->base;
	l->pid = pid;
	for (uint32_t i = 0; i < n; i++) {
		l->at[i].lanes = l;
		store_view(&c->env.image, store, i, &l->at[i].v);
		l->threads |= l->at[i].v.threads;
	}
	l->n = n;
	*vec_push(&c->lanes) = l;
	return true;
}

static void
lanes_free(struct lanes *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		snapshot_forget(&l->at[i].snapshot);
	mem_free(l->left);
	mem_free(l);
}

void
lanes_fini(struct consume *c)
{
	vec_foreach(l, &c->lanes)
		lanes_free(*l);
	vec_fini(&c->lanes);
	vec_fini(&c->heap);
}

/* ---- the next record of a lane ---- */

static void
lane_skip(struct consume *c, struct feed *s, uint32_t size)
{
	c->damaged += size;
	buf_advance(&s->v, size);
}

/* Does the lane have records?  If its positions are impossible, the target has
 * changed them: continue at its head. */
static bool
lane_any(struct consume *c, struct feed *s)
{
	struct lane *l = s->v.lane;
	uint64_t head = __atomic_load_n(&l->head, __ATOMIC_ACQUIRE);
	uint64_t tail = __atomic_load_n(&l->tail, __ATOMIC_RELAXED);

	if (head - tail <= s->v.buf_size)
		return head != tail;
	c->damaged += s->v.buf_size;
	__atomic_store_n(&l->tail, head, __ATOMIC_RELEASE);
	return false;
}

/* The next record of a lane, of which at least the header is complete; NULL:
 * none. */
static const struct rec_hdr *
lane_peek(struct consume *c, struct feed *s, uint32_t *avail)
{
	uint32_t most = s->v.buf_size / 8;

	/* At most as many as a buffer can contain, because the target may be
	 * adding records. */
	for (uint32_t i = 0; i <= most && lane_any(c, s); i++) {
		const void *at = buf_peek(&s->v, avail);
		struct rec_pad pad;

		if (at == NULL || *avail < sizeof(uint32_t))
			return NULL;
		memcpy(&pad, at, MIN(*avail, sizeof(pad)));
		if (pad.epid != EPID_PAD && *avail >= sizeof(struct rec_hdr))
			return at;
		if (pad.epid == EPID_PAD && *avail >= sizeof(pad) &&
		    pad.size >= sizeof(pad) && pad.size <= *avail)
			buf_advance(&s->v, pad.size);
		else
			lane_skip(c, s, *avail);
	}
	return NULL;
}

/* ---- the heap ---- */

static bool
is_before(const struct next *a, const struct next *b)
{
	return a->when != b->when ? a->when < b->when : a->order < b->order;
}

static void
heap_swap(struct consume *c, size_t i, size_t j)
{
	struct next n = c->heap.at[i];

	c->heap.at[i] = c->heap.at[j];
	c->heap.at[j] = n;
}

static void
heap_down(struct consume *c, size_t i)
{
	for (size_t least = i;; i = least) {
		for (size_t k = 2 * i + 1; k <= 2 * i + 2; k++)
			if (k < c->heap.len &&
			    is_before(&c->heap.at[k], &c->heap.at[least]))
				least = k;
		if (least == i)
			return;
		heap_swap(c, i, least);
	}
}

static void
heap_up(struct consume *c, size_t i)
{
	for (; i > 0 && is_before(&c->heap.at[i], &c->heap.at[(i - 1) / 2]);
	     i = (i - 1) / 2)
		heap_swap(c, i, (i - 1) / 2);
}

/* The time of the lane's next record, or any order if no order is requested.
 * False: it has none for this pass. */
static bool
lane_when(struct consume *c, struct feed *s, uint64_t *when)
{
	uint32_t avail;
	const struct rec_hdr *hdr = lane_peek(c, s, &avail);

	if (hdr == NULL)
		return false;
	memcpy(when, &hdr->timestamp, sizeof(*when));
	if (*when > c->until)
		return false;
	if (!option_get(c->env.opts, OPT_TEMPORAL))
		*when = 0;
	return true;
}

void
lanes_begin(struct consume *c)
{
	uint32_t order = 0;

	vec_clear(&c->heap);
	c->budget = 0;
	c->until = c->over ? UINT64_MAX : consume_now();
	STEP();
	vec_foreach(l, &c->lanes) {
		for (uint32_t i = 0; i < (*l)->n; i++, order++) {
			struct feed *s = &(*l)->at[i];
			uint64_t when;
			if (!lane_when(c, s, &when))
				continue;
			c->budget += s->v.buf_size;
			*vec_push(&c->heap) = (struct next){ when, order, s };
			heap_up(c, c->heap.len - 1);
		}
	}
}

/* The lane at the top has moved on. */
static void
heap_again(struct consume *c)
{
	struct next *top = &c->heap.at[0];

	if (!lane_when(c, top->feed, &top->when))
		*top = c->heap.at[--c->heap.len];
	heap_down(c, 0);
}

/* Copy a lane's next record to c->rec and remove it. False: it could not be
 * read. */
static bool
lane_read(struct consume *c, struct feed *s)
{
	uint32_t avail, epid;
	const struct rec_hdr *at = lane_peek(c, s, &avail);

	if (at == NULL)
		return false;
	memcpy(&epid, &at->epid, sizeof(epid));
	uint32_t size = record_size(c, epid);
	if (size == 0 || size > avail) {
		lane_skip(c, s, avail);
		return false;
	}
	if (c->rec.cap < size) {
		c->rec.cap = ROUND_UP(size, 4096);
		c->rec.at = mem_realloc(c->rec.at, c->rec.cap);
	}
	memcpy(c->rec.at, at, size);
	c->rec.hdr->epid = epid; /* what `size' is right for */
	c->rec.size = size;
	buf_advance(&s->v, size);
	return true;
}

bool
lanes_take(struct consume *c, struct rec_hdr *next, bool *followed)
{
	uint32_t avail;

	while (c->heap.len != 0) {
		struct feed *s = c->heap.at[0].feed;
		uint64_t skipped = c->damaged;
		bool any = lane_read(c, s);
		uint64_t done = any ? c->rec.size : c->damaged - skipped;

		/* A pass must end even if a target changes the positions. */
		done = MAX(done, REC_ALIGN);
		c->budget -= MIN(done, c->budget);
		if (any) {
			/* A copy, because the record may be printed in the next
			 * pass. */
			const struct rec_hdr *at = lane_peek(c, s, &avail);
			*followed = at != NULL;
			if (at != NULL)
				memcpy(next, at, sizeof(*next));
		}
		heap_again(c);
		if (c->budget == 0)
			c->heap.len = 0;
		if (any)
			return true;
	}
	return false;
}

/* A quarter full, in 256ths. */
#define FILL_DUE 64

static bool
fills(const struct lane_view *v)
{
	return (v->buf_size > 0 && buf_fill(v) > FILL_DUE) ||
	    (v->aggs[0].hdr != NULL && agg_fill(v) > CONSUME_AGGS_AT);
}

bool
lanes_fill(const struct consume *c)
{
	vec_foreach(l, &c->lanes)
		for (uint32_t i = 0; (*l)->threads && i < (*l)->n; i++)
			if (fills(&(*l)->at[i].v))
				return true;
	return false;
}

/* ---- what was lost ---- */

static uint64_t *
drop_counter(struct lane *l, unsigned kind)
{
	return kind == DROP_NESTED ? &l->lost : &l->drops[kind];
}

/* The new losses of one kind in one lane. If the counter in the store is lower
 * than before, the target has changed it. */
uint64_t
lane_drops(struct feed *s, unsigned kind)
{
	uint64_t now =
	    __atomic_load_n(drop_counter(s->v.lane, kind), __ATOMIC_RELAXED);
	uint64_t n = now > s->drops[kind] ? now - s->drops[kind] : 0;

	s->drops[kind] = now;
	return n;
}

static void
drops_end(struct feed *s)
{
	for (unsigned k = 0; k < DROP_COUNT; k++) {
		s->lanes->drops[k] += lane_drops(s, k);
		s->drops[k] = 0;
		__atomic_store_n(
		    drop_counter(s->v.lane, k), 0, __ATOMIC_RELAXED);
	}
}

static bool
drops_waiting(const struct lanes *l)
{
	for (unsigned k = 0; k < DROP_COUNT; k++)
		if (l->drops[k] != 0)
			return true;
	return false;
}

/* ---- lanes that end ---- */

/* The most bytes of records that are kept from ended lanes: the size of a lane
 * of the tracer's store. */
static uint64_t
left_most(const struct consume *c)
{
	return (uint64_t)option_get(c->env.opts, OPT_BUFSIZE);
}

/* Count the records that are left. */
static uint64_t
lane_count(struct consume *c, struct feed *s)
{
	uint64_t n = 0;
	uint32_t avail;
	const struct rec_hdr *at;

	while ((at = lane_peek(c, s, &avail)) != NULL) {
		uint32_t epid;
		memcpy(&epid, &at->epid, sizeof(epid));
		uint32_t size = record_size(c, epid);
		if (size == 0 || size > avail) {
			lane_skip(c, s, avail);
			continue;
		}
		buf_advance(&s->v, size);
		n++;
	}
	return n;
}

/* Copy the records of a lane. */
static void
lane_leave(
    struct consume *c, const struct feed *s, uint64_t head, uint64_t tail)
{
	size_t lane = ROUND_UP(sizeof(struct lane), 8);
	uint32_t size = s->v.buf_size;
	struct lanes *l = mem_zalloc(sizeof(*l) + sizeof(l->at[0]));
	struct feed *copy = &l->at[0];

	/* Copy only the part that was written: reading other pages would
	 * allocate them. */
	l->left = mem_zalloc(lane + size);
	for (uint64_t at = tail, n; at < head; at += n) {
		n = MIN(head - at, size - at % size);
		memcpy(l->left + lane + at % size, s->v.buf + at % size, n);
	}
	l->n = 1;
	copy->lanes = l;
	copy->v.lane = (void *)l->left;
	copy->v.buf = l->left + lane;
	copy->v.buf_size = size;
	copy->v.lane->head = head;
	copy->v.lane->tail = tail;
	c->left += size;
	*vec_push(&c->lanes) = l;
}

/* Read and empty a lane that has no writer any more. */
static void
lane_end(struct consume *c, struct feed *s)
{
	struct lane *l = s->v.lane;

	snapshot_end(c, s);
	bool any = lane_any(c, s);
	uint64_t head = __atomic_load_n(&l->head, __ATOMIC_ACQUIRE) & ~7ULL;
	uint64_t tail = __atomic_load_n(&l->tail, __ATOMIC_RELAXED) & ~7ULL;
	if (any && head - tail <= s->v.buf_size) {
		if (c->left + s->v.buf_size <= left_most(c))
			lane_leave(c, s, head, tail);
		else
			s->lanes->drops[DROP_PRINCIPAL] += lane_count(c, s);
	}
	__atomic_store_n(&l->tail, head, __ATOMIC_RELAXED);
	__atomic_store_n(&l->head, head, __ATOMIC_RELAXED);
	drops_end(s);
}

static struct lanes *
lanes_of(struct consume *c, const struct region *store, size_t *at)
{
	vec_foreach(l, &c->lanes)
		if ((*l)->base == store->base) {
			*at = (size_t)(l - c->lanes.at);
			return *l;
		}
	return NULL;
}

void
lanes_end(struct consume *c, const struct region *store, uint32_t n)
{
	size_t at;
	struct lanes *l = lanes_of(c, store, &at);

	if (l != NULL && n < l->n)
		lane_end(c, &l->at[n]);
}

void
lanes_end_all(struct consume *c, const struct region *store)
{
	size_t at;
	struct lanes *l = lanes_of(c, store, &at);

	if (l == NULL)
		return;
	for (uint32_t i = 0; i < l->n; i++)
		lane_end(c, &l->at[i]);
	/* Its drops are in the next report. */
	l->n = 0;
	l->base = NULL;
}

void
lanes_tidy(struct consume *c)
{
	size_t kept = 0;

	vec_clear(&c->heap);
	for (size_t i = 0; i < c->lanes.len; i++) {
		struct lanes *l = c->lanes.at[i];
		struct feed *s = l->left != NULL ? &l->at[0] : NULL;
		bool empty = s != NULL ? s->v.lane->head == s->v.lane->tail :
					 l->base == NULL && !drops_waiting(l);
		if (!empty) {
			c->lanes.at[kept++] = l;
			continue;
		}
		if (s != NULL)
			c->left -= s->v.buf_size;
		lanes_free(l);
	}
	c->lanes.len = kept;
}
