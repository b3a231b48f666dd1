/*
 * The tables of plockstat, as text or JSON, made from the aggregations of its D
 * program.
 */
#ifndef TRACER_CONSUME_LOCKS_H
#define TRACER_CONSUME_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "dlang/base/str.h"

struct consume;
struct maps;

struct lock_report {
	bool json;
	unsigned top;   /* most rows of each kind; 0: all */
	unsigned depth; /* frames of a stack; 1: the caller alone */
	bool hist;      /* with the distribution of times */
	int pid;        /* of the target */
	/* The mappings of a process, or its last ones if it has ended; may
	 * return NULL. */
	const struct maps *(*maps)(void *ctx, int pid);
	void *ctx;
};

/* The most frames of the C library before a stack reaches the program. */
#define LOCK_FRAMES_OWN 4

/* For print of struct consume_report; ctx is a struct lock_report. */
void locks_print(void *ctx, struct consume *c);

/* The name of a lock: object`variable+0x8, heap 0x..., stack 0x... */
void lock_name(uint32_t stamp, const struct maps *maps, uint64_t addr,
    char *buf, size_t size);

#endif
