/*
 * All that dlang/vm/ may use from elsewhere: fixed-width types and the four
 * mem* functions.  The sources compile twice, hosted and freestanding, and
 * neither build has malloc, stdio, errno or thread-local storage in here: the
 * names are poisoned (in the .c files of dlang/vm/, which define DLANG_VM_IMPL
 * first), so that a mistake fails in the hosted build too.
 */
#ifndef DLANG_VM_PORT_H
#define DLANG_VM_PORT_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Declared, not included: <string.h> would bring more than these. */
void *memcpy(void *restrict, const void *restrict, size_t);
void *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t);
int memcmp(const void *, const void *, size_t);

/*
 * The target may change a word of the store at any moment.  Read it once into a
 * variable, check the variable, and use only that.
 */
#define LOAD_ONCE(p)        __atomic_load_n((p), __ATOMIC_RELAXED)
#define STORE_ONCE(p, v)    __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define LOAD_ACQUIRE(p)     __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define STORE_RELEASE(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)

/*
 * Marks a point where another thread may run in between. t/vm/interleave.c
 * tries every order of these steps; in other builds they are empty.
 */
#ifdef VM_STEP
void vm_step(void);
#define STEP() vm_step()
#else
#define STEP() ((void)0)
#endif

#define VM_ALIGN(n)  (((n) + 7) & ~(typeof(n))7)
#define VM_MIN(a, b) ((a) < (b) ? (a) : (b))

#ifdef DLANG_VM_IMPL
#pragma GCC poison malloc calloc realloc free alloca abort exit errno
#pragma GCC poison printf fprintf sprintf snprintf puts perror stderr stdout
#pragma GCC poison strcpy strncpy strcmp strncmp strdup strcat memchr
#pragma GCC poison float double __thread _Thread_local pthread_self
#endif

#endif
