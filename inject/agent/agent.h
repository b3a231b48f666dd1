/*
 * The VM inside the target: dlang/vm/ in a blob that is mapped there.
 *
 * The blob is a position-independent ELF file whose entry address (e_entry) is
 * that of a struct agent_table, constant, in its data segment; whoever loads
 * it maps the two segments, applies the relative relocations, fills in
 * the struct agent that the table leads to, and finds everything from there.
 *
 * A hit, in the thread that comes by (dlang/vm/store.h has struct lane and the
 * offsets):
 *
 *	1. lane->busy is 0, or lane->lost is raised by one and the hit is over
 *	2. lane->busy = rsp, which is not 0
 *	3. the registers go to lane->regs: r15 .. rdi, rip and rsp as the program
 *	   has them at the site, rflags; the others stay 0
 *	4. rsp = lane, direction flag clear, hit(lane, tracepoint)
 *	5. the registers come back from lane->regs
 *	6. lane->busy = 0
 *
 * The blob does number 4.  It makes no system call, uses no thread-local storage
 * and no vector register, and needs less than LANE_STACK bytes of stack.  General
 * registers are changed as the C ABI has it.
 */
#ifndef INJECT_AGENT_AGENT_H
#define INJECT_AGENT_AGENT_H

#include "dlang/vm/lane.h"

#define AGENT_MAGIC   0x47414444 /* "DDAG" */
#define AGENT_VERSION 2

/* One for each address space: written by the tracer before the first hit.  All
 * addresses are the target's. */
struct agent {
	uint32_t magic, version; /* AGENT_*: as in the blob */
	/* The image: bytes 0 .. used of the tracer's, at the same references, to
	 * be read only.  The size may grow, the place stays. */
	uint64_t image_base;
	uint32_t image_size;
	uint32_t store_size;
	uint64_t store_base; /* the thread store */
	/* The vDSO's clock_gettime(), where it makes no system call: the kernel's
	 * clocksource is one that the vDSO can read.  0: there is none.  Clauses
	 * that ask for the time or record something are then not run inside
	 * (dlang/inside.h), and records of faults have the time 0. */
	uint64_t clock;
	uint32_t space;  /* for rec_sym: the address space's stamp, now */
	uint32_t broken; /* a lane made no sense: nothing fires any more */
};

struct agent_table {
	uint32_t magic, version;
	struct agent *agent;
	/* Fire a tracepoint in a lane: 4. above. */
	void (*hit)(struct lane *lane, uint32_t tp_id);
	/* For tests: the machine without a lane's environment. */
	void (*fire_tracepoint)(struct vm_env *, uint32_t tp_id);
	void (*fire_probe)(struct vm_env *, uint32_t probe_ref);
	int (*run)(struct vm_env *, const struct img_difo *, uint64_t *);
};

extern const struct agent_table agent_table;

/* hit.c */
extern struct agent agent;
void agent_hit(struct lane *lane, uint32_t tp_id);
/* The environment from inside (ops.c); ctx is the struct lane. */
extern const struct vm_ops agent_ops;

/* The number of the processor that the thread runs on; the machine's. */
uint32_t agent_cpu(void);

#endif
