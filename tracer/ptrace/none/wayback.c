/*
 * A machine that has not been written: no code leads back.
 */
#include <string.h>

#include "tracer/ptrace/super.h"

void
wayback_write(uint8_t buf[WAYBACK_SIZE], const struct uregs *to, uint64_t mask,
    uint64_t unmap)
{
	memset(buf, 0, WAYBACK_SIZE);
}

uint64_t
wayback_behind(uint64_t start)
{
	return start;
}

bool
wayback_is(const uint8_t buf[WAYBACK_SIZE], uint64_t *sp)
{
	return false;
}
