/*
 * Subroutines.
 */
#ifndef DLANG_VM_SUBR_H
#define DLANG_VM_SUBR_H

#include "dlang/vm/vm_impl.h"

/* Call subroutine `id' with n arguments.  The result, or 0 after a fault; too
 * few arguments, and an id without a meaning here, are illegal operations. */
uint64_t subr_call(
    struct vm_env *env, uint32_t id, const struct vm_tuple *args, uint32_t n);

#endif
