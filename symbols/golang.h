/*
 * Go programs (of Go's own compiler): how their functions get arguments, and
 * which goroutine a thread runs.
 */
#ifndef SYMBOLS_GOLANG_H
#define SYMBOLS_GOLANG_H

#include <stdbool.h>
#include <stdint.h>

#include "dlang/uregs.h"
#include "symbols/object.h"

struct addrspace;
struct reader;

enum go_calls {
	GO_NOT,       /* not a Go function */
	GO_REGISTERS, /* arguments are in Go's registers ("ABIInternal") */
	GO_STACK,     /* ... on the stack ("ABI0") */
	GO_UNKNOWN,   /* one of the two */
};

struct go_func {
	enum go_calls calls;
	bool assembly; /* written in assembly: no debug information about its
			* arguments */
	/* Bytes on the stack for its arguments and results, and for the space
	 * that the caller reserves there for those in registers; negative:
	 * unknown. */
	int32_t width;
};

/* The function `name' that begins at addr (a file address). */
struct go_func go_func(struct object *o, uint64_t addr, const char *name);

/*
 * The number of the goroutine on whose stack a thread with these registers is.
 * 0: the thread is on the system's stack, or in another language, or the place
 * of the number is unknown (a stripped program of a Go version that is newer
 * than the table in golang.c).
 */
uint64_t go_routine(const struct addrspace *as, const struct reader *mem,
    const struct uregs *regs);

#endif
