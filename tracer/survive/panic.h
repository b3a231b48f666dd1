/*
 * The emergency exit of the tracer: restore every target's text, detach from
 * its threads, print the reason, abort.
 */
#ifndef TRACER_SURVIVE_PANIC_H
#define TRACER_SURVIVE_PANIC_H

struct super;

/* From now on base_panic(), and SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT of
 * the tracer itself, lead to the emergency exit of these targets.  It allocates
 * no memory.  su is NULL at the end of the run: there are no targets any more. */
void panic_guard(struct super *su);

/* The emergency exit first calls this, in a signal handler or anywhere else: the
 * terminal becomes such that its user can read the reason. */
void panic_first(void (*fn)(void));

/* How many pages of files were replaced by zeroes, because the file was truncated
 * while the tracer had it mapped. */
unsigned panic_faults(void);

#endif
