/*
 * Keeps what is written to a terminal while it shows a screen: dtrap's messages,
 * and what a launched command prints.  It is in a file without a name, and is
 * copied to the terminal when the screen is gone.
 *
 *	terminal --keep_begin()--> file --keep_end(), keep_rescue()--> terminal
 *
 * The descriptors 0, 1 and 2 that are a terminal lead elsewhere meanwhile, so
 * commands that are launched inherit that.  Descriptor 0 leads to nothing: keys
 * are dtrap's.
 */
#ifndef TRACER_CONSUME_KEEP_H
#define TRACER_CONSUME_KEEP_H

#include <stdbool.h>

/* Begin, if that has not been done.  False, and nothing has changed: standard
 * output is no terminal, or no file can be made. */
bool keep_begin(void);
/* The terminal behind standard output while something is kept; or -1. */
int keep_terminal(void);
/* The terminal is what it was.  What was kept is copied to it, as
 * writer_write() does. */
void keep_end(bool (*enough)(void));
/* The same for signal handlers.  A terminal that accepts no more text now does
 * not get the rest. */
void keep_rescue(void);

#endif
