/*
 * Parses the argument string of a static probe (".note.stapsdt") into
 * locations.  The compiler writes each argument as an assembler operand with
 * its size in front: 8@OPERAND -4@OPERAND.
 */
#ifndef SYMBOLS_SDTARG_H
#define SYMBOLS_SDTARG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlang/argloc.h"

struct sdt_place {
	uint64_t addr; /* address of the probe's instruction */
	/* Find the address of a symbol in memory.  0 or -ENOENT. */
	int (*symbol)(void *ctx, const char *name, uint64_t *addr);
	void *ctx;
};

/*
 * Parse text, and return the number of operands, at most `max', with a location
 * for each in `out'.  An unknown operand, and one of a floating type, is
 * ARGLOC_NONE with its size (0 if the size is unknown too).
 */
size_t sdt_args(const char *text, const struct sdt_place *at,
    struct argloc *out, size_t max);

/* The low `size' bytes of v, sign- or zero-extended. */
int64_t sdt_truncate(int64_t v, unsigned size, bool is_signed);

#endif
