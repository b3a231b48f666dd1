/*
 * What the files of the targets share.  Each uses those before it:
 *
 *	targets_space.c   what of ours is in a space
 *	follow.c          children of targets
 *	targets_event.c   forks, execs and ends
 *	loop.c            all events
 *	evaltime.c        a launched program on its way to the begin of the trace
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

/* What hangs on space->user. */
struct space_info {
	struct state *st;
	struct linkmap lm;
	bool have_lm;
};

/* ---- targets_space.c ---- */

/* The memory of a process that nothing is known of yet; its threads are stopped.
 * Nothing is committed. */
void targets_space_begin(struct state *st, struct proc *p);

/* Put our marker on an address: the linker's rendezvous or a place to wait
 * at. */
void targets_mark(
    struct state *st, struct space *sp, uint64_t addr, bool linkmap);

/* What a dead tracer has left in it is unmapped, unless threads that nobody knows
 * any more may need it. */
void targets_release_leftover(struct proc *p);

/* ---- targets.c ---- */

/* One of the processes that the user named has ended: how many are left. */
unsigned targets_count_out(struct state *st);

/* ---- targets_event.c ---- */

/* The launch is not to be repeated: the program goes on from where it is. */
void targets_stay(struct proc *p);

/* ---- evaltime.c ---- */

/* Where a launched process is awaited. */
enum evaltime { EVAL_EXEC, EVAL_PREINIT, EVAL_POSTINIT, EVAL_MAIN, EVAL_BOTH };

enum evaltime targets_evaltime(const struct state *st);

/* How the launch can be repeated, before the program has run. */
void targets_scout(struct state *st, struct proc *p, char *const argv[]);

/* Run it to where evaltime says.  False: it ended on the way, or cannot be
 * stopped there, and *why says so. */
bool targets_run_to_evaltime(
    struct state *st, struct proc *p, const char **why);

#endif
