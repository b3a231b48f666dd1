/*
 * The launched program that is on its way to where evaltime.c waits for it.  Only
 * awaited.c writes this.
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
	AWAITED_AT_LINKER, /* at its rendezvous with the run-time linker */
	AWAITED_AT_MARK,   /* at our own mark */
	AWAITED_ANEW,      /* it executed another program instead */
};

struct awaited {
	enum awaited_state state;
	struct proc *proc; /* in the two states in which it is awaited */
};

/* Whom, and where. */
struct awaited awaited_now(const struct state *st);
/* Is the process awaited anywhere? */
bool awaited_is(const struct state *st, const struct proc *p);

void awaited_begin(struct state *st, struct proc *p, bool at_mark);
void awaited_came(struct state *st);
void awaited_executed(struct state *st);
/* It is to be waited for from the start; true if it executed another program. */
bool awaited_retry(struct state *st);

#endif
