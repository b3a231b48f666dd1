/*
 * The program's signal mask of a thread, and whether SIGTRAP is hidden: blocked
 * for the program, but not in the kernel (sigtrap.c says why, and how masks are
 * found out).  Only trapmask.c writes this.
 *
 *	MASK_UNKNOWN --read, or a change of it was seen-> MASK_KNOWN
 *	MASK_KNOWN --sigtrap_hide(), _mask_call(), a hit-> MASK_HIDDEN
 *	MASK_HIDDEN --sigtrap_show(), another mask------> MASK_KNOWN
 *	any --trapmask_read() cannot--------------------> MASK_UNKNOWN
 *
 * sigwatch.c reports calls that are about to be made.
 */
#ifndef TRACER_PTRACE_TRAPMASK_H
#define TRACER_PTRACE_TRAPMASK_H

#include <stdbool.h>
#include <stdint.h>

struct thread;
struct uregs;

enum mask_state {
	MASK_UNKNOWN,
	MASK_KNOWN,
	MASK_HIDDEN, /* known; it contains SIGTRAP, but the kernel's does not */
};

/* Nested handlers return to this many masks. */
#define MASKS_BEFORE 6

struct trapmask {
	enum mask_state state;
	uint64_t now;                  /* the program's mask, as of `looked' */
	uint64_t before[MASKS_BEFORE]; /* earlier masks, the last first */
	uint64_t looked; /* when it was last compared with the kernel's, ms; 0:
			  * compare it at the next hit */
	bool frames_due; /* it was hidden: masks in signal frames of the thread
			  * may lack it too */
	unsigned losses; /* proc->handler.losses when the thread ran last */
};

/* ---- what is known ---- */

/* Is SIGTRAP known to be blocked by the program, and not hidden? */
bool sigtrap_blocked(const struct thread *th);
/* Is it hidden? */
bool trapmask_is_hidden(const struct thread *th);
/* Is SIGTRAP caught or ignored, or does the thread's mask contain it without
 * the signals that programs treat like it, or these without it? */
bool sigtrap_apart(const struct thread *th);
/* Has the kernel removed dtrap's handler (*reset), because the thread's int3
 * came while SIGTRAP was blocked?  False: unknown.  Reads /proc. */
bool sigtrap_tells(const struct thread *th, bool *reset);
/* Was it removed by any thread?  A thread that blocks SIGTRAP, and whose hit
 * was not handled yet, may have caused it. */
bool sigtrap_is_reset(const struct thread *th);
/* Judging by the other signals in the mask: was SIGTRAP blocked? */
bool trapmask_seems_blocked(uint64_t mask);
/* Does the mask treat SIGTRAP unlike the signals that programs treat like
 * it? */
bool trapmask_is_apart(uint64_t mask);
/* Was SIGTRAP blocked before the hit that left this mask? */
bool trapmask_was_blocked(const struct thread *th, uint64_t mask);
/* Is the mask the known one, or the one before? */
bool trapmask_is_recent(const struct thread *th, uint64_t mask);
/* Is another thread that may block SIGTRAP stopped at an int3, in a hit that was
 * not handled yet?  That hit may have removed dtrap's handler since th ran. */
bool trapmask_another_is_at_one(const struct thread *th);
/* Has an int3 made the kernel remove dtrap's handler?  False: unknown. */
bool trapmask_ask_reset(const struct thread *th, bool *reset);

/* ---- changes of the mask ---- */

/* The thread calls rt_sigprocmask(how, set); a signal handler returns to this
 * mask of its frame. */
void sigtrap_mask_set(struct thread *th, int how, uint64_t set);
void sigtrap_mask_back(struct thread *th, uint64_t mask);
/* The address of that mask; regs are those before rt_sigreturn(). */
uint64_t sigframe_mask(const struct uregs *regs);
/* The call was not made: a signal came first. */
void sigtrap_mask_undo(struct thread *th);
/* The known mask may be wrong: compare it at the next hit. */
void trapmask_doubt(struct thread *th);
/* Read a stopped thread's mask from the kernel; earlier masks stay. */
void trapmask_read(struct thread *th);
/* The same; earlier masks are forgotten. */
void trapmask_begin(struct thread *th);
void trapmask_becomes(struct thread *th, uint64_t mask);
/* The program's mask for a mask in a signal frame. */
uint64_t trapmask_of_frame(struct thread *th, uint64_t mask);
/* A thread is born; it makes its first stop; it is about to run; it has
 * ended. */
void sigtrap_inherit(const struct thread *parent, struct thread *th);
void sigtrap_born(struct thread *th);
void trapmask_runs(struct thread *th);
void sigtrap_ended(struct thread *th);

/* ---- at a hit, which has left `mask' ---- */

/* Note the time of the comparison, ms.  If SIGTRAP would not be hidden in this
 * mask, it is not hidden any more: it was hidden in a handler, which has
 * returned. */
void trapmask_look(struct thread *th, uint64_t mask, uint64_t now);
/* SIGTRAP was blocked before the hit, or not.  If it was, it is blocked again,
 * or hidden. */
void trapmask_mend(struct thread *th, uint64_t mask, bool blocked);

/* ---- hidden, and shown ---- */

/* Hide SIGTRAP in a stopped thread that blocks it, if possible: now; or after
 * its next system call, which sets the mask. */
void sigtrap_hide(struct thread *th);
void sigtrap_hide_after(struct thread *th);
/*
 * A thread is about to call rt_sigprocmask(how, set, old); set may be NULL.
 * True if dtrap must make the call, because SIGTRAP is hidden in the mask
 * before it, or is to be hidden in the mask after it; *c is then filled in.
 * False: the kernel makes it.
 */
struct mask_call {
	uint64_t old, next; /* as the program has them */
	uint64_t kernel;    /* the kernel's, before */
};
bool sigtrap_mask_plan(
    struct thread *th, int how, const uint64_t *set, struct mask_call *c);
/* The thread's mask is about to become `next', with SIGTRAP hidden.  False: it
 * cannot be hidden.  trapmask_went(): it was set, or not. */
bool trapmask_goes(struct thread *th, uint64_t next);
void trapmask_went(struct thread *th, uint64_t next, bool done);
/* Show SIGTRAP in the kernel's mask of a stopped thread again. */
void sigtrap_show(struct thread *th);
/* The same, also in the masks of its signal frames, before a detach, when no int3
 * of ours is left.  A hidden bit is in the list of the area until it is shown. */
void sigtrap_end(struct thread *th);
/* A killed tracer may have hidden SIGTRAP in the mask and the signal frames of
 * this stopped thread: block SIGTRAP in each mask that contains the similar
 * signals. */
void sigtrap_reveal(struct thread *th);
/* Its space has a table of its own now: list the hidden bit there. */
void sigtrap_list(struct thread *th);

#endif
