/*
 * Option syscallfilter: a launched process runs under a seccomp filter that
 * stops it at those system calls alone that a subscriber wants, and once more
 * at their end.  The others run as if nobody were there.
 *
 * A filter cannot be taken off again, children inherit it, and without a tracer
 * the calls that it names fail.  So who runs under one ends with the tracer
 * (PTRACE_O_EXITKILL), or when it lets go: this is for whom the user asks it,
 * and never for a process that was there before us.
 */
#ifndef TRACER_DRIVE_FILTER_H
#define TRACER_DRIVE_FILTER_H

struct proc;
struct state;

/* What launched processes wait for is to begin: put them under a filter, if
 * the option says so and it can be had; else it is said why not. */
void filter_install(struct state *st);

/* For proc_detach(), ctx is the state: a process that has a filter is about to
 * be let go, and ends before it runs an instruction. */
void filter_release(void *ctx, struct proc *p);

#endif
