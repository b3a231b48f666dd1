/*
 * A hash table from 64-bit keys or strings to pointers.  The table owns
 * neither: string keys are borrowed and must outlive their entry.
 */
#ifndef DLANG_BASE_HASH_H
#define DLANG_BASE_HASH_H

#include <stdbool.h>

#include "dlang/base/base.h"

struct hash_entry {
	uint64_t key;    /* the key, or the hash of str */
	const char *str; /* NULL in a table of 64-bit keys */
	void *value;     /* NULL: empty or removed */
	bool used;       /* was in use once: a search goes on behind it */
};

struct hash {
	struct hash_entry *at;
	size_t count;  /* live entries */
	size_t filled; /* live and removed entries */
	size_t cap;    /* power of two, or 0 */
};

uint64_t hash_u64(uint64_t x);
uint64_t hash_bytes(const void *p, size_t n);

void hash_fini(struct hash *h);

/* NULL if the key is absent. */
void *hash_get(const struct hash *h, uint64_t key);
void *hash_get_str(const struct hash *h, const char *key);

/* Add or replace; value must not be NULL.  Returns the value replaced. */
void *hash_set(struct hash *h, uint64_t key, void *value);
void *hash_set_str(struct hash *h, const char *key, void *value);

/* Allocate memory now, so that adding the next n keys allocates none. */
void hash_reserve(struct hash *h, size_t n);

/* Remove; returns the value that was there, or NULL.  Safe on the current
 * entry of hash_foreach. */
void *hash_remove(struct hash *h, uint64_t key);

/* The first live entry at or after index *i, or NULL; *i moves past it. */
struct hash_entry *hash_next(const struct hash *h, size_t *i);

#define hash_foreach(e, h)                                           \
	for (size_t e##_i = 0, e##_once = 1; e##_once; e##_once = 0) \
		for (struct hash_entry * e;                          \
		     (e = hash_next((h), &e##_i)) != NULL;)

#endif
