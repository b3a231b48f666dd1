/*
 * A machine that has not been written: nobody knows how it passes arguments.
 */
#include "tracer/names/abi.h"

#include "dlang/types.h"

size_t
abi_args(const struct type *fn, enum abi abi, struct argplace *places)
{
	return 0;
}

bool
abi_result(const struct type *fn, enum abi abi, struct argplace *place)
{
	return false;
}

void
abi_go(
    const struct abi_go *go, struct argplace *params, struct argplace *results)
{
	for (size_t i = 0; i < go->fn->nmembers; i++)
		params[i] = (struct argplace){ .kind = ARGPLACE_UNKNOWN };
	for (size_t i = 0; i < go->nresults; i++)
		results[i] = (struct argplace){ .kind = ARGPLACE_UNKNOWN };
}

bool
abi_go_register(unsigned n, uint8_t *reg)
{
	return false;
}
