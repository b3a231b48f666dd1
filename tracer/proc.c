/*
 * The requests that stop threads and let them run.  One that finds no thread
 * (ESRCH) means that it was killed: the thread is taken as running, and its end
 * arrives as a status.
 */
#include "tracer/proc.h"

#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <time.h>

#include "dlang/base/log.h"
#include "inject/tracepoint.h"
#include "tracer/event.h"
#include "tracer/super_impl.h"

#define OPTIONS                                                             \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | \
	    PTRACE_O_TRACEVFORK | PTRACE_O_TRACEVFORKDONE |                 \
	    PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT)

/* How long a thread may sleep uninterruptibly before we stop waiting for it. */
#define PATIENCE_NS 20000000

static int
request(enum __ptrace_request what, pid_t tid, uintptr_t addr, uintptr_t data)
{
	return ptrace(what, tid, (void *)addr, (void *)data) == 0 ? 0 : -errno;
}

int
thread_seize(pid_t tid, const volatile int *flag)
{
	return wait_seize(tid, OPTIONS, flag);
}

int
thread_take_seccomp(struct thread *th)
{
	return request(PTRACE_SETOPTIONS, th->tid, 0,
	    OPTIONS | PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL);
}

int
thread_interrupt(struct thread *th)
{
	th->interrupted = true;
	return request(PTRACE_INTERRUPT, th->tid, 0, 0);
}

int
tid_eventmsg(pid_t tid, unsigned long *msg)
{
	return request(PTRACE_GETEVENTMSG, tid, 0, (uintptr_t)msg);
}

int
thread_sigmask(struct thread *th, uint64_t *mask)
{
	return request(
	    PTRACE_GETSIGMASK, th->tid, sizeof(*mask), (uintptr_t)mask);
}

int
thread_set_sigmask(struct thread *th, uint64_t mask)
{
	return request(
	    PTRACE_SETSIGMASK, th->tid, sizeof(mask), (uintptr_t)&mask);
}

int
tid_release(pid_t tid, int sig)
{
	return request(PTRACE_DETACH, tid, 0, (uintptr_t)sig);
}

/* What the stop's user changed goes back to the kernel. */
static void
write_back(struct thread *th)
{
	if (th->regs_dirty)
		regs_store(th->tid, &th->regs);
	th->regs_dirty = th->regs_valid = false;
}

int
thread_release(struct thread *th)
{
	write_back(th);
	int r = tid_release(th->tid, th->sig);
	LOG("proc", "%d: detached with signal %d: %d", (int)th->tid, th->sig,
	    r);
	return r;
}

/* Stopping and resuming */

bool
thread_asleep(const struct thread *th)
{
	/*
	 * A thread in the kernel, with our interrupt pending, traps on its way
	 * back.  `D' means that nothing wakes it before what it waits for: its
	 * vfork child, the end of its siblings in an exec, a dead file server.
	 */
	switch (procfs_state(th->tid)) {
	case 'D':
	case 'Z':
	case 'X':
	case '\0': return true;
	default: return false;
	}
}

bool
thread_is_ghost(const struct thread *th)
{
	struct proc_status st;

	return th->state == TH_RUNNING && procfs_status(th->tid, &st) == 0 &&
	    st.tracer != getpid();
}

/*
 * Is the stop of this thread still to be waited for?  Short sleeps in `D' are
 * common (a page from disk, a lock in the kernel); what lasts longer than our
 * patience is left alone.
 */
static bool
is_missing(struct thread *th, bool patient)
{
	if (th->state == TH_STOPPED || th->state == TH_GONE || th->asleep)
		return false;
	if (th->state == TH_RUNNING && !th->interrupted)
		thread_interrupt(th);
	/* One has passed its last instruction, the other sleeps for long. */
	else if (th->exiting || th->in_vfork || !patient)
		th->asleep = thread_asleep(th) || th->exiting;
	if (!th->asleep && !patient && thread_is_ghost(th)) {
		event_lost(th);
		return false;
	}
	return !th->asleep;
}

