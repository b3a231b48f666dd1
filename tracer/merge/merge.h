/*
 * Many streams of snapshots as one run: the consumer prints what all hosts have
 * found, and the clauses of tick-N and END run here.
 */
#ifndef TRACER_MERGE_MERGE_H
#define TRACER_MERGE_MERGE_H

#include "tracer/base/state.h"
#include "tracer/merge/inputs.h"
#include "tracer/merge/stream.h"

struct merge {
	struct state st;
	struct inputs inputs;
	VEC(struct stream *) streams;
	struct hash by_number;
	const struct stream *begins; /* whose output of BEGIN is printed */
	VEC(struct source *) sources;
	bool started; /* the first stream has described all */
	bool failed;  /* after a message: there is nothing to run */
	bool verbose;
	bool stopping; /* no more is waited for */
	/* For those who start the hosts: called when the end is wanted, by
	 * exit() or by the user.  True: the inputs will end. */
	bool (*finish)(void *ctx);
	/* Called about once a second as long as hosts are traced. */
	void (*beat)(void *ctx);
	void *ctx;
	uint64_t base;  /* recorded files: the clock, when their time began */
	uint64_t first; /* recorded files: that time; 0: not known */
};

/* Read all inputs and print.  Returns the exit status: the worst of the
 * streams' and of this run. */
int merge_run(struct merge *m);
void merge_fini(struct merge *m);

/* merge_start.c: make the first stream's program that of this run, and begin.
 * NULL, or why not. */
const char *merge_start(struct merge *m, struct stream *s);
/* Set the stream's ids[] to aggregations of this run.  NULL, or why not. */
const char *merge_match(struct merge *m, struct stream *s);

#endif
