/*
 * Views: structures that contain an address and a length, like Go's strings and
 * slices, and Rust's &str and &[T].  stringof() and copyin() accept them.
 */
#ifndef DLANG_CC_VIEW_H
#define DLANG_CC_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "dlang/types.h"

struct view {
	uint64_t address, length; /* offsets of these members, 8 bytes each */
	uint64_t unit; /* bytes of one element; the length counts elements */
};

/* Is the type such a structure?  Then *out describes it. */
bool view_of(const struct type *t, struct view *out);

/* Is it one of characters? */
bool view_is_text(const struct type *t);

#endif
