/*
 * System calls on behalf of a stopped thread, leaving no trace.
 *
 * The thread executes a `syscall' instruction of its own (the vDSO has one)
 * between two syscall-stops.  No single-step: its SIGTRAP would be forced, and
 * the kernel resets a blocked or ignored SIGTRAP for that.
 *
 *	stop as found
 *	  | event-stop inside clone, execve: on to the end of that call
 *	  v
 *	registers set --> syscall-enter-stop --> syscall-exit-stop: the result
 *	  |
 *	  +- was a signal-delivery-stop: inject the signal again, which stops
 *	  |  there once more; put the siginfo back
 *	  +- anything else: PTRACE_INTERRUPT, so that the thread stops where
 *	     the kernel still looks at a system call to be restarted (it would
 *	     not after a syscall-stop without a signal: the program would see
 *	     -ERESTARTSYS)
 *	registers, mask back
 *
 * A thread at syscall-enter-stop makes our call in place of its own, then goes
 * back onto its `syscall' instruction and enters anew.
 *
 * All signals are blocked on the way, so that none is dequeued but SIGSTOP and
 * SIGKILL.  SIGSYS is left, as a seccomp filter forces it: blocked, it would
 * lose its handler.  So are the faults, which do not happen.
 *
 * Known to be lost: of two instances of one signal number sent to this very
 * thread, one in delivery and one pending, the second.  Not so when the one in
 * delivery is the SIGTRAP of an int3: then it is the other that the thread is
 * stopped for afterwards, as if the kernel had queued the two in that order.
 */
#include "tracer/remote.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dlang/base/log.h"
#include "tracer/super_impl.h"

#define SIGBIT(sig) (1ULL << ((sig)-1))
#define FAULTS \
	(SIGBIT(SIGSEGV) | SIGBIT(SIGBUS) | SIGBIT(SIGILL) | SIGBIT(SIGFPE))

struct remote {
	struct thread *th;
	struct uregs saved;
	uint64_t mask; /* the thread's */
	siginfo_t si;  /* of the signal in delivery */
	int sig;       /* its number, or 0 */
	bool at_entry; /* found at syscall-enter-stop, or at the filter's */
};

/* Where a system call instruction stands in the target, or 0. */
static uint64_t
find_insn(struct space *sp, pid_t pid)
{
	uint8_t
	    text[8192]; /* the vDSO's size today: two pages of text at most */
	uint64_t addr = procfs_auxv(pid, AT_SYSINFO_EHDR);
	size_t len = sizeof(text);

	while (
	    addr != 0 && len > 0 && reader_read(&sp->mem, addr, text, len) < 0)
		len -= 4096;
	for (size_t i = 0; addr != 0 && i + SYSCALL_INSN_LEN <= len; i++)
		if (memcmp(text + i, syscall_insn_bytes, SYSCALL_INSN_LEN) == 0)
			return addr + i;
	return 0;
}

static bool
is_insn(struct space *sp, uint64_t addr)
{
	uint8_t bytes[SYSCALL_INSN_LEN];

	return addr != 0 &&
	    reader_read(&sp->mem, addr, bytes, sizeof(bytes)) == 0 &&
	    memcmp(bytes, syscall_insn_bytes, sizeof(bytes)) == 0;
}

/* The bytes are compared each time: the program may have unmapped them. */
static uint64_t
syscall_insn(struct thread *th)
{
	struct space *sp = th->proc->space;

	if (!is_insn(sp, sp->syscall_insn))
		sp->syscall_insn = find_insn(sp, th->tid);
	return sp->syscall_insn;
}

/*
 * May the thread make the call?  What a filter does with a call cannot be
 * asked without privileges, and it may kill.  One that we live under ourselves
 * (a container's) is no danger, nor is the one of filter.c.
 */
static int
check_seccomp(struct thread *th)
{
	struct proc_status its, own;

	if (procfs_status(th->tid, &its) < 0)
		return -ESRCH;
	if (its.seccomp == 0)
		return 0;
	if (its.seccomp != 2 || its.filters < 0 ||
	    procfs_status(getpid(), &own) < 0)
		return -EPERM;
	int harmless = own.seccomp == 2 ? own.filters : 0;
	harmless += th->proc->filtered;
	return its.filters <= harmless ? 0 : -EPERM;
}

/* What step() waits for. */
enum await { AWAIT_SYSCALL, AWAIT_SECCOMP, AWAIT_EVENT, AWAIT_SIGNAL };

static bool
is_awaited(const struct remote *r, enum await what, int status)
{
	int sig = WSTOPSIG(status), event = status >> 16;

	switch (what) {
	case AWAIT_SYSCALL: return event == 0 && sig == (SIGTRAP | 0x80);
	case AWAIT_SECCOMP: return event == PTRACE_EVENT_SECCOMP;
	case AWAIT_EVENT: return event == PTRACE_EVENT_STOP;
	case AWAIT_SIGNAL: return event == 0 && sig == r->sig;
	}
	return false;
}

