/*
 * The `syscall' instructions of an object that change the action of a signal or the
 * signal mask: before each, a few instructions earlier, the number of rt_sigaction or
 * rt_sigprocmask is loaded.  They are found by their bytes.
 */
#ifndef TRACER_SITES_SIGCALLS_H
#define TRACER_SITES_SIGCALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlang/base/vec.h"

struct object;
struct state;

struct sigcall {
	uint64_t addr; /* of the instruction, the file's own */
	int nr;        /* of the system call */
};

struct sigcalls {
	VEC(struct sigcall) list; /* by address */
	bool searched;
};

/* Those of the object, which is searched once in a run. */
const struct sigcalls *sigcalls_of(struct state *st, struct object *o);

/*
 * code[0 ..  size) is at addr.  Call each(ctx, addr, nr) for every such instruction.
 * Bytes inside of other instructions may look the same; the caller must check.
 */
void sigcalls_find(const uint8_t *code, size_t size, uint64_t addr,
    void (*each)(void *ctx, uint64_t addr, int nr), void *ctx);

#endif
