/*
 * Debug messages; see log.h.
 */
#include "dlang/base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool log_everything;

void
log_all(void)
{
	log_everything = true;
}

bool
log_on(const char *category)
{
	static const char *wanted;
	static bool asked;

	if (!asked) {
		asked = true;
		wanted = getenv("DTRAP_DEBUG");
		log_everything |= getenv("DTRACE_DEBUG") != NULL;
	}
	if (log_everything)
		return true;
	if (wanted == NULL)
		return false;
	if (strcmp(wanted, "all") == 0)
		return true;

	size_t n = strlen(category);
	for (const char *p = wanted; p != NULL; p = strchr(p, ',')) {
		p += *p == ',';
		if (strncmp(p, category, n) == 0 &&
		    (p[n] == '\0' || p[n] == ','))
			return true;
	}
	return false;
}

void
log_print(const char *category, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s DEBUG %ld: ", category, (long)time(NULL));
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}
