/*
 * The principal buffer of a lane: a ring of records, one writer.  Reading is
 * for the consumer (hosted), on any policy.
 */
#ifndef DLANG_VM_BUF_H
#define DLANG_VM_BUF_H

#include "dlang/vm/store.h"

/* Writer: room for one record (contiguous, 8-byte aligned), or NULL and a drop
 * is counted.  Nothing is visible before buf_commit(). */
void *buf_reserve(const struct region *store, struct lane *l, uint32_t size);
void buf_commit(struct lane *l);
void buf_discard(struct lane *l);

/*
 * Reader: the oldest record that was not read yet, of which at least
 * sizeof(uint32_t) bytes are in bounds, and the bytes up to the end of what is
 * contiguous in *avail; NULL when there is none.  buf_advance() moves past it.
 */
const void *buf_peek(const struct region *store, struct lane *l,
    uint32_t *avail);
void buf_advance(struct lane *l, uint32_t size);

/* How full it is, in 1/256. */
uint32_t buf_fill(const struct lane *l);

#endif
