/*
 * Disassembles the lock functions of a C library to find the places where they
 * wait, spin and return.  No symbols name these places.
 *
 * The search ends at bytes that cannot be decoded.
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

/* What was found of one function. */
struct plock_fn {
	bool decoded;        /* false: there is nothing else here */
	uint64_t start, end; /* end is start if the size is unknown */
	VEC(uint64_t) rets;
	VEC(uint64_t) pauses; /* pause instructions of spin loops */
	VEC(struct plock_site) waits;
	VEC(uint64_t) calls; /* functions that it calls */
	VEC(uint64_t) tails; /* functions that it tail-calls */
};

/* `text' (borrowed) must return original bytes; `l' must be mapped. */
struct plock_code *plock_code_create(
    const struct reader *text, const struct load *l);
void plock_code_destroy(struct plock_code *pc);

/* The function at addr, in memory.  NULL if it cannot be decoded. */
const struct plock_fn *plock_code_fn(struct plock_code *pc, uint64_t addr);

/* Append the function and its tail calls to `out', each once: all code in which
 * one call of it can be. */
typedef VEC(const struct plock_fn *) plock_fns;
void plock_code_body(struct plock_code *pc, uint64_t addr, plock_fns *out);

/* The same, plus the functions that it calls, except those that by their names
 * have nothing to do with locks. */
void plock_code_reach(struct plock_code *pc, uint64_t addr, plock_fns *out);

/* Does an unwind entry cover the function? */
bool plock_code_unwinds(struct plock_code *pc, uint64_t addr);

#endif
