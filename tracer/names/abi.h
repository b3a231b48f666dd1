/*
 * The calling convention of the machine: where a function's arguments are at
 * its entry, and its result when it returns, by its type.
 */
#ifndef TRACER_NAMES_ABI_H
#define TRACER_NAMES_ABI_H

#include <stdbool.h>
#include <stddef.h>

#include "dlang/argloc.h"

struct type;

enum abi {
	ABI_C,    /* C, C++, and languages that follow their convention */
	ABI_RUST, /* Rust's own, which is not documented: known are scalars,
		   * pairs of words (&str) and objects of more than 16 bytes, as
		   * its compiler has passed them so far */
};

/*
 * Compute the places of the parameters at the first instruction, in the order
 * of fn->members.  Returns how many are known: after a parameter of unknown
 * type no place is known.  `places' must have room for all.
 */
size_t abi_args(const struct type *fn, enum abi abi, struct argplace *places);

/* The place of the result at a return instruction.  False: there is no result,
 * or its place is unknown. */
bool abi_result(const struct type *fn, enum abi abi, struct argplace *place);

/*
 * A function of Go's own compiler.  Its debug information omits parameters
 * without a name (Go 1.21 and before), and the hidden first argument of generic
 * functions and of methods that the compiler generates.  The other members tell
 * when that is so.
 */
struct abi_go {
	const struct type *fn; /* its parameters */
	const struct type_member *results;
	size_t nresults;
	/* The places of the parameters at the first instruction by the debug
	 * information: registers or stack; ARGPLACE_UNKNOWN if it does not
	 * say. */
	const struct argplace *said;
	int64_t width; /* struct go_func */
	bool stack;    /* all of them are on the stack ("ABI0") */
};

/* Compute the places of parameters and results; ARGPLACE_UNKNOWN if a place is
 * not certain.  The arrays must have room for all. */
void abi_go(
    const struct abi_go *go, struct argplace *params, struct argplace *results);

/* The n-th register in which Go passes integers and pointers.  False: there are
 * fewer. */
bool abi_go_register(unsigned n, uint8_t *reg);

#endif
