/*
 * Variables of the program: globals, self->, this->, associative arrays.
 */
#ifndef DLANG_VM_VARS_H
#define DLANG_VM_VARS_H

#include "dlang/vm/vm_impl.h"

/* How many dynamic variables the option dynvarsize is good for.  It counts what
 * the program sees, keys and values; what finds them comes on top. */
uint32_t vars_count(const struct img_hdr *im, uint32_t dynvarsize);
/* The bytes that so many take in the store. */
uint64_t vars_size(const struct img_hdr *im, uint32_t count);
/* Lay them out in zeroed bytes at ref. */
void vars_init(const struct region *store, uint32_t ref,
    const struct img_hdr *im, uint32_t count);
/* Where those at ref are; `hdr' stays NULL where there are none, or where what
 * is there makes no sense. */
void vars_view(const struct region *store, uint32_t ref,
    const struct img_hdr *im, struct dyn_view *d);

/* No variable is there any more; the words that are not to change are written as
 * the view has them. */
void vars_reset(
    const struct dyn_view *d, const uint8_t *base, const struct img_hdr *im);

/* The value, or for by-reference variables the VM address of the data; 0 when
 * absent or NULL.  Nothing is created.  Faults: those of reading the keys. */
uint64_t vars_load(struct vm_env *env, enum dif_scope scope, uint32_t id,
    const struct vm_tuple *key, uint32_t nkeys, bool assoc);

/* Store; by reference: copied from the address `value', 0 is NULL.  A dynamic
 * variable given 0 is freed; one that finds no room counts a drop. */
void vars_store(struct vm_env *env, enum dif_scope scope, uint32_t id,
    const struct vm_tuple *key, uint32_t nkeys, bool assoc, uint64_t value);

/* The data of a by-reference dynamic variable, for writing, and in *room how
 * many bytes there are; or NULL. */
uint8_t *vars_writable(const struct dyn_view *d, uint32_t ref, uint64_t *room);

#endif
