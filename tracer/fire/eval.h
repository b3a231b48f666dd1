/*
 * The VM's environment in the tracer: the thread whose hit is being handled.
 * Registers are fetched once a stop; everything else only when it is asked
 * for.
 */
#ifndef TRACER_FIRE_EVAL_H
#define TRACER_FIRE_EVAL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "dlang/uregs.h"
#include "dlang/vm/vm.h"
#include "tracer/fire/procstate.h"

struct state;
struct thread;

/* What a probe fires for, besides a thread; all zeros: nothing. */
struct occasion {
	const siginfo_t *siginfo; /* the signal that fires, or NULL */
	int sys_errno;            /* of the system call that has returned */
};

/*
 * One firing of a probe: what its clauses ask for is asked of it.  It lies on the
 * stack of whoever fires, from eval_begin() to eval_end(); what was read in it
 * is eval.c's.
 */
struct firing {
	struct state *st;
	struct thread *thread; /* that came by; NULL: the tracer itself */
	struct occasion about;
	uint64_t wall; /* walltimestamp; 0: not read */
	struct procstate read;
	bool fp_known; /* fp holds the thread's registers */
	uint64_t fp[UREG_FP_COUNT];
};

/* ctx: the struct firing, while there is one. */
extern const struct vm_ops eval_ops;

/* The process and thread in whose context a clause runs: the tracer's own for
 * BEGIN and the like. */
pid_t eval_pid(const struct firing *f);
pid_t eval_tid(const struct firing *f);

/* From now on st->env is asked about this firing, of th (NULL: no thread) for
 * `about'; no longer. */
void eval_begin(struct firing *f, struct state *st, struct thread *th,
    struct occasion about);
void eval_end(struct firing *f);

#endif
