/*
 * The launched program that runs to the point where evaltime.c waits for it.
 * Only awaited.c writes this.
 *
 *	AWAITED_NOBODY --awaited_begin()----> AWAITED_AT_LINKER
 *	               \--------------------> AWAITED_AT_MARK
 *	those two --awaited_came(): it is there, or has ended--> AWAITED_NOBODY
 *	          --awaited_executed(): another program---------> AWAITED_ANEW
 *	AWAITED_ANEW --awaited_begin(), awaited_retry()---------> as above
 */
#ifndef TRACER_DRIVE_AWAITED_H
#define TRACER_DRIVE_AWAITED_H

#include <stdbool.h>

struct proc;
struct state;

enum awaited_state {
	AWAITED_NOBODY,
	AWAITED_AT_LINKER, /* at the marker of the run-time linker */
	AWAITED_AT_MARK,   /* at a marker of evaltime.c */
	AWAITED_ANEW,      /* it executed another program instead */
};

struct awaited {
	enum awaited_state state;
	struct proc *proc; /* in the two states in which it is awaited */
};

/* The awaited process, and its state. */
struct awaited awaited_now(const struct state *st);
/* Is this the awaited process? */
bool awaited_is(const struct state *st, const struct proc *p);

void awaited_begin(struct state *st, struct proc *p, bool at_mark);
void awaited_came(struct state *st);
void awaited_executed(struct state *st);
/* Did the awaited process execute another program, so that the waiting must
 * start again? Afterwards nobody is awaited. */
bool awaited_retry(struct state *st);

#endif
