/*
 * Option perfmap: where the code of sites is, for a profiler outside.  Its samples may
 * have a pc there, in memory that belongs to no file.  perf reads such places from
 * /tmp/perf-PID.map, a line each: address and size in hexadecimal, and a name.
 */
#ifndef TRACER_SITES_PERFMAP_H
#define TRACER_SITES_PERFMAP_H

struct space;
struct state;

/* Append what has been made since the last call to the file, as dtrap:FUNCTION.
 * Nothing happens without the option.  Threads may run. */
void perfmap_write(struct state *st, struct space *sp);

#endif
