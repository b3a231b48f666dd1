/*
 * Core dumps of traced programs.
 */
#ifndef TRACER_PTRACE_CORE_H
#define TRACER_PTRACE_CORE_H

struct thread;

/* Before a stopped thread goes on with its signal (thread->sig): if that ends
 * the process in a core dump, its text gets its own bytes back, for the dump to
 * have them.  Nothing more fires in it then. */
void core_prepare(struct thread *th);

#endif
