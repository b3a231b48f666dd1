/*
 * What dlang/vm/ may use of the outside: fixed-width types and the four mem*
 * functions.  The sources compile twice, hosted and freestanding, and neither
 * build has malloc, stdio, errno or thread-local storage in here: the names
 * are poisoned so that a slip fails in the hosted build as well.
 */
#ifndef DLANG_VM_PORT_H
#define DLANG_VM_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Declared, not included: <string.h> would bring more than these. */
void *memcpy(void *restrict dst, const void *restrict src, size_t n);
void *memmove(void *dst, const void *src, size_t n);
void *memset(void *dst, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);

#endif
