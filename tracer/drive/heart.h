/*
 * The other end of a run: option heartbeat.  Who merges the output of this host
 * sends lines to standard input, and when it ends, or is cut off, this run ends.
 */
#ifndef TRACER_DRIVE_HEART_H
#define TRACER_DRIVE_HEART_H

struct state;

/* Keep standard input, and standard output, to this process: programs that it
 * launches read nothing, and write where its messages go.  Call it first of all:
 * stdout is another stream from then on. */
void heart_keep_input(void);

/* Watch standard input from now on, if the option says so. */
void heart_start(struct state *st);

#endif
