/*
 * Variables of the program: globals, self->, this->, associative arrays.
 */
#ifndef DLANG_VM_VARS_H
#define DLANG_VM_VARS_H

#include "dlang/vm/vm_impl.h"

/* The value, or for by-reference variables the VM address of the data; 0 when
 * absent or NULL.  Nothing is created.  Faults: those of reading the keys. */
uint64_t vars_load(struct vm_env *env, enum dif_scope scope, uint32_t id,
    const struct vm_tuple *key, uint32_t nkeys, bool assoc);

/* Store; by reference: copied from the address `value', 0 is NULL.  A dynamic
 * variable given 0 is freed; one that finds no room counts a drop. */
void vars_store(struct vm_env *env, enum dif_scope scope, uint32_t id,
    const struct vm_tuple *key, uint32_t nkeys, bool assoc, uint64_t value);

#endif
