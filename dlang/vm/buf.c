/*
 * The principal buffer (buf.h has the picture).
 *
 * The view has the place of the buffer.  Head and tail are in the store, which
 * the target can change, so they are checked in each call.  Wrong values lose
 * or damage records, but nothing outside the buffer is accessed.
 */
#define DLANG_VM_IMPL
#include "dlang/vm/buf.h"

/* The bytes that `size' more take from the head on, including the padding. */
static uint64_t
need(uint64_t head, uint32_t size, uint32_t bufsize)
{
	uint64_t left = bufsize - head % bufsize;

	return size <= left ? size : left + size;
}

static void *
drop(const struct lane_view *v)
{
	v->lane->drops[DROP_PRINCIPAL]++;
	return NULL;
}

/* Write padding to the `left' bytes before the end of the buffer.  `left' is a
 * multiple of 8, so a rec_pad fits. */
static void
put_pad(uint8_t *at, uint32_t left)
{
	struct rec_pad *pad = (void *)at;

	pad->epid = EPID_PAD;
	pad->size = left;
}

/*
 * There is no room.  If padding and record together are larger than the whole
 * buffer, even an empty buffer has no room: then only the padding is committed,
 * and after it was read the next record starts at 0.
 */
static void *
no_room(const struct lane_view *v, uint8_t *at, uint64_t used, uint32_t left,
    uint32_t size)
{
	uint32_t bufsize = v->buf_size;

	if (size > left && size > bufsize - left && used + left <= bufsize) {
		put_pad(at, left);
		v->lane->reserved = left;
		buf_commit(v);
	}
	return drop(v);
}

/*
 * Policy fill: the first record that does not fit closes the buffer.  The space
 * that is reserved for END becomes available when END runs, whether the buffer
 * is closed or not.
 */
static bool
fill_takes(const struct lane_view *v, uint64_t head, uint32_t size)
{
	bool end = LOAD_ACQUIRE(&v->store->activity) >= ACTIVITY_COOLDOWN;
	uint32_t kept = end ? 0 : VM_MIN(v->end_room, v->buf_size);

	if (LOAD_ONCE(&v->lane->full) && !end)
		return false;
	if (head <= v->buf_size - kept && size <= v->buf_size - kept - head)
		return true;
	v->lane->full = 1;
	return false;
}

void *
buf_reserve(const struct lane_view *v, uint32_t size)
{
	struct lane *l = v->lane;
	uint32_t bufsize = v->buf_size;
	uint8_t *buf = v->buf;

	if (size > bufsize)
		return drop(v);
	size = VM_ALIGN(size);

	uint64_t head = LOAD_ONCE(&l->head) & ~7ULL;
	uint64_t used = head - LOAD_ACQUIRE(&l->tail);
	uint32_t pos = (uint32_t)(head % bufsize);
	uint32_t left = bufsize - pos;
	if (v->policy == BUF_FILL) {
		if (!fill_takes(v, head, size))
			return drop(v);
	} else if (used + need(head, size, bufsize) > bufsize) {
		return no_room(v, buf + pos, used, left, size);
	}
	if (size <= left) {
		l->reserved = size;
		return buf + pos;
	}
	put_pad(buf + pos, left);
	l->reserved = (uint64_t)left + size;
	return buf;
}

void
buf_commit(const struct lane_view *v)
{
	struct lane *l = v->lane;

	STEP();
	STORE_RELEASE(&l->head, l->head + l->reserved);
	l->reserved = 0;
}

void
buf_discard(const struct lane_view *v)
{
	v->lane->reserved = 0;
}

/* The size of a record with this EPID; 0 if there is none. */
static uint32_t
epid_size(const struct region *image, uint32_t epid)
{
	const struct img_hdr *im = (const void *)image->base;
	if (epid > im->necbs)
		return 0;
	const uint32_t *ecbs =
	    region_at8(image, im->ecbs_ref, (uint64_t)im->ecbs_max * 4);
	if (ecbs == NULL || epid >= im->ecbs_max)
		return 0;
	const struct img_ecb *e = region_at8(image, ecbs[epid], sizeof(*e));
	if (e == NULL)
		return 0;
	const struct img_clause *c =
	    region_at8(image, e->clause_ref, sizeof(*c));
	return c != NULL ? VM_ALIGN(c->rec_size) : 0;
}

