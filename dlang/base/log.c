/*
 * Debug messages; see log.h.
 */
#include "dlang/base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dlang/base/show.h"

/* Longer messages are cut. */
#define LINE 1024

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
	char text[LINE], shown[LINE * SHOW_BYTES + 1], *to = shown;
	va_list ap;
	size_t len;

	/* On the stack: it may be memory that there is none of. */
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (const char *s = text; *s != '\0'; to += len)
		s += show_next(SHOW_NAME, s, strlen(s), to, &len);
	*to = '\0';
	fprintf(
	    stderr, "%s DEBUG %ld: %s\n", category, (long)time(NULL), shown);
}
