/*
 * From compiled programs to a running trace: what every program that traces
 * does between its command line and its end.
 */
#ifndef TRACER_DRIVE_RUN_H
#define TRACER_DRIVE_RUN_H

#include <stdint.h>

struct consume_report;
struct state;

/*
 * The least bufsize, in bytes, that never drops a record of st->compiled.progs from an
 * empty buffer.  With policy switch that is two: a record that does not fit before
 * the end of the buffer leaves that part unused.
 */
uint64_t run_least_bufsize(const struct state *st);
/* Which record needs how much, as words for a hint; to be freed.  There is a
 * clause. */
char *run_bufsize_hint(const struct state *st);

/*
 * Stores, ECBs, tracepoints, the consumer; every target is stopped.  report
 * (may be NULL; borrowed) takes the place of the aggregations at the end.
 * NULL, or what is wrong; then *hint may be what to do about it, to be freed, and
 * else it is left as it is.
 */
const char *run_enable(
    struct state *st, const struct consume_report *report, char **hint);

#endif
