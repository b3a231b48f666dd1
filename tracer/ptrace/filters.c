/*
 * See filters.h.
 */
#include "tracer/ptrace/filters.h"

#include <errno.h>
#include <unistd.h>

#include "dlang/base/base.h"
#include "tracer/ptrace/proc.h"

/* Is the process `of' itself, or a descendant of it? */
static bool
comes_from(pid_t pid, pid_t of)
{
	struct proc_status st;

	while (pid != of) {
		if (procfs_status(pid, &st) < 0 || st.ppid == 0)
			return false;
		pid = st.ppid;
	}
	return true;
}

/*
 * How many filters does a process share with dtrap?  Filters are inherited, so
 * both have those of their nearest common ancestor.  In a container there may
 * be no common ancestor, if dtrap was started from outside; then all of dtrap's
 * filters are the container's.
 */
static int
shared_filters(pid_t pid)
{
	struct proc_status own, st;

	if (procfs_status(getpid(), &own) < 0 || own.seccomp != 2)
		return 0;
	for (pid_t at = getpid(); at != 0; at = st.ppid) {
		if (procfs_status(at, &st) < 0)
			return 0;
		if (comes_from(pid, at))
			return st.seccomp == 2 ? MIN(st.filters, own.filters) :
						 0;
	}
	return own.filters;
}

int
filters_allow(const struct thread *th, const struct proc_status *its)
{
	if (its->seccomp == 0)
		return 0;
	if (its->seccomp != 2 || its->filters < 0)
		return -EPERM;
	int harmless = shared_filters(th->proc->pid) + th->proc->filtered;
	return its->filters <= harmless ? 0 : -EPERM;
}
