/*
 * The ring into which the kernel writes records of perf events
 * (perf_event_open(2)), and its reader.
 *
 *	      done         at          head
 *	.......|xxxxxxxxxxx|oooooooooooo|......	x read, still kept: the kernel
 *						  writes no new record there
 *						o not read yet
 *
 * Positions grow without end; a record may go on at the beginning of the memory.
 */
#ifndef TRACER_PTRACE_PERFRING_H
#define TRACER_PTRACE_PERFRING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_ring {
	struct perf_event_mmap_page *meta; /* the first page of the mapping */
	uint8_t *data;                     /* behind it */
	size_t size;                       /* of data: a power of two */
	uint64_t at;                       /* the next record to read */
	uint8_t *copy; /* of the last record that did not lie in one piece */
};

/* The position behind the last complete record. */
uint64_t perf_ring_head(const struct perf_ring *r);

/* Copy bytes of the ring, which must lie before the head. */
void perf_ring_bytes(
    const struct perf_ring *r, uint64_t pos, void *to, size_t len);

/* The header of the record at `pos', which is before `end'.  False: it is not
 * valid. */
bool perf_ring_header(const struct perf_ring *r, uint64_t pos, uint64_t end,
    struct perf_event_header *out);

/* The record at `pos' in one piece, until the next call or perf_ring_done(). */
const uint8_t *perf_ring_record(
    struct perf_ring *r, uint64_t pos, const struct perf_event_header *h);

/* All before r->at has been used: the kernel may write there. */
void perf_ring_done(struct perf_ring *r);

/* Is so little room left that the kernel may have lost a record since? */
bool perf_ring_fills(const struct perf_ring *r);

#endif
