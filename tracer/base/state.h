/*
 * The state of one run of dtrap.  It contains the data that several rooms need,
 * and passes through these activities:
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
 * The activity is a word of the store (enum activity), because the VM needs it
 * wherever it runs.
 */
#ifndef TRACER_BASE_STATE_H
#define TRACER_BASE_STATE_H

#include <stdbool.h>

#include "dlang/base/vec.h"
#include "dlang/options.h"
#include "dlang/where.h"
#include "dlang/vm/vm.h"
#include "tracer/base/compiled.h"
#include "tracer/base/named.h"
#include "tracer/base/output.h"
#include "tracer/base/part.h"
#include "tracer/base/probe.h"
#include "tracer/base/progress.h"
#include "tracer/base/timer.h"

struct consume;
struct fast;
struct image;
struct proc;
struct super;
struct provider;
struct stores;
struct syscalls;
struct processor;
struct oncpu;
struct moments;
struct deadman;
struct thread;

/* Functions of drive/ that lower rooms call; session.c sets them. */
struct drive_ops {
	/* targets_attach(), targets_let_go(), loop_pending() */
	int (*attach)(
	    struct state *st, pid_t pid, bool named, char *why, size_t size);
	void (*let_go)(struct state *st, struct proc *p);
	void (*pending)(struct state *st);
};

struct state {
	/* The user's options, and the output. */
	const char *name; /* the begin of messages: "dtrap" */
	struct options opts;
	bool testing;     /* _DTRACE_TESTING */
	enum where where; /* which clauses of the program this run has */
	struct output output;
	struct progress progress;

	/* The traced processes. */
	struct super *super;
	struct named named;
	bool started;  /* launched programs are running: session.c */
	bool draining; /* leave the loop: fire_drain() */

	/* Programs, probes and timers. */
	const struct drive_ops *drive;
	/* Every provider (providers.c); NULL-terminated. */
	const struct provider *const *providers;
	struct compiled compiled;
	struct probes probes;
	struct timers timers;
	struct image *image; /* enabled clauses; stores.c creates it */
	bool follow; /* some clause fires in children as well: enable.c */
	/* Clauses with variables of a thread fire while the thread may run: these
	 * variables cannot be in its lane (records.h). */
	bool lanes_unfit;
	bool matching; /* the enabling is there, and new objects are matched
			* against it: run.c */

	/* Used at a hit.  Each is private to its file. */
	struct vm_env env;     /* fire/eval.c */
	struct stores *stores; /* fire/stores.h */
	struct fast *fast;     /* fast/memory.c; NULL: all goes by trap */
	struct consume *consume;
	struct syscalls *syscalls;
	struct moments *moments;
	struct processor *processor;
	struct oncpu *oncpu;
	struct deadman *deadman;

	struct parts parts; /* private data of other files about the run */
};

/* "dtrap: ..." on stderr. */
void state_message(struct state *st, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The same, unless quiet. */
void state_notice(struct state *st, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
