/*
 * Debug messages by category, off unless asked for: DTRAP_DEBUG=cat[,cat...]
 * or DTRAP_DEBUG=all, DTRACE_DEBUG, or the option debug.  They say when, and go
 * to stderr and never to the user's output.
 */
#ifndef DLANG_BASE_LOG_H
#define DLANG_BASE_LOG_H

#include <stdbool.h>

#include "dlang/base/base.h"

/* Is the category on?  Cheap after the first call. */
bool log_on(const char *category);
/* Every category from now on. */
void log_all(void);
void log_print(const char *category, const char *fmt, ...) PRINTF_LIKE(2, 3);

#define LOG(category, ...) \
	(log_on(category) ? log_print(category, __VA_ARGS__) : (void)0)

#endif
