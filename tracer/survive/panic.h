/*
 * The door by which the tracer dies: restore every target's text, let its
 * threads go, say why, abort.
 */
#ifndef TRACER_SURVIVE_PANIC_H
#define TRACER_SURVIVE_PANIC_H

struct super;

/* From now on base_panic(), SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT of the
 * tracer itself leave through here.  Allocates nothing when it happens. */
void panic_guard(struct super *su);

/* How often memory had to be put in the place of a file that was cut short
 * while it was mapped. */
unsigned panic_faults(void);

#endif
