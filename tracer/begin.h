/*
 * What a program of ours does first of all, before it opens a file, reads the
 * environment or looks at its arguments.
 */
#ifndef TRACER_BEGIN_H
#define TRACER_BEGIN_H

#include <stdbool.h>

/*
 * Descriptors 0, 1 and 2 are taken: by what is open there, or by what can be
 * neither read nor written and is not inherited by programs, for whom it stays
 * as it was.  What we open later is never taken for standard output.
 */
void begin_descriptors(void);

/*
 * Do we have rights that whoever started us does not have (set-user-ID,
 * set-group-ID, capabilities of our file)?  They are not his to use: files,
 * programs and processes are what he names.  Says so as program `name'.
 */
bool begin_refused(const char *name);

#endif
