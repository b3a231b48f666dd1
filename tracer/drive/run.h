/*
 * From compiled programs to a running trace; dtrap.c and plockstat.c call it.
 */
#ifndef TRACER_DRIVE_RUN_H
#define TRACER_DRIVE_RUN_H

#include <stdint.h>

struct consume_report;
struct state;

/*
 * The least bufsize, in bytes, with which any record of st->compiled.progs fits
 * into an empty buffer.  With policy switch it is the size of two records,
 * because a record that does not fit before the end of the buffer leaves that
 * part unused.
 */
uint64_t run_least_bufsize(const struct state *st);
/* Text for a hint: which record needs how much.  The caller frees it.  There
 * must be a clause. */
char *run_bufsize_hint(const struct state *st);

/*
 * Create the stores, ECBs, tracepoints and the consumer.  Every target must be
 * stopped.  `report' (borrowed; may be NULL) is printed instead of the
 * aggregations at the end.  Returns NULL, or an error message; then *hint may
 * be set to advice, which the caller frees.
 */
const char *run_enable(
    struct state *st, const struct consume_report *report, char **hint);

#endif
