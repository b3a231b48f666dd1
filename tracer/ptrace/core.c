/*
 * Removes our int3s from text, and threads from our code, before the kernel writes a
 * core dump.
 *
 * The kernel writes the dump while it ends the process.  The last stop before
 * that is the one for the signal that causes it.
 *
 * A page of text that dtrap has written to is private to the process.  The
 * kernel writes such a page to the dump, and a debugger reads it instead of the
 * page of the file.
 */
#include "tracer/ptrace/core.h"

#include <signal.h>

#include "dlang/base/log.h"
#include "inject/tracepoint.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/procfs.h"

/* signal(7): the default action of these is a core dump. */
static bool
dumps(int sig)
{
	switch (sig) {
	case SIGQUIT:
	case SIGILL:
	case SIGTRAP:
	case SIGABRT:
	case SIGBUS:
	case SIGFPE:
	case SIGSEGV:
	case SIGXCPU:
	case SIGXFSZ:
	case SIGSYS: return true;
	default: return false;
	}
}

/* Will the signal end the process?  If the program blocks or ignores the signal
 * of a fault, the kernel has already undone that. */
static bool
is_fatal(const struct thread *th)
{
	const uint64_t bit = SIGBIT(th->stop.sig);
	const struct proc *p = th->proc;
	struct proc_status st;

	/* Another thread's int3 may have reset the action, which is repaired
	 * before the signal is delivered (trapguard_pass()). */
	if (th->stop.sig == SIGTRAP && proc_guarded(p) &&
	    (p->trap.does == TRAP_CAUGHT || p->handler.outdated))
		return false;
	return procfs_status(th->tid, &st) == 0 &&
	    ((st.sig_caught | st.sig_ignored | st.sig_blocked) & bit) == 0;
}

void
core_prepare(struct thread *th)
{
	struct space *sp = th->proc->space;

	/* Another process that shares the memory continues, with its probes. */
	if (!dumps(th->stop.sig) || sp->tab == NULL || sp->procs.len > 1 ||
	    !is_fatal(th))
		return;
	space_stop(sp);
	proc_leave_code(th->proc);
	unsigned n = tracepoint_restore_all(sp->tab);
	tracepoint_restore_boards(sp->tab);
	LOG("core", "%d: signal %d is its end: %u probes taken out",
	    (int)th->tid, th->stop.sig, n);
	space_resume(sp);
}
