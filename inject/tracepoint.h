/*
 * Tracepoints: addresses whose first byte is an int3, and whose instruction is
 * displaced.  tracer/sites/ creates them, tracer/fire/ looks them up at a hit.
 *
 * A table belongs to one address space.  It knows no probes: its users count
 * references, and keep a pointer of their own in each tracepoint.
 *
 *             get(first) + commit
 *     IDLE ---------------------------> TRAP
 *      ^                                 |
 *      | no thread in its slot           | put(last) + commit
 *      +----------- DRAINING <-----------+
 *
 *     exec, exit, unmap: from any state to GONE; nothing is restored
 *
 * In state TRAP a jump may replace the int3.  The int3 comes back before the
 * tracepoint leaves that state:
 *
 *               tracepoints_jump()
 *         INT3 ------------------> JUMP
 *          ^                         |
 *          +--- tracepoint_lower() --+
 *
 * The jump may begin before the int3, at an instruction from which control
 * always comes to that of the tracepoint.  It may then end before the int3, which
 * stays, and which no thread reaches.
 *
 * Tracepoints too close to each other for two jumps share one.  It belongs to the
 * first; the others ride on it:
 *
 *	text	(A) mov (%rdi), %eax	jmp ->	code of A	fires A
 *		(B) ret			|		mov (%rdi), %eax
 *		    nop; nop		|		jmp ->	code of B
 *		next: ...		v				fires B
 *								ret
 *
 *          A     B
 *         INT3  INT3 <------ A, B: any of them leaves TRAP; its thread leaves the
 *          |     |           code of either for an address behind A; an int3 is to
 *          |     |           be written in [A, B]; fork, in the copy
 *          |     |           ^
 *          v     v           | tracepoint_lower(), of A or of B: both int3s stand
 *         JUMP  rides -------+
 *              tracepoints_jump(): the jump of A is the last thing written
 *
 *   - From the begin of A's jump up to B no thread and no branch is or comes between
 *     instructions, but by the code of A: so B is reached from there alone.
 *   - B's int3 lies under A's jump, or behind it, where no thread reaches it.  Its
 *     place stays on the list for our death (trap/area.h): whatever is done there
 *     is done to a byte that is an int3, and no byte of a jump is one.
 *   - They never change but together: any is lowered by lowering A.  So no state has
 *     A's jump over a B that is not TRAP.
 *   - The code of A leads to that of B for ever, as threads may be in it.  A thread
 *     that left A before both were lowered, and then comes to B's code, fires B
 *     there and nowhere else: the code ends behind B's int3.
 *   - All of them are in one page, so that memory that is unmapped has all or none.
 *
 * Where there is no room for a jump, a shorter one leads to a board: TRAP_JUMP_LEN
 * bytes of padding in the same page, where the jump to the code is.
 *
 *	text	(A) mov %rdi, %rax	jmp, short ---+
 *	next: ...				      |
 *		    nop			board:	<-----+
 *						jmp -> code of A
 *
 *   - Nothing else leads to the padding, so it may stay a board while there is no
 *     short jump.  It is written before the first one, and restored when no thread
 *     can be at it: by tracepoint_restore_boards().
 *   - It belongs to A.  No jump and no int3 of another tracepoint has a byte of it.
 *   - A thread at the board is in the code of A, before its first instruction.
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

#include "disasm/window.h"
#include "dlang/uregs.h"
#include "inject/target.h"
#include "inject/trap/area.h"

struct stub_body;
struct stub_world;
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
	bool was_trap;   /* the program itself has an int3 here */
	bool late;  /* if the tracer dies, it is restored last (trap/area.h) */
	bool jumps; /* a jump has replaced the int3 */
	bool rides; /* that jump is of another tracepoint, which is before it */
	uint8_t before; /* the jump begins so many bytes before addr */
	uint64_t slot;  /* out-of-line slot, 0 when emulated */
	struct displaced *plan;
	void *user; /* the caller's: struct tp_user of tracer/sites/site.h */
};

/* The bytes of text between the begin of a jump and its end, or the end of the
 * last int3 behind it, are at most so many. */
#define TRACEPOINT_SPAN (INSN_MAX_LEN + TRAP_JUMP_LEN)

/* Where its own jump begins, if there is one. */
static inline uint64_t
tracepoint_start(const struct tracepoint *tp)
{
	return tp->addr - tp->before;
}

