/*
 * What a verified DIFO needs (NEED_*, dif_needs.def): exactly, as far as its
 * text tells.  A load is a need of the target's memory unless the address in
 * its register can come from nowhere but the VM's own memory.
 */
#ifndef DLANG_NEEDS_H
#define DLANG_NEEDS_H

#include "dlang/base/str.h"
#include "dlang/prog.h"

uint32_t needs_of_difo(const struct difo *d, const struct prog_globals *g);
/* Of an action: of its DIFOs, and of what it does itself. */
uint32_t needs_of_act(const struct prog_act *a);

/* Append words for those needs that only the tracer can answer, as "a stack,
 * errno"; nothing when there are none. */
void needs_text(uint32_t needs, struct str *to);

#endif
