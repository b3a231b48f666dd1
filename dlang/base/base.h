/*
 * The few macros that every room uses.  Nothing here allocates or prints.
 */
#ifndef DLANG_BASE_BASE_H
#define DLANG_BASE_BASE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_SIZE(a)     (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b)         ((a) < (b) ? (a) : (b))
#define MAX(a, b)         ((a) > (b) ? (a) : (b))
#define ROUND_UP(n, a)    (((n) + (a)-1) / (a) * (a))

#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#define NORETURN          __attribute__((noreturn))

/*
 * Check an invariant of dtrap, also in release builds.  A failure calls
 * base_panic() (mem.h), which restores the text of every target before it ends
 * the tracer.  Do not use it for errors that a tracee, a file, a script or a
 * kernel can cause.
 */
#define ASSERT(e) ((e) ? (void)0 : base_assert_failed(#e, __FILE__, __LINE__))

NORETURN void base_assert_failed(const char *expr, const char *file, int line);

#endif
