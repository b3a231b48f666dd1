/*
 * Shared by watch.c, and watch_frame.c for variables in stack frames.
 */
#ifndef TRACER_PROV_WATCH_H
#define TRACER_PROV_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "dlang/base/vec.h"
#include "symbols/dwarf_source.h"
#include "tracer/base/part.h"
#include "tracer/ptrace/datawatch.h"

struct probe;
struct space;
struct state;
struct thread;

/* What is watched in one address space; its index is the watches' id. */
struct watched {
	struct probe *probe;
	uint32_t space; /* addrspace_id() */
	uint64_t addr;  /* 0: in the frames of a function */
	unsigned len;
	enum datawatch_how how;
	uint64_t value;  /* at the last access */
	uint64_t unseen; /* accesses without a stop */
	bool refused;    /* the user was told that a thread is without it */
	/* Of the function, its addresses in the process; entry 0: in no frame. */
	struct dwarf_kept kept;
};

/* Part of the session. */
struct watching {
	VEC(struct watched) list;
	bool begun;
};

struct watching *watching_of(struct state *st);
bool watch_is_in(const struct watched *w, const struct thread *th);
bool watch_is_enabled(const struct watched *w);
/* Watch in a thread, at addr. */
void watch_arm(struct state *st, struct watched *w, uint32_t id,
    struct thread *th, uint64_t addr);
/* The value at addr. */
uint64_t watch_value(
    const struct thread *th, const struct watched *w, uint64_t addr);

/*
 * A variable in the frames of a function: watched from the entry of a call on, in
 * the thread that makes it, until an access to its place shows that the call has
 * ended.  Of calls inside each other, the outermost one's.
 */
/* Notice calls of the function in a space. */
void watch_frame_begin(
    struct state *st, struct space *sp, const struct watched *w);
/* The thread has accessed the place.  True: in the frame it was watched for; then
 * words[] are the value before, the one after, and the address. */
bool watch_frame_accessed(
    struct thread *th, const struct watched *w, uint32_t id, uint64_t words[3]);

#endif
