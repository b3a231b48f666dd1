/*
 * What a verified DIFO needs (NEED_*, dif_needs.def), as exactly as its code
 * tells.  A load needs the target's memory, unless its address can only be one
 * of the VM's own memory.
 */
#ifndef DLANG_NEEDS_H
#define DLANG_NEEDS_H

#include "dlang/base/str.h"
#include "dlang/prog.h"

uint32_t needs_of_difo(const struct difo *d, const struct prog_globals *g);
/* The needs of all actions of a clause: those of their DIFOs, and their own. */
uint32_t needs_of_acts(const struct prog_clause *c);

/* Append the names of those needs that only the tracer can satisfy, for example
 * "a stack, errno".  Appends nothing if there are none. */
void needs_text(uint32_t needs, struct str *to);

#endif
