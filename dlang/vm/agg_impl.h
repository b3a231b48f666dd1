/*
 * What the files of dlang/vm/ know of agg.c beyond its door.
 */
#ifndef DLANG_VM_AGG_IMPL_H
#define DLANG_VM_AGG_IMPL_H

#include "dlang/vm/store.h"

/* Lay out the lane's aggregation store in zeroed memory. */
void agg_init(const struct region *store, struct lane *l);
/* The view's words about it; without an area that makes sense it has none. */
void agg_view(
    const struct region *store, const struct lane *l, struct lane_view *v);
/* Empty both areas, and write the words about them that are not to change as
 * the view has them. */
void agg_reset(const struct lane_view *v);

#endif
