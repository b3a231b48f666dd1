/*
 * What a host is asked: the command line of `dtrap host', which comes as the
 * first line of its standard input.
 */
#ifndef TRACER_MERGE_JOB_H
#define TRACER_MERGE_JOB_H

#include <stdbool.h>
#include <stddef.h>

#include "dlang/base/str.h"

/* The line, with its newline: arguments, and scripts that they name.  The number
 * of texts is twice `nscripts': name, text. */
void job_write(struct str *to, char *const *argv, size_t argc,
    char *const *scripts, size_t nscripts);

/* For `dtrap host': read it from standard input, to the end of the line and no further.
 * *argv, whose first word is `name', ends with NULL, and lives until the process ends.
 * False after a message. */
bool job_take(const char *name, int *argc, char ***argv);

/* The text of a script that came with the job; NULL: there is none of this
 * name. */
const char *job_script(const char *name);

#endif
