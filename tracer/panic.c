/*
 * The tracer's emergency exit.  Whatever is broken in us, the targets live on.
 *
 *	1. original bytes back into every space: no thread traps any more;
 *	   semaphores of static probes back to what they were
 *	2. threads that run are stopped, for a bounded time; one that has just
 *	   hit an int3 is backed up onto the instruction
 *	3. detach; slots stay mapped, a thread in one runs on through it
 *
 * Nothing is allocated, and the tables may be half-way through a change: each
 * step is worth its while alone.  What is not stopped in time is let go by the
 * kernel when we die, and runs original text.
 */
#include "tracer/panic.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "inject/tracepoint.h"
#include "tracer/prov/semaphore.h"
#include "tracer/super_impl.h"

/* How often, and how long apart, the stops are looked for: half a second. */
#define ROUNDS   500
#define ROUND_NS 1000000
/* After so many what is stopped and has not been heard of will not be. */
#define ROUNDS_HEARD 20

static struct super *guarded;
static volatile sig_atomic_t entered;

static void guard_signal(int sig);

/* A copy of a space's memory that nobody has looked after yet: a fork's child.
 * Its int3s are its parent's. */
static void
restore_copy(struct space *of, pid_t pid)
{
	struct tptable *tab = of->tab;
	char path[40];
	uint8_t byte;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	for (struct tracepoint *tp = NULL;
	     (tp = tracepoint_next(tab, tp)) != NULL;)
		if ((tp->state == TP_TRAP || tp->state == TP_DRAINING) &&
		    pread(fd, &byte, 1, (off_t)tp->addr) == 1 && byte == 0xcc &&
		    pwrite(fd, &tp->saved, 1, (off_t)tp->addr) != 1)
			break;
	semaphores_lower_copy(of, fd);
	close(fd);
}

/* The space that p's is a copy of, if it has tracepoints; or NULL. */
static struct space *
parent_space(struct proc *p)
{
	struct proc *parent = super_proc(guarded, p->parent);

	return parent != NULL && parent->space->tab != NULL ? parent->space :
							      NULL;
}

static void
restore_all(void)
{
	/* Copies first: the parent's table still says what is armed. */
	vec_foreach(p, &guarded->procs) {
		struct space *of = parent_space(*p);
		if ((*p)->space->tab == NULL && of != NULL)
			restore_copy(of, (*p)->pid);
	}
	vec_foreach(p, &guarded->procs) {
		if ((*p)->space->tab == NULL)
			continue;
		tracepoint_restore_all((*p)->space->tab);
		semaphores_lower((*p)->space);
	}
}

/* One more stop: only what release() needs is kept of it. */
static void
note(pid_t tid, int status)
{
	struct thread *th = super_thread(guarded, tid);
	int sig = WSTOPSIG(status), event = status >> 16;

	if (!WIFSTOPPED(status)) {
		if (th != NULL)
			th->state = TH_GONE;
		return;
	}
	if (th != NULL && th->untaken) { /* the stop that we know */
		th->untaken = false;
		return;
	}
	if (event != 0 || sig == (SIGTRAP | 0x80))
		sig = 0;
	if (th == NULL) { /* a child that was not announced yet */
		tid_release(tid, sig);
		return;
	}
	th->state = TH_STOPPED;
	th->regs_valid = th->regs_dirty = false;
	th->stop = sig == SIGTRAP ? EV_TRAP : EV_SIGNAL;
	th->sig = sig;
	unsigned long child = 0;
	if (event_makes_child(event) && th->proc->space->tab != NULL &&
	    tid_eventmsg(tid, &child) == 0)
		restore_copy(th->proc->space, (pid_t)child);
}

/*
 * Its stop had been taken from the kernel, but not been noted yet when the
 * signal came: nothing more is heard of it.  What it is stopped for, its
 * siginfo tells.
 */
