/*
 * Nothing is recorded; see tracer/ptrace/perfregs.h.
 */
#include "tracer/ptrace/perfregs.h"

#include <string.h>

uint64_t
perfregs_mask(void)
{
	return 0;
}

void
perfregs_take(const uint64_t *words, struct uregs *out)
{
	memset(out, 0, sizeof(*out));
}
