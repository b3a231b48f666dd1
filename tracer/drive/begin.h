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
 * Call it before anything else.  *name is what argv[0] calls the program, without
 * folders, for messages.  False, and *name has said why: the program must end.
 *
 * - SIGINT, SIGTERM and SIGHUP, unless they are ignored, end the program as they do
 *   without a handler, but not without a word: until loop_signals().  Who does not
 *   read the word takes it for an empty trace.
 * - Descriptors 0, 1 and 2 are taken: by what is open there, or by what can be
 *   neither read nor written and is not inherited by programs, for whom it stays
 *   as it was.  What we open later is never taken for standard output.
 * - Rights that whoever started us does not have (set-user-ID, set-group-ID,
 *   capabilities of our file) are refused.  They are not his to use: files,
 *   programs and processes are what he names.
 */
bool begin(const char *argv0, const char **name);

#endif
