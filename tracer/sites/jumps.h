/*
 * Option fastpath: replaces int3s by jumps to the code of a site
 * (inject/stub.h), and knows why a tracepoint has no jump.
 *
 * A tracepoint always gets an int3 first.  It gets a jump if its clauses can
 * run in the target (dlang/image/inside.h), if each hit fires, and if whole
 * instructions can be displaced (disasm/window.h).  At that moment no thread
 * may be at one of these instructions except the first, or return there.
 */
#ifndef TRACER_SITES_JUMPS_H
#define TRACER_SITES_JUMPS_H

#include <stddef.h>
#include <stdint.h>

struct fast_jump;
struct space;
struct region;
struct state;
struct store_sizes;
struct thread;
struct tracepoint;

/* Do what is possible while threads run: map the memory, find the instructions to
 * displace for each tracepoint of the space, write the code that jumps lead to.
 * Threads are stopped for a short time if memory has to be mapped. */
void jumps_prepare(struct state *st, struct space *sp);
/* All threads are stopped, and the queued tracepoints are committed: write a
 * jump for each tracepoint that may have one, and the int3 for each that may no
 * longer.  What fails because of a thread is tried again later. */
void jumps_commit(struct state *st, struct space *sp);
/* The space was created by fork: the memory of the parent's jumps is not mapped
 * in it.  All its jumps become int3s.  The caller commits, under option fastpath. */
void jumps_forked(struct state *st, struct space *sp);
/* A clause that ran at the tracepoint has asked for memory, and will ask for it
 * at the next hit again.  After some of these the tracepoint has an int3 for
 * good, which costs less. */
void jumps_asked(struct space *sp, struct tracepoint *tp);
/* Count a hit by trap in the space.  With option auto, and in a followed child, no
 * memory is mapped before there are many. */
void jumps_trapped(struct state *st, struct space *sp);
/* The trace begins: call fast_start().  From now on jumps are tried again in all
 * spaces; the caller commits what is allowed at once. */
void jumps_start(struct state *st, const struct region *image,
    const struct store_sizes *whole);

/* Replace the jump of the tracepoint by its int3 now.  The other displaced
 * bytes are the program's again. */
void jumps_lower(struct space *sp, struct tracepoint *tp);
/* A thread has left the code of the tracepoint and goes on in the text at pc.  If
 * that is not where the jump begins, the jump is replaced by the int3, because pc
 * may be in the middle of it.  So it is if the thread runs a goroutine: another thread
 * may go on with that. */
void jumps_let(
    struct state *st, struct space *sp, struct tracepoint *tp, uint64_t pc);

/* Free what this file keeps about a tracepoint (struct tp_user, jump); j may be
 * NULL. */
void jump_free(struct fast_jump *j);

/* For each of the n addresses in the space: why its code does not allow a jump, a
 * phrase that stays; NULL: it does.  Nothing in the process is changed, and it
 * needs no tracepoint there. */
void jumps_why_not(struct state *st, struct space *sp, const uint64_t *addr,
    size_t n, const char **why);

/* The space is about to lose its tracepoints: count those with a jump and those
 * without, by fast_note(). */
void jumps_account(struct state *st, struct space *sp);

#endif
