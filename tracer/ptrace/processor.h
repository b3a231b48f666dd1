/*
 * The processor on which the tracer runs, and its scheduling policy.
 */
#ifndef TRACER_PTRACE_PROCESSOR_H
#define TRACER_PTRACE_PROCESSOR_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

struct thread;

struct processor {
	int cpu;               /* to which the tracer is pinned, -1: none */
	unsigned hits;         /* since the last look */
	uint64_t looked;       /* CLOCK_MONOTONIC ns of the last look */
	cpu_set_t found;       /* affinity before pinning */
	bool yielding;         /* scheduled as SCHED_IDLE now */
	bool can_return;       /* the tracer may leave SCHED_IDLE again */
	bool fixed;            /* pinned by processor_fix() */
	int fixed_cpu;         /* ... which one */
	bool plain;            /* found under the usual policy */
	bool hurrying;         /* scheduled as SCHED_FIFO now */
	bool no_fifo;          /* SCHED_FIFO is not permitted */
	bool short_slice;      /* asks for short slices instead */
	uint64_t calmed, used; /* of the last processor_calm(): its time, and
				* the processor time used by then, ns */
};

void processor_init(struct processor *p);

/* Run only on this processor, until processor_restore(). */
void processor_fix(struct processor *p, int cpu);

/* May the tracer go to each of them? */
bool processor_may_visit(struct processor *p, const cpu_set_t *set);

/* Run on this processor from now on.  False: not possible or not permitted;
 * nothing has changed. */
bool processor_visit(struct processor *p, int cpu);

/* While it hurries, the tracer runs as soon as it is woken, if that is
 * permitted. */
void processor_hurry(struct processor *p, bool hurry);

/* From now on the tracer asks for short slices: it runs soon after it is woken, also
 * if many threads are busy (Linux 6.12). */
void processor_short(struct processor *p);

/* Hurrying is optional now: the tracer hurries only if it has been idle for
 * most of the time since the last call. */
void processor_calm(struct processor *p);

/* A thread has hit a tracepoint, at time `now'. */
void processor_hit(struct processor *p, struct thread *th, uint64_t now);

/* Restore affinity and policy, before a program is launched and at the end. */
void processor_restore(struct processor *p);

/* After processor_restore(): apply processor_fix() again, if it was called. */
void processor_again(struct processor *p);

#endif
