/*
 * See helpers.h.
 */
#define DLANG_VM_IMPL
#include "dlang/vm/helpers.h"

#include "dlang/vm/subr.h"
#include "dlang/vm/vars.h"

static uint64_t
alloc(struct vm_env *env, uint64_t size)
{
	uint8_t *mem;

	return vm_alloc(env, size, &mem);
}

static uint64_t
var_load(struct vm_env *env, enum dif_scope scope, uint32_t id,
    const struct vm_tuple *key, uint32_t nkeys)
{
	return vars_load(env, scope, id, key, nkeys, key != NULL);
}

static void
var_store(struct vm_env *env, enum dif_scope scope, uint32_t id,
    const struct vm_tuple *key, uint32_t nkeys, uint64_t value)
{
	vars_store(env, scope, id, key, nkeys, key != NULL, value);
}

const struct vm_helpers vm_helpers = {
	.load = vm_load,
	.store = vm_store,
	.compare = vm_compare,
	.alloc = alloc,
	.copy = vm_copy_to,
	.array = vm_array,
	.builtin = vm_builtin,
	.var_load = var_load,
	.var_store = var_store,
	.call = subr_call,
	.fault = vm_fault,
};
