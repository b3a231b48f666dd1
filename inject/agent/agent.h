/*
 * The in-process agent: dlang/vm/ in a blob that is mapped into the target.
 *
 * The blob is a position-independent ELF file whose entry address (e_entry) is
 * that of a struct agent_table, constant, in its data segment; whoever loads
 * it maps the two segments, applies the R_X86_64_RELATIVE relocations, and
 * finds everything from there.
 */
#ifndef INJECT_AGENT_AGENT_H
#define INJECT_AGENT_AGENT_H

#include "dlang/vm/vm.h"

#define AGENT_MAGIC   0x47414444 /* "DDAG" */
#define AGENT_VERSION 1

/* What entry.S has saved of the thread, in the order of enum ureg; those it
 * does not know (segments, orig_rax) are 0. */
struct agent_hit {
	struct uregs regs;
	uint64_t tp_id;
	struct agent *agent;
};

/* One for each address space: written by the tracer before the first hit. */
struct agent {
	uint64_t image_base, store_base; /* where the target has them */
	uint32_t image_size, store_size;
	uint32_t pid;
	uint32_t space;     /* for rec_stack and rec_sym */
	uint32_t lost;      /* hits for which there was no lane */
	uint32_t broken;    /* an invariant failed: fire no more */
	uint64_t stack_max; /* bytes above rsp that a stack walk may look at */
	/* Which thread has which lane; 0 is free.  A thread takes a lane at
	 * its first hit and keeps it. */
	uint32_t nlanes;
	uint32_t busy_lanes; /* firings under way */
	uint32_t lane_tid[64];
	uint32_t lane_busy[64];
};

struct agent_table {
	uint32_t magic, version;
	void (*hit)(void); /* entry.S: not to be called from C */
	void (*fire_tracepoint)(struct vm_env *, uint32_t tp_id);
	void (*fire_probe)(struct vm_env *, uint32_t probe_ref);
	int (*run)(struct vm_env *, const struct img_difo *, uint64_t *);
};

extern const struct agent_table agent_table;

/* The environment from inside (ops.c); ctx is a struct agent_hit. */
extern const struct vm_ops agent_ops;
/* Called by entry.S with the saved registers. */
void agent_hit(struct agent_hit *h);
/* entry.S */
void agent_entry(void);

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t agent_time(void);

#endif
