/*
 * The tables of plockstat: what the aggregations of its program say of each
 * lock and caller, as text or as JSON.
 */
#ifndef TRACER_CONSUME_LOCKS_H
#define TRACER_CONSUME_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "dlang/base/str.h"

struct consume;
struct maps;

/*
 * A kind of event.  The D program has two aggregations for it, keyed by lock
 * and stack: @NAME is the quantize() and @NAME_ns the sum() of the same times.
 */
struct lock_kind {
	const char *name;
	const char *title; /* of its table */
	bool hold;         /* -H, else -C */
};

extern const struct lock_kind lock_kinds[];
extern const unsigned lock_nkinds;

struct lock_report {
	bool json;
	unsigned top;   /* at most so many of each kind; 0: all */
	unsigned depth; /* frames of a stack; 1: the caller alone */
	bool hist;      /* with the distribution of times */
	int pid;        /* of the target */
	/* What is mapped in a process, or was when it ended; may return NULL. */
	const struct maps *(*maps)(void *ctx, int pid);
	void *ctx;
};

/* Frames that a stack may have before it comes to the program's own. */
#define LOCK_FRAMES_OWN 4

/* struct consume_report's print; ctx is a struct lock_report. */
void locks_print(void *ctx, struct consume *c);

/* What a lock is called: object`variable+0x8, heap 0x..., stack 0x... */
void lock_name(uint32_t stamp, const struct maps *maps, uint64_t addr,
    char *buf, size_t size);

#endif
