/*
 * Faults on demand: the N-th call of a kind fails, as it would for want of
 * something.  For tests: set here, or by
 * DTRAP_FAIL=alloc:N,slot:N,map:N,remote:N,exit:N,guardian:N when the program
 * starts.
 * DTRAP_DEBUG=fault tells when it happens.
 */
#ifndef DLANG_BASE_FAULT_H
#define DLANG_BASE_FAULT_H

#include <stdbool.h>

enum fault {
	FAULT_ALLOC,  /* memory of ours: the end, by base_panic() */
	FAULT_SLOT,   /* a slot for a displaced instruction */
	FAULT_MAP,    /* memory of the target's near its text */
	FAULT_REMOTE, /* a system call made in the target */
	FAULT_EXIT, /* a step of the emergency exit (tracer/survive/panic.c) */
	FAULT_GUARDIAN, /* what it is to do when its tracer has been killed: as
			 * if it had been killed as well */
	FAULT_COUNT
};

/* Make the n-th call of fault_due() from now say so; 0: none. */
void fault_set(enum fault which, unsigned long n);

/* Is this the one? */
bool fault_due(enum fault which);

/*
 * Our own death, on demand: DTRAP_KILL=POINT:N makes the N-th passage of the
 * named point the last.  t/torture/ kills the tracer at each of them and looks
 * at what becomes of the target.
 *
 * A point stands after each step that changes a target, or that takes from the
 * kernel what the next tracer cannot have again.
 */
extern bool fault_on; /* also before the environment has been looked at */

void fault_passed(const char *point);

/* POINT:N from now on, or nothing (NULL); borrowed.  For tests: the environment
 * has it otherwise. */
void fault_kill_set(const char *text);

static inline void
fault_kill(const char *point)
{
	if (__builtin_expect(fault_on, 0))
		fault_passed(point);
}

#endif
