/*
 * Memory allocation, and the one function in which the tracer dies.
 *
 * Out of memory, a failed ASSERT and a fatal signal all end in base_panic().
 * The tracer sets a hook at start (tracer/survive/panic.c), which restores text
 * and detaches from the targets.  Without a hook (unit tests, fuzzers)
 * base_panic() just aborts.
 */
#ifndef DLANG_BASE_MEM_H
#define DLANG_BASE_MEM_H

#include "dlang/base/base.h"

/* These never return NULL: without memory they end in base_panic().  A size of
 * 0 gives a block that may be freed. */
void *mem_alloc(size_t size);
void *mem_zalloc(size_t size);
void *mem_realloc(void *p, size_t size);
char *mem_strdup(const char *s);
char *mem_strndup(const char *s, size_t n);
char *mem_printf(const char *fmt, ...) PRINTF_LIKE(1, 2);
void mem_free(void *p);

typedef void (*panic_fn)(const char *why);
void base_panic_hook(panic_fn fn);
NORETURN void base_panic(const char *fmt, ...) PRINTF_LIKE(1, 2);

#endif
