/*
 * Texts of the command line.
 */
#ifndef TRACER_HELP_H
#define TRACER_HELP_H

/* One screen: what --help says behind its first line. */
extern const char help_text[];

/* The program in D that counts system calls: what is done with a process when
 * nothing else is asked for. */
extern const char help_count_program[];

#endif
