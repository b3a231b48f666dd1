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
 *	4. rsp = lane, direction flag clear, hit(lane, tracepoint, ask)
 *	5. the registers come back from lane->regs
 *	6. lane->busy = 0
 *
 * If the site has a body, that comes behind 2, and does 6 itself.  If it has carried out
 * all that the clauses do, the hit is over; else all begins again.
 *
 * hit() in step 4 is the blob's function.  It makes no system call, uses no
 * thread-local storage and no vector register, and needs less than LANE_STACK
 * bytes of stack.  It changes general registers as a C function may.
 *
 * Memory of the program is read by plain loads where the tracer has seen that
 * it can be read (struct agent_ranges).  Such a load may fault all the same,
 * because the program has unmapped the memory since: then the tracer moves the
 * thread behind the load (struct agent_fixup).  All other memory is read by the
 * tracer: ask() is in the code of the site (inject/stub.h) and stops the
 * thread.
 *
 * Actions that only the tracer can carry out are asked for in the same way, once
 * the predicate is true.
 */
#ifndef INJECT_AGENT_AGENT_H
#define INJECT_AGENT_AGENT_H

#include "dlang/vm/helpers.h"
#include "dlang/vm/lane.h"

#define AGENT_MAGIC   0x47414444 /* "DDAG" */
#define AGENT_VERSION 7

/* What hit() asks of the tracer: a copy of memory of the program, or actions of
 * a clause. */
enum agent_what {
	AGENT_BYTES,  /* `size' bytes; the answer is 0 or -1 */
	AGENT_STRING, /* up to a NUL, at most `size' bytes; the answer is the
		       * number of bytes with the NUL, or -1 */
	AGENT_REST,   /* the actions of an ECB: `addr' is agent_rest(), `size'
		       * the firing's timestamp, or 0 */
};

static inline uint64_t
agent_rest(uint32_t site_ref, uint32_t ecb_ref)
{
	return site_ref | (uint64_t)ecb_ref << 32;
}

/* The answer is -1 if there is no tracer any more. */
typedef int64_t agent_ask_fn(
    uint64_t what, uint64_t addr, void *buf, uint64_t size);

/* Memory of the program that can be read, in order of the addresses.  Code is
 * not in it: the tracer knows which bytes of it are not the program's. */
struct agent_ranges {
	uint64_t n;
	struct agent_range {
		uint64_t start, end;
	} at[];
};

/* The number of bytes from addr on that the first n entries of the table say can
 * be read; 0: it does not have addr. */
static inline uint64_t
agent_room(const struct agent_ranges *r, uint64_t n, uint64_t addr)
{
	uint64_t lo = 0;

	while (lo < n) {
		uint64_t mid = lo + (n - lo) / 2;
		if (r->at[mid].end <= addr)
			lo = mid + 1;
		else if (r->at[mid].start > addr)
			n = mid;
		else
			return r->at[mid].end - addr;
	}
	return 0;
}

/* If the instruction at `load' faults, the register of results becomes -1 and
 * the thread goes on at `on'.  Each is relative to its own address. */
struct agent_fixup {
	int32_t load, on;
};

/* One for each address space.  The tracer writes it before the first hit.  All
 * addresses are those of the target. */
struct agent {
	uint32_t magic, version; /* AGENT_*: as in the blob */
	/* The image: what this process needs of the tracer's image, mapped
	 * read-only.  References mean the same.  Its size may grow; its address stays. */
	uint64_t image_base;
	uint32_t image_size;
	uint32_t store_size;
	uint64_t store_base; /* the thread store */
	uint64_t code; /* vm_env's: machine code of DIFOs; 0: there is none */
	/* clock_gettime() of the vDSO, if it makes no system call, that is, if
	 * the vDSO can read the kernel's clocksource.  Otherwise 0: then
	 * clauses that need the time or record something do not run in the
	 * target (dlang/image/inside.h), and records of faults have the time
	 * 0. */
	uint64_t clock;
	uint64_t ranges; /* a struct agent_ranges; 0: all memory is read by the
			  * tracer.  Changed while threads run. */
	uint32_t space;  /* for rec_sym: the address space's stamp, now */
	uint32_t broken; /* a lane was not valid: nothing fires any more */
	uint32_t processor; /* stub_processor() of inject/stub.h */
	uint32_t spare;
};

struct agent_table {
	uint32_t magic, version;
	struct agent *agent;
	/* Fire a tracepoint in a lane: step 4 above. */
	void (*hit)(struct lane *lane, uint32_t tp_id, agent_ask_fn *ask);
	/* The time, and strings, for bodies: agent_now(), agent_text(). */
	uint64_t (*now)(struct lane *lane);
	int64_t (*text)(struct lane *lane, uint64_t addr, char *buf,
	    uint32_t limit, uint32_t size, uint32_t fill);
	const struct agent_fixup *fixups, *fixups_end;
	const struct vm_helpers *helpers; /* for machine code of DIFOs */
	/* For tests: the VM with an environment of the caller. */
	void (*fire_tracepoint)(struct vm_env *, uint32_t tp_id);
	void (*fire_probe)(struct vm_env *, uint32_t probe_ref);
	int (*run)(struct vm_env *, const struct img_difo *, uint64_t *);
};

extern const struct agent_table agent_table;

/* hit.c */
extern struct agent agent;
void agent_hit(struct lane *lane, uint32_t tp_id, agent_ask_fn *ask);
/* vm_ops for the target (ops.c); ctx is the struct lane. */
extern const struct vm_ops agent_ops;
/* ops.c: CLOCK_MONOTONIC in ns, within a microsecond, and never less than the last
 * answer in this lane. */
uint64_t agent_now(struct lane *lane);

/* load.c: ask the tracer.  -1: there is none any more. */
int64_t agent_ask(const struct vm_env *env, enum agent_what what, uint64_t addr,
    void *buf, uint64_t size);
/* load.c: load and load_str of vm_ops. */
int agent_load(struct vm_env *env, uint64_t addr, void *buf, uint32_t len);
int64_t agent_load_str(
    struct vm_env *env, uint64_t addr, char *buf, uint32_t size);
/* load.c: copy a string of the program, of which `limit' bytes are looked at, as
 * vm_copy_str() does for `size' bytes.  limit is at most size.  What follows the NUL
 * is 0 up to a multiple of 8 bytes of buf, and at least up to `fill', which is one.
 * Returns the number of bytes with the NUL; or -1 if only the VM can do it: the address
 * is not the program's, or the tracer must read. */
int64_t agent_text(struct lane *l, uint64_t addr, char *buf, uint32_t limit,
    uint32_t size, uint32_t fill);

/* ---- the machine's ---- */

/* The number of the processor on which the thread runs. */
uint32_t agent_cpu(void);
/* machine_ticks() of dlang/base/machine.h. */
uint64_t agent_ticks(void);
/* Copy n bytes of the program's memory.  0, or -1 after a fault; then some may
 * have been copied. */
int64_t agent_copy(void *dst, uint64_t src, uint64_t n);
/* The word at an address that is a multiple of 8.  0, or -1 after a fault. */
int64_t agent_word(uint64_t src, uint64_t *word);
/* The section agent_fixups, in which the machine puts them. */
extern const struct agent_fixup __start_agent_fixups[], __stop_agent_fixups[];

#endif
