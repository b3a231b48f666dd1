/*
 * Evaluate argument locations against the environment.
 */
#ifndef DLANG_VM_ARGS_H
#define DLANG_VM_ARGS_H

#include "dlang/vm/vm.h"

/* The value of argument n of the firing; 0 past the last one.  An argument that
 * is not available raises a fault (illegal operation). */
uint64_t args_get(struct vm_env *env, uint64_t n);

#endif
