/*
 * The consumer: records and aggregations to text.  It sees regions, compiled
 * programs and symbols; no process.
 */
#ifndef TRACER_CONSUME_CONSUME_H
#define TRACER_CONSUME_CONSUME_H

#include <stdbool.h>
#include <stdio.h>

#include "dlang/options.h"
#include "dlang/prog.h"
#include "dlang/vm/region.h"

struct consume;

struct consume_env {
	struct region image, store;
	const struct prog_globals *globals;
	struct options *opts; /* setopt() changes it */
	FILE *out;	      /* stdout or the -o file: borrowed */
	FILE *err;	      /* messages */
	const char *prog;     /* "dtrap", before every message */
	bool testing;	      /* _DTRACE_TESTING: no CPU and ID columns */
};

struct consume *consume_create(const struct consume_env *env);
void consume_destroy(struct consume *c);

/*
 * Read and print every record of every lane, in order of time; carry out
 * printa(), clear(), system() and so on as they come.  0; -EPIPE or another
 * errno when the output cannot be written any more.
 */
int consume_records(struct consume *c);

/* Merge the lanes' aggregation stores into the consumer's, and empty them. */
void consume_aggs(struct consume *c);

/* Report drops since the last call. */
void consume_drops(struct consume *c);

/* At the end: records, then every aggregation not printed yet.  `aborted':
 * records only. */
int consume_finish(struct consume *c, bool aborted);

#endif
