/*
 * Tracepoints: addresses whose instruction has been displaced by an int3.
 *
 * A table belongs to one address space.  It knows nothing of probes: its users
 * count references and hang a pointer on each tracepoint.
 *
 *             get(first) + commit
 *     IDLE ---------------------------> TRAP
 *      ^                                 |
 *      | no thread in its slot           | put(last) + commit
 *      +----------- DRAINING <-----------+
 *
 *     exec, exit, unmap: from any state to GONE; nothing is restored
 *
 * In state TRAP the int3 may give way to a jump, and comes back before the
 * tracepoint leaves that state:
 *
 *               tracepoint_raise()
 *         INT3 ------------------> JUMP
 *          ^                         |
 *          +--- tracepoint_lower() --+
 *
 * Adding and removing only queue a change; tracepoint_commit() writes all of
 * them while every thread of the address space is stopped: O(changes) writes
 * under one stop.  On the way in the slot is filled before the int3 is
 * written; on the way out bytes are compared before they are restored, as
 * someone else may have patched there.
 */
#ifndef INJECT_TRACEPOINT_H
#define INJECT_TRACEPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "disasm/insn.h"
#include "dlang/uregs.h"
#include "inject/target.h"
#include "inject/trap/area.h"

struct displaced; /* the plan for the displaced instruction: displaced.h */
struct tptable;

enum tp_state { TP_IDLE, TP_TRAP, TP_DRAINING, TP_GONE };

struct tracepoint {
	uint64_t addr;
	uint32_t id;   /* unique in the tracer; handed in by the caller */
	uint32_t refs; /* sites that need it */
	enum tp_state state;
	trap_insn saved; /* the code under the trap instruction */
	uint8_t len;     /* of the displaced instruction */
	bool queued;     /* a change waits for commit */
	bool was_trap;   /* the program had its own int3 here */
	bool late;     /* after our death it is the last to go (trap/area.h) */
	bool jumps;    /* a jump stands there in place of the int3 */
	uint64_t slot; /* out-of-line slot, 0 when emulated */
	struct displaced *plan;
	void *user; /* the caller's: who fires here */
};

/* The target is borrowed and must outlive the table. */
struct tptable *tptable_create(struct target *t);

/* Frees everything without touching the target (exec, exit). */
void tptable_destroy(struct tptable *tab);

/*
 * A tracepoint at addr: the one that is there, with one more reference, or a
 * new one, decoded and planned.  Errors, with *why naming the reason in one
 * phrase: -EILSEQ no instruction, -EOPNOTSUPP an instruction that cannot be
 * displaced, -EFAULT unreadable.
 */
int tracepoint_get(struct tptable *tab, uint64_t addr, uint32_t id,
    struct tracepoint **tp, const char **why);

/* One reference less; at none the tracepoint is queued for removal. */
void tracepoint_put(struct tptable *tab, struct tracepoint *tp);

/*
 * Carry out what is queued.  All threads stopped.  A tracepoint that cannot
 * be armed (no slot within reach, say) is reported to `failed' and left as it
 * was; the rest goes on.  Returns the number that failed.
 */
unsigned tracepoint_commit(struct tptable *tab,
    void (*failed)(void *ctx, struct tracepoint *, const char *why), void *ctx);

/*
 * Where many are to be armed: how many; memory in the target for them, all
 * threads stopped; and as much of the commit as can be done while they run.  The
 * commit then finds less to do; without these it does everything.
 */
size_t tptable_arming(const struct tptable *tab);
void tracepoint_reserve(struct tptable *tab);
void tracepoint_prepare(struct tptable *tab);

/*
 * A jump to `to' in place of the int3: over the bytes [addr, addr + 5), which the
 * caller knows to be whole instructions (and what nothing reaches behind them),
 * into the middle of which nobody goes and no thread is about to return.  All
 * threads stopped, none with its pc between addr and the end.  0; -EINVAL: an
 * int3 is there, or not on the list of what outlives us, or to is out of reach,
 * or another tracepoint or the end of the page is within; -EBUSY: other bytes
 * are; -EFAULT, and then the int3 stands.
 */
