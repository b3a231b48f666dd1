/*
 * Files that are written as a whole.
 */
#ifndef TRACER_CONSUME_FILE_H
#define TRACER_CONSUME_FILE_H

#include "tracer/consume/consume_impl.h"

/* Is there a regular file at the path, or nothing yet? */
bool file_is_regular(const char *path);

/*
 * Make this text the content of the file at the path.  A regular file is
 * replaced, and its mode and owner are kept; if that is not permitted, it is
 * overwritten.  Anything else is written to.  0 or a negative errno.  Of the
 * environment only out and enough are used.
 */
int file_renew(
    const struct consume_env *env, const char *path, const struct str *text);
/* The same.  But if our own output is that file, append to it. */
int file_put(
    const struct consume_env *env, const char *path, const struct str *text);

#endif
