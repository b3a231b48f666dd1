/*
 * The tracing state: what one run of dtrap is made of, and its one-way
 * activity machine.
 *
 *   INACTIVE --session_start()--> WARMUP --BEGIN fired--> ACTIVE
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
#ifndef TRACER_BASE_STATE_H
#define TRACER_BASE_STATE_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

#include "dlang/base/vec.h"
#include "dlang/options.h"
#include "dlang/prog.h"
#include "dlang/vm/region.h"
#include "dlang/vm/vm.h"
#include "dlang/world.h"
#include "tracer/base/probe.h"
#include "tracer/base/timer.h"

struct addrspace;
struct bodies;
struct cc;
struct consume;
struct externals;
struct dlibs;
struct image;
struct locals;
struct proc;
struct prototypes;
struct super;
struct provider;
struct syscalls;
struct processor;
struct oncpu;
struct moments;
struct deadman;
struct thread;

/* A clause, by its description, that was compiled for these args[]. */
struct typed_use {
	const struct probe_desc *desc;
	struct typed_args args;
};

/* What the rooms below ask of the one that drives the run (session.c). */
struct drive_ops {
	/* targets_attach(), targets_let_go(), loop_pending() */
	int (*attach)(
	    struct state *st, pid_t pid, bool named, char *why, size_t size);
	void (*let_go)(struct state *st, struct proc *p);
	void (*pending)(struct state *st);
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

	const struct drive_ops *drive;
	/* Every provider (providers.c); NULL-terminated. */
	const struct provider *const *providers;
	struct probes probes;
	struct timers timers;

	struct world world;
	struct cc *cc;
	struct externals *externals;   /* NULL before the first */
	struct locals *locals;         /* the same */
	struct prototypes *prototypes; /* NULL before the first */
	struct bodies *bodies;         /* the same */
	VEC(struct typed_use) typed;   /* world.c */
	VEC(struct prog *) progs;
	struct dlibs *dlibs; /* libraries in D; NULL: not looked for */

	int image_fd, store_fd;
	struct region image_mem, store_mem;
	struct image *image;
	struct consume *consume;
	FILE *out, *err; /* session_open_output()'s */
	FILE *file;      /* where out leads */
	struct {
		bool on;
		uint64_t after, part; /* ns: silence before; the last part */
	} progress;

	struct vm_env env;

	/* Each is its file's. */
	struct syscalls *syscalls;
	struct moments *moments;
	struct processor *processor;
	struct oncpu *oncpu;
	struct deadman *deadman;

	uint32_t next_tp; /* next tracepoint id */

	bool started;     /* launched programs have been let run */
	bool draining;    /* leave the loop */
	int output_error; /* errno that ended the output, or 0 */
	/* A thread came to where its thread_watch() waits; NULL: none does. */
	void (*at_watch)(struct state *, struct thread *);
	VEC(struct addrspace *)
	past; /* of spaces that are gone: records name
				       * them until the end */
	VEC(char *)
	symless;              /* modules of which was said that no function
			       * has a name (prov/pid_unnamed.c) */
	VEC(char *) failures; /* what could not be probed, and why (-v) */
	unsigned long failed;
};

/* "dtrap: ..." on stderr. */
void state_message(struct state *st, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The same, unless quiet. */
void state_notice(struct state *st, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
