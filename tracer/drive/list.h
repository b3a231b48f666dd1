/*
 * -l and -v: lists of probes and their stability.
 */
#ifndef TRACER_DRIVE_LIST_H
#define TRACER_DRIVE_LIST_H

#include <stdbool.h>

struct prog;
struct state;

void list_header(struct state *st);
/* List every probe that a program's descriptions match.  A description without
 * a match is reported on stderr. */
void list_program(struct state *st, const struct prog *p, bool verbose);
/* Print the least stability of a program, for -v; `name' is "script x.d".  With
 * `probes', also each probe that it matches, with its arguments. */
void list_stability(
    struct state *st, const struct prog *prog, const char *name, bool probes);
void list_all(struct state *st, bool verbose);

/* Print which places could not be probed, and why. */
void list_failures(struct state *st, bool verbose);

#endif
