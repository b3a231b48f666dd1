/*
 * The room symbols/space/: the address space of a process, its objects, and names
 * for addresses in it.
 *
 * Between addrspace.c and mapped.c: from a mapping to the file behind it.
 */
#ifndef SYMBOLS_SPACE_ADDRSPACE_IMPL_H
#define SYMBOLS_SPACE_ADDRSPACE_IMPL_H

#include "symbols/addrspace.h"

/* The process whose mappings are looked at. */
struct mapped_in {
	pid_t pid;
	const struct reader *mem; /* mem->read may be NULL: it cannot be read */
	const struct maps *maps;
};

/* Read its memory; false where that cannot be done. */
bool mapped_read(
    const struct mapped_in *p, uint64_t addr, void *buf, size_t len);

/*
 * The object that the executable mapping `m' is a part of; never a file that
 * has taken its name since.  0; -ENOEXEC when it is none of ours; another
 * negative errno when it cannot be had now.
 */
int mapped_open(const struct mapped_in *p, const struct map *m,
    struct object **out, const char **why);

#endif
