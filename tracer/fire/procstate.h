/*
 * The rows of dif_state.def for D programs: the state of threads, processes,
 * open files and the current signal, read from /proc.
 */
#ifndef TRACER_FIRE_PROCSTATE_H
#define TRACER_FIRE_PROCSTATE_H

#include <stdint.h>
#include <sys/types.h>

#include "tracer/ptrace/procfs.h"

struct firing;

/* A cache for one thread in one firing; private to procstate.c. */
struct procstate {
	pid_t tid; /* 0: empty */
	bool have_status, have_stat[2];
	struct proc_status status;
	/* [false]: of the thread; [true]: of its process. */
	uint64_t stat[2][PROCFS_STAT_FIELDS + 1];
};

/* A firing begins: empty the cache. */
void procstate_forget(struct procstate *ps);

/*
 * The value of row `what'.  `of' is a tid, or a file descriptor of the process
 * in whose context the clause runs.  0, also if the thread or file is gone (the
 * value is then 0 or empty); -1: there is no such row.
 */
int procstate_number(
    struct firing *f, uint64_t what, uint64_t of, uint64_t *value);
int procstate_string(
    struct firing *f, uint64_t what, uint64_t of, char *buf, uint32_t size);

/* The command line of a thread's process, its words separated by blanks. */
void procstate_command(pid_t tid, char *buf, uint32_t size);

#endif
