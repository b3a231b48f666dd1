/*
 * Between addrspace.c and mapped.c: from a mapping to the file behind it.
 */
#ifndef SYMBOLS_ADDRSPACE_IMPL_H
#define SYMBOLS_ADDRSPACE_IMPL_H

#include "symbols/addrspace.h"

/* Read the process's memory; false where that cannot be done. */
bool addrspace_read(
    const struct addrspace *as, uint64_t addr, void *buf, size_t len);

/*
 * The object that the executable mapping `m' is a part of; never a file that
 * has taken its name since.  0; -ENOEXEC when it is none of ours; another
 * negative errno when it cannot be had now.
 */
int mapped_open(const struct addrspace *as, const struct maps *maps,
    const struct map *m, struct object **out, const char **why);

#endif
