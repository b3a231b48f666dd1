/*
 * The output of a run, and its messages.  Only drive/session.c opens and closes
 * them.
 *
 *	no error --a write fails, or nobody reads--> `error' says why; nothing
 *						     more is written
 */
#ifndef TRACER_BASE_OUTPUT_H
#define TRACER_BASE_OUTPUT_H

#include <stdio.h>

struct output {
	FILE *out, *err;  /* opened by session_open_output() */
	FILE *file;       /* the file behind `out' */
	const char *path; /* of -o, borrowed; NULL: stdout */
	int error;        /* errno that ended the output, or 0 */
};

#endif
