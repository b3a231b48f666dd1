/*
 * Debug files of what is to be traced, from debuginfod servers.
 */
#ifndef TRACER_DRIVE_FETCH_H
#define TRACER_DRIVE_FETCH_H

#include <stddef.h>
#include <sys/types.h>

struct state;

/* What is to be traced. */
struct fetch {
	const char *const *commands; /* of -c */
	size_t ncommands;
	const pid_t *pids; /* of -p */
	size_t npids;
	const char *text; /* the D programs: libraries that they name */
};

/*
 * Ask for the debug files of those that have no symbol table, where the
 * environment names servers and options `debuginfod' and `debuginfodtime' want
 * it; wait for them no longer than that, nor when the user wants to end.  To be
 * called before anything is traced: no process is stopped meanwhile.
 */
void fetch_debug_files(struct state *st, const struct fetch *f);

#endif
