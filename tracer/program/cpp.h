/*
 * Runs the C preprocessor on scripts (option -C).
 */
#ifndef TRACER_PROGRAM_CPP_H
#define TRACER_PROGRAM_CPP_H

struct state;

/*
 * Run the system's preprocessor on the text of a script.  Its line marks name
 * `path'.  The caller frees the result with mem_free().  NULL after a message
 * on stderr.
 */
char *cpp_run(struct state *st, const char *path, const char *text);

#endif
