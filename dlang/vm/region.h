/*
 * Memory of fixed size that is addressed by 32-bit offsets, so that two
 * processes can map it at different addresses. region_at() is the only way from
 * a reference to memory, and it checks bounds.
 */
#ifndef DLANG_VM_REGION_H
#define DLANG_VM_REGION_H

#include "dlang/vm/port.h"

struct region {
	uint8_t *base; /* its address in this process; 8-byte aligned */
	uint32_t size;
};

/* `len' bytes at ref, or NULL when any of them is outside or ref is 0. */
static inline void *
region_at(const struct region *r, uint32_t ref, uint64_t len)
{
	if (ref == 0 || ref >= r->size || len > r->size - ref)
		return NULL;
	return r->base + ref;
}

/* The same for structs: NULL also when ref is not 8-byte aligned. */
static inline void *
region_at8(const struct region *r, uint32_t ref, uint64_t len)
{
	return ref & 7 ? NULL : region_at(r, ref, len);
}

#endif
