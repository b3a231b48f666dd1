/*
 * Variables of D programs: globals, self->, this->, associative arrays.
 */
#ifndef DLANG_VM_VARS_H
#define DLANG_VM_VARS_H

#include "dlang/vm/vm_impl.h"

/* With `assoc', id is an associative array, and key[0 .. nkeys) its keys; without,
 * key is NULL. */

/* The value, or for by-reference variables the VM address of the data; 0 when
 * absent or NULL.  Nothing is created.  Faults: those of reading the keys. */
uint64_t vars_load(struct vm_env *env, enum dif_scope scope, uint32_t id,
    const struct vm_tuple *key, uint32_t nkeys, bool assoc);

/* Store a value.  By reference: the data is copied from address `value'; 0 is
 * NULL. Storing 0 frees a dynamic variable.  If there is no room, a drop is
 * counted. */
void vars_store(struct vm_env *env, enum dif_scope scope, uint32_t id,
    const struct vm_tuple *key, uint32_t nkeys, bool assoc, uint64_t value);

#endif
