/*
 * The consumer: prints records and aggregations, in the format of sink.h.  It reads regions, compiled
 * programs and symbols, and knows no process.  tracer/fire/ calls it while
 * tracing, tracer/drive/ at the end.
 *
 * Strings of the target are printed byte for byte, as DTrace does, except on a
 * terminal: there, control characters other than newline and tab are shown as
 * C escapes, so that a target cannot send escape sequences.
 */
#ifndef TRACER_CONSUME_CONSUME_H
#define TRACER_CONSUME_CONSUME_H

#include <stdbool.h>
#include <stdio.h>

#include "dlang/options.h"
#include "dlang/prog.h"
#include "dlang/vm/region.h"

struct addrspace;
struct asked;
struct consume;
struct page;

/* Prints a report instead of the aggregations at the end. */
struct consume_report {
	void (*print)(void *ctx, struct consume *c);
	void *ctx;
};

struct consume_env {
	struct region image, store;
	const struct prog_globals *globals;
	struct options *opts; /* setopt() changes it */
	FILE *out;            /* stdout or the -o file: borrowed */
	const char *path;     /* of the -o file; NULL: stdout */
	FILE *err;            /* messages */
	const char *prog;     /* "dtrap", before every message */
	bool testing;         /* _DTRACE_TESTING: no CPU and ID columns */
	/* The present or last address space of a process, to print plain
	 * integers with %a and %A.  pid 0 (BEGIN, tick): that of $target.
	 * Borrowed, or NULL.  The function pointer may be NULL; such integers
	 * are then printed as numbers. */
	struct addrspace *(*space)(void *ctx, uint32_t pid);
	void *space_ctx;
	const struct consume_report *report; /* NULL: none */
	/* Cause a memory barrier in every thread that writes to a lane.  NULL:
	 * only the caller of the consumer writes. */
	void (*barrier)(void);
	bool (*enough)(void); /* has the user asked not to wait for the reader
			       * any more?  or NULL */
};

/* Create a consumer.  It reads the lanes of env->store, which no target can
 * write. */
struct consume *consume_create(const struct consume_env *env);
void consume_destroy(struct consume *c);

/*
 * Also read the lanes of a thread store of process pid.  Call it once for each
 * store, before the target can write there and before a lane is given to a
 * thread.  The memory is borrowed until consume_lanes_end().  False: the store
 * is not valid.
 */
bool consume_lanes_add(
    struct consume *c, const struct region *store, uint32_t pid);
/*
 * Read what a thread has left in its lane; the thread has ended or will not run
 * again.  Aggregations and drops are read now.  Records are printed now, or
 * copied if the output is slow, and printed later in their order.  The lane is
 * empty afterwards and may be given to another thread.  lane -1: all lanes; the
 * store is forgotten, and its memory may be unmapped.
 */
void consume_lanes_end(struct consume *c, const struct region *store, int lane);

/*
 * Read and print the records of all lanes in order of time, and carry out
 * printa(), clear(), system() and so on.  0; -EPIPE or another negative errno
 * if the output cannot be written any more.
 */
int consume_records(struct consume *c);

/* From now on wait for a slow reader: no process is stopped any more. */
void consume_patiently(struct consume *c);

/* Do the threads that write to a thread store, which do not wait for the consumer,
 * need room soon? */
bool consume_is_due(const struct consume *c);

/* The agg_fill() at which consume_aggs() makes room: half full. */
#define CONSUME_AGGS_AT 128
/* Read what was aggregated since the last call. */
void consume_aggs(struct consume *c);
/* The same if the time `aggrate' has passed since the last call. */
void consume_aggs_due(struct consume *c);

/* Write what was aggregated since the last call, if the format is a stream of
 * such; or, additionally, all that was aggregated. */
void consume_snapshot(struct consume *c);
void consume_whole(struct consume *c);

/* Report drops since the last call. */
void consume_drops(struct consume *c);

/* At the end: records, then every aggregation not printed yet. */
int consume_finish(struct consume *c);

/* After consume_finish() and the last consume_drops(): the output is complete.
 * `status' is the exit status.  0, or a negative errno as consume_records(). */
int consume_end(struct consume *c, int status);

/* Option report: what was asked.  Call it before the first record is read. */
void consume_asked(struct consume *c, const struct asked *a);
/* After consume_end(): write the pictures to the file of option report.  0, or a
 * negative errno after a message. */
int consume_pictures(struct consume *c);

/* Write a page, and what an earlier one (or NULL) differs, to a file: HTML if
 * its name says so, else SVG.  Of the environment only out and enough are
 * used.  0 or a negative errno. */
int consume_page_write(const struct consume_env *env, const char *path,
    struct page *p, struct page *earlier);

#endif
