/*
 * From compiled programs to a running trace: what every program that traces
 * does between its command line and its end.
 */
#ifndef TRACER_DRIVE_RUN_H
#define TRACER_DRIVE_RUN_H

struct consume_report;
struct state;

/*
 * Stores, ECBs, tracepoints, the consumer; every target is stopped.  report
 * (may be NULL; borrowed) takes the place of the aggregations at the end.
 * NULL, or what is wrong; then *hint may be what to do about it, to be freed, and
 * else it is left as it is.
 */
const char *run_enable(
    struct state *st, const struct consume_report *report, char **hint);

#endif
