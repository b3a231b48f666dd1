/*
 * Speculations: records held apart until committed or discarded.
 *
 *	           speculation()        speculate()
 *	INACTIVE ---------------> ACTIVE ----------> FILLED ---+
 *	  ^  ^                      | |               |  |     | speculate()
 *	  |  +------ discard() -----+ |               |  +-----+
 *	  |  +------ discard() -------|---------------+
 *	  +--------- commit() --------+---------------+
 *
 * One lane has one writer, so commit and discard are over when they return and
 * the intermediate states of several writers are not needed here.
 *
 * How several lanes will share a speculation: the state words move from the
 * lane to one array in the store, changed by compare-and-swap, with a count of
 * lanes beside each; the buffers stay where they are, one for each lane and
 * speculation, each written by its lane alone.  A lane that fills one for the
 * first time raises the count.  commit() turns FILLED into COMMITTING (and
 * discard() into DISCARDING): the lane that does it copies its own buffer, and
 * every other lane, when it next enters a firing and sees the state, copies or
 * empties its own and lowers the count; a lane that stays away is done by the
 * consumer, who may touch the buffer of a lane that is in no firing.  Whoever
 * brings the count to 0 makes it INACTIVE.  speculation() that finds nothing
 * INACTIVE but something COMMITTING or DISCARDING counts DROP_SPEC_BUSY.
 */
#ifndef DLANG_VM_SPEC_H
#define DLANG_VM_SPEC_H

#include "dlang/vm/vm_impl.h"

enum spec_state { SPEC_INACTIVE, SPEC_ACTIVE, SPEC_FILLED };

/* Bytes that `n' speculations of `bytes' each take in a lane. */
uint64_t spec_size(uint32_t n, uint32_t bytes);

/* A new speculation's id, or 0 and DROP_SPEC_UNAVAIL. */
uint64_t spec_create(struct vm_env *env);

/* Room for a record of `size' bytes in speculation id; NULL when id is 0 or
 * not active, and then nothing is recorded, or when it is full (DROP_SPEC). */
void *spec_reserve(struct vm_env *env, uint64_t id, uint32_t size);
/* Keep what was reserved last in speculation id. */
void spec_keep(struct vm_env *env, uint64_t id, uint32_t size);

/* Copy its records to the principal buffer, all or none, with the time and the
 * processor of this firing; the speculation is inactive afterwards.  For both,
 * an id that cannot be is an illegal operation. */
void spec_commit(struct vm_env *env, uint64_t id);
void spec_discard(struct vm_env *env, uint64_t id);

#endif
