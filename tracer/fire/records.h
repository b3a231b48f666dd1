/*
 * Fires probes for what the kernel records of traced threads while they run or
 * sleep, without a stop (tracer/ptrace/perfevent.h).
 *
 * The loop reads the records before it handles an event or a timer, so a record
 * fires before whatever came later.  In a clause, `timestamp' and `cpu' are the
 * record's.  What a clause reads of memory and of /proc is read when the clause
 * runs, a few milliseconds later.
 */
#ifndef TRACER_FIRE_RECORDS_H
#define TRACER_FIRE_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "dlang/base/str.h"
#include "tracer/ptrace/perfevent.h"

struct probe;
struct state;
struct thread;

/* A record of th. */
typedef void (*record_fn)(struct state *st, struct thread *th,
    const struct perf_record *r, void *arg);

enum records_of {
	RECORDS_THREADS, /* of each traced thread: an event for each */
	RECORDS_ALL,     /* an event for each processor: CAP_PERFMON */
};

/*
 * Call fn for each record of a traced thread from now on, in threads that come as
 * well.  w->tag is ignored.  0 with a number in *wish; or -errno, as
 * perfevents_create() or perfevents_add_all(): nothing is recorded then.  Threads
 * of which nothing can be recorded are counted for records_report().
 */
int records_want(struct state *st, const struct perf_wish *w,
    enum records_of of, record_fn fn, void *arg, uint32_t *wish);
/* Is it recorded of th?  If not, of how many threads has it not been? */
bool records_has(
    const struct state *st, const struct thread *th, uint32_t wish);
unsigned records_without(const struct state *st, uint32_t wish);
/* What was recorded before is still told. */
void records_end(struct state *st, uint32_t wish);

/* Call the functions for all records that exist. */
void records_read(struct state *st);
/* The same, at the end of the run: what was lost is known then. */
void records_read_last(struct state *st);

/* What the clauses of a probe need (NEED_*). */
uint32_t records_needs(const struct state *st, const struct probe *p);

/* During the call for a record of th: has it run since?  If not, it has executed
 * nothing up to now.  True also if that is not known. */
bool records_ran_since(
    const struct state *st, const struct thread *th, uint64_t time);

/* For -v, when the run is over: lines about threads without records. */
void records_report(const struct state *st, struct str *text);

#endif
