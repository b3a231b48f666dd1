/*
 * A world of tables: probes, symbols, types and macro variables of a process
 * that does not exist.
 */
#ifndef T_FAKE_WORLD_H
#define T_FAKE_WORLD_H

#include "dlang/world.h"

/* Borrowed by every session; has no state. */
extern const struct world fake_world;

#endif
