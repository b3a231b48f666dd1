/*
 * The subroutines of D: strlen(), copyin() and so on.
 */
#ifndef DLANG_VM_SUBR_H
#define DLANG_VM_SUBR_H

#include "dlang/vm/vm_impl.h"

/* Call subroutine `id' with n arguments.  Returns the result, or 0 after a
 * fault.  Too few arguments and an unknown id raise a fault (illegal
 * operation). */
uint64_t subr_call(
    struct vm_env *env, uint32_t id, const struct vm_tuple *args, uint32_t n);

#endif