void
space_await(struct space *sp)
{
	struct super *su = sp->super;
	struct timespec nap = { 0, 20000 };
	long napped = 0;

	for (;;) {
		bool missing = false;
		while (event_take(su))
			;
		space_foreach_thread(th, sp) missing |=
		    is_missing(th, napped < PATIENCE_NS);
		if (!missing)
			return;
		/* Which of them may turn out to be asleep is not known, so no
		 * blocking wait: it might be for ever. */
		nanosleep(&nap, NULL);
		napped += nap.tv_nsec;
		nap.tv_nsec = MIN(nap.tv_nsec * 2, 1000000);
	}
}

void
space_stop(struct space *sp)
{
	if (sp->stops++ > 0)
		return;
	space_foreach_thread(th, sp)
	{
		th->asleep = false;
		if (th->state == TH_RUNNING)
			thread_interrupt(th);
	}
	space_await(sp);
}

void
space_resume(struct space *sp)
{
	ASSERT(sp->stops > 0);
	if (--sp->stops > 0)
		return;
	space_foreach_thread(th, sp)
	{
		th->asleep = false;
		if (th->state == TH_STOPPED && th->for_space) {
			th->for_space = false;
			thread_resume(th);
		}
	}
}

struct uregs *
thread_regs(struct thread *th)
{
	if (th->state != TH_STOPPED)
		return NULL;
	if (!th->regs_valid) {
		if (regs_fetch(th->tid, &th->regs) < 0)
			return NULL;
		th->regs_valid = true;
		th->kernel_pc = th->regs.r[UREG_RIP];
	}
	return &th->regs;
}

void
thread_regs_dirty(struct thread *th)
{
	th->regs_dirty = true;
}

void
thread_regs_moved(struct thread *th)
{
	if (th->regs.r[UREG_RIP] != th->kernel_pc)
		th->regs_dirty = true;
}

static bool
wants_syscalls(const struct thread *th)
{
	const struct super *su = th->proc->super;

	return th->want_syscalls || th->want_exit ||
	    (su->want_syscalls && (!th->proc->filtered || su->unfiltered));
}

/* The end of the system call, which remote_syscall() has passed, is owed. */
static bool
owes_syscall_exit(struct thread *th)
{
	if (!th->past_event || !wants_syscalls(th))
		return false;
	th->past_event = false;
	th->in_syscall = false;
	th->syscall_known = true;
	th->stop = EV_SYSCALL_EXIT;
	event_push(th->proc->super,
	    &(struct event){ .kind = EV_SYSCALL_EXIT, .thread = th });
	return true;
}

void
thread_resume(struct thread *th)
{
	if (th->state != TH_STOPPED || th->queued > 0 || th->held)
		return;
	if (th->proc->space->stops > 0) {
		th->for_space = true;
		return;
	}
	if (owes_syscall_exit(th))
		return;

	int sig = th->sig;
	bool calls = wants_syscalls(th);
	enum __ptrace_request how = calls ? PTRACE_SYSCALL : PTRACE_CONT;
	if (th->stop == EV_GROUP_STOP) {
		how = PTRACE_LISTEN;
		sig = 0;
		th->listening = true;
	} else if (!calls) {
		th->syscall_known = false;
		/* Of one that is held the filter tells when it goes on. */
		th->call.known &= th->call.held;
	} else if (!th->syscall_known && th->stop == EV_STOP) {
		thread_adopt_call(th);
	}
	write_back(th);
	th->sig = 0;
	th->state = TH_RUNNING;
	th->proc->exec_stopped = false;
	if (th->regroup) {
		/* The interrupt's stop will say that it is a group-stop. */
		th->regroup = false;
		request(PTRACE_INTERRUPT, th->tid, 0, 0);
	}
	int r = request(how, th->tid, 0, (uintptr_t)sig);
	if (r < 0)
		LOG("proc", "%d: resume: %s", (int)th->tid, strerror(-r));
}

int
thread_siginfo(struct thread *th, siginfo_t *si)
{
	if (th->state != TH_STOPPED)
		return -ESRCH;
	return request(PTRACE_GETSIGINFO, th->tid, 0, (uintptr_t)si);
}

int
thread_set_siginfo(struct thread *th, const siginfo_t *si)
{
	if (th->state != TH_STOPPED)
		return -ESRCH;
	return request(PTRACE_SETSIGINFO, th->tid, 0, (uintptr_t)si);
}

