/*
 * The tracing state: what one run of dtrap is made of, and its one-way
 * activity machine.
 *
 *   INACTIVE --state_start()--> WARMUP --BEGIN fired--> ACTIVE
 *                                 |                       |
 *                                 +---- exit() -----------+--> DRAINING
 *                                                         |        |
 *                  targets gone, signal, output gone -----+--------+
 *                                                                  |
 *                   targets released, END fired: COOLDOWN <--------+
 *                                                    |
 *                                                 STOPPED
 *
 * The activity itself is a word of the store (enum activity): the VM obeys it
 * wherever it runs.
 */
#ifndef TRACER_STATE_H
#define TRACER_STATE_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

#include "dlang/base/vec.h"
#include "dlang/options.h"
#include "dlang/prog.h"
#include "dlang/vm/region.h"
#include "dlang/vm/vm.h"
#include "dlang/world.h"
#include "tracer/deadman.h"
#include "tracer/moments.h"
#include "tracer/probe.h"
#include "tracer/oncpu.h"
#include "tracer/processor.h"
#include "tracer/procstate.h"
#include "tracer/syscalls.h"
#include "tracer/timer.h"

struct addrspace;
struct cc;
struct consume;
struct externals;
struct dlibs;
struct image;
struct locals;
struct proc;
struct prototypes;
struct super;
struct thread;

/* A clause, by its description, that was compiled for these args[]. */
struct typed_use {
	const struct probe_desc *desc;
	struct typed_args args;
};

struct state {
	const char *name; /* what messages begin with: "dtrap" */
	struct options opts;

	struct super *super;
	struct proc *awaited; /* launched, and not yet where evaltime says */
	bool awaited_mark;    /* ... at our mark, not at the rendezvous */
	bool executed_again;  /* ... and it executed another program */
	bool follow;          /* some clause fires in children as well */
	bool had_targets;
	unsigned targets;   /* named by -p or -c and not gone yet */
	size_t applied;     /* probes that enable_apply() has seen */
	pid_t target_pid;   /* its pid, also after it is gone; 0: none */
	bool image_full;    /* said so */
	bool matching;      /* the enabling is there: new objects are
				    * matched against it */
	bool testing;       /* _DTRACE_TESTING */
	uint64_t calls_due; /* what on_calls()'s timer is set to (loop.c) */
	bool protect_timer; /* protect.c's is there */

	struct probes probes;
	struct timers timers;
	struct syscalls syscalls;
	struct moments moments;

	struct world world;
	struct cc *cc;
	struct externals *externals;   /* NULL before the first */
	struct locals *locals;         /* the same */
	struct prototypes *prototypes; /* NULL before the first */
	VEC(struct typed_use) typed;   /* world.c */
	VEC(struct prog *) progs;
	struct dlibs *dlibs; /* libraries in D; NULL: not looked for */

	int image_fd, store_fd;
	struct region image_mem, store_mem;
	struct image *image;
	struct consume *consume;
	FILE *out, *err; /* state_open_output()'s */
	FILE *file;      /* where out leads */

	struct vm_env env;
	struct thread *thread;    /* whose hit is being handled, or NULL */
	const siginfo_t *siginfo; /* the signal that fires, or NULL */
	struct procstate procstate;
	uint32_t next_tp; /* next tracepoint id */

	bool started;     /* launched programs have been let run */
	bool draining;    /* leave the loop */
	int output_error; /* errno that ended the output, or 0 */
	bool plock;       /* lock functions are traced (prov/plock.h) */
	struct processor processor;
	struct oncpu oncpu;
	struct deadman deadman;
	int sys_errno; /* errno of the system call that has just returned */
	uint64_t wall; /* walltimestamp of this firing; 0: not read */
	bool fp_known; /* fp holds the registers of this firing's thread */
	uint64_t fp[UREG_FP_COUNT];
	VEC(struct addrspace *)
	past; /* of spaces that are gone: records name
				       * them until the end */
	VEC(char *)
	symless;              /* modules of which was said that no function
			       * has a name (prov/pid_unnamed.c) */
	VEC(char *) failures; /* what could not be probed, and why (-v) */
	unsigned long failed;
};

void state_init(struct state *st, const char *name);

/* Output goes to `file', messages to stderr, and from now on neither keeps us
 * waiting while a process is traced.  It is closed with the state. */
void state_open_output(struct state *st, FILE *file);
/* Fire BEGIN and let every target run.  Programs are compiled, the enabling is
 * made. */
void state_start(struct state *st);

/* Leave the loop: exit() was called, targets are gone, a signal came. */
void state_drain(struct state *st);

/* Release the targets, fire END, print what is left.  Every target runs on as
 * found.  Returns the exit status that the program asked for. */
int state_finish(struct state *st);

/* Free everything; releases targets that are still held. */
void state_fini(struct state *st);

/* Does option `cpu' let probes fire where th is?  NULL: the tracer itself,
 * which runs there. */
bool state_wants_cpu(const struct state *st, struct thread *th);

/* Fire a probe without a place in text, in the context of th (NULL: of the
 * tracer itself); nwords of words become arg0 and on. */
void state_fire(struct state *st, struct probe *p, struct thread *th,
    const uint64_t *words, unsigned nwords);

/* What every firing is followed by: exit(), a full buffer. */
void state_after_fire(struct state *st);

/* Read what the clauses recorded, when it is time or room is short. */
void state_consume(struct state *st);
void state_consume_if_full(struct state *st);

/* "dtrap: ..." on stderr. */
void state_message(struct state *st, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The same, unless quiet. */
void state_notice(struct state *st, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
