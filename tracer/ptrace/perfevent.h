/*
 * What the kernel records of threads while nobody stops them: the switches from
 * and to a processor, samples of a clock, page faults.
 *
 *	struct perfevents	one for the run
 *	   ring, ring, ...	one for each processor, mapped by dtrap
 *	   event, event, ...	of a thread on a processor, or of a processor; it
 *				writes into the ring of that processor
 *
 * The events belong to descriptors of dtrap's: if dtrap dies, they go with it, and
 * nothing in a process has to be restored.
 *
 * All times are of CLOCK_MONOTONIC in ns, as `timestamp' is.
 */
#ifndef TRACER_PTRACE_PERFEVENT_H
#define TRACER_PTRACE_PERFEVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "dlang/uregs.h"

struct perfevents;
struct thread;

enum perf_source {
	PERF_SWITCHES,     /* a thread gets a processor, or loses it */
	PERF_CLOCK,        /* a period of a processor is over */
	PERF_FAULTS,       /* a page fault of user code */
	PERF_MAJOR_FAULTS, /* one for which something was read */
	PERF_COUNTER,      /* so many events of another kind */
	PERF_LEAVES, /* a thread is about to lose a processor; its record of
			    * PERF_SWITCHES comes next.  CAP_PERFMON.  Where there
			    * are too many, some are left out and not counted as
			    * lost; these records have rings of their own */
};

/* Events of which every so many are recorded: those that all processors name alike
 * (perf_event_open(2), PERF_TYPE_HARDWARE), and ns of two clocks of the kernel's. */
enum perf_counter {
	COUNTER_CYCLES,
	COUNTER_INSTRUCTIONS,
	COUNTER_CACHE_REFERENCES,
	COUNTER_CACHE_MISSES,
	COUNTER_BRANCHES,
	COUNTER_BRANCH_MISSES,
	COUNTER_BUS_CYCLES,
	COUNTER_REF_CYCLES,
	COUNTER_CPU_CLOCK,
	COUNTER_TASK_CLOCK,
};

/* Does it count ns? */
static inline bool
counter_is_clock(enum perf_counter c)
{
	return c == COUNTER_CPU_CLOCK || c == COUNTER_TASK_CLOCK;
}

/* What is recorded.  The user of a number tells wishes apart by `tag'. */
struct perf_wish {
	enum perf_source source;
	uint32_t tag;
	uint64_t period; /* PERF_CLOCK: ns; PERF_COUNTER: events */
	bool switches;   /* PERF_CLOCK of a thread: its switches are recorded as
			  * well, as PERF_SWITCHES with this tag */
	/* PERF_COUNTER: of which events, and where they are counted. */
	enum perf_counter counter;
	bool user, kernel;
	/* All but PERF_SWITCHES: bytes of the stack to copy, from the stack
	 * pointer on; a multiple of 8, at most PERF_STACK_MAX. */
	uint32_t stack_max;
};

/* The largest ring that every user may map, by the default of
 * kernel.perf_event_mlock_kb. */
#define PERF_RING_SIZE (512UL << 10)

/* A record and its header are at most 65,535 bytes. */
#define PERF_STACK_MAX 65000U

struct perf_record {
	enum perf_source source;
	uint32_t tag;
	pid_t pid, tid;
	struct thread *thread; /* that the event belongs to; NULL: it is of a
				* processor, whatever runs there */
	uint64_t event;        /* a number that no other event ever has */
	uint64_t time;
	uint32_t cpu;
	/* PERF_SWITCHES: */
	bool out;       /* it loses the processor */
	bool preempted; /* it could have gone on */
	uint64_t addr;  /* PERF_FAULTS, PERF_MAJOR_FAULTS: that was accessed */
	uint64_t pc;    /* these, PERF_COUNTER: of the instruction */
	/* All but PERF_SWITCHES: */
	bool reckoned;        /* nothing was recorded: it is concluded that the
			       * thread was in the kernel (prov/meter.h) */
	bool has_regs;        /* false: the thread has no user code */
	struct uregs regs;    /* of user code */
	const uint8_t *stack; /* memory at the stack pointer */
	uint32_t stack_len;   /* bytes that were copied */
	bool stack_cut;       /* there was more than stack_max of it */
};

typedef void (*perf_record_fn)(void *ctx, const struct perf_record *r);

/* Maps the rings, of at most `size' bytes each, a power of two.  NULL with a negative
 * errno in *error: -EACCES or -EPERM, perf events are forbidden, or there is not enough
 * locked memory; -ENOSYS or -ENOENT, the kernel has none; -EMFILE. */
struct perfevents *perfevents_create(size_t size, int *error);
/* Can an event like this be recorded?  0, or -errno: -ENOENT or -EOPNOTSUPP, there is
 * none; -EACCES or -EPERM, not by this user. */
int perfevents_try(const struct perf_wish *w);
/* The threads of its events have ended, or perfevents_close() was called. */
void perfevents_destroy(struct perfevents *pe);

/* Bytes of each ring. */
size_t perfevents_size(const struct perfevents *pe);

/*
 * Record of a thread, from now until it ends.  0, also if the thread has ended, or
 * records of this tag already; or -errno: -EMFILE, -EACCES as above.  Then nothing
 * is recorded of it.
 */
int perfevents_add(
    struct perfevents *pe, struct thread *th, const struct perf_wish *w);

/* The same of all that runs on all processors, in kernel and user code, from
 * perfevents_start() on.  It takes CAP_PERFMON: -EACCES without. */
int perfevents_add_all(struct perfevents *pe, const struct perf_wish *w);
void perfevents_start(struct perfevents *pe);

/* Does it have events with this tag? */
bool perfevents_has(const struct thread *th, uint32_t tag);

/* Record nothing more of the thread; what was recorded and not read is lost.  An
 * exec leaves a thread's events where they are, and the thread may have another id
 * before it: add them again. */
void perfevents_drop(struct thread *th);

/* Record nothing more with this tag.  Records that exist are still read. */
void perfevents_close(struct perfevents *pe, uint32_t tag);

/* Has anything been recorded since it was last read?  It makes no system call. */
bool perfevents_any(const struct perfevents *pe);

/*
 * Call fn for all records that exist now, in the order of their times.  A record
 * of one processor that is later in time than one of another that has been read is
 * never left for the next call.
 */
void perfevents_read(struct perfevents *pe, perf_record_fn fn, void *ctx);

/*
 * For fn, during perfevents_read(): has the thread got a processor after `time',
 * by a record that was not read yet?  If not, it has executed nothing since, up
 * to the beginning of this call.  True also if records may have been lost.
 */
bool perfevents_ran_since(
    const struct perfevents *pe, const struct thread *th, uint64_t time);

/* The number of records that the kernel could not write, since the last call.  It
 * says so by a record, as soon as there is room for one. */
uint64_t perfevents_lost(struct perfevents *pe);
/* At the end: also those of which it has not said so (Linux 6.0; 0 before). */
uint64_t perfevents_lost_last(struct perfevents *pe);

/* Why perf events cannot be had, for such an errno: a phrase for the user. */
const char *perfevents_why(int error);

#endif
