/*
 * What the files of this room share.
 *
 *	in the target, one behind the other; P: a page
 *
 *	+-----+-------+------+------+-------+---------------+
 *	| own | alive | text | data | image |  thread store |
 *	+-----+-------+------+------+-------+---------------+
 *	  P      P
 *
 * `own' is memory of the target's alone, which a fork's child finds zeroed; its
 * first word says that the rest is there.  The others are a file of memory, which we
 * have mapped as well.  A fork's child has `own' and `alive', and nothing of the
 * rest.
 */
#ifndef TRACER_FAST_FAST_IMPL_H
#define TRACER_FAST_FAST_IMPL_H

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

#include "dlang/base/vec.h"
#include "dlang/vm/lane.h"
#include "inject/agent/agent.h"
#include "inject/stub.h"
#include "tracer/fast/fast.h"

#define PAGE 4096U

/* A lane, and who has it; NULL: nobody. */
struct lane_use {
	struct lane_view v;
	struct thread *owner;
};

/* Of a space: its memory. */
struct fast_space {
	uint64_t id;
	const char *why; /* it is not there; NULL: it is */
	uint64_t addr;   /* of `own' in the target; 0: not there */
	size_t size;     /* from there to the end of the store */
	uint8_t *base;   /* where we have it: `alive' is at base, and so on */
	int alive;       /* alive.c's number; -1 */
	struct region image, store;
	struct agent *agent;
	struct stub_world world;
	VEC(struct lane_use) lanes;
};

/* So many places have no jump, for this reason. */
struct note {
	char *why;
	uint64_t n;
};

struct fast {
	struct region image;             /* the tracer's */
	struct store_sizes whole;        /* of one process */
	VEC(struct fast_space *) spaces; /* those that are there */
	uint64_t last_id;
	uint64_t hits; /* in lanes that have been taken back */
	uint64_t traps, jumps;
	VEC(struct note) notes;
	enum activity activity;
};

/* NULL: none was tried. */
struct fast_space *fast_of(const struct space *sp);

/* The target's address of what is at p, in memory that both have. */
static inline uint64_t
fast_addr(const struct fast_space *f, const void *p)
{
	return f->addr + PAGE + (uint64_t)((const uint8_t *)p - f->base);
}

/* ---- lanes.c ---- */

/* The memory goes: what was counted there is kept. */
void lanes_give_up(struct state *st, struct fast_space *f);
/* The threads of the process do not find their lanes any more. */
void lanes_let_go(struct state *st, struct proc *p);

uint64_t lanes_hits(const struct state *st);

/* ---- report.c ---- */

void report_end(struct fast *f);

/* ---- blob.c ---- */

/* inject/agent/, linked; nothing on a machine without it. */
extern const unsigned char agent_blob[];
extern const size_t agent_blob_size;

struct blob {
	size_t text, size; /* whole pages: of the text, of all */
};

/* False: there is none. */
bool blob_measure(struct blob *b);
/* Write it to base, as it is to be run at addr.  Where its table is, from base. */
size_t blob_load(uint8_t *base, uint64_t addr);

/* ---- alive.c ---- */

/*
 * The word at fd's begin, and at `*word' in our memory, is alive_owner() from now
 * on and as long as we live: the kernel makes it another when we die, before any
 * process that we trace runs on.  Its number, or -1.
 */
int alive_add(int fd);
void alive_remove(int n);
uint32_t alive_owner(void);

#endif
