/*
 * The function to which code belongs.
 */
#ifndef TRACER_SITES_FUNCTION_H
#define TRACER_SITES_FUNCTION_H

#include <stdint.h>

#include "disasm/body.h"

struct object;
struct state;

/* The range of the function to which the code at a file address belongs, also
 * where it is a piece of it.  NULL, or why it is not known, a phrase. */
const char *function_range(
    struct state *st, struct object *o, uint64_t addr, struct body_range *out);

#endif
