/*
 * What the files of the supervisor share and nobody else sees: the tables of
 * processes and threads, the queue of events, and the requests that each file
 * makes for those above it.  From the top down:
 *
 *	supervisor launch          begin and end
 *	target_ptrace sigtrap      memory for the patcher; what an int3 took
 *	trapqueue
 *	remote                     system calls in a thread
 *	halt                       threads are stopped
 *	event                      statuses to events
 *	super                      the tables
 *	resume                     threads go on
 *	trapmask restart syscall_stop overtaken
 *	registers
 *	request stop queue part trapaction procfs
 */
#ifndef TRACER_PTRACE_SUPER_H
#define TRACER_PTRACE_SUPER_H

#include <signal.h>

#include "dlang/base/hash.h"
#include "inject/trap/area.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/procfs.h"

/* A status of a pid we do not know (yet): a child whose parent's event is
 * still to come, or a plain child of the tracer's. */
struct early {
	pid_t pid;
	int status;
	pid_t parent; /* of one that has stopped: its process's maker */
};

struct super {
	struct hash threads; /* tid to struct thread */
	struct hash ended;   /* pids of processes that were traced */
	VEC(struct proc *) procs;

	VEC(struct event) queue; /* handed out from queue_head on */
	size_t queue_head;
	unsigned since_round; /* events handed out since the last round */
	VEC(pid_t) round;     /* who is still to be asked in this round */
	unsigned untaken;     /* threads whose stop is still with the kernel */

	VEC(struct early) early;
	/* Detached while asleep: let go when they stop; no struct any more. */
	struct pids leaving;
	/* Children that died before they were named, and were let go. */
	struct pids orphans;

	/* What the last event ended: freed when the next is asked for. */
	struct thread *dead_thread;
	struct proc *dead_proc;

	uint64_t longest_stop; /* of a space, ns */
	bool time_calls;    /* of calls that are made again the end is kept */
	int64_t calls_due;  /* no thread's is before that, ms; 0: none */
	unsigned unguarded; /* handlers of ours that were found missing */
	unsigned waits;     /* how often event_poll() has waited */
	int reserve;        /* a descriptor: see reserve_spend(); or -1 */
	bool want_syscalls; /* resume with PTRACE_SYSCALL */
	bool unfiltered;    /* also who runs under a filter */
	uint64_t births;
	sigset_t start_mask;    /* [I] signal mask when the tracer started */
	uint64_t start_ignored; /* [I] bit sig - 1: ignored at that time */

	const struct target_ops *target_ops; /* of every space's target */
	struct super_hooks hooks;
	void *hooks_ctx;
};

/* Every thread of a space, by index so that growing vectors do no harm; the
 * body may not remove threads. */
