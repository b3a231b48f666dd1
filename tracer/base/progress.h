/*
 * What takes time before a trace begins: a line on the terminal that messages go
 * to, once nothing was said for a second, which is written over and in the end
 * erased.  What goes to a file or a pipe has none of it.  Option quiet does not
 * silence it: that is about the output of a trace, and scripts set it.
 *
 * DTRAP_PROGRESS in the environment says after how many milliseconds of silence,
 * or "none".
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

/* From now on, when st->output.err is where messages go to stay. */
void progress_begin(struct state *st);
/* It is being done now. */
void progress(struct state *st, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The same, with how many of all parts are done; cheap enough for each of them:
 * "functions of", "libc.so.6". */
void progress_part(struct state *st, size_t done, size_t all, const char *what,
    const char *name);
/* Until progress() the next time nothing is to be seen. */
void progress_pause(struct state *st);
/* And from now on. */
void progress_end(struct state *st);

#endif