/* The length of the jump at a window. */
static inline unsigned
tracepoint_jump_len(const struct window *w)
{
	return w->board != 0 ? TRAP_SHORT_LEN : TRAP_JUMP_LEN;
}

/* Can a short jump at `from' lead to a board there? */
bool tracepoint_can_board(uint64_t from, uint64_t board);

/* The target is borrowed and must outlive the table. */
struct tptable *tptable_create(struct target *t);

/* Frees everything without touching the target (exec, exit). */
void tptable_destroy(struct tptable *tab);

/*
 * Get the tracepoint at addr: an existing one with one more reference, or a new
 * one, decoded and planned.  Errors, with the reason in *why, one phrase:
 * -EILSEQ: not an instruction; -EOPNOTSUPP: an instruction that cannot be
 * displaced, or a board; -EFAULT: unreadable.
 */
int tracepoint_get(struct tptable *tab, uint64_t addr, uint32_t id,
    struct tracepoint **tp, const char **why);

/* Drop one reference.  Without references the tracepoint is queued for
 * removal. */
void tracepoint_put(struct tptable *tab, struct tracepoint *tp);

/*
 * Write all queued changes.  All threads must be stopped.  A tracepoint that
 * cannot be armed (no slot within reach, for example) is reported to `failed'
 * and left as it was; the others are still changed.  Returns the number that
 * failed.
 */
unsigned tracepoint_commit(struct tptable *tab,
    void (*failed)(void *ctx, struct tracepoint *, const char *why), void *ctx);

/*
 * For arming many tracepoints with short stops.  tptable_arming() is the number
 * to be armed.  tracepoint_reserve() maps memory for them; all threads must be
 * stopped.  tracepoint_prepare() does as much of the commit as is possible
 * while threads run.  The commit then has less to do; without these calls it
 * does everything.
 */
size_t tptable_arming(const struct tptable *tab);
void tracepoint_reserve(struct tptable *tab);
void tracepoint_prepare(struct tptable *tab);

/* Replace the jump by the int3 again, of all tracepoints that share it; does nothing
 * without a jump.  All threads must be stopped.  0; -EBUSY: the bytes have been
 * changed; -EFAULT: not written.  Allocates nothing. */
int tracepoint_lower(struct tptable *tab, struct tracepoint *tp);
/* The same for all jumps within [start, end). */
void tracepoint_lower_all(struct tptable *tab, uint64_t start, uint64_t end);

/*
 * The code of a site (inject/stub.h) for the window at tp, made if there is none
 * yet, with the body, which may be NULL; in the target after stubs_flush().
 * Threads may run if there is memory for it (stubs_reserve()).  Where the window ends
 * at a tracepoint that is to share the jump, w->onto is the address of that one's
 * code.  0, or -ENOMEM or -EINVAL with *why in one phrase.
 */
int tracepoint_stub(struct tptable *tab, struct tracepoint *tp,
    const struct stub_world *world, const struct stub_body *body,
    const struct window *w, const char **why);
/* Its address; 0: it has not been made. */
uint64_t tracepoint_stub_at(const struct tracepoint *tp);
/* Where its pieces are, and their sizes in bytes; the first one is at
 * tracepoint_stub_at().  Returns how many it has. */
unsigned tracepoint_stub_pieces(
    const struct tracepoint *tp, uint64_t addr[2], size_t size[2]);
/* What sites share: the address of the n'th such code.  Returns its size in bytes; 0:
 * there are not so many. */
size_t stubs_shared(const struct tptable *tab, size_t n, uint64_t *addr);
/* Map memory for the code of n sites near `near'.  All threads must be stopped. */
void stubs_reserve(struct tptable *tab, uint64_t near, size_t n);
/* Write new code of sites to the target, with the list of its int3s.  0; or
 * -EFAULT: none of the new code may be used. */
int stubs_flush(struct tptable *tab);
/* Is there a trap instruction of such code at addr? */
bool stubs_trap(const struct tptable *tab, uint64_t addr);
/* The process is going to run without a tracer, and a thread may be in such code:
 * make its int3s nops, for good.  All threads must be stopped. */