#define space_foreach_thread(th, sp)                                         \
	for (size_t th##_p = 0; th##_p < (sp)->procs.len; th##_p++)          \
		for (size_t th##_t = 0;                                      \
		     th##_t < (sp)->procs.at[th##_p]->threads.len; th##_t++) \
			for (struct thread *th =                             \
				 (sp)->procs.at[th##_p]->threads.at[th##_t]; \
			     th != NULL; th = NULL)

/* super.c */

/* A process in `sp', or in a new space of its own (NULL). */
struct proc *proc_add(struct super *su, pid_t pid, struct space *sp);
struct thread *thread_add(struct proc *p, pid_t tid, enum thread_state state);
/* Out of the tables; thread_free() later.  True if its process has none
 * left. */
bool thread_unlink(struct thread *th);
void thread_free(struct thread *th);
void proc_unlink(struct proc *p);
void proc_free(struct proc *p);
/* The process has executed a program: leave the old space for a new one. */
void proc_new_space(struct proc *p);
/* Open the memory of a space anew, by a live thread in it (/proc/PID/mem of a
 * leader that has ended is empty).  0 or -errno, and then nothing changes. */
int space_open(struct space *sp, pid_t tid);
/* The same, by whatever thread of it is there.  Was it opened? */
bool space_reopen(struct space *sp);
/*
 * One descriptor is kept for the end: whoever has run out of them may have a
 * space whose memory he could not open, and whose only thread sleeps, so that
 * its text can be put back in no other way.  Spent, it can be opened by whoever
 * comes first; kept, it is the supervisor's again, as far as there is one.
 * Callable from a signal handler.
 */
void reserve_spend(struct super *su);
void reserve_keep(struct super *su);
/* Memory for a space that has no descriptor, from the reserve.  True if there
 * was none and now is: then space_return() later, which gives it back. */
bool space_borrow(struct space *sp);
void space_return(struct space *sp);
/* One user less: p, or one that is no process (NULL).  The last one frees it. */
void space_leave(struct space *sp, struct proc *p);
/* Read the name, and how signals are treated. */
void proc_refresh(struct proc *p);
/* Free a process with all its threads; nothing is done to the kernel's. */
void proc_drop(struct proc *p);

/* request.c.  0 or -errno. */

/* -EINTR when *flag is not 0, see wait_seize(). */
int thread_seize(pid_t tid, const volatile int *flag);
int thread_interrupt(struct thread *th);
/* With which stops a thread goes on: those of signals and events; those of system
 * calls too; that of its group only. */
enum go { GO_FREE, GO_CALLS, GO_LISTEN };
int tid_go(pid_t tid, enum go how, int sig);
int tid_interrupt(pid_t tid);
/* Detach by number, whatever it is. */
int tid_release(pid_t tid, int sig);
int tid_eventmsg(pid_t tid, unsigned long *msg);
int thread_sigmask(struct thread *th, uint64_t *mask);
int thread_set_sigmask(struct thread *th, uint64_t mask);
/* The ith signal that is pending for a stopped thread, or for its process
 * (shared); false: there are not so many. */
bool thread_pending(
    const struct thread *th, bool shared, unsigned i, siginfo_t *si);
/* Is the SIGTRAP of an int3 pending for a stopped thread?  (It is not when it
 * is being delivered.) */
bool thread_trap_pending(struct thread *th);
/* resume.c */

/* The thread's SIGTRAP has been dealt with, and it is about to go on at pc: says
 * so in the signal, for our handler in the target. */
void thread_mark_done(struct thread *th, uint64_t pc);
/* Its stop is taken from the kernel after all. */
void thread_take_stop(struct thread *th);
/* It goes on, whatever is queued for it and whether its space is stopped. */
void thread_run(struct thread *th);
/* Detach a stopped thread, writing back its registers, with th->stop.sig. */
int thread_release(struct thread *th);
/* The SIGTRAP of an int3 is pending: let it go to that stop, whose status is to
 * be waited for. */
int thread_run_to_trap(struct thread *th);
/* The threads of the space are about to be stopped; they run again. */
void space_stands(struct space *sp);
void space_runs(struct space *sp);

/* halt.c */

/* Does an int3 of ours stand at addr, or did it lately?  tab may be NULL. */
bool text_is_trapped(struct tptable *tab, uint64_t addr);
/* A thread takes the signal that it is about to be resumed with, and stops again
 * where that leads it: before a handler's first instruction.  It stays there if
 * its space is stopped, or it is held.  What happens else is queued. */
void thread_deliver(struct thread *th);
/* Can the thread run no instruction of the program's before it stops, though
 * its stop has not come?  To be asked after thread_interrupt(). */
bool thread_asleep(const struct thread *th);
/* A leader whose number an exec has given to a thread that we do not trace: no
 * status says so. */
bool thread_is_ghost(const struct thread *th);
/* Wait for the stop of every thread of the space. */
void space_await(struct space *sp);

/* syscall_stop.c */

/* Is this syscall-stop the one at the entry?  Asks the kernel. */
bool thread_at_entry(struct thread *th);

/* Was it asked for what the kernel does not tell (PTRACE_GET_SYSCALL_INFO)? */
bool syscall_info_untold(void);
/* Where an interrupted call, if that is what the registers show, goes on: as
 * the kernel would do it for a thread that runs a handler first, or none. */
void regs_restart(struct uregs *regs, bool handler);

/* What the kernel leaves in the place of the result when a call is to be made
 * again: it never lets the program see them, and <errno.h> lacks them. */
#define ERESTARTSYS           512
#define ERESTARTNOINTR        513
#define ERESTARTNOHAND        514
#define ERESTART_RESTARTBLOCK 516

/* overtaken.c */

/* How many signals are pending for the thread that a signal of the number, when
 * it is injected, will come behind, and that signal_repeat() can queue behind
 * that; 0 also where it cannot. */
unsigned signals_to_repeat(const struct thread *th, int sig);
/* The signal that the thread is stopped for is queued once more, as it is, behind
 * all others of its number.  False: it cannot be, or is the one that was
 * injected. */
bool signal_repeat(struct thread *th);
/* A signal has been injected into the thread again, and it is stopped for one of
 * that number: if that is another, it comes later. */
void signal_overtaken(struct thread *th);
/* A signal that was taken from the kernel: it is sent once more, and comes as it
 * was. */
void signal_again(struct thread *th, const siginfo_t *si);
/* The thread is stopped for a signal: the one whose turn it is. */
void signal_in_turn(struct thread *th, int sig);

/* event.c */

/* Blocks for a status of this thread alone, which has been let run.  0 or
 * -ESRCH. */
int event_wait_thread(struct thread *th, int *status);
/* A thread that was let go while it slept is wanted again: true if it was one,
 * and is traced by us still. */
bool event_reclaim(struct super *su, pid_t tid);
/* A thread has gone without a status. */
void event_lost(struct thread *th);
/* Wait for the end of a child that has been killed and has no struct. */
void event_reap(pid_t pid);
/* Take in a status, queueing its event. */
void event_note(struct super *su, pid_t pid, int status);
/* Take in what is pending now: false when there was nothing. */
bool event_take(struct super *su);
/* What there is of one thread: the kernel finds that at once, where it goes
 * through all that are traced to find anybody's. */
void event_take_of(struct thread *th);
/* Is it one of the clone family's (PTRACE_EVENT_*)? */
bool event_makes_child(int event);
/* Do two processes share their memory?  1, 0, or -1 when it is not known. */
int event_same_memory(pid_t a, pid_t b);

/* queue.c */

void event_push(struct super *su, const struct event *ev);
/* The first; false: there is none. */
bool event_pop(struct super *su, struct event *ev);
/* Forget what is queued for the threads of a process. */
void event_purge(struct super *su, const struct proc *p);

/* trapaction.c */

/* No mask has them. */
#define NEVER_BLOCKED   (SIGBIT(SIGKILL) | SIGBIT(SIGSTOP))

#define HANDLER_DEFAULT ((uint64_t)(uintptr_t)SIG_DFL)
#define HANDLER_IGNORE  ((uint64_t)(uintptr_t)SIG_IGN)

void trapaction_is(
    struct proc *p, int sig, const uint64_t action[ACTION_WORDS]);
/* Of an action the kernel keeps nothing but that it ignores the signal
 * (flush_signal_handlers()): a process has executed a program, or has been born
 * with its actions on signals reset. */
void sigtrap_flushed(struct proc *p);
void sigtrap_cleared(struct proc *p);

/* sigtrap.c */

/* Keep SIGTRAP's action as it is.  0 or -errno. */
int sigtrap_save(struct thread *th);
/* The action on SIGTRAP is another from now on. */
void sigtrap_becomes(struct proc *p, const uint64_t action[ACTION_WORDS]);
/* rt_sigaction(SIGTRAP) in a thread.  The action to set stands at act, or else in
 * set; the old one goes to old; each only if it is not 0.  What does not stand in
 * the target passes through its stack.  0 or -errno. */
int sigtrap_call(
    struct thread *th, uint64_t act, const uint64_t *set, uint64_t *old);

/* regs.c of the machine */

int regs_fetch(pid_t tid, struct uregs *regs);
int regs_store(pid_t tid, const struct uregs *regs);
/* Those from UREG_FP on. */
int regs_fetch_fp(pid_t tid, uint64_t fp[UREG_FP_COUNT]);
/* watch.c of the machine: trap before the instruction at addr; 0: nowhere.  0;
 * -ENODEV if the machine's debug registers do not trap; or another -errno. */
int regs_watch(pid_t tid, uint64_t addr);
/* A 32-bit thread? */
bool regs_compat(const struct uregs *regs);
/* word[0] to word[REGS_FRAME - 1] lie on a stack: is word[0] the pc that a
 * signal's frame holds, or the address that its handler returns to? */
#define REGS_FRAME 25
bool regs_in_frame(const uint64_t *word);
/* The flags of the clone family at its event-stop, from the registers;
 * 0 when it is another system call. */
uint64_t regs_clone_flags(const struct uregs *regs, const struct reader *mem);
/* Is that the number of one of the family? */
bool regs_call_clones(int64_t nr);
/* Ready to execute the system call instruction at insn_addr. */
void regs_set_syscall(
    struct uregs *regs, uint64_t insn_addr, long nr, const uint64_t args[6]);
/* At an entry-stop: another call instead, as if from the instruction there. */
void regs_exchange_syscall(
    struct uregs *regs, uint64_t insn_addr, long nr, const uint64_t args[6]);
/* From an entry-stop's registers to those that make the call again. */
void regs_redo_syscall(struct uregs *regs);
/* At an entry-stop: make no call, this is its result. */
void regs_skip_syscall(struct uregs *regs, int64_t result);
/* Behind a call that nobody has made, from those before it; but for the pc. */
void regs_called(struct uregs *regs, int64_t result);
/* From a system call instruction to the next one. */
void regs_past_syscall(struct uregs *regs);
int64_t regs_result(const struct uregs *regs);
void regs_set_result(struct uregs *regs, int64_t result);
/* Number and arguments of the call that was made, by the registers. */
void regs_set_syscall_nr(struct uregs *regs, long nr);
/* At its entry: another call is made instead. */
void regs_change_syscall(struct uregs *regs, long nr, const uint64_t args[6]);
int64_t regs_syscall_nr(const struct uregs *regs);
void regs_syscall_args(const struct uregs *regs, uint64_t args[6]);

/* sigframe.c of the machine */

/* In the frames of handlers that a stopped thread is in, on every stack that
 * leads from one to the other: the masks that come back, and that have all of
 * `like', get the bits, or lose them.  How many have changed. */
unsigned sigframes_change(
    struct thread *th, uint64_t like, uint64_t bits, bool block);

/* wayback.c of the machine */

/* A system call instruction, and the way from behind it to registers and
 * signal mask, for any address that is a multiple of 8.  On it `unmap' bytes
 * are unmapped at the address that the call has returned, if that is not 0. */
#define WAYBACK_SIZE 256
void wayback_write(uint8_t buf[WAYBACK_SIZE], const struct uregs *to,
    uint64_t mask, uint64_t unmap);
/* Is that what stands there, and with which stack pointer does it end? */
/* Where in the one at start a thread goes on whose call has been made. */
uint64_t wayback_behind(uint64_t start);
bool wayback_is(const uint8_t buf[WAYBACK_SIZE], uint64_t *sp);

/* wait.c of the machine */

/*
 * wait4(pid, status, options): the pid, 0 or a negative errno.  -EINTR without
 * waiting if *flag is not 0; a signal handler that sets it and calls
 * wait_skip() is noticed wherever it runs.
 */
long wait_call(pid_t pid, int *status, int options, const volatile int *flag);
/* The same without taking the status from the kernel: it is told again.  pid
 * is one thread's, or -1 for any. */
long wait_peek(pid_t pid, int *status, int options, const volatile int *flag);
/* PTRACE_SEIZE in the same way. */
int wait_seize(pid_t tid, unsigned options, const volatile int *flag);
/* In a signal handler: if the context is in one of them just before its system
 * call, make that return -EINTR. */
void wait_skip(void *ucontext);

/* access.c: why ptrace was refused. */

/* Fill in *err; returns error. */
int proc_refuse(struct proc_error *err, int error, const char *fmt, ...)
    PRINTF_LIKE(3, 4);
void access_explain(pid_t pid, int error, struct proc_error *err);
/* Refusals that are known before asking.  0 or a negative errno with *err. */
int access_check(pid_t pid, struct proc_error *err);

#endif
