/*
 * Where a run writes: what the user asked for, and messages.  Only
 * drive/session.c opens and closes them.
 *
 *	no error --a write fails, or nobody reads--> `error' says why; nothing
 *						     more is written
 */
#ifndef TRACER_BASE_OUTPUT_H
#define TRACER_BASE_OUTPUT_H

#include <stdio.h>

struct output {
	FILE *out, *err; /* session_open_output()'s */
	FILE *file;      /* where out leads */
	int error;       /* errno that ended the output, or 0 */
};

#endif