void stubs_silence(struct tptable *tab);
/*
 * Replace the int3s of these tracepoints, in order of their addresses, by jumps
 * to the code of each, over the TRAP_JUMP_LEN bytes from tracepoint_start() on; or
 * TRAP_SHORT_LEN, if it has a board.
 * The caller must know that these are whole instructions (or unreachable bytes
 * behind them), that no code jumps into the middle of them or of those up to the
 * tracepoint's, and that no thread will return there.  The same holds up to the
 * last tracepoint that shares the jump; of these the first is passed alone.  All
 * threads must be stopped, none of them there except at the begin.  Those that have
 * a jump afterwards have `jumps' set; the others keep their int3: an int3 of the
 * program is there, or the trapset cannot list the place, or the code is out of
 * reach, or another tracepoint or the end of the page is within the bytes or those of
 * the board, or the bytes have been changed or cannot be written.
 */
void tracepoints_jump(
    struct tptable *tab, struct tracepoint *const *tps, size_t n);

/* `bytes' were read at tracepoint_start() in the memory of a fork's child.
 * Replace dtrap's bytes among them by the program's own.  Returns the number of
 * bytes to write back; 0: none. */
size_t tracepoint_undo(
    const struct tracepoint *tp, uint8_t bytes[TRACEPOINT_SPAN]);

/* The tracepoint whose int3 or jump is at addr now, or NULL. */
struct tracepoint *tracepoint_lookup(struct tptable *tab, uint64_t addr);

/*
 * Is a trap that arrives at addr (pc - 1) from a tracepoint that was removed
 * meanwhile?  Then the caller only sets the pc back to addr.
 */
bool tracepoint_recent(struct tptable *tab, uint64_t addr);

/* The tracepoint after prev in table order (NULL: the first); NULL after the
 * last. */
struct tracepoint *tracepoint_next(
    struct tptable *tab, struct tracepoint *prev);

/* buf was read at addr: replace dtrap's bytes in it by the original ones. */
void tracepoint_overlay(
    struct tptable *tab, uint64_t addr, void *buf, size_t len);

/*
 * Restore every changed byte now, and keep the table: each TRAP becomes
 * DRAINING.  The caller moves threads out of slots (resume_leave_slot).
 * Allocates nothing, so that a tracer without memory can call it.  Returns the
 * number of places that were not restored because they had been changed.
 */
unsigned tracepoint_restore_all(struct tptable *tab);
/* The same for boards, to which no short jump leads any more, and at which no thread
 * is.  All threads must be stopped. */
void tracepoint_restore_boards(struct tptable *tab);

/*
 * While suspended, no tracepoint has its int3 in the text: the next commit
 * removes all.  The first commit after the suspension writes those that are
 * then in use.
 */
void tracepoint_suspend(struct tptable *tab, bool suspended);

/* From now on int3s are written even if the trapset cannot list them (-x
 * unprotected). */
void tracepoint_unlisted(struct tptable *tab);

/* The trapset of the address space (trapset.h).  A tracepoint is listed there
 * before it is armed; if it cannot be listed, it is not armed (but see above).
 * The caller maps the area. */
struct trapset *tptable_traps(struct tptable *tab);

/* The address of the first tracepoint, or 0. */
uint64_t tptable_near(const struct tptable *tab);

/* A dead tracer had an int3 at addr.  tracepoint_recent() will be true for a
 * trap that is still to be delivered there. */
void tracepoint_inherit(struct tptable *tab, uint64_t addr);

/* Are there changes for tracepoint_commit()? */
bool tptable_queued(const struct tptable *tab);

/* A copy of the table for a fork's child, whose memory contains the same int3s:
 * the same tracepoints, slots and states; user pointers are NULL. */
struct tptable *tptable_fork(const struct tptable *tab, struct target *child);

/*
 * Slots are allocated in pieces of anonymous memory of this size.  Each begins
 * with a mark, so that the next tracer recognises a piece that had to stay
 * mapped because a sleeping thread was inside.
 */
#ifdef DTRAP_SHRINK
#define SLOT_MEMORY 4096 /* for a handful of tracepoints */
#else
#define SLOT_MEMORY 65536 /* a few thousand slots; little for a process */
#endif
#define SLOT_MARK 16
bool slot_memory_is_marked(const uint8_t bytes[SLOT_MARK]);

/* Unmap slot memory that no thread can be in.  Call it after
 * tracepoint_restore_all(), with every thread out of its slot.  Memory that is
 * still in use stays mapped. */
void tptable_release_slots(struct tptable *tab);

/* The memory [start, end) was unmapped: forget its tracepoints, write
 * nothing. */
void tracepoint_forget(struct tptable *tab, uint64_t start, uint64_t end);

#endif
