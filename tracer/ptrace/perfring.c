/*
 * Rings of perf events; see perfring.h.
 *
 * The kernel writes a record and then data_head; dtrap reads data_head and then
 * the record.  So it is the other way round with data_tail.  Records are a
 * multiple of eight bytes long, as their header is, so a header lies in one piece.
 */
#include "tracer/ptrace/perfring.h"

#include <string.h>

#include "dlang/base/base.h"
#include "dlang/base/mem.h"

uint64_t
perf_ring_head(const struct perf_ring *r)
{
	return __atomic_load_n(&r->meta->data_head, __ATOMIC_ACQUIRE);
}

void
perf_ring_bytes(const struct perf_ring *r, uint64_t pos, void *to, size_t len)
{
	size_t from = pos & (r->size - 1), first = MIN(len, r->size - from);

	memcpy(to, r->data + from, first);
	memcpy((uint8_t *)to + first, r->data, len - first);
}

bool
perf_ring_header(const struct perf_ring *r, uint64_t pos, uint64_t end,
    struct perf_event_header *out)
{
	if (end - pos < sizeof(*out))
		return false;
	perf_ring_bytes(r, pos, out, sizeof(*out));
	return out->size >= sizeof(*out) && out->size <= end - pos;
}

/* The size of a record is a number of 16 bits. */
#define RECORD_MOST 65536

const uint8_t *
perf_ring_record(
    struct perf_ring *r, uint64_t pos, const struct perf_event_header *h)
{
	size_t from = pos & (r->size - 1);

	if (from + h->size <= r->size)
		return r->data + from;
	if (r->copy == NULL)
		r->copy = mem_alloc(RECORD_MOST);
	perf_ring_bytes(r, pos, r->copy, h->size);
	return r->copy;
}

void
perf_ring_done(struct perf_ring *r)
{
	__atomic_store_n(&r->meta->data_tail, r->at, __ATOMIC_RELEASE);
}

bool
perf_ring_fills(const struct perf_ring *r)
{
	uint64_t tail = __atomic_load_n(&r->meta->data_tail, __ATOMIC_RELAXED);

	return r->size - (perf_ring_head(r) - tail) < r->size / 8;
}
