/*
 * The C preprocessor over scripts (-C).
 */
#ifndef TRACER_PROGRAM_CPP_H
#define TRACER_PROGRAM_CPP_H

struct state;

/*
 * Run the system's preprocessor over the text of a script.  The result is to
 * be freed with mem_free(); its line marks name `path'.  NULL after a message
 * on stderr.
 */
char *cpp_run(struct state *st, const char *path, const char *text);

#endif
