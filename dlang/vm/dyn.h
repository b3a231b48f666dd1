/*
 * Dynamic variables: chunks of one size that are found by a key.
 *
 *	+-----------+-------------------------+-----------------------+
 *	| dyn_chunk | key (may be no bytes)   | value                 |
 *	+-----------+-------------------------+-----------------------+
 *
 * vars.c describes keys and values.
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

/* The key by which a chunk is found. */
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

/* The number of dynamic variables for which the option dynvarsize gives room.  The
 * option counts keys and values; buckets and headers of chunks take more. */
uint32_t dyn_count(const struct img_hdr *im, uint32_t dynvarsize);
/* The bytes that `count' of them take in the store. */
uint64_t dyn_size(const struct img_hdr *im, uint32_t count);
/* Lay out `count' free chunks in zeroed bytes at ref. */
void dyn_init(const struct region *store, uint32_t ref,
    const struct img_hdr *im, uint32_t count);
/* Fill in *d, which is all zeroes, with the layout at ref.  d->hdr stays NULL if
 * there are no chunks or the layout is not valid. */
void dyn_view(const struct region *store, uint32_t ref,
    const struct img_hdr *im, struct dyn_view *d);

/* Remove all variables, and write the words of the layout again from the view.
 * `base' is the begin of the store. */
void dyn_reset(
    const struct dyn_view *d, const uint8_t *base, const struct img_hdr *im);

/* The chunk with this key, or NULL.  *link becomes the link to it, for
 * dyn_free(). */
struct dyn_chunk *dyn_lookup(
    const struct dyn_view *d, const struct dyn_key *k, uint32_t **link);
/* Allocate a chunk and make it the first of its bucket.  Its key is set, its value
 * is not.  NULL: there is no room. */
struct dyn_chunk *dyn_add(const struct dyn_view *d, const struct dyn_key *k);
/* Free a chunk; `link' is from dyn_lookup(). */
void dyn_free(const struct dyn_view *d, struct dyn_chunk *c, uint32_t *link);

/* Move the variables of a thread to another table for the same image; `thread' is not
 * 0.  Returns how many were lost, because there is no room. */
uint32_t dyn_move(
    const struct dyn_view *from, const struct dyn_view *to, uint64_t thread);

/* The memory at ref, if clauses may write it: it must be in the data of a
 * by-reference variable.  *room is the number of bytes up to the end of the chunk.
 * Otherwise NULL. */
uint8_t *dyn_writable(const struct dyn_view *d, uint32_t ref, uint64_t *room);

#endif
