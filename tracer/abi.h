/*
 * The calling convention of the machine: where a function's arguments are at
 * its entry, and its result when it returns, by its type.
 */
#ifndef TRACER_ABI_H
#define TRACER_ABI_H

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

#endif
