/*
 * Dynamic variables: chunks of one size that are found by a key.
 *
 *	+-----------+-------------------------+-----------------------+
 *	| dyn_chunk | key (may be no bytes)   | value                 |
 *	+-----------+-------------------------+-----------------------+
 *
 * What keys and values are made of is said in vars.c.
 */
#ifndef DLANG_VM_DYN_H
#define DLANG_VM_DYN_H

#include "dlang/vm/store.h"

struct dyn_chunk {
	uint32_t next;
	uint32_t hash;
	uint32_t id;
	uint32_t key_size;
	uint64_t thread; /* 0 for associative arrays */
	uint8_t data[];
};

static_assert(sizeof(struct dyn_chunk) == 24, "words stay aligned");

/* What a chunk is found by. */
struct dyn_key {
	uint8_t *bytes;
	uint32_t size, room;
	uint64_t thread; /* 0 for associative arrays */
	uint32_t id, hash;
};

/* Offsets in struct dyn_hdr, for generated code that does what the functions below
 * do. */
#define DYN_USED  24
#define DYN_FREED 28

/* How many dynamic variables the option dynvarsize is good for.  It counts what
 * the program sees, keys and values; what finds them comes on top. */
uint32_t dyn_count(const struct img_hdr *im, uint32_t dynvarsize);
/* The bytes that so many take in the store. */
uint64_t dyn_size(const struct img_hdr *im, uint32_t count);
/* Lay them out in zeroed bytes at ref. */
void dyn_init(const struct region *store, uint32_t ref,
    const struct img_hdr *im, uint32_t count);
/* Where those at ref are; `hdr' stays NULL where there are none, or where what
 * is there makes no sense. */
void dyn_view(const struct region *store, uint32_t ref,
    const struct img_hdr *im, struct dyn_view *d);

/* No variable is there any more; the words that are not to change are written as
 * the view has them. */
void dyn_reset(
    const struct dyn_view *d, const uint8_t *base, const struct img_hdr *im);

/* The chunk with this key, and in *link the word that leads to it; or NULL. */
struct dyn_chunk *dyn_lookup(
    const struct dyn_view *d, const struct dyn_key *k, uint32_t **link);
/* A chunk with this key and no value, the first of its bucket; NULL: there is no
 * room. */
struct dyn_chunk *dyn_add(const struct dyn_view *d, const struct dyn_key *k);
/* The chunk, which link leads to, is free again. */
void dyn_free(const struct dyn_view *d, struct dyn_chunk *c, uint32_t *link);

/* The data of a by-reference dynamic variable, for writing, and in *room how
 * many bytes there are; or NULL. */
uint8_t *dyn_writable(const struct dyn_view *d, uint32_t ref, uint64_t *room);

#endif
