/*
 * Downloads debug files of the targets from debuginfod servers.
 */
#ifndef TRACER_DRIVE_FETCH_H
#define TRACER_DRIVE_FETCH_H

#include <stddef.h>
#include <sys/types.h>

struct state;

/* The targets of the command line. */
struct fetch {
	const char *const *commands; /* of -c */
	size_t ncommands;
	const pid_t *pids; /* of -p */
	size_t npids;
	const char *text; /* the D programs; libraries that they name count
			   * too */
};

/*
 * Download the debug files of objects without a symbol table, if
 * DEBUGINFOD_URLS names servers and option `debuginfod' allows it.  Waits at
 * most for the time of option `debuginfodtime', and ends early if the user
 * interrupts.  Call it before anything is traced, so that no process is stopped
 * while it waits.
 */
void fetch_debug_files(struct state *st, const struct fetch *f);

#endif
