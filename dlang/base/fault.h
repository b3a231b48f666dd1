/*
 * Faults for tests: the N-th operation of a kind fails, as if a resource had
 * run out.  A test sets N here, or by
 * DTRAP_FAIL=alloc:N,slot:N,map:N,remote:N,jit:N,exit:N,guardian:N in the environment
 * of dtrap.  DTRAP_DEBUG=fault prints when it happens.
 */
#ifndef DLANG_BASE_FAULT_H
#define DLANG_BASE_FAULT_H

#include <stdbool.h>

enum fault {
	FAULT_ALLOC,  /* memory of dtrap; ends in base_panic() */
	FAULT_SLOT,   /* a slot for a displaced instruction */
	FAULT_MAP,    /* memory in the target, near its text */
	FAULT_REMOTE, /* a system call made in the target */
	FAULT_JIT,    /* a DIFO is compiled to machine code */
	FAULT_EXIT, /* a step of the emergency exit (tracer/survive/panic.c) */
	FAULT_GUARDIAN, /* the guardian's work after the tracer was killed: it
			 * ends, as if it had been killed too */
	FAULT_COUNT
};

/* The n-th call of fault_due(which) from now returns true; 0: none does. */
void fault_set(enum fault which, unsigned long n);

/* Must this operation fail?  Called before each operation of the kind. */
bool fault_due(enum fault which);

/*
 * DTRAP_KILL=POINT:N kills the tracer with SIGKILL when it reaches the named
 * point for the N-th time. t/torture/ does this at each point and checks what
 * becomes of the target.
 *
 * There is a point after each step that changes a target, and after each step
 * that consumes something from the kernel that the next tracer could not get
 * again.
 */
extern bool fault_on; /* true also before the environment has been read */

void fault_passed(const char *point);

/* Set POINT:N, as DTRAP_KILL does; NULL: none.  Borrowed.  For unit tests. */
void fault_kill_set(const char *text);

static inline void
fault_kill(const char *point)
{
	if (__builtin_expect(fault_on, 0))
		fault_passed(point);
}

#endif
