/*
 * Processes, threads and spaces: their structs, and the requests that stop
 * threads and let them run.
 *
 * Invariants:
 *  - a thread is in its process's list and, until it is gone, in the table by
 *    tid; a process is in the list of the supervisor and of its space;
 *  - a request that finds no thread (ESRCH) means that it was killed: the
 *    thread is taken as running, and its end arrives as a status.
 */
#include "tracer/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <time.h>
#include <unistd.h>

#include "dlang/base/log.h"
#include "inject/tracepoint.h"
#include "tracer/event.h"
#include "tracer/super_impl.h"
#include "tracer/target_ptrace.h"

#define OPTIONS                                                             \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | \
	    PTRACE_O_TRACEVFORK | PTRACE_O_TRACEVFORKDONE |                 \
	    PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT)

/* How long a thread may sleep uninterruptibly before we stop waiting for it. */
#define PATIENCE_NS 20000000

/* The supervisor */

struct super *
super_create(void)
{
	struct super *su = mem_zalloc(sizeof(*su));
	struct sigaction sa;

	sigprocmask(SIG_BLOCK, NULL, &su->start_mask);
	for (int sig = 1; sig <= 64; sig++)
		if (sigaction(sig, NULL, &sa) == 0 && sa.sa_handler == SIG_IGN)
			su->start_ignored |= 1ULL << (sig - 1);
	return su;
}

void
super_set_hooks(struct super *su, const struct super_hooks *hooks, void *ctx)
{
	su->hooks = *hooks;
	su->hooks_ctx = ctx;
}

void
super_destroy(struct super *su)
{
	while (su->procs.len > 0)
		proc_detach(su->procs.at[0], NULL, NULL);
	/* Those that sleep may wake now that their vfork children run; for the
	 * rest our end is enough. */
	const struct timespec nap = { 0, 1000000 };
	for (int i = 0; i < 50 && su->leaving.list.len > 0; i++) {
		while (event_take(su))
			;
		nanosleep(&nap, NULL);
	}
	if (su->dead_thread != NULL)
		thread_free(su->dead_thread);
	if (su->dead_proc != NULL)
		proc_free(su->dead_proc);
	hash_fini(&su->threads);
	vec_fini(&su->procs);
	vec_fini(&su->queue);
	vec_fini(&su->early);
	vec_fini(&su->leaving.list);
	vec_fini(&su->orphans.list);
	mem_free(su);
}

struct proc *
super_next(struct super *su, struct proc *prev)
{
	size_t i = 0;

	while (prev != NULL && i < su->procs.len && su->procs.at[i++] != prev)
		;
	return i < su->procs.len ? su->procs.at[i] : NULL;
}

struct proc *
super_proc(struct super *su, pid_t pid)
{
	vec_foreach(p, &su->procs)
		if ((*p)->pid == pid)
			return *p;
	return NULL;
}

struct thread *
super_thread(struct super *su, pid_t tid)
{
	struct thread *th = hash_get(&su->threads, (uint64_t)tid);

	return th != NULL && th->state != TH_GONE ? th : NULL;
}

/* Spaces */

static int
mem_read(void *ctx, uint64_t addr, void *buf, size_t len)
{
	struct space *sp = ctx;

	return target_ptrace_ops.read(&sp->target, addr, buf, len);
}

static int
text_read(void *ctx, uint64_t addr, void *buf, size_t len)
{
	struct space *sp = ctx;
	int r = target_ptrace_ops.read(&sp->target, addr, buf, len);

	if (r == 0 && sp->tab != NULL)
		tracepoint_overlay(sp->tab, addr, buf, len);
	return r;
}

int
space_open(struct space *sp, pid_t tid)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)tid);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (sp->mem_fd >= 0)
		close(sp->mem_fd);
	sp->mem_fd = fd;
	return 0;
}

static struct space *
space_create(struct super *su, pid_t tid)
{
	struct space *sp = mem_zalloc(sizeof(*sp));

	sp->target.ops = &target_ptrace_ops;
	sp->super = su;
	sp->mem = (struct reader){ mem_read, sp };
	sp->text = (struct reader){ text_read, sp };
	sp->mem_fd = -1;
	space_open(sp, tid);
	return sp;
}