int tracepoint_raise(struct tptable *tab, struct tracepoint *tp, uint64_t to);
/* The int3 again, if it was not there.  All threads stopped.  Errors as above;
 * allocates nothing. */
int tracepoint_lower(struct tptable *tab, struct tracepoint *tp);
/* The same for all that have a jump within [start, end). */
void tracepoint_lower_all(struct tptable *tab, uint64_t start, uint64_t end);

/* As many bytes as were read at tp in a copy of the memory, a fork's child's,
 * become the program's own where they are ours.  How many are to be written
 * back: 0, if none is. */
size_t tracepoint_undo(
    const struct tracepoint *tp, uint8_t bytes[TRAP_JUMP_LEN]);

/* The tracepoint that has its int3, or its jump, at addr now, or NULL. */
struct tracepoint *tracepoint_lookup(struct tptable *tab, uint64_t addr);

/*
 * Is a trap that arrives at addr (pc - 1) ours although no tracepoint stands
 * there any more?  Then the thread only has to be backed up to addr.
 */
bool tracepoint_recent(struct tptable *tab, uint64_t addr);

/* Every tracepoint in table order; NULL after the last. */
struct tracepoint *tracepoint_next(
    struct tptable *tab, struct tracepoint *prev);

/* Put original bytes over ours in buf, which was read from addr. */
void tracepoint_overlay(
    struct tptable *tab, uint64_t addr, void *buf, size_t len);

/*
 * Restore every byte we changed, now, keeping the table: what was TRAP is
 * DRAINING.  The caller moves threads out of slots (resume_leave_slot).
 * Allocates nothing, so that a tracer out of memory can do it.  Returns the
 * number of places left alone because other bytes stood there.
 */
unsigned tracepoint_restore_all(struct tptable *tab);

/*
 * Suspended, no tracepoint has its int3 in the text, whoever refers to it:
 * the next commit takes out those that are there, and after the end of it the
 * next commit puts in those that are wanted by then.
 */
void tracepoint_suspend(struct tptable *tab, bool suspended);

/* From now on int3s are written also where trapset.h does not list them. */
void tracepoint_unlisted(struct tptable *tab);

/* What outlives us in the address space: trapset.h.  What is committed is in
 * it first, or is not committed (see above); that it is mapped is the caller's
 * business. */
struct trapset *tptable_traps(struct tptable *tab);

/* Where its first tracepoint is, or 0. */
uint64_t tptable_near(const struct tptable *tab);

/* A dead tracer's int3 stood at addr: a trap that is still under way there is
 * ours now (tracepoint_recent). */
void tracepoint_inherit(struct tptable *tab, uint64_t addr);

/* Does a change wait for tracepoint_commit()? */
bool tptable_queued(const struct tptable *tab);

/* A copy of the table for a fork's child, whose memory has our int3s in it:
 * same tracepoints, same slots, states as they are; user pointers are NULL. */
struct tptable *tptable_fork(const struct tptable *tab, struct target *child);

/*
 * Slots are cut from anonymous memory, in pieces of this size that begin with a
 * mark: so that what had to be left mapped, with a thread inside that could not
 * be woken, is known again.
 */
#ifdef DTRAP_SHRINK
#define SLOT_MEMORY 4096 /* for a handful of tracepoints */
#else
#define SLOT_MEMORY 65536 /* a few thousand, and little beside a process's */
#endif
#define SLOT_MARK 16
bool slot_memory_is_marked(const uint8_t bytes[SLOT_MARK]);

/* Unmap slot memory that no thread can be in.  After restore_all(), with every
 * thread out of its slot.  Pages that are still in use are left mapped. */
void tptable_release_slots(struct tptable *tab);

/* Forget tracepoints in [start, end) without writing: the memory is gone. */
void tracepoint_forget(struct tptable *tab, uint64_t start, uint64_t end);

#endif
