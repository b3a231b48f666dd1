/*
 * Debug files from debuginfod servers.  A download may take long, so a separate
 * process does it (tracer/drive/fetch.c); the tracer then adds the path of the
 * copy here.
 */
#ifndef SYMBOLS_DEBUGINFOD_H
#define SYMBOLS_DEBUGINFOD_H

#include <stdbool.h>

/* Does DEBUGINFOD_URLS name servers? */
bool debuginfod_wanted(void);

/* Called during a download: bytes so far, and the size of the file (0:
 * unknown). */
typedef void debuginfod_progress(void *ctx, long done, long all);

/*
 * Download the debug file of a build id (in hexadecimal), and wait for it.  0
 * with the path of the copy, which the caller frees with free(); or a negative
 * errno: -ENOENT: no server has it; -ELIBACC: libdebuginfod.so.1 is not
 * installed.
 */
int debuginfod_fetch(const char *build_id, debuginfod_progress *progress,
    void *ctx, char **path);

/* Record the path of the debug file of a build id. */
void debuginfod_add(const char *build_id, const char *path);

/* That path, or NULL. */
const char *debuginfod_path(const char *build_id);

#endif