/* An event-stop that may come while a call is made, ours or the thread's: an
 * interrupt's, and that of our own filter. */
static bool
is_passed(int status)
{
	int event = status >> 16;

	return event == 0 || event == PTRACE_EVENT_STOP ||
	    event == PTRACE_EVENT_SECCOMP;
}

/*
 * Let the thread run to the stop that is awaited.  Others are passed on the
 * way: an interrupt of ours that was still due, and the beginning of a
 * group-stop, which the thread joins when it is resumed (regroup).  A dying
 * thread: -ESRCH.
 */
static int
step(struct remote *r, enum await what, int sig)
{
	struct thread *th = r->th;
	int status;

	for (;;) {
		enum __ptrace_request how =
		    what == AWAIT_SYSCALL ? PTRACE_SYSCALL : PTRACE_CONT;
		if (ptrace(how, th->tid, NULL, (void *)(uintptr_t)sig) < 0)
			return -ESRCH;
		th->state = TH_RUNNING;
		if (event_wait_thread(th, &status) < 0)
			return -ESRCH;
		if (!WIFSTOPPED(status) || !is_passed(status)) {
			event_note(th->proc->super, th->tid, status);
			return -ESRCH;
		}
		th->state = TH_STOPPED;
		th->regs_valid = false;
		if (status >> 16 == PTRACE_EVENT_STOP)
			th->interrupted = false;
		LOG("remote", "%d: %x", (int)th->tid, (unsigned)status);
		if (status >> 16 == PTRACE_EVENT_STOP &&
		    WSTOPSIG(status) != SIGTRAP)
			th->regroup = true;
		if (is_awaited(r, what, status))
			return 0;
		if (what == AWAIT_SYSCALL && status >> 16 == 0 &&
		    WSTOPSIG(status) < 0x80 &&
		    (FAULTS & SIGBIT(WSTOPSIG(status))) != 0)
			return -EFAULT;
		/* SIGSTOP cannot be held back; it takes effect now. */
		sig = status >> 16 == 0 && WSTOPSIG(status) == SIGSTOP ?
		    SIGSTOP :
		    0;
	}
}

/* From the event-stop inside a system call to its end, where we leave the
 * thread (past_event: thread_resume() makes up for it). */
static int
pass_event(struct remote *r)
{
	struct thread *th = r->th;

	if (th->past_event)
		return 0;
	if (th->stop != EV_FORK && th->stop != EV_CLONE &&
	    th->stop != EV_VFORK_DONE && th->stop != EV_EXEC)
		return 0;
	if (th->regs_dirty)
		regs_store(th->tid, &th->regs);
	th->regs_dirty = th->regs_valid = false;
	int error = step(r, AWAIT_SYSCALL, 0);
	th->past_event = error == 0;
	return error;
}

static int
begin(struct remote *r)
{
	struct thread *th = r->th;
	struct proc_status st;

	r->at_entry = th->stop == EV_SYSCALL_ENTER || th->stop == EV_SECCOMP;
	if (th->stop == EV_TRAP || th->stop == EV_SIGNAL) {
		int error = thread_siginfo(th, &r->si);
		if (error < 0)
			return error;
		r->sig = th->stop == EV_TRAP ? SIGTRAP : r->si.si_signo;
	}
	int error = pass_event(r);
	if (error < 0)
		return error;
	struct uregs *regs = thread_regs(th);
	if (regs == NULL || thread_sigmask(th, &r->mask) < 0)
		return -ESRCH;
	/* In sigsuspend and its like there are two masks, and setting one
	 * loses the other.  That does no harm but where a signal is in
	 * delivery. */
	if (r->sig != 0 && r->sig != SIGTRAP &&
	    procfs_status(th->tid, &st) == 0 && st.sig_blocked != r->mask)
		return -EBUSY;
	r->saved = *regs;
	return thread_set_sigmask(th, ~(SIGBIT(SIGSYS) | FAULTS));
}

/* In place of the call that the thread was about to make. */
static int
run_at_entry(
    struct remote *r, long nr, const uint64_t args[6], struct uregs *regs)
{
	struct thread *th = r->th;
	struct uregs redo = r->saved;

	*regs = r->saved;
	regs_swap_syscall(regs, nr, args);
	if (regs_store(th->tid, regs) < 0)
		return -ESRCH;
	int error = step(r, AWAIT_SYSCALL, 0);
	if (error < 0 || regs_fetch(th->tid, regs) < 0)
		return -ESRCH;
	regs_redo_syscall(&redo);
	if (regs_store(th->tid, &redo) < 0)
		return -ESRCH;
	return step(
	    r, th->stop == EV_SECCOMP ? AWAIT_SECCOMP : AWAIT_SYSCALL, 0);
}

static int
run(struct remote *r, uint64_t insn_addr, long nr, const uint64_t args[6],
    struct uregs *regs)
{
	struct thread *th = r->th;

