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
	bool alike;    /* where it begins and returns, registers and flags are
			* used as in a function of the compiler's: r14 for the
			* goroutine, r12 and flags for nothing */
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

/* The end of the stack on which a thread with these registers is, if Go has made that
 * stack; else 0. */
uint64_t go_stack_end(const struct addrspace *as, const struct reader *mem,
    const struct uregs *regs);

/* Is there a program, or library, of Go? */
bool go_there(const struct addrspace *as);

/* A part of a goroutine's stack. */
struct go_part {
	uint64_t start, end;
	/* The goroutine has a thread, and this is all of its stack: the thread is on
	 * it, or has left it for a signal's handler or for code of Go's run time. */
	bool whole;
};

/*
 * Call fn for each goroutine that a signal may have interrupted, with the part of its
 * stack in which the address is at which it will go on, unless a thread is on that
 * stack.  0, also without Go; or a negative errno: it is not known now.  Goroutines
 * of objects of which go_parked_known() is false are not seen.
 */
int go_parked(const struct addrspace *as, const struct reader *mem,
    void (*fn)(void *ctx, const struct go_part *part), void *ctx);
/* Is it known where the goroutines of the object are?  It is not if it has been
 * stripped. */
bool go_parked_known(struct object *o);

#endif
