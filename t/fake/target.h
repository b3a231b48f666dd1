/*
 * A target of byte arrays, for inject/: regions at made-up addresses, threads
 * that are a number each, and counters of what was asked.
 */
#ifndef T_FAKE_TARGET_H
#define T_FAKE_TARGET_H

#include <stdbool.h>

#include "inject/target.h"

#define FAKE_REGIONS 512 /* a hundred thousand slots, when shrunken */
#define FAKE_THREADS 8

struct fake_region {
	uint64_t start, size;
	uint8_t *bytes;
	bool read_only; /* write() fails */
	bool cave;      /* offered by cave(), from cave_at to the end */
	uint64_t cave_at;
};

#define FAKE_ANYWHERE UINT64_MAX

struct fake_target {
	struct target target; /* first */
	struct fake_region region[FAKE_REGIONS];
	unsigned regions;
	uint64_t pc[FAKE_THREADS]; /* FAKE_ANYWHERE: it cannot be told */
	unsigned threads;
	int map_error;    /* what map_near() says instead of mapping */
	int64_t map_bias; /* where it maps, from near; 0: 1 MiB above */
	unsigned long reads, writes, maps, unmaps, caves;
	unsigned long bytes_written;
	unsigned long fail_write; /* the n-th write from now fails */
};

void fake_target_init(struct fake_target *ft);
void fake_target_fini(struct fake_target *ft);

/* A region of `size' zeroes at start; the bytes may be changed. */
struct fake_region *fake_target_map(
    struct fake_target *ft, uint64_t start, uint64_t size);

/* Our pointer to the target's byte at addr, or NULL. */
uint8_t *fake_target_at(struct fake_target *ft, uint64_t addr);

/* Everything the same, in memory of its own. */
void fake_target_fork(const struct fake_target *ft, struct fake_target *child);

#endif
