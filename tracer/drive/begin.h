/*
 * The first thing that dtrap and plockstat do, before they open a file, read
 * the environment or parse arguments.
 */
#ifndef TRACER_DRIVE_BEGIN_H
#define TRACER_DRIVE_BEGIN_H

#include <stdbool.h>

/* The message if a signal ends dtrap before tracing begins. */
#define BEGIN_ENDED "interrupted before tracing began"

/*
 * Call it before anything else.  *name is the last component of argv[0], for
 * messages.  False, after a message: the program must end.
 *
 * - Until loop_signals(), SIGINT, SIGTERM and SIGHUP, unless they are ignored,
 *   print a message and then end the program as they do without a handler.
 *   Without the message the user would think that the trace was empty.
 * - If file descriptor 0, 1 or 2 is closed, it is filled with one that can be
 *   neither read nor written, so that a file that is opened later never becomes
 *   standard output.  Programs that dtrap starts do not inherit it.
 * - It refuses to run with rights that the user does not have (set-user-ID,
 *   set-group-ID, capabilities of its file), because the user names the files,
 *   programs and processes.
 */
bool begin(const char *argv0, const char **name);

#endif
