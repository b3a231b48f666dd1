/*
 * What resume.c needs of a table.  For files of inject/ only.
 */
#ifndef INJECT_TRACEPOINT_IMPL_H
#define INJECT_TRACEPOINT_IMPL_H

#include "inject/tracepoint.h"

struct slots;

struct slots *tptable_slots(struct tptable *tab);
struct target *tptable_target(struct tptable *tab);

#endif