static void
adopt_stopped(struct thread *th)
{
	siginfo_t si;

	if (procfs_state(th->tid) != 't')
		return;
	th->state = TH_STOPPED;
	th->regs_valid = th->regs_dirty = false;
	th->stop = EV_STOP;
	th->sig = 0;
	if (thread_siginfo(th, &si) != 0 || si.si_code > 0xff)
		return; /* an event's */
	th->stop = si.si_signo == SIGTRAP ? EV_TRAP : EV_SIGNAL;
	th->sig = si.si_signo;
}

static void
stop_all(void)
{
	static const struct timespec round = { 0, ROUND_NS };
	static const volatile int never;
	int status;

	hash_foreach(e, &guarded->threads) {
		struct thread *th = e->value;
		if (th->state == TH_RUNNING)
			thread_interrupt(th);
	}
	for (int i = 0; i < ROUNDS; i++) {
		bool missing = false;
		long tid;
		while ((tid = wait_call(
			    -1, &status, __WALL | WNOHANG, &never)) > 0)
			note((pid_t)tid, status);
		hash_foreach(e, &guarded->threads) {
			struct thread *th = e->value;
			if (th->state == TH_RUNNING && i > ROUNDS_HEARD)
				adopt_stopped(th);
			if ((th->state == TH_RUNNING || th->state == TH_NEW) &&
			    !th->exiting && !thread_asleep(th))
				missing = true;
		}
		if (!missing)
			return;
		nanosleep(&round, NULL);
	}
}

static bool
is_ours(struct tptable *tab, uint64_t addr)
{
	return tracepoint_lookup(tab, addr) != NULL ||
	    tracepoint_recent(tab, addr);
}

/* An int3 of ours that was hit and not handled: onto the instruction. */
static void
back_up(struct thread *th)
{
	static const volatile int never;
	struct tptable *tab = th->proc->space->tab;
	struct uregs *regs;
	int status;

	if (tab == NULL && parent_space(th->proc) != NULL)
		tab = parent_space(th->proc)->tab;
	/* In the middle of a hit they may be on their way to what they will
	 * be: only what the kernel has is whole. */
	if (!th->regs_dirty)
		th->regs_valid = false;
	if (th->regs_dirty || tab == NULL || (regs = thread_regs(th)) == NULL ||
	    (!is_ours(tab, regs->r[UREG_RIP] - 1) &&
		regs->r[UREG_RIP] != th->watch))
		return;
	/* See take_pending_trap() in proc.c. */
	for (int i = 0; i < 3 && th->stop != EV_TRAP; i++) {
		if (!thread_trap_pending(th) || thread_run_to_trap(th) < 0 ||
		    wait_call(th->tid, &status, __WALL, &never) < 0)
			return;
		note(th->tid, status);
	}
	if (th->stop != EV_TRAP || (regs = thread_regs(th)) == NULL)
		return;
	th->sig = 0;
	if (thread_at_watch(th))
		return;
	regs->r[UREG_RIP]--;
	thread_regs_dirty(th);
}

static void
let_go(void)
{
	if (guarded == NULL || entered)
		return;
	entered = 1;
	restore_all();
	stop_all();
	hash_foreach(e, &guarded->threads) {
		struct thread *th = e->value;
		if (th->state != TH_STOPPED)
			continue;
		back_up(th);
		thread_release(th);
	}
}

/* base_panic() says why and aborts when this returns. */
static void
on_panic(const char *why)
{
	let_go();
}

/*
 * A file that we have mapped was cut short by somebody: what is behind its end
 * is zeros from now on, as in a file that is damaged, which every reader is
 * prepared for.  That page alone: what is before it is there.
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
	if (!entered) {
		int n = snprintf(text, sizeof(text),
		    "dtrap: internal error: signal %d; letting targets go\n",
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
	entered = 0;
	base_panic_hook(su != NULL ? on_panic : NULL);
	if (su == NULL)
		return;
	sigaltstack(&ss, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(fatal); i++)
		guard_signal(fatal[i]);
}
