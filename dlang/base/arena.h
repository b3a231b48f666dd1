/*
 * An arena: many allocations, freed all at once.  One compilation uses one, and
 * so does one program.
 */
#ifndef DLANG_BASE_ARENA_H
#define DLANG_BASE_ARENA_H

#include "dlang/base/base.h"

struct arena_block;

struct arena {
	struct arena_block *head;
};

void arena_init(struct arena *a);
void arena_fini(struct arena *a);

/* Zeroed memory, aligned to 16, that lives until arena_fini(). */
void *arena_alloc(struct arena *a, size_t size);
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
