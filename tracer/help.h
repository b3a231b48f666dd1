/*
 * Texts that the command line prints.
 */
#ifndef TRACER_HELP_H
#define TRACER_HELP_H

/* The output of --help behind its first line; one screen. */
extern const char help_text[];

/* The D program that dtrap runs if the command line names a process but no
 * program: it counts system calls. */
extern const char help_count_program[];
/* The same of `dtrap top': it samples functions. */
extern const char help_top_program[];

#endif
