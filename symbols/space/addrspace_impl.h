/*
 * The room symbols/space/: the address space of a process, its objects, and names
 * for addresses in it.
 *
 * Shared by addrspace.c and mapped.c, which opens the file behind a mapping.
 */
#ifndef SYMBOLS_SPACE_ADDRSPACE_IMPL_H
#define SYMBOLS_SPACE_ADDRSPACE_IMPL_H

#include "symbols/addrspace.h"

/* The process whose mappings are looked at. */
struct mapped_in {
	pid_t pid;
	const struct reader *mem; /* mem->read may be NULL: memory cannot be
				   * read */
	const struct maps *maps;
};

/* Read its memory; false if that fails. */
bool mapped_read(
    const struct mapped_in *p, uint64_t addr, void *buf, size_t len);

/*
 * Open the object of an executable mapping; never another file that has the
 * same name now.  0; -ENOEXEC: it is not an object for this machine; another
 * negative errno: it cannot be opened now.
 */
int mapped_open(const struct mapped_in *p, const struct map *m,
    struct object **out, const char **why);

#endif
