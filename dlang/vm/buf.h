/*
 * The principal buffer of a lane: a ring of records, one writer.  Reading is
 * for the consumer (hosted), on any policy.
 *
 *	           tail % size         head % size
 *	               v                   v
 *	+--------------+---------+---------+--------------------+
 *	|     free     | record  | record  |       free         |
 *	+--------------+---------+---------+--------------------+
 *
 * head and tail only grow, in bytes.  A record is contiguous: when it does not
 * fit before the end, a rec_pad fills the rest and it starts at 0.
 *
 *	switch	no room: the record is dropped, until the consumer has read
 *	fill	one pass and no more: the first record that does not fit before
 *		the end closes the buffer for good; what END records has room
 *		of its own there
 *	ring	the oldest records make room (buf_make_room())
 */
#ifndef DLANG_VM_BUF_H
#define DLANG_VM_BUF_H

#include "dlang/vm/store.h"

/* Writer: room for one record (contiguous, 8-byte aligned), or NULL and a drop
 * is counted.  Nothing is visible before buf_commit(). */
void *buf_reserve(const struct lane_view *v, uint32_t size);
void buf_commit(const struct lane_view *v);
void buf_discard(const struct lane_view *v);

/*
 * Bytes of the record at rec, by its EPID, padding to REC_ALIGN included; 0
 * when it makes no sense or does not fit in avail.
 */
uint32_t buf_rec_size(
    const struct region *image, const void *rec, uint32_t avail);

/* Writer, policy ring: forget the oldest records until `size' bytes fit.  On
 * other policies it does nothing. */
void buf_make_room(
    const struct region *image, const struct lane_view *v, uint32_t size);

/*
 * Reader: the oldest record that was not read yet, of which at least
 * sizeof(uint32_t) bytes are in bounds, and the bytes up to the end of what is
 * contiguous in *avail; NULL when there is none.  buf_advance() moves past it.
 */
const void *buf_peek(const struct lane_view *v, uint32_t *avail);
void buf_advance(const struct lane_view *v, uint32_t size);

/* How full it is, in 1/256. */
uint32_t buf_fill(const struct lane_view *v);

#endif
