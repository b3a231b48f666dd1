/*
 * The emergency exit of the tracer: restore every target's text, detach from
 * its threads, print the reason, abort.
 */
#ifndef TRACER_SURVIVE_PANIC_H
#define TRACER_SURVIVE_PANIC_H

struct super;

/* From now on base_panic(), and SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT of
 * the tracer itself, lead to the emergency exit.  It allocates no memory. */
void panic_guard(struct super *su);

/* How often a file was truncated while the tracer had it mapped, so that memory
 * had to replace its pages. */
unsigned panic_faults(void);

#endif
