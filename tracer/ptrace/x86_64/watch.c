/*
 * Sets the debug register of a thread, and finds out whether debug registers
 * work.
 *
 * Some virtual machines accept an address and never trap there: PTRACE_POKEUSER
 * succeeds, and PTRACE_PEEKUSER returns what was written.  So dtrap tries it
 * first with a child process of its own.
 */
#include "tracer/ptrace/super.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* The debug registers in struct user, which ptrace writes.  Intel SDM volume 3,
 * 17.2: DR0 has an address; bit 0 of DR7 enables it, and the zeros beside it
 * say that it is the address of an instruction. */
static int
set(pid_t tid, uint64_t addr)
{
	static const size_t dr = offsetof(struct user, u_debugreg);

	if (addr != 0 && ptrace(PTRACE_POKEUSER, tid, dr, addr) != 0)
		return -errno;
	if (ptrace(PTRACE_POKEUSER, tid, dr + 7 * 8, addr != 0) != 0)
		return -errno;
	return 0;
}

/* Where the child runs into its debug register. */
static __attribute__((noinline)) void
watched_place(void)
{
	__asm__ volatile("");
}

/* The child ends with us, also if we are killed before it is traced. */
static _Noreturn void
child_run(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent ||
	    ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
		_exit(1);
	raise(SIGSTOP);
	watched_place();
	_exit(0);
}

/* Is the child's next stop, or its end, a stop for `sig'? */
static bool
stops_for(pid_t child, int sig)
{
	int status;

	while (waitpid(child, &status, 0) != child)
		if (errno != EINTR)
			return false;
	return WIFSTOPPED(status) && WSTOPSIG(status) == sig;
}

static bool
child_traps(pid_t child)
{
	bool traps = stops_for(child, SIGSTOP) &&
	    set(child, (uintptr_t)watched_place) == 0 &&
	    ptrace(PTRACE_CONT, child, NULL, NULL) == 0 &&
	    stops_for(child, SIGTRAP);

	kill(child, SIGKILL);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return traps;
}

/* A machine on which that cannot be tried is taken for one without. */
static bool
machine_traps(void)
{
	pid_t self = getpid(), child = fork();

	if (child == 0)
		child_run(self);
	return child > 0 && child_traps(child);
}

int
regs_watch(pid_t tid, uint64_t addr)
{
	static enum { NOT_TRIED, TRAPS, NEVER_TRAPS } machine;

	if (addr != 0 && machine == NOT_TRIED)
		machine = machine_traps() ? TRAPS : NEVER_TRAPS;
	if (addr != 0 && machine == NEVER_TRAPS)
		return -ENODEV;
	return set(tid, addr);
}
