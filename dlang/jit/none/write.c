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

bool
body_reads(struct jit_body *b, uint32_t id)
{
	return false;
}

bool
body_reads_member(struct jit_body *b, uint32_t id, uint64_t index)
{
	return false;
}

bool
body_updates(const struct img_agg *agg)
{
	return false;
}

uint32_t
body_changes(const struct body_parts *p)
{
	return 0;
}

size_t
body_write(
    struct jit_body *b, struct body_parts *parts, uint8_t *buf, size_t size)
{
	return 0;
}
