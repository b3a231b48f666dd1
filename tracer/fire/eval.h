/*
 * The VM's environment in the tracer (vm_ops): memory, registers and variables
 * of the thread whose hit is being handled.  Registers are fetched once a stop,
 * everything else when a clause needs it.
 */
#ifndef TRACER_FIRE_EVAL_H
#define TRACER_FIRE_EVAL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "dlang/uregs.h"
#include "dlang/vm/vm.h"
#include "tracer/fire/procstate.h"

struct perf_record;
struct state;
struct thread;

/* The event that fires a probe, besides the thread; all zeroes: none. */
struct occasion {
	const siginfo_t *siginfo; /* the signal that fires, or NULL */
	int sys_errno; /* errno of the system call that has returned */
	/* The thread was not stopped: this was recorded of it (records.h). */
	const struct perf_record *seen;
	bool within; /* the thread is in the middle of a firing of its own, and
			* waits for this one */
};

/*
 * The context of one firing of a probe.  The caller of eval_begin() has it on
 * its stack until eval_end().  eval.c alone uses the members that cache what
 * was read.
 */
struct firing {
	struct state *st;
	struct thread *thread; /* that hit the probe; NULL: the tracer itself */
	struct occasion about;
	uint64_t wall; /* walltimestamp; 0: not read */
	struct procstate read;
	bool fp_known; /* fp holds the thread's registers */
	uint64_t fp[UREG_FP_COUNT];
};

/* ctx: the struct firing, while there is one. */
extern const struct vm_ops eval_ops;

/* eval_begin(): let st->env use this firing in th (NULL: no thread) for the
 * event `about'.  eval_end(): it is over. */
void eval_begin(struct firing *f, struct state *st, struct thread *th,
    struct occasion about);
void eval_end(struct firing *f);

#endif
