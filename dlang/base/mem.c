/*
 * Hosted allocation; see mem.h for the panic door.
 */
#include "dlang/base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/fault.h"

static panic_fn panic_hook;

void
base_panic_hook(panic_fn fn)
{
	panic_hook = fn;
}

void
base_panic(const char *fmt, ...)
{
	char why[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	if (panic_hook != NULL) {
		panic_fn fn = panic_hook;
		/* A second failure on the way out must not come back here. */
		panic_hook = NULL;
		fn(why);
	}
	fprintf(stderr, "dtrap: %s\n", why);
	abort();
}

void
base_assert_failed(const char *expr, const char *file, int line)
{
	base_panic("internal error: %s:%d: %s", file, line, expr);
}

static NORETURN void
out_of_memory(size_t size)
{
	base_panic("out of memory (%zu bytes)", size);
}

static void *
checked(void *p, size_t size)
{
	if (p == NULL)
		out_of_memory(size);
	return p;
}

/* Before it is done: what cannot be moved stays where it is. */
static void
may_fail(size_t size)
{
	if (fault_due(FAULT_ALLOC))
		out_of_memory(size);
}

void *
mem_alloc(size_t size)
{
	may_fail(size);
	return checked(malloc(size != 0 ? size : 1), size);
}

void *
mem_zalloc(size_t size)
{
	may_fail(size);
	return checked(calloc(1, size != 0 ? size : 1), size);
}

void *
mem_realloc(void *p, size_t size)
{
	may_fail(size);
	return checked(realloc(p, size != 0 ? size : 1), size);
}

char *
mem_strdup(const char *s)
{
	return mem_strndup(s, strlen(s));
}

char *
mem_strndup(const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *p = mem_alloc(len + 1);

	memcpy(p, s, len);
	p[len] = '\0';
	return p;
}

char *
mem_printf(const char *fmt, ...)
{
	char *p = NULL;
	va_list ap;

	may_fail(0);
	va_start(ap, fmt);
	int n = vasprintf(&p, fmt, ap);
	va_end(ap);
	return checked(n < 0 ? NULL : p, 0);
}

void
mem_free(void *p)
{
	free(p);
}
