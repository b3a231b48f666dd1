/*
 * The consumer: records and aggregations to text.  It sees regions, compiled
 * programs and symbols; no process.
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
struct consume;

/* Takes the place of the aggregations that are printed at the end. */
struct consume_report {
	void (*print)(void *ctx, struct consume *c);
	void *ctx;
};

struct consume_env {
	struct region image, store;
	const struct prog_globals *globals;
	struct options *opts; /* setopt() changes it */
	FILE *out;            /* stdout or the -o file: borrowed */
	FILE *err;            /* messages */
	const char *prog;     /* "dtrap", before every message */
	bool testing;         /* _DTRACE_TESTING: no CPU and ID columns */
	/* The address space of a process now, or the last it had, for %a and %A of plain integers;
	 * pid 0 (BEGIN, tick): that of $target.  Borrowed, or NULL.  The member
	 * may be NULL: such integers are then printed as numbers. */
	struct addrspace *(*space)(void *ctx, uint32_t pid);
	void *space_ctx;
	const struct consume_report *report; /* NULL: none */
	/* A barrier in every thread that writes to a lane; NULL: nobody writes but
	 * who calls the consumer. */
	void (*barrier)(void);
	bool (*enough)(void); /* nobody wants to wait for the end any more;
			       * or NULL */
};

/* It reads the lanes of env->store, which nobody but us can write to. */
struct consume *consume_create(const struct consume_env *env);
void consume_destroy(struct consume *c);

/*
 * Read the lanes of a thread store of process pid as well: once for each store,
 * before the target can write there, and before a lane is given to a thread.  The
 * memory is borrowed until consume_lanes_end().  False: it makes no sense.
 */
bool consume_lanes_add(
    struct consume *c, const struct region *store, uint32_t pid);
/*
 * The thread that had this lane is gone, or stopped for good (-1: all of them; and
 * the store is forgotten, its memory may go).  What it has left is read: the
 * aggregations and drops now; its records now or, where output is slow, from a
 * copy, so that they are printed in their order.  There is nothing in the lane
 * afterwards: it may be given to another thread.
 */
void consume_lanes_end(struct consume *c, const struct region *store, int lane);

/*
 * Read and print every record of every lane, in order of time; carry out
 * printa(), clear(), system() and so on as they come.  0; -EPIPE or another
 * errno when the output cannot be written any more.
 */
int consume_records(struct consume *c);

/* From now on a slow reader is waited for: no process of ours stands still. */
void consume_patiently(struct consume *c);

/* agg_fill() from which on consume_aggs() makes room: half full. */
#define CONSUME_AGGS_AT 128
/* Take what was aggregated since it was last done. */
void consume_aggs(struct consume *c);
/* The same if `aggrate' has passed since it was last done. */
void consume_aggs_due(struct consume *c);

/* Report drops since the last call. */
void consume_drops(struct consume *c);

/* At the end: records, then every aggregation not printed yet. */
int consume_finish(struct consume *c);

/* After that: pictures of the aggregations, in the file that option report
 * names.  0, or a negative errno after a message. */
int consume_pictures(struct consume *c);

#endif
