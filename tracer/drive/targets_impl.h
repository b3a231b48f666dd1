/*
 * Shared by the files of the targets.  Each file uses those before it:
 *
 *	targets_space.c markers and leftovers in an address space
 *	follow.c          children of targets
 *	twice.c           system calls of a program that is executed again
 *	targets_event.c   forks, execs and ends
 *	loop.c            all events
 *	evaltime.c        a launched program before the trace begins
 *	targets.c         launch, attach, release
 */
#ifndef TRACER_DRIVE_TARGETS_IMPL_H
#define TRACER_DRIVE_TARGETS_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include "symbols/linkmap.h"

struct proc;
struct space;
struct state;

/* What the enabling knows of a space. */
struct space_info {
	struct state *st;
	struct linkmap lm;
	bool have_lm;
	bool healed_said; /* targets_exits() has told the user */
};

/* ---- targets_space.c ---- */

/* Set up the new address space of a process; its threads must be stopped.
 * Commits nothing. */
void targets_space_begin(struct state *st, struct proc *p);

/* Put a marker tracepoint on an address: the linker's notification function, or
 * a place where a launched program is awaited. */
void targets_mark(
    struct state *st, struct space *sp, uint64_t addr, bool linkmap);

/* Unmap what a dead tracer has left in the process, unless a thread may still
 * need it. */
void targets_release_leftover(struct proc *p);

/* ---- evaltime.c ---- */

/* The point to which a launched process runs. */
enum evaltime { EVAL_EXEC, EVAL_PREINIT, EVAL_POSTINIT, EVAL_MAIN, EVAL_BOTH };

enum evaltime targets_evaltime(const struct state *st);

/* Prepare to execute the program again; call it before the program has run. */
void targets_scout(struct state *st, struct proc *p, char *const argv[]);

/* Run the process to the point of option evaltime.  False, with the reason in
 * *why: it ended before, or cannot be stopped there. */
bool targets_run_to_evaltime(
    struct state *st, struct proc *p, const char **why);

#endif
