/*
 * The stores: all memory that clauses write.  There are two kinds.
 *
 * The tracer's store, one a run, is mapped by the tracer alone:
 *
 *	+-----------+---------+-------------------+--------+
 *	| store_hdr | statics | dynamic variables | lane 0 |
 *	+-----------+---------+-------------------+--------+
 *
 * A thread store, one for each address space in which clauses run inside the
 * target, is mapped by both.  It has no globals:
 *
 *	+-----------+-------------------+-------------------+----
 *	| store_hdr | gap, stack, lane  | gap, stack, lane  | ...
 *	+-----------+-------------------+-------------------+----
 *
 *	lane:
 *	+------+--------+---------+--------+--------+-------+---------------+
 *	| lane | vm_env | clause- | self-> | scratch| ring  | two areas of  |
 *	|      |        | locals  |        |        |       | aggregations, |
 *	|      |        |         |        |        |       | speculations  |
 *	+------+--------+---------+--------+--------+-------+---------------+
 *	         (threads)          (threads)                 (tracer)
 *
 * A lane is the memory of one writer, which can fire without waiting for
 * another writer.  Lane 0 of the tracer's store is for the trap path.  In a
 * thread store each thread has a lane (lane.h); the writer is the thread while
 * it runs, and the tracer while the thread is stopped.
 *
 * The target can overwrite a thread store.  Therefore the layout of a lane is
 * read once, before the target can write (store_view()), and values that are
 * read later are bounds checked.
 *
 * Letters say who writes a member: [I] nobody after publication, [W] the lane's
 * writer, [C] the consumer, [G] the tracer when it gives the lane to a thread.
 */
#ifndef DLANG_VM_STORE_H
#define DLANG_VM_STORE_H

#include "dlang/dif.h"
#include "dlang/uregs.h"
#include "dlang/vm/region.h"

#define STORE_MAGIC   0x54534444 /* "DDST" */
#define STORE_VERSION 2

enum activity {
	ACTIVITY_INACTIVE, /* nothing fires */
	ACTIVITY_WARMUP,   /* BEGIN only */
	ACTIVITY_ACTIVE,
	ACTIVITY_DRAINING, /* exit() was called: END and ERROR only */
	ACTIVITY_COOLDOWN, /* END runs */
	ACTIVITY_STOPPED,
};

/* Losses, by cause; never reset: the consumer reports differences. */
enum drop_kind {
	DROP_PRINCIPAL,
	DROP_AGG,
	DROP_DYNAMIC,
	DROP_DYN_RINSING,
	DROP_DYN_DIRTY,
	DROP_SPEC,
	DROP_SPEC_BUSY,
	DROP_SPEC_UNAVAIL,
	DROP_STKSTR,
	DROP_DBLERROR,
	DROP_KERNEL, /* records that the kernel could not write: records.h */
	DROP_NESTED,
	DROP_COUNT
};

/* What happens when a principal buffer is full (buf.h).  The numbers are those
 * of enum option_policy, which this room may not include; image.c asserts
 * it. */
enum buf_policy { BUF_SWITCH, BUF_FILL, BUF_RING };

struct store_hdr {
	uint32_t magic, version; /* [I] */
	uint32_t size;           /* [I] */
	uint32_t threads;        /* [I] 1: a thread store */
	uint32_t statics_ref;    /* [I] */
	uint32_t dyn_ref;        /* [I] struct dyn_hdr, dyn.c */
	uint32_t lanes_ref;      /* [I] first lane */
	uint32_t lane_size;      /* [I] distance between two */
	uint32_t nlanes;         /* [I] */
	uint32_t activity;       /* enum activity */
	int32_t exit_status;     /* argument of the first exit(); one in END
				  * replaces it */
	uint32_t exit_called;
	uint32_t policy;   /* [I] enum buf_policy */
	uint32_t end_room; /* [I] policy fill: bytes kept for END's records */
};

