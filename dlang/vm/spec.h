/*
 * Speculations: records that are kept apart until they are committed or
 * discarded.
 *
 *	           speculation()        speculate()
 *	INACTIVE ---------------> ACTIVE ----------> FILLED ---+
 *	  ^  ^                      | |               |  |     | speculate()
 *	  |  +------ discard() -----+ |               |  +-----+
 *	  |  +------ discard() -------|---------------+
 *	  +--------- commit() --------+---------------+
 *
 * One lane has one writer, so commit and discard are complete when they return,
 * and the intermediate states that several writers need do not exist here.
 *
 * How several lanes will share a speculation: the state words move from the
 * lane to one array in the store, changed by compare-and-swap, with a count of
 * lanes beside each; the buffers stay where they are, one for each lane and
 * speculation, each written by its lane alone.  A lane that fills one for the
 * first time raises the count.  commit() changes FILLED to COMMITTING (and
 * discard() to DISCARDING).  The lane that calls it copies its own buffer.
 * Every other lane, when it next begins a firing and sees the state, copies or
 * empties its own buffer and lowers the count.  For a lane that does not fire
 * again, the consumer does this; it may access the buffer of a lane that is in
 * no firing.  The one that lowers the count to 0 sets INACTIVE.  speculation()
 * that finds nothing INACTIVE but something COMMITTING or DISCARDING counts
 * DROP_SPEC_BUSY.
 */
#ifndef DLANG_VM_SPEC_H
#define DLANG_VM_SPEC_H

#include "dlang/vm/vm_impl.h"

enum spec_state { SPEC_INACTIVE, SPEC_ACTIVE, SPEC_FILLED };

/* The size in a lane of `n' speculations of `bytes' each. */
uint64_t spec_size(uint32_t n, uint32_t bytes);

/* The id of a new speculation; 0 if none is free, which counts
 * DROP_SPEC_UNAVAIL. */
uint64_t spec_create(struct vm_env *env);

/* Memory for a record of `size' bytes in speculation id.  NULL if id is 0 or
 * not active (nothing is recorded), or if the speculation is full (counts
 * DROP_SPEC). */
void *spec_reserve(struct vm_env *env, uint64_t id, uint32_t size);
/* Keep the record that was reserved last in speculation id. */
void spec_keep(struct vm_env *env, uint64_t id, uint32_t size);

/* spec_commit() copies the records to the principal buffer, all or none, with
 * the time and processor of this firing; spec_discard() drops them.  The
 * speculation is inactive afterwards.  An impossible id raises a fault (illegal
 * operation). */
void spec_commit(struct vm_env *env, uint64_t id);
void spec_discard(struct vm_env *env, uint64_t id);

#endif
