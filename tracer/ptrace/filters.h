/*
 * Seccomp filters of a traced process, before dtrap makes a system call in it.
 */
#ifndef TRACER_PTRACE_FILTERS_H
#define TRACER_PTRACE_FILTERS_H

struct proc_status;
struct thread;

/*
 * May dtrap make a system call in the thread, of which `its' is the status?
 * Without privileges it cannot find out what a filter does with a call; it may
 * kill the thread.  A filter that dtrap is under too (a container's) is no
 * danger, nor is that of filter.c.  0 or -EPERM.
 */
int filters_allow(const struct thread *th, const struct proc_status *its);

#endif
