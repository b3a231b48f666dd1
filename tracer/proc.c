/*
 * The requests that stop threads and let them run.  One that finds no thread
 * (ESRCH) means that it was killed: the thread is taken as running, and its end
 * arrives as a status.
 */
#include "tracer/proc.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <time.h>

#include "dlang/base/fault.h"
#include "dlang/base/log.h"
#include "inject/tracepoint.h"
#include "inject/trap/area.h"
#include "tracer/event.h"
#include "tracer/super_impl.h"
#include "tracer/timer.h"

#define OPTIONS                                                             \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | \
	    PTRACE_O_TRACEVFORK | PTRACE_O_TRACEVFORKDONE |                 \
	    PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT)

/* How long a thread may sleep uninterruptibly before we stop waiting for it. */
#define PATIENCE_NS 20000000
/* And how long while it makes a thread or a process. */
#define BIRTH_NS 1000000000

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

/*
 * A SIGTRAP that has been dealt with is still with the kernel, and will be
 * delivered if we are killed before the thread runs: to a handler that can tell
 * by this that the registers are set (inject/trap/handler.c).  In a slot it
 * needs no telling.
 */
void
thread_mark_done(struct thread *th, uint64_t pc)
{
	siginfo_t si = { .si_signo = SIGTRAP, .si_code = TRAP_DONE };

	if (!th->untaken || th->stop != EV_TRAP || !th->proc->guarded)
		return;
	si.si_value.sival_ptr = (void *)(uintptr_t)pc;
	request(PTRACE_SETSIGINFO, th->tid, 0, (uintptr_t)&si);
}

/* What the stop's user changed goes back to the kernel. */
static void
write_back(struct thread *th)
{
	if (th->regs_dirty) {
		uint64_t pc = th->regs.r[UREG_RIP];
		if (th->sig == 0 && pc != th->kernel_pc && !th->into_slot)
			thread_mark_done(th, pc);
		regs_store(th->tid, &th->regs);
	}
	th->regs_dirty = th->regs_valid = false;
}

/* The registers first: with those the thread goes on then.  What is left is a
 * stop as any other. */
void
thread_settle(struct thread *th)
{
	if (th->state != TH_STOPPED)
		return;
	write_back(th);
	if (!th->untaken || th->stop != EV_TRAP || th->sig != 0)
		return;
	event_take_stop(th);
	th->stop = EV_STOP;
}

int
thread_release(struct thread *th)
{
	thread_watch(th, 0);
	sigtrap_show(th);
	if (th->frames_due)
		sigtrap_show_frames(th);
	thread_restart_call(th);
	thread_put_off_call(th);
	write_back(th);
	event_left_stop(th);
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
 * A thread that makes another, or a process, may sleep in `D' as well, for tens
 * of milliseconds when processes are moved between control groups.  What comes
 * of it would be no thread of ours yet, or a copy of the memory with our int3s,
 * so it is waited for.  Not so vfork, which sleeps for as long as its child
 * likes.
 */
static bool
gives_birth(struct thread *th)
{
	struct uregs regs = { 0 };
	uint64_t args[6];
	int64_t nr;

	if (procfs_state(th->tid) != 'D' ||
	    procfs_syscall(th->tid, &nr, args) < 0 ||
	    (nr != SYS_fork && nr != SYS_clone && nr != SYS_clone3))
		return false;
	regs_set_syscall(&regs, 0, (long)nr, args);
	regs_set_syscall_nr(&regs, (long)nr);
	return (regs_clone_flags(&regs, &th->proc->space->mem) & CLONE_VFORK) ==
	    0;
}

/*
 * Is the stop of this thread still to be waited for?  Short sleeps in `D' are
 * common (a page from disk, a lock in the kernel); what lasts longer than our
 * patience is left alone.
 */
static bool
is_missing(struct thread *th, long napped)
{
	bool patient = napped < PATIENCE_NS;

	if (th->state == TH_STOPPED || th->state == TH_GONE || th->asleep)
		return false;
	if (th->state == TH_RUNNING && !th->interrupted)
		thread_interrupt(th);
	/* One has passed its last instruction, the other sleeps for long. */
	else if (th->exiting || th->in_vfork || !patient)
		th->asleep = th->exiting ||
		    (thread_asleep(th) &&
			(napped >= BIRTH_NS || !gives_birth(th)));
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
		space_foreach_thread(th, sp)
		{
			if (th->state == TH_RUNNING && th->interrupted)
				event_take_of(th);
		}
		while (event_take(su))
			;
		space_foreach_thread(th, sp) missing |= is_missing(th, napped);
		if (!missing)
			return;
		/* Which of them may turn out to be asleep is not known, so no
		 * blocking wait: it might be for ever. */
		nanosleep(&nap, NULL);
		napped += nap.tv_nsec;
		nap.tv_nsec = MIN(nap.tv_nsec * 2, 1000000);
	}
}

