/*
 * The emergency exit of the tracer.  The targets survive, whatever is broken in
 * the tracer.
 *
 *	1. original bytes back into every space: no thread traps any more;
 *	   semaphores of static probes back to what they were
 *	2. threads that run are stopped, for a bounded time; one that has just
 *	   hit an int3 is backed up onto the instruction
 *	3. detach; slots stay mapped, a thread in one runs on through it
 *
 * Nothing is allocated, and the tables may be in the middle of a change.  So
 * each step is useful alone, and a second fault ends only its step.  A thread
 * that is not stopped in time, or whose step failed, is detached by the kernel
 * when the tracer dies, and runs original text.  Stops for signals are left
 * with the kernel until the thread is detached (event.c), so the handler in the
 * target still gets the signal.
 *
 * The supervisor's reserved file descriptor is released first, because a tracer
 * without memory may also have no descriptors.
 */
#include "tracer/survive/panic.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dlang/base/fault.h"
#include "inject/tracepoint.h"
#include "inject/trap/area.h"
#include "tracer/ptrace/event.h"
#include "tracer/survive/semaphore.h"
#include "tracer/ptrace/super.h"

/* Stops are waited for in rounds, for half a second in all. */
#define ROUNDS   500
#define ROUND_NS 1000000
/* After this many rounds, a stopped thread whose status was not seen will not
 * report one. */
#define ROUNDS_HEARD 20

static struct super *guarded;
static volatile sig_atomic_t entered;

static void (*first)(void);

static void guard_signal(int sig);

void
panic_first(void (*fn)(void))
{
	first = fn;
}

static void
do_first(void)
{
	if (first != NULL && !entered)
		first();
}

/* ---- steps ---- */

static sigjmp_buf step_end;
static volatile sig_atomic_t in_step;

/* Run fn(arg); a fault in it ends only this step. */
static void
step(void (*fn)(void *arg), void *arg)
{
	if (sigsetjmp(step_end, 1) == 0) {
		in_step = 1;
		if (fault_due(FAULT_EXIT))
			raise(SIGSEGV);
		fn(arg);
	}
	in_step = 0;
}

/* ---- text and semaphores ---- */

static int
copy_open(pid_t pid)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	return open(path, O_RDWR | O_CLOEXEC);
}

static void
restore_copy_places(const struct space *of, int fd, bool late)
{
	struct tptable *tab = of->tab;
	uint8_t bytes[TRACEPOINT_SPAN] = { 0 };
	size_t n;

	for (struct tracepoint *tp = NULL;
	     (tp = tracepoint_next(tab, tp)) != NULL;)
		if (tp->late == late &&
		    pread(fd, bytes, sizeof(bytes),
			(off_t)tracepoint_start(tp)) > 0 &&
		    (n = tracepoint_undo(tp, bytes)) != 0 &&
		    pwrite(fd, bytes, n, (off_t)tracepoint_start(tp)) !=
			(ssize_t)n)
			break;
}

static void
restore_copy_text(const struct space *of, int fd)
{
	restore_copy_places(of, fd, false);
	restore_copy_places(of, fd, true);
}

/* Restore the memory of a fork's child that was not handled yet.  Its int3s are
 * its parent's. */
static void
restore_copy(struct space *of, pid_t pid)
{
	int fd = copy_open(pid);

	if (fd < 0)
		return;
	restore_copy_text(of, fd);
	semaphores_lower_copy(of, fd);
	close(fd);
}

/* The space of which p's space is a copy, if it has tracepoints; or NULL. */
static struct space *
parent_space(struct proc *p)
{
	struct proc *parent = super_proc(guarded, p->parent);

	return parent != NULL && parent->space->tab != NULL ? parent->space :
							      NULL;
}

/* A child with a struct, but without a table of its own. */
static void
restore_child(void *arg)
{
	struct proc *p = arg;
	struct space *of = parent_space(p);

	if (p->space->tab == NULL && of != NULL)
		restore_copy(of, p->pid);
}

/* A child whose parent had stopped to report it when memory ran out. */
static void
restore_unnamed(void *arg)
{
	struct thread *th = arg;
	unsigned long child = 0;

	if (!thread_stopped(th) || th->proc->space->tab == NULL ||
	    (th->stop.kind != EV_FORK && th->stop.kind != EV_VFORK &&
		th->stop.kind != EV_CLONE) ||
	    tid_eventmsg(th->tid, &child) != 0 ||
	    super_thread(guarded, (pid_t)child) != NULL ||
	    super_proc(guarded, (pid_t)child) != NULL ||
	    event_same_memory(th->tid, (pid_t)child) == 1)
		return;
	restore_copy(th->proc->space, (pid_t)child);
}

