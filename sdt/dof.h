/*
 * The types of a provider's probes, as text of section ".SUNW_dof"
 * (symbols/dof.h).
 */
#ifndef SDT_DOF_H
#define SDT_DOF_H

#include "sdt/bytes.h"
#include "sdt/probes.h"

/* Append it; it begins at a multiple of 8.  Returns the offset. */
size_t dof_add(struct bytes *b, const struct probes *probes);

#endif
