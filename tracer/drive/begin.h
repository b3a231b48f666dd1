/*
 * What a program of ours does first of all, before it opens a file, reads the
 * environment or looks at its arguments.
 */
#ifndef TRACER_DRIVE_BEGIN_H
#define TRACER_DRIVE_BEGIN_H

#include <stdbool.h>

/* What is said when a trace is ended from outside that has not begun. */
#define BEGIN_ENDED "interrupted before tracing began"

/*
 * SIGINT, SIGTERM and SIGHUP, unless they are ignored, end program `name' as they
 * do without a handler, but not without a word: until loop_signals().  Before
 * anything else, as who does not read the word takes it for an empty trace.
 */
void begin_signals(const char *name);

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
