/*
 * Bump allocation; see arena.h.
 */
#include "dlang/base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "dlang/base/mem.h"

/* Large enough that a script needs a handful, small enough to waste little.
 * The shrunken build has a block for each object: who writes past the end of
 * one is then not in the next. */
#ifdef DTRAP_SHRINK
#define BLOCK_SIZE 1
#else
#define BLOCK_SIZE 65536
#endif

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	_Alignas(16) unsigned char data[];
};

void
arena_init(struct arena *a)
{
	a->head = NULL;
}

void
arena_fini(struct arena *a)
{
	while (a->head != NULL) {
		struct arena_block *next = a->head->next;
		mem_free(a->head);
		a->head = next;
	}
}

void *
arena_alloc(struct arena *a, size_t size)
{
	if (a->head == NULL || a->head->size - a->head->used < size) {
		size_t want = MAX(size, (size_t)BLOCK_SIZE);
		struct arena_block *b = mem_alloc(sizeof(*b) + want);
		b->next = a->head;
		b->used = 0;
		b->size = want;
		a->head = b;
	}
	void *p = a->head->data + a->head->used;
	/* The next begins aligned, if there is room for one. */
	a->head->used = MIN(a->head->used + ROUND_UP(size, 16), a->head->size);
	return memset(p, 0, size);
}

char *
arena_strndup(struct arena *a, const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *p = arena_alloc(a, len + 1);

	memcpy(p, s, len);
	return p;
}

char *
arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *
arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap, again;

	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	char *p = arena_alloc(a, (size_t)n + 1);
	vsnprintf(p, (size_t)n + 1, fmt, again);
	va_end(again);
	return p;
}
