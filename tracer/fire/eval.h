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

struct state;
struct thread;

/* What one firing of a probe is about; it begins with eval_begin(). */
struct firing {
	struct state *st;
	struct thread *thread;    /* that came by; NULL: the tracer itself */
	const siginfo_t *siginfo; /* the signal that fires, or NULL */
	int sys_errno;            /* of the system call that has returned */
	uint64_t wall;            /* walltimestamp; 0: not read */
	bool fp_known;            /* fp holds the thread's registers */
	uint64_t fp[UREG_FP_COUNT];
};

extern const struct vm_ops eval_ops; /* ctx: struct firing */

/* The process and thread in whose context a clause runs: the tracer's own for
 * BEGIN and the like. */
pid_t eval_pid(const struct firing *f);
pid_t eval_tid(const struct firing *f);

/* Set up the firing's half of st->env for a hit of th; NULL: no thread. */
void eval_begin(struct state *st, struct thread *th);

#endif
