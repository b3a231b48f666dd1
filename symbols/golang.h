/*
 * Programs that Go's own compiler made: how their functions are called, and
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
	GO_NOT,       /* it is no function of Go */
	GO_REGISTERS, /* arguments are in Go's registers ("ABIInternal") */
	GO_STACK,     /* ... on the stack ("ABI0") */
	GO_UNKNOWN,   /* one of the two */
};

struct go_func {
	enum go_calls calls;
	bool assembly; /* debug information says nothing of its arguments */
	/* Bytes of its arguments and results on the stack, and of the room
	 * that the caller leaves there for those in registers; negative: not
	 * known. */
	int32_t width;
};

/* The function that begins at addr (the file's own), called `name'. */
struct go_func go_func(struct object *o, uint64_t addr, const char *name);

/*
 * The number of the goroutine on whose stack a thread with these registers is;
 * 0: on none, but on the system's stack, or of another language, or the place
 * of the number is not known (a stripped program of a Go that is newer than
 * the table in golang.c).
 */
uint64_t go_routine(const struct addrspace *as, const struct reader *mem,
    const struct uregs *regs);

#endif
