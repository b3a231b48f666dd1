/*
 * Option syscallfilter: a launched process runs under a seccomp filter that
 * stops it only at the system calls that have subscribers
 * (tracer/fire/syscalls.h), at their entry and return.  Other calls run without
 * a stop.
 *
 * A filter cannot be removed, children inherit it, and without a tracer the
 * calls that it names fail.  So a process under a filter is killed when the
 * tracer ends (PTRACE_O_EXITKILL) or detaches.  A filter is used only if the
 * user sets the option, and never for a process that dtrap has not launched.
 */
#ifndef TRACER_DRIVE_FILTER_H
#define TRACER_DRIVE_FILTER_H

struct proc;
struct state;

/* Tracing is about to begin: install a filter in launched processes if the
 * option is set.  If that is impossible, prints the reason. */
void filter_install(struct state *st);

/* For proc_detach(); ctx is the state.  Kills a process under a filter before
 * it runs another instruction. */
void filter_release(void *ctx, struct proc *p);

#endif
