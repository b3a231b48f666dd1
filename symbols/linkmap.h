/*
 * The run-time linker's struct r_debug (<link.h>), by which it tells debuggers
 * that its list of objects changes.
 */
#ifndef SYMBOLS_LINKMAP_H
#define SYMBOLS_LINKMAP_H

#include "symbols/addrspace.h"

struct linkmap {
	uint64_t r_debug;  /* address of the struct, 0 while unknown */
	uint64_t brk_addr; /* where to put a breakpoint: the linker calls it
			    * before and after each change */
};

enum linkmap_state { LINKMAP_CONSISTENT, LINKMAP_ADD, LINKMAP_DELETE };

/*
 * Find the struct.  Works before the run-time linker has run its first
 * instruction (by the symbols _dl_debug_state and _r_debug of the interpreter
 * at its bias) and later (by DT_DEBUG).  0; -ENOENT for a static program, which
 * has none.
 */
int linkmap_find(
    struct addrspace *as, const struct reader *mem, struct linkmap *lm);

/* The list's state now (r_state).  0 or -EFAULT, -EAGAIN while r_debug is not
 * initialised. */
int linkmap_state(const struct linkmap *lm, const struct reader *mem,
    enum linkmap_state *state);

#endif
