/*
 * The VM inside the target: dlang/vm/ in a blob that is mapped there.
 *
 * The blob is a position-independent ELF file whose entry address (e_entry) is
 * that of a struct agent_table, constant, in its data segment.  The loader maps
 * the two segments, applies the relative relocations, and fills in the struct
 * agent to which the table points.
 *
 * A hit, in the thread that hits the probe (dlang/vm/store.h has struct lane
 * and the offsets):
 *
 *	1. lane->busy is 0, or lane->lost is raised by one and the hit is over
 *	2. lane->busy = rsp, which is not 0
 *	3. the registers go to lane->regs: r15 .. rdi, rip and rsp as the program
 *	   has them at the site, rflags; the others stay 0
 *	4. rsp = lane, direction flag clear, hit(lane, tracepoint)
 *	5. the registers come back from lane->regs
 *	6. lane->busy = 0
 *
 * hit() in step 4 is the blob's function.  It makes no system call, uses no
 * thread-local storage and no vector register, and needs less than LANE_STACK
 * bytes of stack.  It changes general registers as a C function may.
 */
#ifndef INJECT_AGENT_AGENT_H
#define INJECT_AGENT_AGENT_H

#include "dlang/vm/lane.h"

#define AGENT_MAGIC   0x47414444 /* "DDAG" */
#define AGENT_VERSION 2

/* One for each address space.  The tracer writes it before the first hit.  All
 * addresses are those of the target. */
struct agent {
	uint32_t magic, version; /* AGENT_*: as in the blob */
	/* The image: the used part of the tracer's image, mapped read-only.
	 * References mean the same.  Its size may grow; its address stays. */
	uint64_t image_base;
	uint32_t image_size;
	uint32_t store_size;
	uint64_t store_base; /* the thread store */
	/* clock_gettime() of the vDSO, if it makes no system call, that is, if
	 * the vDSO can read the kernel's clocksource.  Otherwise 0: then
	 * clauses that need the time or record something do not run in the
	 * target (dlang/image/inside.h), and records of faults have the time
	 * 0. */
	uint64_t clock;
	uint32_t space;  /* for rec_sym: the address space's stamp, now */
	uint32_t broken; /* a lane was not valid: nothing fires any more */
};

struct agent_table {
	uint32_t magic, version;
	struct agent *agent;
	/* Fire a tracepoint in a lane: step 4 above. */
	void (*hit)(struct lane *lane, uint32_t tp_id);
	/* For tests: the VM with an environment of the caller. */
	void (*fire_tracepoint)(struct vm_env *, uint32_t tp_id);
	void (*fire_probe)(struct vm_env *, uint32_t probe_ref);
	int (*run)(struct vm_env *, const struct img_difo *, uint64_t *);
};

extern const struct agent_table agent_table;

/* hit.c */
extern struct agent agent;
void agent_hit(struct lane *lane, uint32_t tp_id);
/* vm_ops for the target (ops.c); ctx is the struct lane. */
extern const struct vm_ops agent_ops;

/* The number of the processor on which the thread runs. */
uint32_t agent_cpu(void);

#endif
