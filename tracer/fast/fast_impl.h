/*
 * What the files of this room share.
 *
 *	in the target, one after the other; P: one page
 *
 *	+-----+-------+------+------+------+--------+-------+--------------+
 *	| own | alive | text | data | code | tables | image | thread store |
 *	+-----+-------+------+------+------+--------+-------+--------------+
 *	  P      P                          RANGES_SIZE
 *
 * Text and data are the VM's, code is machine code of clauses (code.c), and
 * behind it rows of sites (bodies.c).
 *
 * `own' is private memory of the target; after a fork it is zero in the child.
 * Its first word is not 0 if the rest is mapped.  The rest is a memfd, which
 * the tracer has mapped as well.  A child of a fork has `own' and `alive', but
 * nothing else of this: the other pages are not mapped in it.
 */
#ifndef TRACER_FAST_FAST_IMPL_H
#define TRACER_FAST_FAST_IMPL_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "dlang/argloc.h"
#include "dlang/base/hash.h"
#include "dlang/base/vec.h"
#include "dlang/jit/jit.h"
#include "dlang/vm/lane.h"
#include "inject/agent/agent.h"
#include "inject/stub.h"
#include "tracer/fast/fast.h"

#define PAGE 4096U

/* The two tables of memory that can be read: struct agent_ranges. */
#define RANGES_SIZE (8 * PAGE)

/* A lane, and the thread that has it; NULL: it is free. */
struct lane_use {
	struct lane_view v;
	struct thread *owner;
};

/* All that the code of a body depends on; padding is 0. */
struct body_what {
	uint32_t clauses[JIT_BODY_CLAUSES], reads, changes, own, pins;
	struct argloc args[10]; /* those that it reads */
};

struct body_made {
	struct body_what what;
	uint8_t *code;
	size_t size; /* 0: it could not be made */
	uint32_t exits[2];
};

/* What a tracepoint has, as found in the image. */
struct body_seen {
	uint32_t clauses[JIT_BODY_CLAUSES];
	uint32_t nclauses; /* 0: the tracepoint can have no body */
	uint32_t epids[JIT_BODY_CLAUSES];
	uint32_t probe, nargs;
	uint32_t own;
	const struct argloc *args;
};

/* The row of a tracepoint. */
struct body_row {
	uint32_t tp_id;
	size_t made;        /* the code of the site has been made for this */
	uint32_t at, units; /* where it is, and how much */
	struct body_seen seen;
};

#define NONE_MADE SIZE_MAX

/* The bodies of one address space. */
struct bodies {
	uint8_t *base; /* in the tracer's mapping; NULL: there is no memory */
	VEC(struct body_made) made;
	VEC(struct body_row) rows; /* in the order of the rows there */
	uint32_t units;            /* of all rows */
	struct hash by_what;       /* index in `made', plus 1 */
};

/* A row consists of units of so many bytes: one, if its probe has one clause. */
#define ROW_UNIT 16U
/* The most units. */
#define ROWS_MOST   (1U << 17)
#define BODIES_SIZE (ROW_UNIT * ROWS_MOST)

/* The processor's count and the time, at one moment. */
struct ticks {
	uint64_t at, ns; /* ns 0: threads cannot tell the time from a count */
};

/* The memory of one address space. */
struct fast_space {
	uint64_t id;     /* from 1; 0: fast_space() was not called yet */
	const char *why; /* why clauses cannot run there; NULL: they can */
	uint64_t addr;   /* of `own' in the target; 0: not mapped */
	size_t size;     /* from addr to the end of the store */
	uint8_t *base;   /* of `alive' in the tracer; the rest follows */
	int alive;       /* result of alive_add(), or -1 */
	struct region image, store;
	VEC(uint32_t) copied; /* tracepoints whose sites the image has */
	uint32_t changes;     /* of the tracer's image, as it was copied */
	struct agent *agent;
	uint64_t now, text; /* agent_now() and agent_text(), in the target */
	bool
	    counts; /* threads count the time, and ask the vDSO each millisecond */
	uint64_t fixups_at;               /* in the target */
	const struct agent_fixup *fixups; /* the same, in the tracer's copy */
	size_t nfixups;
	struct agent_ranges *tables[2];
	unsigned table;        /* the one that is in use */
	uint64_t next_refresh; /* not before: CLOCK_MONOTONIC, ns */
	struct stub_world world;
	VEC(struct lane_use) lanes;
	struct bodies bodies;
};

/* n sites have no jump, for the reason `why'. */
struct note {
	char *why;
	uint64_t n, trapped; /* and their hits by trap */
};

