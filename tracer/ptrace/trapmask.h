/*
 * The signal mask of a thread, as far as it is known, and whether SIGTRAP is
 * hidden from the kernel in it (sigtrap.c says why it is, and how masks are
 * known).  Only trapmask.c writes this.
 *
 *	MASK_UNKNOWN --read, or a change of it was seen-> MASK_KNOWN
 *	MASK_KNOWN --sigtrap_hide(), _mask_call(), a hit-> MASK_HIDDEN
 *	MASK_HIDDEN --sigtrap_show(), another mask------> MASK_KNOWN
 *	any --trapmask_read() cannot--------------------> MASK_UNKNOWN
 *
 * sigwatch.c tells what it sees of a thread's doings: the call is about to be
 * made.
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
	MASK_HIDDEN, /* known; the kernel's lacks SIGTRAP, which is in it */
};

/* Handlers within handlers go back to so many masks. */
#define MASKS_BEFORE 6

struct trapmask {
	enum mask_state state;
	uint64_t now;                  /* the program's; as of `looked' */
	uint64_t before[MASKS_BEFORE]; /* what it was before, the last first */
	uint64_t looked; /* when it was last compared with the kernel's, ms; 0:
			  * it is to be at the next hit */
	bool frames_due; /* it was hidden: the masks that handlers of the thread
			  * put back may lack it, too */
	unsigned losses; /* the guard's (proc.h) when it ran last */
};

/* ---- what is known ---- */

/* Is SIGTRAP known to be blocked, but for what an int3 does, and not hidden? */
bool sigtrap_blocked(const struct thread *th);
/* Is it hidden? */
bool trapmask_is_hidden(const struct thread *th);
/* Is SIGTRAP caught or ignored, or does the thread's mask treat it otherwise
 * than the signals that programs treat alike? */
bool sigtrap_apart(const struct thread *th);
/* Is our handler gone from the kernel (*reset), as the int3 that the thread has
 * hit met a blocked SIGTRAP?  False: that does not tell.  Asks /proc. */
bool sigtrap_tells(const struct thread *th, bool *reset);
/* Is it gone, whoever hit one?  A thread that blocks SIGTRAP and is not mended
 * yet may have. */
bool sigtrap_is_reset(const struct thread *th);
/* By what is blocked besides: is SIGTRAP? */
bool trapmask_seems_blocked(uint64_t mask);
/* Does the mask treat SIGTRAP in a way that it does not tell itself? */
bool trapmask_is_apart(uint64_t mask);
/* Was SIGTRAP blocked before the hit that left this mask, by what is known? */
bool trapmask_was_blocked(const struct thread *th, uint64_t mask);
/* Is the mask the one that is known, or the one before that? */
bool trapmask_is_recent(const struct thread *th, uint64_t mask);
/* Is another thread that blocks it at an int3 that may have reset our handler
 * since this one ran, and is not mended yet? */
bool trapmask_another_is_at_one(const struct thread *th);
/* Has an int3 taken our handler's place in the kernel?  False: nobody says. */
bool trapmask_ask_reset(const struct thread *th, bool *reset);

/* ---- it is another ---- */

/* rt_sigprocmask(how, set); a return from a handler, to this mask. */
void sigtrap_mask_set(struct thread *th, int how, uint64_t set);
void sigtrap_mask_back(struct thread *th, uint64_t mask);
/* Where that mask stands, with the registers before rt_sigreturn(). */
uint64_t sigframe_mask(const struct uregs *regs);
/* It was not made yet: a signal comes first. */
void sigtrap_mask_undo(struct thread *th);
/* What was known may be so no longer: look at the next hit. */
void trapmask_doubt(struct thread *th);
/* A stopped thread's is read from the kernel; the masks before stay. */
void trapmask_read(struct thread *th);
/* The same, and none is known that was before. */
void trapmask_begin(struct thread *th);
void trapmask_becomes(struct thread *th, uint64_t mask);
/* What a mask of the kernel's stands for, that a handler returns to. */
uint64_t trapmask_of_frame(struct thread *th, uint64_t mask);
/* A thread is born; it makes its first stop; it is about to run; it has ended. */
void sigtrap_inherit(const struct thread *parent, struct thread *th);
void sigtrap_born(struct thread *th);
void trapmask_runs(struct thread *th);
void sigtrap_ended(struct thread *th);

/* ---- at a hit, which has left `mask' ---- */

/* Looked at it, at this time, ms.  What was hidden is not any more, where the
 * mask is none that is hidden in: it was in a handler, which has returned. */
void trapmask_look(struct thread *th, uint64_t mask, uint64_t now);
/* The hit was met with SIGTRAP blocked, or not: so it is again, or is hidden. */
void trapmask_mend(struct thread *th, uint64_t mask, bool blocked);

/* ---- hidden, and shown ---- */

/* A stopped thread that blocks SIGTRAP does not any more as far as the kernel
 * knows, if that can be: now; or when the mask has been set, as its next system
 * call is about to do. */
void sigtrap_hide(struct thread *th);
void sigtrap_hide_after(struct thread *th);
/*
 * A thread is about to call rt_sigprocmask(how, set, old), where set may be NULL,
 * and the kernel must not have the mask that is asked for: SIGTRAP is hidden in
 * it, or in the one before.  False: that is not so, or cannot be; the kernel is
 * to make the call.
 */
struct mask_call {
	uint64_t old, next; /* as the program has them */
	uint64_t kernel;    /* the kernel's, before */
};
bool sigtrap_mask_plan(
    struct thread *th, int how, const uint64_t *set, struct mask_call *c);
/* The call is made, without the kernel: the thread is behind it, with these
 * registers.  There is no moment at which the kernel has SIGTRAP blocked, and if
 * we die at any moment the call has been made, or is still to be made, as a
 * whole.  False: nothing has changed. */
bool sigtrap_mask_call(
    struct thread *th, const struct mask_call *c, const struct uregs *on);
/* What was hidden of a stopped thread's mask is the kernel's again. */
void sigtrap_show(struct thread *th);
/* The same in the masks that its handlers will put back. */
void sigtrap_show_frames(struct thread *th);
/* Both, for the last time: no int3 of ours is left.  At no moment is a bit hidden
 * that the list in the area does not name. */
void sigtrap_end(struct thread *th);
/* The mask and the frames of a stopped thread, of which a tracer that is dead may
 * have hidden the bit: who blocks what programs treat like SIGTRAP blocks it. */
void sigtrap_reveal(struct thread *th);
/* Its space has a table of its own from now on: what is hidden is listed in it. */
void sigtrap_list(struct thread *th);

#endif