static void
space_leave(struct space *sp, struct proc *p)
{
	for (size_t i = 0; i < sp->procs.len; i++)
		if (sp->procs.at[i] == p) {
			sp->procs.at[i] = sp->procs.at[--sp->procs.len];
			break;
		}
	if (--sp->refs > 0)
		return;
	if (sp->super->hooks.space_end != NULL)
		sp->super->hooks.space_end(sp->super->hooks_ctx, sp);
	if (sp->mem_fd >= 0)
		close(sp->mem_fd);
	vec_fini(&sp->procs);
	mem_free(sp);
}

static void
space_join(struct space *sp, struct proc *p)
{
	p->space = sp;
	sp->refs++;
	*vec_push(&sp->procs) = p;
}

/* Processes and threads */

struct proc *
proc_add(struct super *su, pid_t pid, struct space *sp)
{
	struct proc *p = mem_zalloc(sizeof(*p));

	p->pid = pid;
	p->super = su;
	space_join(sp != NULL ? sp : space_create(su, pid), p);
	*vec_push(&su->procs) = p;
	return p;
}

struct thread *
thread_add(struct proc *p, pid_t tid, enum thread_state state)
{
	struct thread *th = mem_zalloc(sizeof(*th));

	th->tid = tid;
	th->proc = p;
	th->state = state;
	th->birth = ++p->super->births;
	*vec_push(&p->threads) = th;
	hash_set(&p->super->threads, (uint64_t)tid, th);
	return th;
}

bool
thread_unlink(struct thread *th)
{
	struct proc *p = th->proc;
	struct hash *by_tid = &p->super->threads;

	/* The number may be another's already. */
	if (hash_get(by_tid, (uint64_t)th->tid) == th)
		hash_remove(by_tid, (uint64_t)th->tid);
	for (size_t i = 0; i < p->threads.len; i++)
		if (p->threads.at[i] == th) {
			memmove(&p->threads.at[i], &p->threads.at[i + 1],
			    (p->threads.len - i - 1) * sizeof(th));
			p->threads.len--;
			break;
		}
	return p->threads.len == 0;
}

void
thread_free(struct thread *th)
{
	struct super *su = th->proc->super;

	if (su->hooks.thread_end != NULL)
		su->hooks.thread_end(su->hooks_ctx, th);
	mem_free(th);
}

void
proc_unlink(struct proc *p)
{
	struct super *su = p->super;

	for (size_t i = 0; i < su->procs.len; i++)
		if (su->procs.at[i] == p) {
			memmove(&su->procs.at[i], &su->procs.at[i + 1],
			    (su->procs.len - i - 1) * sizeof(p));
			su->procs.len--;
			break;
		}
}

void
proc_free(struct proc *p)
{
	struct super *su = p->super;

	if (su->hooks.proc_end != NULL)
		su->hooks.proc_end(su->hooks_ctx, p);
	space_leave(p->space, p);
	vec_fini(&p->threads);
	mem_free(p);
}

void
proc_drop(struct proc *p)
{
	struct super *su = p->super;

	event_purge(su, p);
	while (p->threads.len > 0) {
		struct thread *th = p->threads.at[0];
		thread_unlink(th);
		thread_free(th);
	}
	/* What the last event ended may be of this process. */
	if (su->dead_thread != NULL && su->dead_thread->proc == p) {
		thread_free(su->dead_thread);
		su->dead_thread = NULL;
	}
	proc_unlink(p);
	proc_free(p);
}

void
proc_new_space(struct proc *p)
{
	struct space *old = p->space;

	space_join(space_create(p->super, p->pid), p);
	space_leave(old, p);
	p->vfork_child = false;
}

/* Requests */

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

void
super_want_syscalls(struct super *su)
{
	su->want_syscalls = true;
}

void
super_ignore_filters(struct super *su)
{
	su->unfiltered = true;
}

bool
super_ignores_filters(const struct super *su)
{
	return su->unfiltered;
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

void
proc_refresh(struct proc *p)
{
	struct proc_status st;
	const uint64_t trap = 1ULL << (SIGTRAP - 1);

	if (procfs_status(p->pid, &st) < 0)
		return;
	memcpy(p->comm, st.comm, sizeof(p->comm));
	p->trap_ignored = (st.sig_ignored & trap) != 0;
	p->trap_caught = (st.sig_caught & trap) != 0;
	p->trap_saved = false;
	memset(p->handler_mask, 0, sizeof(p->handler_mask));
	p->handler_known = ~st.sig_caught;
	p->sig_restorer = 0;
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
