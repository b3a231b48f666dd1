/*
 * Implements dlang/world.h for the compiler, with the probe table, the targets
 * and their symbols.
 */
#ifndef TRACER_PROGRAM_WORLD_H
#define TRACER_PROGRAM_WORLD_H

#include "dlang/world.h"

extern const struct world_ops world_ops; /* ctx: struct state */

#endif