struct lane {
	/* Thread store: members that the code at a site uses.  LANE_* below are
	 * the offsets. */
	uint64_t busy; /* [W] rsp of the thread when a firing began; 0: none is
			* under way */
	uint64_t lost; /* [W] hits that came while it was busy */
	uint64_t hits; /* [W] firings begun */
	/* The code at a site compares these with its thread, and does not write
	 * to a lane of another one.  self: the lane's address in the target; 0:
	 * the lane is free.  memory: UREG_THREAD of the thread.  The stack is
	 * compared, too (stack_at, below). */
	uint64_t self, memory; /* [G] */
	uint64_t call; /* [G] not 0: the thread must trap at the end of the
			* present firing */
	/* A signal came after the site at skip_at had fired, and before the
	 * instructions there ran.  The next hit there with the stack pointer
	 * skip_sp does not fire.  skip_sp is 0 if there was no such signal. */
	uint64_t skip_sp, skip_at; /* [W], [G] */
	/* The memory in which the thread's stack is.  A thread that was created
	 * unseen may have the same registers as its creator, but not the same
	 * stack.  0: not known; the first hit traps. */
	uint64_t stack_at, stack_len; /* [G] */
	struct uregs regs; /* [W] of the hit; rip and rsp as at the site */

	/* Thread store: the thread that has the lane; `thread' is 0 if none. */
	uint64_t thread;   /* [G] vm_env's */
	uint32_t pid, tid; /* [G] for record headers */
	uint32_t followed; /* [G] vm_env's */
	uint32_t number;   /* [I] of the lane in its store */
	uint64_t wall;     /* [W] walltimestamp of the firing; 0: not read */
	uint64_t ask;      /* [W] how the firing asks the tracer */
	uint64_t clock;    /* [G] agent_now() for bodies; 0: there is none */
	uint64_t text;     /* [G] agent_text(), the same */

	/* How a thread tells the time (CLOCK_MONOTONIC) from a count of the
	 * processor, in most cases.  When the count was tick_at, it was tick_ns.
	 * That is good for tick_most counts, each of tick_rate / 2^32 ns; then the
	 * thread asks the kernel's clock again.  0: the thread always does. */
	uint64_t tick_most;        /* [G] [W] */
	uint64_t tick_rate;        /* [G] */
	uint64_t tick_at, tick_ns; /* [W] */
	uint64_t tick_last; /* [W] the last answer: no later one is less */

	uint32_t size; /* [I] of the lane, this struct included */
	uint32_t locals_ref, locals_size; /* [I] */
	uint32_t self_ref; /* [I] struct dyn_hdr; 0: with the arrays */
	uint32_t scratch_ref, scratch_size; /* [I] */
	uint32_t buf_ref, buf_size;         /* [I] principal buffer */
	uint32_t agg_ref, agg_size;   /* [I] struct agg_hdr, agg.c; two, one
				      * behind the other, of so many bytes */
	uint32_t spec_ref, spec_size; /* [I] speculations, spec.c */
	uint32_t full; /* [W] policy fill: closed, because a record did not
			* fit */
	uint32_t pins_ref, npins; /* [I] struct agg_pin, agg.h */
	uint32_t agg_area; /* [C] which area is written: its lowest bit.  Each
			    * change makes it a number that it never was */
	uint32_t agg_busy; /* [W] odd while an aggregation is written */
	uint64_t head;     /* [W] bytes ever written: next write */
	uint64_t tail;     /* [C] bytes ever read (policy ring: [W]) */
	uint64_t reserved; /* [W] bytes that buf_commit() adds to head */
	uint64_t random;   /* [W] state of rand(); 0: not seeded */
	uint64_t drops[DROP_COUNT]; /* [W] */
};

/*
 * For generated code.  The stack for a firing ends at the lane: rsp starts at
 * the address of the lane and grows down.  It has LANE_STACK bytes;
 * t/vm/stack.sh computes how much dtrap's code needs.  Below it are LANE_GAP
 * unused bytes, so that an overflow does not reach another lane.  Both are
 * whole pages, and the gap may be mapped without access.  A signal handler of
 * the target needs more stack: the tracer, which delivers signals, holds them
 * back until the thread has left this stack.
 */
#define LANE_BUSY     0
#define LANE_LOST     8
#define LANE_HITS     16
#define LANE_SELF     24
#define LANE_MEMORY   32
#define LANE_CALL     40
#define LANE_SKIP_SP  48
#define LANE_SKIP_AT  56
#define LANE_ROOM_AT  64
#define LANE_ROOM_LEN 72
#define LANE_REGS     80
#define LANE_STACK    16384
#define LANE_GAP      4096

