/*
 * Open addressing with linear probing; see hash.h.
 */
#include "dlang/base/hash.h"

#include <string.h>

#include "dlang/base/mem.h"

/* Entries of the smallest table.  It is never full, or a search for what is
 * not there would not end: three of four is the most. */
#ifdef DTRAP_SHRINK
#define CAP_MIN 4
#else
#define CAP_MIN 16
#endif

uint64_t
hash_u64(uint64_t x)
{
	/* The finaliser of splitmix64: every input bit reaches every output
	 * bit, which addresses (aligned, clustered) need. */
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ULL;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

uint64_t
hash_bytes(const void *p, size_t n)
{
	const unsigned char *s = p;
	uint64_t h = 0xcbf29ce484222325ULL; /* FNV-1a, 64 bits */

	while (n-- > 0)
		h = (h ^ *s++) * 0x100000001b3ULL;
	return hash_u64(h);
}

void
hash_fini(struct hash *h)
{
	mem_free(h->at);
	*h = (struct hash){ 0 };
}

static bool
matches(const struct hash_entry *e, uint64_t key, const char *str)
{
	if (e->key != key || e->value == NULL)
		return false;
	return str == NULL || strcmp(e->str, str) == 0;
}

/* The entry that holds the key, or the first free one on its path. */
static struct hash_entry *
find(const struct hash *h, uint64_t key, const char *str)
{
	size_t mask = h->cap - 1;
	struct hash_entry *empty = NULL;

	for (size_t i = hash_u64(key) & mask;; i = (i + 1) & mask) {
		struct hash_entry *e = &h->at[i];
		if (matches(e, key, str))
			return e;
		if (e->value == NULL && empty == NULL)
			empty = e;
		if (!e->used)
			return empty;
	}
}

void
hash_reserve(struct hash *h, size_t n)
{
	struct hash to = *h;

	/* Rehash at 3/4 full, removed entries included. */
	if (n == 0 || (h->filled + n - 1) * 4 < h->cap * 3)
		return;
	size_t want = h->count + n - 1;
	to.cap = want * 2 < CAP_MIN ? CAP_MIN : MAX(h->cap, (size_t)CAP_MIN);
	while (to.cap < want * 2)
		to.cap *= 2;
	/* When there is no memory, the table is as it was. */
	to.at = mem_zalloc(to.cap * sizeof(*to.at));
	to.filled = to.count;
	for (size_t i = 0; i < h->cap; i++) {
		struct hash_entry *e = &h->at[i];
		if (e->value != NULL)
			*find(&to, e->key, e->str) = *e;
	}
	mem_free(h->at);
	*h = to;
}

static void *
set(struct hash *h, uint64_t key, const char *str, void *value)
{
	hash_reserve(h, 1);
	struct hash_entry *e = find(h, key, str);
	void *old = e->value;
	if (old == NULL) {
		h->count++;
		h->filled += !e->used;
	}
	*e = (struct hash_entry){ key, str, value, true };
	return old;
}

static void *
get(const struct hash *h, uint64_t key, const char *str)
{
	return h->cap != 0 ? find(h, key, str)->value : NULL;
}

static void *
take(struct hash *h, uint64_t key, const char *str)
{
	if (h->cap == 0)
		return NULL;
	struct hash_entry *e = find(h, key, str);
	void *old = e->value;
	h->count -= old != NULL;
	e->value = NULL;
	return old;
}

void *
hash_get(const struct hash *h, uint64_t key)
{
	return get(h, key, NULL);
}

void *
hash_get_str(const struct hash *h, const char *key)
{
	return get(h, hash_bytes(key, strlen(key)), key);
}

void *
hash_set(struct hash *h, uint64_t key, void *value)
{
	return set(h, key, NULL, value);
}

void *
hash_set_str(struct hash *h, const char *key, void *value)
{
	return set(h, hash_bytes(key, strlen(key)), key, value);
}

void *
hash_remove(struct hash *h, uint64_t key)
{
	return take(h, key, NULL);
}

struct hash_entry *
hash_next(const struct hash *h, size_t *i)
{
	while (*i < h->cap) {
		struct hash_entry *e = &h->at[(*i)++];
		if (e->value != NULL)
			return e;
	}
	return NULL;
}
