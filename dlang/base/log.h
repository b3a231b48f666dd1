/*
 * Debug messages by category, off by default.  DTRAP_DEBUG=cat[,cat...] turns
 * on categories; DTRAP_DEBUG=all, DTRACE_DEBUG and the option debug turn on
 * all.  Each message has a time.  They go to stderr and never to the user's
 * output.
 */
#ifndef DLANG_BASE_LOG_H
#define DLANG_BASE_LOG_H

#include <stdbool.h>

#include "dlang/base/base.h"

/* Is the category on?  Cheap after the first call. */
bool log_on(const char *category);
/* Turn on every category. */
void log_all(void);
void log_print(const char *category, const char *fmt, ...) PRINTF_LIKE(2, 3);

#define LOG(category, ...) \
	(log_on(category) ? log_print(category, __VA_ARGS__) : (void)0)

#endif
