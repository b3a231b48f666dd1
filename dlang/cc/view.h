/*
 * Structures that say where something is and how much of it: Go's strings and
 * slices, Rust's &str and &[T].  stringof() and copyin() take them.
 */
#ifndef DLANG_CC_VIEW_H
#define DLANG_CC_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "dlang/types.h"

struct view {
	uint64_t address, length; /* offsets of these members, 8 bytes each */
	uint64_t unit;            /* bytes of what it is the length in */
};

/* Is the type such a structure? */
bool view_of(const struct type *t, struct view *out);

/* ... one of characters? */
bool view_is_text(const struct type *t);

#endif
