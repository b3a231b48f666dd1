/*
 * A growing array.  Declare with VEC(type) and use by the name of the vector:
 *
 *	VEC(struct foo) foos = { 0 };
 *	*vec_push(&foos) = (struct foo){ ... };
 *	vec_foreach(f, &foos)
 *		use(f);
 *	vec_fini(&foos);
 *
 * Elements move when the vector grows: keep indices, not pointers.
 */
#ifndef DLANG_BASE_VEC_H
#define DLANG_BASE_VEC_H

#include "dlang/base/base.h"
#include "dlang/base/mem.h"

#define VEC(T)                   \
	struct {                 \
		T *at;           \
		size_t len, cap; \
	}

/* Room for one more: the next vec_push() takes no memory. */
#define vec_reserve(v)                                                        \
	((v)->len == (v)->cap ? (void)((v)->at = vec_grow((v)->at, &(v)->cap, \
					   sizeof(*(v)->at))) :               \
				(void)0)

/* Append an element and return a pointer to it; it is not initialised.  If its
 * contents need memory, allocate that before the push: the emergency exit may
 * run in an allocation, and must find no uninitialised element. */
#define vec_push(v)  (vec_reserve(v), &(v)->at[(v)->len++])

#define vec_pop(v)   ((v)->at[--(v)->len])
#define vec_clear(v) ((void)((v)->len = 0))
#define vec_fini(v)  (mem_free((v)->at), (v)->at = NULL, (v)->len = (v)->cap = 0)

#define vec_foreach(p, v)                   \
	for (typeof(*(v)->at) *p = (v)->at; \
	     (v)->len != 0 && p < (v)->at + (v)->len; p++)

/* The shrunken build moves a short vector at every push, so that
 * AddressSanitizer finds a pointer that was kept across a push. */
#ifdef DTRAP_SHRINK
#define VEC_GROW(cap) ((cap) < 64 ? (cap) + 1 : (cap)*2)
#else
#define VEC_GROW(cap) ((cap) != 0 ? (cap)*2 : 8)
#endif

static inline void *
vec_grow(void *at, size_t *cap, size_t size)
{
	size_t want = VEC_GROW(*cap);

	at = mem_realloc(at, want * size);
	*cap = want;
	return at;
}

#endif
