/*
 * Functions of agg.c for files of dlang/vm/ only.
 */
#ifndef DLANG_VM_AGG_IMPL_H
#define DLANG_VM_AGG_IMPL_H

#include "dlang/vm/store.h"

/* Lay out the lane's aggregation store in zeroed memory. */
void agg_init(const struct region *store, struct lane *l);
/* Fill in the view's fields about aggregations.  If an area is not valid, the
 * view has none. */
void agg_view(
    const struct region *store, const struct lane *l, struct lane_view *v);
/* Empty both areas, and write their constant words again from the view. */
void agg_reset(const struct lane_view *v);

#endif