struct fast {
	struct region image;             /* the tracer's */
	struct store_sizes whole;        /* most for one process */
	VEC(struct fast_space *) spaces; /* those that are mapped */
	uint64_t last_id;
	uint64_t hits;  /* in lanes that have been taken back */
	uint64_t traps; /* hits by trap */
	uint64_t rests; /* traps within hits by jump, for their actions */
	uint64_t jumps; /* sites with a jump */
	uint64_t jumps_trapped; /* their hits by trap */
	VEC(struct note) notes;
	enum activity activity;
	bool ready; /* the clock was tried, and `code' made */
	bool jit;   /* option jit */
	struct ticks ticks;
	/* Machine code of DIFOs, for a place code_at bytes behind the begin of
	 * the blob. */
	uint8_t *code;
	size_t code_size, code_at;
};

/* The target's address of the byte at p in the tracer's mapping. */
static inline uint64_t
fast_addr(const struct fast_space *f, const void *p)
{
	return f->addr + PAGE + (uint64_t)((const uint8_t *)p - f->base);
}

/* ---- lanes.c ---- */

/* The record of a space; all zeroes if it is new. */
struct fast_space *fast_begin(struct space *sp);
/* NULL: fast_space() was not called for the space.  The memory need not be
 * mapped. */
struct fast_space *fast_of(const struct space *sp);
/* The memory that is mapped in the thread's space, or NULL. */
struct fast_space *fast_there(const struct thread *th);

/* The memory is about to be unmapped: threads that still have a lane keep their
 * thread-local variables in the tracer's store.  Add the hits that lanes have counted
 * to st->fast->hits. */
void lanes_give_up(struct state *st, struct fast_space *f);
/* The process is about to be detached; its threads are stopped.  Take back the
 * lane of each thread and set its UREG_LANE to 0.  A thread in the middle of a
 * firing keeps its lane, and will not trap at the end. */
void lanes_let_go(struct state *st, struct proc *p);

/* All hits by jump so far. */
uint64_t lanes_hits(const struct state *st);

/* ---- ticks.c ---- */

/* Note the moment, if the kernel's clock is the processor's count. */
void ticks_begin(struct ticks *t);
/* What struct lane has of the names, from the time that has passed since; 0 both:
 * the thread is to ask the kernel's clock. */
void ticks_rate(
    const struct ticks *t, uint64_t *tick_most, uint64_t *tick_rate);

/* ---- loads.c ---- */

/* Write the table of memory that the process can read.  False: that was done a
 * moment ago, or /proc/PID/maps cannot be read. */
bool loads_refresh(struct fast_space *f, pid_t pid);

/* ---- code.c ---- */

/* Compile the DIFOs of the image, and note in the image where their code is.  If
 * `listing' is not NULL, print them with their code. */
void code_make(struct fast *f, FILE *listing);

/* ---- extract.c ---- */

/* No thread runs, or none fires yet: copy what the space needs of the tracer's image,
 * if that has changed. */
void extract_renew(
    const struct state *st, const struct space *sp, struct fast_space *f);

/* ---- bodies.c ---- */

/* The memory at base, BODIES_SIZE zeroed bytes, is for rows. */
void bodies_begin(struct fast_space *f, uint8_t *base);
/* The image has changed, and no thread runs: each row says whether its tracepoint still
 * has the body that it was made for. */
void bodies_renew(const struct state *st, struct fast_space *f);
/* No thread runs: no body does anything any more. */
void bodies_stop(struct fast_space *f);
void bodies_end(struct fast_space *f);

/* ---- report.c ---- */

/* Free the notes. */
void report_end(struct fast *f);

/* ---- blob.c ---- */

/* The linked program of inject/agent/; empty on a machine without it. */
extern const unsigned char agent_blob[];
extern const size_t agent_blob_size;

struct blob {
	size_t text, size; /* bytes of the text and of all, in whole pages */
};

/* False: this machine has no blob. */
bool blob_measure(struct blob *b);
/* Write the blob to base, relocated for the address addr.  Returns the offset
 * of its struct agent_table from base. */
size_t blob_load(uint8_t *base, uint64_t addr);
/* The byte of the blob's text at this offset from its beginning, which no
 * target can change. */
const void *blob_at(size_t offset);

/* ---- alive.c ---- */

/*
 * The first 32-bit word of the file fd becomes alive_owner().  When the tracer
 * ends, however that happens, the kernel changes the word, before any traced
 * process runs again.  Returns a number for alive_remove(), or -1 if this is
 * not possible.
 */
int alive_add(int fd);
/* Set the word to 0 and forget it.  n may be -1. */
void alive_remove(int n);
/* The calling thread's id. */
uint32_t alive_owner(void);

#endif