/* A child that has stopped before its parent. */
static void
restore_early(void *arg)
{
	const struct early *e = arg;
	struct proc *parent = super_proc(guarded, e->parent);
	int fd;

	if (!WIFSTOPPED(e->status) || parent == NULL ||
	    parent->space->tab == NULL || (fd = copy_open(e->pid)) < 0)
		return;
	restore_copy_text(parent->space, fd);
	close(fd);
}

static void
restore_space(void *arg)
{
	struct space *sp = arg;

	tracepoint_restore_all(sp->tab);
	semaphores_lower(sp);
}

/* A space without a file descriptor, with the reserved one. */
static void
restore_without(void *arg)
{
	struct space *sp = arg;

	if (!space_reopen(sp))
		return;
	restore_space(sp);
	space_close(sp); /* for the next one */
}

static void
restore_all(void)
{
	/* Children first, while the parent's table still says what is armed. */
	vec_foreach(p, &guarded->procs)
		step(restore_child, *p);
	hash_foreach(e, &guarded->threads)
		step(restore_unnamed, e->value);
	vec_foreach(e, &guarded->early)
		step(restore_early, e);
	vec_foreach(p, &guarded->procs)
		if ((*p)->space->tab != NULL)
			step((*p)->space->mem_fd >= 0 ? restore_space :
							restore_without,
			    (*p)->space);
}

/* ---- stops ---- */

/* Note a stop, as far as release() needs it. */
static void
note(struct thread *th, int status)
{
	int sig = WSTOPSIG(status), event = status >> 16;
	unsigned long child = 0;

	if (!WIFSTOPPED(status)) {
		stop_force(th, TH_GONE, th->stop.kind, 0);
		return;
	}
	if (event != 0 || sig == (SIGTRAP | 0x80))
		sig = 0;
	regs_begin(th);
	stop_force(th, TH_STOPPED, sig == SIGTRAP ? EV_TRAP : EV_SIGNAL, sig);
	if (event_makes_child(event) && th->proc->space->tab != NULL &&
	    tid_eventmsg(th->tid, &child) == 0)
		restore_copy(th->proc->space, (pid_t)child);
}

/* Has the thread stopped or ended?  A stop for a signal is left with the
 * kernel. */
static bool
take(struct thread *th, int options)
{
	static const volatile int never;
	int status;

	if (wait_peek(th->tid, &status, __WALL | options, &never) != th->tid)
		return false;
	stop_take(th);
	if (WIFSTOPPED(status) && status >> 16 == 0 &&
	    WSTOPSIG(status) < 0x80) {
		stop_leave_untaken(th);
	} else if (wait_call(th->tid, &status, __WALL | WNOHANG, &never) !=
	    th->tid) {
		return false;
	}
	note(th, status);
	return true;
}

/*
 * The stop of a thread had been taken from the kernel but not been recorded
 * when the fault came, so the kernel does not report it again.  Its siginfo
 * tells what it is stopped for.
 */
static void
adopt_stopped(struct thread *th)
{
	siginfo_t si;

	if (procfs_state(th->tid) != 't')
		return;
	regs_begin(th);
	stop_force(th, TH_STOPPED, EV_STOP, 0);
	if (thread_siginfo(th, &si) != 0 || si.si_code > 0xff)
		return; /* an event's */
	stop_force(th, TH_STOPPED, si.si_signo == SIGTRAP ? EV_TRAP : EV_SIGNAL,
	    si.si_signo);
}

static bool
is_wanted(const struct thread *th)
{
	return thread_runs(th) || th->stop.state == TH_NEW;
}

/* Is its stop still to come? */
static bool
is_missing(struct thread *th, int rounds)
{
	if (is_wanted(th))
		take(th, WNOHANG);
	if (thread_runs(th) && rounds > ROUNDS_HEARD)
		adopt_stopped(th);
	return is_wanted(th) && !thread_ends(th) && !thread_asleep(th);
}

/* Threads without a struct are not interrupted; their stops are left with the
 * kernel. */
static void
stop_all(void *arg)
{
	static const struct timespec round = { 0, ROUND_NS };

	hash_foreach(e, &guarded->threads) {
		struct thread *th = e->value;
		if (thread_runs(th))
			thread_interrupt(th);
	}
	for (int i = 0; i < ROUNDS; i++) {
		bool missing = false;
		hash_foreach(e, &guarded->threads)
			missing |= is_missing(e->value, i);
		if (!missing)
			return;
		nanosleep(&round, NULL);
	}
}