	*regs = r->saved;
	regs_set_syscall(regs, insn_addr, nr, args);
	if (regs_store(th->tid, regs) < 0)
		return -ESRCH;
	int error = step(r, AWAIT_SYSCALL, 0);
	if (error == 0)
		error = step(r, AWAIT_SYSCALL, 0);
	if (error == 0)
		error = regs_fetch(th->tid, regs);
	return error;
}

/* Another SIGTRAP that is pending for the thread will be one with the int3's
 * that is injected: it is the one to go on with. */
static void
prefer_pending(struct remote *r)
{
	struct __ptrace_peeksiginfo_args args = { .nr = 1 };
	siginfo_t si;

	if (r->sig != SIGTRAP || r->si.si_code != SI_KERNEL)
		return;
	for (; ptrace(PTRACE_PEEKSIGINFO, r->th->tid, &args, &si) == 1;
	     args.off++)
		if (si.si_signo == SIGTRAP) {
			r->si = si;
			return;
		}
}

/* Back to a stop like the one that was found. */
static int
finish(struct remote *r)
{
	struct thread *th = r->th;
	int error = 0;

	if (r->sig != 0) {
		prefer_pending(r);
		thread_set_sigmask(th, ~SIGBIT(r->sig));
		error = step(r, AWAIT_SIGNAL, r->sig);
		if (error == 0)
			ptrace(PTRACE_SETSIGINFO, th->tid, NULL, &r->si);
	} else if (!r->at_entry) {
		ptrace(PTRACE_INTERRUPT, th->tid, NULL, NULL);
		error = step(r, AWAIT_EVENT, 0);
	}
	if (error < 0)
		return error;
	if (regs_store(th->tid, &r->saved) < 0 ||
	    thread_set_sigmask(th, r->mask) < 0)
		return -ESRCH;
	th->regs = r->saved;
	th->kernel_pc = r->saved.r[UREG_RIP];
	th->regs_valid = true;
	th->regs_dirty = false;
	return 0;
}

/* The system call instruction was not there after all.  The fault is in
 * delivery, which is as good as the signal that was. */
static void
take_back(struct remote *r)
{
	struct thread *th = r->th;

	if (r->sig != 0)
		ptrace(PTRACE_SETSIGINFO, th->tid, NULL, &r->si);
	regs_store(th->tid, &r->saved);
	th->kernel_pc = r->saved.r[UREG_RIP];
	thread_set_sigmask(th, r->mask);
	th->regs_valid = th->regs_dirty = false;
	th->proc->space->syscall_insn = 0;
}

static bool
can_run(const struct thread *th)
{
	/* Until its EV_EXEC is handed out its space is the old one. */
	if (th->stop == EV_EXEC && th->queued > 0)
		return false;
	return th->state == TH_STOPPED && !th->exiting &&
	    th->stop != EV_GROUP_STOP && th->stop != EV_EXIT &&
	    (th->stop != EV_VFORK || th->past_event);
}

int
remote_syscall(
    struct thread *th, long nr, const uint64_t args[6], int64_t *result)
{
	struct remote r = { .th = th };
	struct uregs regs;

	if (th->state == TH_GONE)
		return -ESRCH;
	if (!can_run(th))
		return -EBUSY;
	int error = check_seccomp(th);
	if (error < 0)
		return error;
	uint64_t insn_addr = syscall_insn(th);
	if (insn_addr == 0)
		return -ENOENT;
	error = begin(&r);
	if (error < 0)
		return error;
	error = r.at_entry ? run_at_entry(&r, nr, args, &regs) :
			     run(&r, insn_addr, nr, args, &regs);
	if (error == 0)
		error = finish(&r);
	else if (error == -EFAULT)
		take_back(&r);
	if (error < 0)
		return error;
	*result = regs_result(&regs);
	LOG("remote", "%d: system call %ld: %lld", (int)th->tid, nr,
	    (long long)*result);
	return 0;
}

int
remote_next(struct thread *th, long nr, const uint64_t args[6])
{
	struct remote r = { .th = th };

	if (th->stop != EV_EXEC || !can_run(th))
		return -EBUSY;
	uint64_t insn_addr = syscall_insn(th);
	if (insn_addr == 0)
		return -ENOENT;
	/* The kernel sets the result of the call that it is in. */
	int error = pass_event(&r);
	struct uregs *regs = error == 0 ? thread_regs(th) : NULL;
	if (regs == NULL)
		return -ESRCH;
	regs_set_syscall(regs, insn_addr, nr, args);
	thread_regs_dirty(th);
	return 0;
}

int
remote_syscall_any(
    struct space *sp, long nr, const uint64_t args[6], int64_t *result)
{
	int error = -EBUSY;

	/* First threads whose stop is simple, then those with a signal. */
	for (int pass = 0; pass < 2; pass++)
		space_foreach_thread(th, sp)
		{
			bool simple =
			    th->stop != EV_SIGNAL && th->stop != EV_TRAP;
			if (!can_run(th) || simple != (pass == 0))
				continue;
			int r = remote_syscall(th, nr, args, result);
			if (r == 0)
				return 0;
			error = r;
		}
	return error;
}
