/*
 * The argument string of a static probe (".note.stapsdt") as locations: what
 * the compiler wrote for the operands of an assembler statement, in the
 * syntax of the machine's assembler, each with its size in front: 8@OPERAND
 * -4@OPERAND.
 */
#ifndef SYMBOLS_SDTARG_H
#define SYMBOLS_SDTARG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlang/argloc.h"

struct sdt_place {
	uint64_t addr; /* of the probe's instruction */
	/* The address in memory of a symbol.  0 or -ENOENT. */
	int (*symbol)(void *ctx, const char *name, uint64_t *addr);
	void *ctx;
};

/*
 * Returns the number of operands, at most `max', with a location for each.  One
 * that is not understood, and one of a floating type, is ARGLOC_NONE with the
 * size that it has (0 if even that cannot be read).
 */
size_t sdt_args(const char *text, const struct sdt_place *at,
    struct argloc *out, size_t max);

/* The low `size' bytes, extended by sign or by zero. */
int64_t sdt_truncate(int64_t v, unsigned size, bool is_signed);

#endif
