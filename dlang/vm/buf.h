/*
 * The principal buffer of a lane: a ring of records with one writer.  The
 * consumer (hosted) reads it, whatever the policy.
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
 *	fill	the first record that does not fit before the end closes the buffer
 *		for good; space for the records of END is reserved
 *	ring	the oldest records make room (buf_make_room())
 */
#ifndef DLANG_VM_BUF_H
#define DLANG_VM_BUF_H

#include "dlang/vm/store.h"

/* Writer: memory for one record (contiguous, 8-byte aligned), or NULL; then a
 * drop is counted.  The reader sees nothing of it before buf_commit(). */
void *buf_reserve(const struct lane_view *v, uint32_t size);
void buf_commit(const struct lane_view *v);
void buf_discard(const struct lane_view *v);

/*
 * The size of the record at rec, found by its EPID, with padding to REC_ALIGN;
 * 0 if the record is not valid or longer than avail.
 */
uint32_t buf_rec_size(
    const struct region *image, const void *rec, uint32_t avail);

/* Writer, policy ring: discard the oldest records until `size' bytes fit.  With
 * other policies it does nothing. */
void buf_make_room(
    const struct region *image, const struct lane_view *v, uint32_t size);

/*
 * Reader: the oldest unread record, or NULL. *avail is the number of contiguous
 * bytes from there on, at least sizeof(uint32_t). buf_advance() moves past it.
 */
const void *buf_peek(const struct lane_view *v, uint32_t *avail);
void buf_advance(const struct lane_view *v, uint32_t size);

/* How full it is, in 1/256. */
uint32_t buf_fill(const struct lane_view *v);

#endif
