/*
 * -l and -v: what there is to probe, and how firmly it is promised.
 */
#ifndef TRACER_DRIVE_LIST_H
#define TRACER_DRIVE_LIST_H

#include <stdbool.h>

struct prog;
struct state;

void list_header(struct state *st);
/* Every probe that a program's descriptions match; what matches nothing is
 * said on stderr. */
void list_program(struct state *st, const struct prog *p, bool verbose);
/* The least stability of a program, for -v; `name' is "script x.d".  With
 * `probes', also each probe that it matches and what is known of it. */
void list_stability(
    struct state *st, const struct prog *prog, const char *name, bool probes);
void list_all(struct state *st, bool verbose);

/* What could not be probed, and why. */
void list_failures(struct state *st, bool verbose);

#endif
