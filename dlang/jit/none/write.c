/*
 * A machine without a compiler of clauses: the VM runs them all.
 */
#include "dlang/jit/jit_impl.h"

bool
jit_possible(void)
{
	return false;
}

bool
jit_op_calls(uint32_t op)
{
	return true;
}

size_t
jit_write(struct jit_plan *p, const struct jit_place *place, uint8_t *buf,
    size_t size, const char **why)
{
	return 0;
}
