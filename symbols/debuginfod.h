/*
 * Debug files that debuginfod servers have.  Asking takes as long as a network
 * and a large file take, so that a process of its own does it (tracer/drive/fetch.c);
 * what it found is known here from then on.
 */
#ifndef SYMBOLS_DEBUGINFOD_H
#define SYMBOLS_DEBUGINFOD_H

#include <stdbool.h>

/* Are there servers to ask (DEBUGINFOD_URLS)? */
bool debuginfod_wanted(void);

/* Called while a file comes: bytes so far, and of all of it (0: not known). */
typedef void debuginfod_progress(void *ctx, long done, long all);

/*
 * The debug file of a build id, in hexadecimal: ask the servers, wait for it.  0
 * with the path of the copy, which is the caller's to free(); a negative errno:
 * -ENOENT where no server has it, -ELIBACC where the library that asks
 * (libdebuginfod.so.1) is not installed.
 */
int debuginfod_fetch(const char *build_id, debuginfod_progress *progress,
    void *ctx, char **path);

/* There is a copy of that debug file there. */
void debuginfod_add(const char *build_id, const char *path);

/* Where, or NULL. */
const char *debuginfod_path(const char *build_id);

#endif
