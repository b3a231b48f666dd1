/*
 * Which processor the tracer runs on, and how eagerly.
 */
#ifndef TRACER_PTRACE_PROCESSOR_H
#define TRACER_PTRACE_PROCESSOR_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

struct thread;

struct processor {
	int cpu;               /* the one we are pinned to, -1 for none */
	unsigned hits;         /* since the last look */
	uint64_t looked;       /* CLOCK_MONOTONIC ns of the last look */
	cpu_set_t found;       /* affinity before we pinned */
	bool yielding;         /* scheduled as SCHED_IDLE now */
	bool can_return;       /* we may leave SCHED_IDLE again */
	bool fixed;            /* pinned by processor_fix() */
	int fixed_cpu;         /* ... which one */
	bool plain;            /* found under the usual policy */
	bool hurrying;         /* scheduled as SCHED_FIFO now */
	bool no_fifo;          /* it may not be */
	bool short_slice;      /* asks for short slices instead */
	uint64_t calmed, used; /* processor_calm(): when, and what processor
				* time had been used by then, ns */
};

void processor_init(struct processor *p);

/* Run on this processor and no other, until processor_restore(). */
void processor_fix(struct processor *p, int cpu);

/* May the tracer go to each of them? */
bool processor_may_visit(struct processor *p, const cpu_set_t *set);

/* Run on this processor from now on.  False, and nothing is changed, when it
 * must not or cannot. */
bool processor_visit(struct processor *p, int cpu);

/* While it hurries the tracer runs as soon as it is woken, as far as it may. */
void processor_hurry(struct processor *p, bool hurry);

/* It need not hurry at the moment: it does so only if it has been idle for most
 * of the time since the last call. */
void processor_calm(struct processor *p);

/* A thread has hit a tracepoint, at time `now'. */
void processor_hit(struct processor *p, struct thread *th, uint64_t now);

/* As it was: before anything else is launched, and at the end. */
void processor_restore(struct processor *p);

/* After processor_restore(): where processor_fix() said, if it did. */
void processor_again(struct processor *p);

#endif