void
thread_fault(struct thread *th, int sig, int code, uint64_t addr)
{
	siginfo_t si = { .si_signo = sig, .si_code = code };

	si.si_addr = (void *)(uintptr_t)addr;
	request(PTRACE_SETSIGINFO, th->tid, 0, (uintptr_t)&si);
	th->sig = sig;
}

void
thread_ask(struct thread *th)
{
	th->wanted = true;
	thread_interrupt(th);
}

bool
thread_on_cpu(struct thread *th)
{
	return procfs_state(th->tid) == 'R';
}

int
thread_cpu(struct thread *th)
{
	uint64_t cpu;

	return procfs_stat(th->tid, 39, &cpu) == 0 ? (int)cpu : -1;
}

/* Detaching */

/* Does an int3 of ours stand at addr, or did it lately? */
static bool
is_ours(struct tptable *tab, uint64_t addr)
{
	return tab != NULL &&
	    (tracepoint_lookup(tab, addr) != NULL ||
		tracepoint_recent(tab, addr));
}

bool
thread_trap_pending(struct thread *th)
{
	struct __ptrace_peeksiginfo_args args = { .nr = 8 };
	siginfo_t si[8]; /* synchronous ones are few, and first */

	long n = ptrace(PTRACE_PEEKSIGINFO, th->tid, &args, si);
	for (long i = 0; i < n; i++)
		if (si[i].si_signo == SIGTRAP && si[i].si_code == SI_KERNEL)
			return true;
	return false;
}

int
thread_run_to_trap(struct thread *th)
{
	write_back(th);
	int r = request(PTRACE_CONT, th->tid, 0, 0);
	if (r == 0)
		th->state = TH_RUNNING;
	return r;
}

/*
 * A stop that was asked for comes before the SIGTRAP of an int3 that the thread
 * has just executed: that is still pending, and would be fatal when we are
 * gone.  The thread goes on to it, which takes no instruction.
 */
static void
take_pending_trap(struct thread *th)
{
	struct tptable *tab = th->proc->space->tab;
	int status;

	/* Another interrupt of ours may come before it. */
	for (int i = 0; i < 3; i++) {
		if (th->state != TH_STOPPED || tab == NULL ||
		    (th->stop != EV_STOP && th->stop != EV_GROUP_STOP))
			return;
		struct uregs *regs = thread_regs(th);
		if (regs == NULL || !is_ours(tab, regs->r[UREG_RIP] - 1) ||
		    !thread_trap_pending(th) || thread_run_to_trap(th) < 0 ||
		    event_wait_thread(th, &status) < 0)
			return;
		event_note(th->proc->super, th->tid, status);
	}
}

/* An event that nobody has handled is undone: the thread goes on as if we had
 * not been there. */
static void
undo_queued(struct thread *th)
{
	take_pending_trap(th);
	if (th->queued == 0 || th->state != TH_STOPPED || th->stop != EV_TRAP)
		return; /* of a queued EV_SIGNAL th->sig is set */
	struct uregs *regs = thread_regs(th);
	if (regs == NULL)
		return;
	uint64_t addr = regs->r[UREG_RIP] - 1;
	if (is_ours(th->proc->space->tab, addr)) {
		thread_mend_sigtrap(th);
		regs->r[UREG_RIP] = addr;
		thread_regs_dirty(th);
	} else {
		th->sig = SIGTRAP;
	}
}

void
proc_detach(
    struct proc *p, void (*prepare)(void *ctx, struct proc *), void *ctx)
{
	struct super *su = p->super;
	struct space *sp = p->space;

	space_stop(sp);
	vec_foreach(th, &p->threads)
		undo_queued(*th);
	if (prepare != NULL)
		prepare(ctx, p);
	vec_foreach(thp, &p->threads) {
		struct thread *th = *thp;
		if (th->state == TH_GONE)
			continue;
		if (th->state == TH_STOPPED) {
			/* In a group-stop it stays: the kernel takes it
			 * back there. */
			thread_release(th);
		} else {
			*vec_push(&su->leaving.list) = th->tid;
		}
	}
	sp->refs++; /* until resumed */
	proc_drop(p);
	space_resume(sp);
	space_leave(sp, NULL);
}
