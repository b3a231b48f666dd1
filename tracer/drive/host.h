/*
 * The host that this run is of, when one program is traced on many.
 */
#ifndef TRACER_DRIVE_HOST_H
#define TRACER_DRIVE_HOST_H

#include <stdbool.h>

struct state;

/* Its name, in static memory; NULL: this is not one of many. */
const char *host_name(const struct state *st);
/* Does the first field of a description name a provider of dtrap's? */
bool host_is_provider(const char *field);

#endif
