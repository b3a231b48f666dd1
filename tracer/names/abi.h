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
	ABI_C,    /* C, C++ and who follows them */
	ABI_RUST, /* Rust's own, which is not written down: scalars, pairs of
		   * words (&str) and objects of more than 16 bytes are where
		   * its compiler has put them so far */
};

/*
 * The places of the parameters, in the order of fn->members, at the first
 * instruction.  The number of those that are known: one whose type is not
 * hides all behind it.  `places' has room for all.
 */
size_t abi_args(const struct type *fn, enum abi abi, struct argplace *places);

/* The place of the result at an instruction that returns; false: it has none,
 * or it is not known. */
bool abi_result(const struct type *fn, enum abi abi, struct argplace *place);

/*
 * A function of Go's own compiler.  Its debug information leaves out parameters
 * that have no name (Go 1.21 and before), and the first word that methods made by
 * the compiler and generic functions get: what else is known of it tells when.
 */
struct abi_go {
	const struct type *fn; /* its parameters */
	const struct type_member *results;
	size_t nresults;
	/* What its debug information says of the places of the parameters at
	 * its first instruction: registers, or memory by the stack pointer;
	 * ARGPLACE_UNKNOWN where it says nothing. */
	const struct argplace *said;
	int64_t width; /* struct go_func */
	bool stack;    /* all of them are on the stack ("ABI0") */
};

/* The places of parameters and results; ARGPLACE_UNKNOWN where they are not
 * certain.  There is room for all. */
void abi_go(
    const struct abi_go *go, struct argplace *params, struct argplace *results);

/* The n-th register in which Go passes numbers and addresses; false: there is
 * none. */
bool abi_go_register(unsigned n, uint8_t *reg);

#endif
