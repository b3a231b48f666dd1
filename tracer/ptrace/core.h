/*
 * Core dumps of traced programs.
 */
#ifndef TRACER_PTRACE_CORE_H
#define TRACER_PTRACE_CORE_H

struct thread;

/* Call it before a stopped thread continues with its signal (th->stop.sig).  If
 * the signal ends the process with a core dump, restores its text, so that the
 * dump contains the original bytes, and threads are in it.  Nothing fires in the
 * process afterwards. */
void core_prepare(struct thread *th);

#endif
