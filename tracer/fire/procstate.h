/*
 * The state of threads, processes, open files and the signal at hand, as D
 * programs ask for it: the rows of dif_state.def, read from /proc.
 */
#ifndef TRACER_FIRE_PROCSTATE_H
#define TRACER_FIRE_PROCSTATE_H

#include <stdint.h>
#include <sys/types.h>

#include "tracer/ptrace/procfs.h"

struct firing;

/* What a firing has read of the thread asked about last; procstate.c's. */
struct procstate {
	pid_t tid; /* 0: nothing is kept */
	bool have_status, have_stat[2];
	struct proc_status status;
	/* Of the thread [false] and of its process [true]. */
	uint64_t stat[2][PROCFS_STAT_FIELDS + 1];
};

/* A firing begins: nothing read before holds. */
void procstate_forget(struct procstate *ps);

/*
 * One row.  `of' is the tid or, of the process in whose context the clause
 * runs, the descriptor.  0, also when who is asked about has gone (then the
 * answer is 0, or empty), or -1 if there is no such row.
 */
int procstate_number(
    struct firing *f, uint64_t what, uint64_t of, uint64_t *value);
int procstate_string(
    struct firing *f, uint64_t what, uint64_t of, char *buf, uint32_t size);

/* The command line of a thread's process, words joined by blanks. */
void procstate_command(pid_t tid, char *buf, uint32_t size);

#endif
