/*
 * What the code of a C library does where it waits: which places a function
 * can come by on its way, found by disassembly, as no symbol names them.
 *
 * Nothing of it is run; what cannot be decoded ends the search there.
 */
#ifndef TRACER_PROV_PLOCK_PLOCK_CODE_H
#define TRACER_PROV_PLOCK_PLOCK_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "dlang/base/reader.h"
#include "dlang/base/vec.h"

struct load;
struct plock_code;

/* How the futex call is made. */
enum plock_wait {
	PLOCK_SYSCALL, /* the instruction: number in rax, arguments as usual */
	PLOCK_CALL,    /* a call of a function that makes system calls: number
			* in rdi, the arguments behind it */
};

struct plock_site {
	uint64_t addr;
	enum plock_wait how;
};

/* One function, as far as it is known. */
struct plock_fn {
	uint64_t start, end; /* end is start where nothing tells */
	VEC(uint64_t) rets;
	VEC(uint64_t) pauses; /* of loops that wait without sleeping */
	VEC(struct plock_site) waits;
	VEC(uint64_t) calls; /* functions that it calls */
	VEC(uint64_t) tails; /* functions that it ends in by a jump */
};

/* `text' (borrowed) gives original bytes, `l' is mapped. */
struct plock_code *plock_code_create(
    const struct reader *text, const struct load *l);
void plock_code_destroy(struct plock_code *pc);

/* What begins at addr, in memory.  NULL when nothing can be decoded. */
const struct plock_fn *plock_code_fn(struct plock_code *pc, uint64_t addr);

/* It, and what it ends in by jumps: where one activation of it can be.
 * Appended to `out', each once. */
typedef VEC(const struct plock_fn *) plock_fns;
void plock_code_body(struct plock_code *pc, uint64_t addr, plock_fns *out);

/* All that and what it calls, as far as names do not say that it has nothing to
 * do with locks. */
void plock_code_reach(struct plock_code *pc, uint64_t addr, plock_fns *out);

/* Do rules for unwinding cover the function? */
bool plock_code_unwinds(struct plock_code *pc, uint64_t addr);

#endif