uint32_t
buf_rec_size(const struct region *image, const void *rec, uint32_t avail)
{
	uint32_t size;

	if (avail < sizeof(struct rec_pad))
		return 0;
	const struct rec_pad *pad = rec;
	uint32_t epid = LOAD_ONCE(&pad->epid);
	if (epid == EPID_PAD)
		size = LOAD_ONCE(&pad->size);
	else if (epid == EPID_FAULT)
		size = sizeof(struct rec_fault);
	else
		size = epid_size(image, epid);
	return size < sizeof(*pad) || size > avail || size & 7 ? 0 : size;
}

/* The index at which reading begins.  If head and tail are further apart than
 * the size of the buffer, the target has changed them; the records between them
 * are not counted. */
static uint64_t
first_unread(const struct lane *l, uint64_t head, uint32_t bufsize)
{
	uint64_t tail = LOAD_ONCE(&l->tail) & ~7ULL;

	return head - tail <= bufsize ? tail : head;
}

void
buf_make_room(
    const struct region *image, const struct lane_view *v, uint32_t size)
{
	struct lane *l = v->lane;
	uint32_t bufsize = v->buf_size;
	uint8_t *buf = v->buf;

	if (v->policy != BUF_RING || size > bufsize)
		return;
	uint64_t head = LOAD_ONCE(&l->head) & ~7ULL;
	uint64_t tail = first_unread(l, head, bufsize);
	size = VM_ALIGN(size);
	uint64_t want = need(head, size, bufsize);
	/* Padding and record together are too large: start again at 0. */
	if (want > bufsize) {
		put_pad(buf + head % bufsize, (uint32_t)(want - size));
		head += want - size;
		tail = head;
		want = size;
		STORE_RELEASE(&l->head, head);
	}
	while (tail < head && head - tail + want > bufsize) {
		uint32_t pos = (uint32_t)(tail % bufsize);
		uint32_t n = buf_rec_size(image, buf + pos, bufsize - pos);
		/* The record is invalid, so the begin of the next one is not
		 * known. */
		tail = n != 0 ? tail + n : head;
	}
	STORE_RELEASE(&l->tail, tail);
}

const void *
buf_peek(const struct lane_view *v, uint32_t *avail)
{
	struct lane *l = v->lane;
	uint32_t bufsize = v->buf_size;
	const uint8_t *buf = v->buf;
	uint64_t head = LOAD_ACQUIRE(&l->head) & ~7ULL;
	uint64_t tail = first_unread(l, head, bufsize);

	STEP();
	while (tail < head) {
		uint32_t pos = (uint32_t)(tail % bufsize);
		uint32_t left = bufsize - pos;
		uint32_t n = (uint32_t)VM_MIN(head - tail, left);
		const struct rec_pad *pad = (const void *)(buf + pos);
		if (LOAD_ONCE(&pad->epid) != EPID_PAD) {
			*avail = n;
			return buf + pos;
		}
		/* Padding always ends at the end of the buffer. */
		tail += left;
		STORE_RELEASE(&l->tail, tail);
	}
	return NULL;
}

void
buf_advance(const struct lane_view *v, uint32_t size)
{
	STEP();
	STORE_RELEASE(&v->lane->tail, v->lane->tail + VM_ALIGN(size));
}

uint32_t
buf_fill(const struct lane_view *v)
{
	const struct lane *l = v->lane;
	uint64_t used = LOAD_ACQUIRE(&l->head) - LOAD_ONCE(&l->tail);
	uint32_t size = v->buf_size;

	if (size == 0 || used > size)
		return 256;
	return (uint32_t)(used * 256 / size);
}