/* A client of the process waits for so long: what a trace costs it at once. */
void
space_stands(struct space *sp)
{
	if (sp->still == 0)
		sp->still = timer_now();
}

void
space_runs(struct space *sp)
{
	struct super *su = sp->super;

	if (sp->still == 0)
		return;
	uint64_t took = timer_now() - sp->still;
	sp->still = 0;
	su->longest_stop = MAX(su->longest_stop, took);
	LOG("stop", "%d: stood still for %lu us",
	    (int)(sp->procs.len > 0 ? sp->procs.at[0]->pid : 0),
	    (unsigned long)(took / 1000));
}

uint64_t
super_longest_stop(const struct super *su)
{
	return su->longest_stop;
}

void
space_stop(struct space *sp)
{
	if (sp->stops++ > 0)
		return;
	space_foreach_thread(th, sp)
	{
		th->asleep = false;
		if (th->state != TH_RUNNING)
			continue;
		space_stands(sp);
		thread_interrupt(th);
	}
	fault_kill("stop-interrupt");
	space_await(sp);
	fault_kill("stop-all");
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
	space_runs(sp);
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

int
thread_pc(struct thread *th, uint64_t *pc, uint64_t *sp)
{
	struct uregs *regs = thread_regs(th);

	*pc = *sp = 0;
	if (regs != NULL) {
		*pc = regs->r[UREG_RIP];
		*sp = regs->r[UREG_RSP];
	} else if (th->state != TH_STOPPED && !th->exiting &&
	    procfs_pc(th->tid, pc, sp) < 0) {
		*pc = *sp = 0;
		return procfs_state(th->tid) == '\0' ? 0 : -EAGAIN;
	}
	return 0;
}

bool
thread_fp_regs(struct thread *th, uint64_t fp[UREG_FP_COUNT])
{
	return th->state == TH_STOPPED && regs_fetch_fp(th->tid, fp) == 0;
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

	return th->want_syscalls || th->want_exit || th->hide_after ||
	    th->trap_call || th->returns_due > 0 || th->redone.due != 0 ||
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
	th->broken_off = th->interrupted;
	event_push(th->proc->super,
	    &(struct event){ .kind = EV_SYSCALL_EXIT, .thread = th });
	return true;
}

static void
run(struct thread *th)
{
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
	thread_restart_call(th);
	if (th->redone.due != 0 && how == PTRACE_CONT)
		how = PTRACE_SYSCALL;
	write_back(th);
	fault_kill("resume-set");
	event_left_stop(th);
	th->sig = 0;
	th->losses = th->proc->guard_losses;
	th->state = TH_RUNNING;
	th->proc->exec_stopped = false;
	if (th->regroup) {
		/* The interrupt's stop will say that it is a group-stop. */
		th->regroup = false;
		request(PTRACE_INTERRUPT, th->tid, 0, 0);
	}
	int r = request(how, th->tid, 0, (uintptr_t)sig);
	fault_kill("resume-continue");
	if (r < 0)
		LOG("proc", "%d: resume: %s", (int)th->tid, strerror(-r));
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
	if (!owes_syscall_exit(th))
		run(th);
}

void
thread_deliver(struct thread *th)
{
	int status;

	thread_interrupt(th);
	run(th);
	if (event_wait_thread(th, &status) == 0)
		event_note(th->proc->super, th->tid, status);
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
thread_pending(const struct thread *th, bool shared, unsigned i, siginfo_t *si)
{
	struct __ptrace_peeksiginfo_args args = { .off = i,
		.flags = shared ? PTRACE_PEEKSIGINFO_SHARED : 0,
		.nr = 1 };

	return ptrace(PTRACE_PEEKSIGINFO, th->tid, &args, si) == 1;
}

bool
thread_trap_pending(struct thread *th)
{
	struct __ptrace_peeksiginfo_args args = { .nr = 8 };
	siginfo_t si[8]; /* synchronous ones are few, and first */

	long n = ptrace(PTRACE_PEEKSIGINFO, th->tid, &args, si);
	for (long i = 0; i < n; i++)
		if (si[i].si_signo == SIGTRAP &&
		    (si[i].si_code == SI_KERNEL ||
			(th->watch != 0 && si[i].si_code == TRAP_HWBKPT)))
			return true;
	return false;
}

int
thread_watch(struct thread *th, uint64_t addr)
{
	if (addr == th->watch)
		return 0;
	int r = regs_watch(th->tid, addr);
	if (r == -ESRCH) /* killed: it comes nowhere any more */
		r = 0;
	th->watch = r == 0 ? addr : 0;
	return r;
}

bool
thread_at_watch(struct thread *th)
{
	struct uregs *regs;
	siginfo_t si;

	return th->watch != 0 && (regs = thread_regs(th)) != NULL &&
	    regs->r[UREG_RIP] == th->watch && thread_siginfo(th, &si) == 0 &&
	    si.si_signo == SIGTRAP && si.si_code == TRAP_HWBKPT;
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

void
thread_take_trap(struct thread *th)
{
	struct tptable *tab = th->proc->space->tab;
	int status;

	/* Another interrupt of ours may come before it. */
	for (int i = 0; i < 3; i++) {
		if (th->state != TH_STOPPED || tab == NULL ||
		    (th->stop != EV_STOP && th->stop != EV_GROUP_STOP))
			return;
		struct uregs *regs = thread_regs(th);
		if (regs == NULL ||
		    (!is_ours(tab, regs->r[UREG_RIP] - 1) &&
			regs->r[UREG_RIP] != th->watch) ||
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
	thread_take_trap(th);
	if (th->queued == 0 || th->state != TH_STOPPED || th->stop != EV_TRAP)
		return; /* of a queued EV_SIGNAL th->sig is set */
	struct uregs *regs = thread_regs(th);
	if (regs == NULL)
		return;
	uint64_t addr = regs->r[UREG_RIP] - 1;
	if (thread_at_watch(th)) {
		thread_mend_sigtrap(th);
	} else if (is_ours(th->proc->space->tab, addr)) {
		regs->r[UREG_RIP] = addr;
		thread_regs_dirty(th);
		thread_mend_sigtrap(th);
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
	uint64_t stack;

	space_stop(sp);
	vec_foreach(th, &p->threads)
		undo_queued(*th);
	fault_kill("detach-undone");
	/* A thread that sleeps cannot be asked to write. */
	bool borrowed = space_borrow(sp);
	if (prepare != NULL)
		prepare(ctx, p);
	if (borrowed)
		space_return(sp);
	fault_kill("detach-prepared");
	vec_foreach(thp, &p->threads) {
		struct thread *th = *thp;
		if (th->state == TH_GONE)
			continue;
		if (th->state == TH_STOPPED) {
			/* In a group-stop it stays: the kernel takes it
			 * back there. */
			thread_release(th);
			fault_kill("detach-thread");
		} else {
			/* While others are in the space, and might give back
			 * the memory of the slot that it sleeps in. */
			thread_pc(th, vec_push(&sp->left), &stack);
			*vec_push(&su->leaving.list) = th->tid;
		}
	}
	if (sp->procs.len == 1)
		space_runs(sp);
	sp->refs++; /* until resumed */
	sp->parted = true;
	proc_drop(p);
	space_resume(sp);
	space_leave(sp, NULL);
	fault_kill("detach-end");
}