static_assert(offsetof(struct lane, busy) == LANE_BUSY &&
	offsetof(struct lane, lost) == LANE_LOST &&
	offsetof(struct lane, hits) == LANE_HITS &&
	offsetof(struct lane, self) == LANE_SELF &&
	offsetof(struct lane, memory) == LANE_MEMORY &&
	offsetof(struct lane, call) == LANE_CALL &&
	offsetof(struct lane, skip_sp) == LANE_SKIP_SP &&
	offsetof(struct lane, skip_at) == LANE_SKIP_AT &&
	offsetof(struct lane, stack_at) == LANE_ROOM_AT &&
	offsetof(struct lane, stack_len) == LANE_ROOM_LEN &&
	offsetof(struct lane, regs) == LANE_REGS,
    "generated code");

/* The size of a lane of a thread store and of its stack is a multiple of
 * this. */
#define STORE_PAGE 4096

/* Unused bytes before scratch: an access there is an error of a program that
 * meant scratch. */
#define SCRATCH_GAP 64

struct store_sizes {
	bool threads; /* a thread store */
	uint32_t nlanes;
	uint32_t bufsize, aggsize, dynvarsize, scratch;
	uint32_t npins; /* in each lane */
	uint32_t policy;
	uint32_t end_room;
};

/* Is dynvarsize large enough for at least one dynamic variable, if programs
 * have any? */
bool store_has_room(const struct img_hdr *im, uint32_t dynvarsize);
/*
 * The sizes for a thread store with nlanes lanes.  None has more than bufsize,
 * aggsize and dynvarsize of `whole'.  Many lanes share these or, if `roomy' and
 * that is more, 16 MiB of records and 128 MiB of aggregations.  But each has room
 * for at least two records of the largest clause, a few entries of aggregations,
 * and a few variables of the thread.  Pages that are never written cost no memory.
 */
struct store_sizes store_share(const struct img_hdr *im,
    const struct store_sizes *whole, uint32_t nlanes, bool roomy);

/* The size of a store for this image, in bytes; 0 if it does not fit 32
 * bits. */
uint32_t store_size(const struct img_hdr *im, const struct store_sizes *s);

/* Lay out a zeroed region of at least that size.  0 or -1 (too small). */
int store_init(
    struct region *r, const struct img_hdr *im, const struct store_sizes *s);

struct store_hdr *store_hdr(const struct region *r);

/* Dynamic variables: where they are (dyn.c has the picture). */
struct dyn_view {
	struct dyn_hdr *hdr; /* NULL: there are none */
	uint32_t *bucket;
	uint8_t *chunk;
	uint32_t mask; /* buckets - 1 */
	uint32_t chunks, chunk_size, chunk_ref;
};

/* One area of aggregations, from ref to end; entries begin at `first'. */
struct agg_view {
	struct agg_hdr *hdr; /* NULL: there is none */
	uint32_t ref, first, end;
	uint32_t mask; /* buckets - 1 */
};

/*
 * A checked copy of a lane's layout, in memory that the target cannot write:
 * the words marked [I], and pointers of this process to the parts.  A missing
 * part is NULL, and its size 0.
 */
struct lane_view {
	const struct img_hdr *image;
	uint8_t *base; /* the begin of the store, from which references count */
	struct store_hdr *store;
	struct lane *lane; /* NULL: the view is empty */
	uint32_t number;   /* of the lane in the store */
	uint32_t lane_size;
	uint8_t *statics, *locals, *scratch, *buf;
	struct agg_view aggs[2];
	struct agg_pin *pins;
	uint32_t npins;
	struct spec *spec;
	uint32_t statics_ref, locals_ref, scratch_ref;
	uint32_t statics_size, scratch_size, buf_size;
	uint32_t policy, end_room;
	bool threads;         /* of a thread store */
	struct dyn_view dyn;  /* associative arrays; a thread store has none */
	struct dyn_view self; /* self->: of the thread, or with the arrays */
	uint32_t thread_end;  /* thread store: clauses may read from locals_ref
			       * to here */
};

/* The region of VM addresses of clause-locals and self-> in this lane. */
static inline uint64_t
lane_region(const struct lane_view *v)
{
	return v->threads ? VMA_THREADS : VMA_STORE;
}

/* Make the view of lane n of a store that was made for this image.  False, and
 * an empty view, if there is no such lane or its layout is not valid. */
bool store_view(const struct region *image, const struct region *store,
    uint32_t n, struct lane_view *v);

#endif