/* The thread has executed an int3 that was not handled: set its pc back to the
 * instruction. */
static void
back_up(struct thread *th)
{
	struct tptable *tab = th->proc->space->tab;
	struct uregs *regs;

	if (tab == NULL && parent_space(th->proc) != NULL)
		tab = parent_space(th->proc)->tab;
	/* In the middle of a hit the registers in the tracer may be half
	 * changed; only those in the kernel are consistent. */
	bool changed = th->regs.state == REGS_CHANGED;
	if (!changed)
		regs_forget(th);
	if (changed || tab == NULL || (regs = thread_regs(th)) == NULL ||
	    !thread_expects_trap(th, tab, regs))
		return;
	/* See thread_take_trap() in halt.c. */
	for (int i = 0; i < 3 && th->stop.kind != EV_TRAP; i++) {
		if (!thread_trap_pending(th) || thread_run_to_trap(th) < 0 ||
		    !take(th, 0))
			return;
	}
	if (th->stop.kind != EV_TRAP || (regs = thread_regs(th)) == NULL)
		return;
	bool watch = thread_at_watch(th);
	/* With a watch on data the stop may be for a signal of the program's. */
	if (!watch && !text_is_trapped(tab, regs->r[UREG_PC] - TRAP_PC_AFTER))
		return;
	stop_signal(th, 0);
	if (watch)
		return;
	regs->r[UREG_PC] -= TRAP_PC_AFTER;
	thread_regs_dirty(th);
}

static void
release(void *arg)
{
	struct thread *th = arg;

	if (!thread_stopped(th))
		return;
	back_up(th);
	thread_release(th);
}

static void
let_go(void)
{
	if (guarded == NULL || entered)
		return;
	entered = 1;
	reserve_spend(guarded);
	restore_all();
	step(stop_all, NULL);
	/* The remaining spaces: write through a stopped thread, word by
	 * word. */
	vec_foreach(p, &guarded->procs)
		if ((*p)->space->tab != NULL && (*p)->space->mem_fd < 0)
			step(restore_space, (*p)->space);
	hash_foreach(e, &guarded->threads)
		step(release, e->value);
}

/* base_panic() says why and aborts when this returns. */
static void
on_panic(const char *why)
{
	do_first();
	let_go();
}

/*
 * A file that the tracer has mapped was truncated.  The page of the fault
 * becomes zeroes; every reader can handle such a damaged file.  Only that page
 * is replaced, because pages before the new end still exist.
 */
static volatile sig_atomic_t faults;

static bool
mend_file(const siginfo_t *si)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *at = (void *)((uintptr_t)si->si_addr & ~(page - 1));

	if (si->si_code != BUS_ADRERR ||
	    mmap(at, page, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != at)
		return false;
	faults++;
	return true;
}

unsigned
panic_faults(void)
{
	return (unsigned)faults;
}

static void
on_signal(int sig, siginfo_t *si, void *uc)
{
	char text[80];

	if (sig == SIGBUS && mend_file(si)) {
		guard_signal(SIGBUS); /* SA_RESETHAND has taken it away */
		return;
	}
	if (in_step) {
		guard_signal(sig); /* for the next step */
		siglongjmp(step_end, 1);
	}
	do_first();
	if (!entered) {
		int n = snprintf(text, sizeof(text),
		    "dtrap: internal error: signal %d; detaching from all "
		    "processes\n",
		    sig);
		if (write(STDERR_FILENO, text, (size_t)n) != n)
			entered = 0; /* nobody to tell */
	}
	let_go();
	/* SA_RESETHAND: the second time is the last. */
	raise(sig);
}

static void
guard_signal(int sig)
{
	struct sigaction sa = { .sa_sigaction = on_signal,
		.sa_flags =
		    SA_SIGINFO | SA_ONSTACK | SA_RESETHAND | SA_NODEFER };

	sigemptyset(&sa.sa_mask);
	sigaction(sig, &sa, NULL);
}

void
panic_guard(struct super *su)
{
	static const int fatal[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
	static char stack[64 * 1024]; /* the usual one may be used up */
	const stack_t ss = { .ss_sp = stack, .ss_size = sizeof(stack) };

	guarded = su;
	entered = in_step = 0;
	base_panic_hook(su != NULL ? on_panic : NULL);
	if (su == NULL)
		return;
	reserve_keep(su);
	sigaltstack(&ss, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(fatal); i++)
		guard_signal(fatal[i]);
}
