/*
 * Functions of the VM that compiled clauses (dlang/jit/) call.
 *
 * Each does what vm_run() does for a class of instructions.  A fault is set in
 * env->fault, without its offset.
 */
#ifndef DLANG_VM_HELPERS_H
#define DLANG_VM_HELPERS_H

#include "dlang/vm/vm_impl.h"

struct vm_helpers {
	uint64_t (*load)(struct vm_env *, uint64_t addr, uint32_t size);
	void (*store)(
	    struct vm_env *, uint64_t addr, uint64_t v, uint32_t size);
	/* The order of two strings: -1, 0 or 1. */
	int (*compare)(struct vm_env *, uint64_t a, uint64_t b);
	uint64_t (*alloc)(struct vm_env *, uint64_t size);
	void (*copy)(struct vm_env *, uint64_t src, uint64_t len, uint64_t dst);
	/* A member of a built-in array. */
	uint64_t (*array)(struct vm_env *, uint32_t id, uint64_t n);
	/* A built-in variable. */
	uint64_t (*builtin)(struct vm_env *, uint32_t id);
	/* Variables of the program; key is NULL for a scalar. */
	uint64_t (*var_load)(struct vm_env *, enum dif_scope scope, uint32_t id,
	    const struct vm_tuple *key, uint32_t nkeys);
	void (*var_store)(struct vm_env *, enum dif_scope scope, uint32_t id,
	    const struct vm_tuple *key, uint32_t nkeys, uint64_t value);
	/* A subroutine. */
	uint64_t (*call)(struct vm_env *, uint32_t id,
	    const struct vm_tuple *args, uint32_t n);
	void (*fault)(struct vm_env *, enum dif_fault code, uint64_t value);
};

extern const struct vm_helpers vm_helpers;

#endif
