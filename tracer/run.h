/*
 * From compiled programs to a running trace: what every program that traces
 * does between its command line and its end.
 */
#ifndef TRACER_RUN_H
#define TRACER_RUN_H

struct consume_report;
struct state;

/*
 * Stores, ECBs, tracepoints, the consumer; every target is stopped.  report
 * (may be NULL; borrowed) takes the place of the aggregations at the end.
 * NULL, or what is wrong.
 */
const char *run_enable(struct state *st, const struct consume_report *report);

#endif
