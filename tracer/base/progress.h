/*
 * Shows what dtrap is doing before a trace begins: a line on the terminal of
 * the messages, when nothing has been written for a second.  The next status
 * overwrites it, and it is erased at the end.  Nothing is written to a file or
 * a pipe.  Option quiet does not turn it off, because that option is about the
 * output of a trace, and scripts set it.
 *
 * DTRAP_PROGRESS in the environment sets the time in milliseconds, or "none".
 */
#ifndef TRACER_BASE_PROGRESS_H
#define TRACER_BASE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlang/base/base.h"

struct state;

/* Only progress.c writes this. */
struct progress {
	bool on;
	uint64_t after, part; /* ns: silence before; the last part */
};

/* Turn it on; st->output.err must be set. */
void progress_begin(struct state *st);
/* Set the status. */
void progress(struct state *st, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The same in a loop: part `done' of `all'.  what and name are for example
 * "functions of", "libc.so.6".  Cheap enough to call for each part. */
void progress_part(struct state *st, size_t done, size_t all, const char *what,
    const char *name);
/* Show nothing until the next progress(). */
void progress_pause(struct state *st);
/* Turn it off. */
void progress_end(struct state *st);

#endif
