/*
 * The private header of this room: the tables of processes and threads, the
 * event queue, and the functions that the files of the room offer each other.
 * A file uses only files that are lower in this list:
 *
 *	supervisor launch          launch, attach, detach
 *	target_ptrace sigtrap      memory for inject/; SIGTRAP's mask and action
 *	trapqueue
 *	remote                     system calls in a traced thread
 *	halt                       stop threads and wait for them
 *	event                      wait statuses to events
 *	resume                     continue and detach threads
 *	super                      the tables
 *	trapmask restart syscall_stop overtaken
 *	registers
 *	request stop queue trapaction traphandler role procfs
 */
#ifndef TRACER_PTRACE_SUPER_H
#define TRACER_PTRACE_SUPER_H

#include <signal.h>

#include "dlang/base/hash.h"
#include "inject/trap/area.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/procfs.h"

/* A wait status of a pid that is not in the tables: a child whose parent's
 * event has not come yet, or an untraced child of the tracer. */
struct early {
	pid_t pid;
	int status;
	pid_t parent; /* parent of its process, if the status is a stop */
};

struct super {
	struct hash threads; /* tid to struct thread */
	struct hash ended;   /* pids of processes that were traced and ended */
	VEC(struct proc *) procs;

	VEC(struct event) queue; /* those before queue_head were returned */
	size_t queue_head;
	unsigned
	    since_round;  /* events returned since the last round (event.c) */
	VEC(pid_t) round; /* threads not yet asked in this round */
	unsigned untaken; /* threads whose stop was read with WNOWAIT */

	VEC(struct early) early;
	/* Threads to detach that were asleep: each is detached when it stops.
	 * They have no struct thread. */
	struct pids leaving;
	/* Children that died, and were detached, before the event of their
	 * parent. */
	struct pids orphans;

	/* The thread and process that the last event ended; the next
	 * event_poll() frees them. */
	struct thread *dead_thread;
	struct proc *dead_proc;

	uint64_t longest_stop; /* longest time a space was stopped, ns */
	bool time_calls;       /* restarted calls keep their time limit */
	int64_t calls_due;     /* no restarted call ends before, ms; 0: none */
	unsigned unguarded;    /* how often a handler of ours was missing */
	unsigned waits;        /* how often event_poll() has blocked */
	int reserve;         /* a file descriptor, see reserve_spend(); or -1 */
	bool want_syscalls;  /* resume with PTRACE_SYSCALL */
	bool unfiltered;     /* also threads under dtrap's filter */
	uint64_t births;     /* threads so far */
	sigset_t start_mask; /* [I] signal mask when the tracer started */
	uint64_t start_ignored; /* [I] bit sig - 1: ignored at that time */

	const struct target_ops *target_ops; /* of every space's target */
	struct super_hooks hooks;
	void *hooks_ctx;
};

/* For each thread of a space.  The body may add threads and processes, but must
 * not remove any. */
#define space_foreach_thread(th, sp)                                         \
	for (size_t th##_p = 0; th##_p < (sp)->procs.len; th##_p++)          \
		for (size_t th##_t = 0;                                      \
		     th##_t < (sp)->procs.at[th##_p]->threads.len; th##_t++) \
			for (struct thread *th =                             \
				 (sp)->procs.at[th##_p]->threads.at[th##_t]; \
			     th != NULL; th = NULL)

/* super.c */

/* Add a process to the tables.  It is in the space sp; or in a new space if sp
 * is NULL. */
struct proc *proc_add(struct super *su, pid_t pid, struct space *sp);
struct thread *thread_add(struct proc *p, pid_t tid, enum thread_state state);
/* Remove a thread from the tables; call thread_free() later.  True if its
 * process has no thread left. */
bool thread_unlink(struct thread *th);
void thread_free(struct thread *th);
void proc_unlink(struct proc *p);
/* Free an unlinked process.  It leaves its space, and super_knew() still knows
 * its pid. */
void proc_free(struct proc *p);
/* The process has executed a program: it leaves its space and gets a new one.
 * Its signal handlers, and dtrap's handler for SIGTRAP, are gone. */
void proc_new_space(struct proc *p);
/* Open /proc/TID/mem for the space, where tid is a live thread in it: that file
 * is empty for a leader that has ended.  0; or -errno, and nothing changes. */
int space_open(struct space *sp, pid_t tid);
/* The same with any live thread of the space.  True if it was opened. */
bool space_reopen(struct space *sp);
/* The space has no descriptor for its memory any more.  May be called from a
 * signal handler. */
void space_close(struct space *sp);
/*
 * A file descriptor is reserved for the end of the trace.  If dtrap had no
 * descriptor left for /proc/PID/mem of a space, and the only thread of the
 * space sleeps, its text can be restored in no other way.  reserve_spend()
 * closes the reserved descriptor, so that the next open() succeeds;
 * reserve_keep() reserves one again, if there is one.  Both may be called from
 * a signal handler.
 */
void reserve_spend(struct super *su);
void reserve_keep(struct super *su);
/* Open the memory of a space that has no descriptor, using the reserved one.
 * True if it was opened: call space_return() later, which closes it and
 * reserves a descriptor again. */
bool space_borrow(struct space *sp);
void space_return(struct space *sp);
/* Drop one reference to the space: that of the process p, or one that belongs
 * to no process (NULL).  The last one frees the space. */
void space_leave(struct space *sp, struct proc *p);
/* super_longest_stop() measures a stop of the space: its threads are about to
 * be stopped; they are about to run again. */
void space_stands(struct space *sp);
void space_runs(struct space *sp);
/* Read the name of a process and its dispositions of signals from /proc. */
void proc_refresh(struct proc *p);
/* Remove and free a process and its threads, and their queued events.  The
 * kernel's process is not touched. */
void proc_drop(struct proc *p);

/* request.c.  0 or -errno. */

/* PTRACE_SEIZE with dtrap's options.  -EINTR if *flag is not 0, see
 * wait_seize(). */
int thread_seize(pid_t tid, const volatile int *flag);
/* PTRACE_INTERRUPT; th->stop notes that it was made. */
int thread_interrupt(struct thread *th);
/* PTRACE_CONT, PTRACE_SYSCALL, PTRACE_LISTEN. */
enum go { GO_FREE, GO_CALLS, GO_LISTEN };
/* Continue a stopped thread and deliver sig (0: none). */
int tid_go(pid_t tid, enum go how, int sig);
/* PTRACE_INTERRUPT of a thread that need not be in the tables. */
int tid_interrupt(pid_t tid);
/* Detach a thread that need not be in the tables, and deliver sig (0: none). */
int tid_release(pid_t tid, int sig);
int tid_eventmsg(pid_t tid, unsigned long *msg);
int thread_sigmask(struct thread *th, uint64_t *mask);
int thread_set_sigmask(struct thread *th, uint64_t mask);
/* The i-th signal, from 0, that is pending for a stopped thread, or for its
 * process (shared).  False if there are not that many. */
bool thread_pending(
    const struct thread *th, bool shared, unsigned i, siginfo_t *si);
/* Is a signal of that number pending for a stopped thread, not for its process? */
bool thread_owns_pending(const struct thread *th, int sig);
/* The same, or for its process? */
bool thread_has_pending(const struct thread *th, int sig);

/* resume.c */

/* The thread is stopped for the SIGTRAP of an int3, which dtrap has handled;
 * the thread will continue at pc.  Write that into the siginfo.  If dtrap is
 * killed now, the kernel delivers this signal, and dtrap's handler in the
 * target reads that it must do nothing.  No effect if the stop was taken from
 * the kernel, or if the handler is not installed. */
void thread_mark_done(struct thread *th, uint64_t pc);
/* If the stop of the thread was read with WNOWAIT, take it from the kernel. */
void thread_take_stop(struct thread *th);
/* Continue a stopped thread, even if it has queued events, is held, or its
 * space is stopped.  th->stop.sig is delivered, except in a group-stop. */
void thread_run(struct thread *th);
/* Detach a stopped thread: its registers are written back, th->stop.sig is
 * delivered, and an interrupted system call is restarted.  0 or -errno. */
int thread_release(struct thread *th);
/* The SIGTRAP of an int3 is pending for a stopped thread: continue it until it
 * stops for that signal, before it executes an instruction.  The caller waits
 * for the stop.  0 or -errno. */
int thread_run_to_trap(struct thread *th);

/* halt.c */

/* Is there an int3 of ours at addr, or was there one recently?  tab may be
 * NULL. */
bool text_is_trapped(struct tptable *tab, uint64_t addr);
/* May a SIGTRAP of ours be due, for an int3 or a watch, where the thread has these
 * registers?  thread_trap_pending() tells. */
bool thread_expects_trap(
    const struct thread *th, struct tptable *tab, const struct uregs *regs);
/* Deliver th->stop.sig to a stopped thread now, and stop it again before it
 * executes an instruction: at the first one of the signal's handler, if there
 * is one.  It stays stopped there if its space is stopped or it is held.
 * Events of the thread are queued. */
void thread_deliver(struct thread *th);
/* After thread_interrupt(): is the thread in an uninterruptible sleep, or has
 * it ended?  Then it executes no instruction of the program before it stops. */
bool thread_asleep(const struct thread *th);
/* Does the kernel say that the thread, which runs, is not traced by dtrap?  It
 * is a leader that has ended: an exec in an untraced thread has taken over its
 * tid.  No wait status reports that. */
bool thread_is_ghost(const struct thread *th);
/* Wait until every thread of the space is stopped, asleep (th->stop.asleep) or
 * gone.  Running threads are interrupted. */
void space_await(struct space *sp);
/* From space_hold() until space_unhold() threads of the space that stop stay
 * stopped, as after space_stop(), but none is interrupted, and none is resumed at
 * the end. */
void space_hold(struct space *sp);
void space_unhold(struct space *sp);

/* trapmask.c */

/* Is the SIGTRAP of an int3, or of the watched address (thread_watch()), pending for
 * a stopped thread, or another in its place?  A signal that is being delivered is not
 * pending. */
bool thread_trap_pending(struct thread *th);

/* syscall_stop.c */

/* Is this syscall-stop a syscall-enter-stop?  Asks the kernel. */
bool thread_at_entry(struct thread *th);

/* Has PTRACE_GET_SYSCALL_INFO been refused?  The kernel is older than 5.3. */
bool syscall_info_untold(void);
/* If the registers are those of an interrupted system call, change them as the
 * kernel does before the thread continues: to restart the call, or to return
 * EINTR from it.  `handler': a signal handler runs first. */
void regs_restart(struct uregs *regs, bool handler);

/* Results with which the kernel marks a call to be restarted.  The program
 * never sees them, and <errno.h> does not define them. */
#define ERESTARTSYS           512
#define ERESTARTNOINTR        513
#define ERESTARTNOHAND        514
#define ERESTART_RESTARTBLOCK 516

/* overtaken.c */

/* If a signal `sig' is injected into the thread now, the kernel queues it
 * behind those of the same number that are pending for the thread.  How many
 * are these?  0 if signal_repeat() cannot queue all of them again. */
unsigned signals_to_repeat(const struct thread *th, int sig);
/* Queue the signal for which the thread is stopped once more, with the same
 * siginfo, behind all others of its number.  False: that is not possible, or it
 * is the signal that dtrap injected. */
bool signal_repeat(struct thread *th);
/* dtrap has injected a signal into the thread, and the thread is stopped for a
 * signal of that number.  If this is another one, note that it must be
 * delivered after the injected one. */
void signal_overtaken(struct thread *th);
/* Did dtrap cause this signal? */
bool signal_is_ours(const siginfo_t *si);
/* Remove the first noted siginfo of that number.  False: there is none. */
bool signal_take_owed(struct thread *th, int sig, siginfo_t *si);
/* Send n signals that were taken from the kernel to the thread again, in this
 * order and before others of their numbers that are pending.  When they are
 * delivered, they have these siginfos. */
void signals_again(struct thread *th, const siginfo_t *si, size_t n);
/* The thread is stopped for signal `sig'.  If signals of that number are noted,
 * replace its siginfo by that of the first one, to keep their order. */
void signal_in_turn(struct thread *th, int sig);
/* Before a stopped thread is detached: what is noted is queued in the kernel, and
 * nothing is noted any more. */
void signals_settle(struct thread *th);

/* event.c */

/* Block until this thread, which was continued, has a status; pass that to
 * event_note().  0 or -ESRCH. */
int event_wait_thread(struct thread *th, int *status);
/* A process is attached to again.  Was this thread to be detached when it
 * wakes, and is it therefore still traced?  Then it will not be detached any
 * more. */
bool event_reclaim(struct super *su, pid_t tid);
/* A thread has ended, and no status will report that: queue its EV_GONE. */
void event_lost(struct thread *th);
/* Wait for the end of a killed child that is not in the tables. */
void event_reap(pid_t pid);
/* Process a status: change the state of its thread and queue its event. */
void event_note(struct super *su, pid_t pid, int status);
/* Read all pending statuses and process them, without blocking.  False if there
 * was none. */
bool event_take(struct super *su);
/* The same for one thread.  It is faster: for any thread, the kernel searches
 * the list of all traced threads. */
void event_take_of(struct thread *th);
/* Does this PTRACE_EVENT_* report a new child or thread? */
bool event_makes_child(int event);
/* Do two processes share their memory?  1, 0, or -1 if it is not known. */
int event_same_memory(pid_t a, pid_t b);

/* queue.c */

void event_push(struct super *su, const struct event *ev);
/* Remove the first event and return it in *ev; false if there is none. */
bool event_pop(struct super *su, struct event *ev);
/* Remove the events of the threads of a process. */
void event_purge(struct super *su, const struct proc *p);

/* sigtrap.c */

/* Read the program's action for SIGTRAP by a system call in the stopped thread,
 * and note it.  Does nothing if dtrap's handler is installed.  0 or -errno. */
int sigtrap_save(struct thread *th);
/* If the program catches SIGTRAP, and its action is not known, the same in the
 * first thread that can make the call. */
void sigtrap_save_caught(struct proc *p);
/* Call rt_sigaction(SIGTRAP) in a stopped thread.  The new action is at the
 * target's address act, or in *set; both 0: none is set.  The old action is
 * returned in *old, unless old is NULL.  0 or -errno. */
int sigtrap_call(
    struct thread *th, uint64_t act, const uint64_t *set, uint64_t *old);

/* regs.c of the machine */

int regs_fetch(pid_t tid, struct uregs *regs);
int regs_store(pid_t tid, const struct uregs *regs);
/* The floating-point and vector registers: those from UREG_FP on. */
int regs_fetch_fp(pid_t tid, uint64_t fp[UREG_FP_COUNT]);
/* watch.c of the machine: set a debug register, so that the thread traps before
 * it executes the instruction at addr; 0: clear it.  0; -ENODEV if the
 * machine's debug registers do not trap; or another -errno. */
int regs_watch(pid_t tid, uint64_t addr);
/* Does the thread execute 32-bit code? */
bool regs_compat(const struct uregs *regs);
/* word[0] to word[REGS_FRAME - 1] are consecutive words of a stack.  Does
 * word[0] look like the saved pc of a signal frame, or like the return address
 * of a signal handler? */
#define REGS_FRAME 25
bool regs_in_frame(const uint64_t *word);
/* Is code, at the thread's pc, an instruction that reads the processor's clock?
 * Then the registers become as it leaves them.  The tracer must be allowed to
 * execute it. */
#define CLOCK_INSN_MAX 3
bool regs_read_clock(struct uregs *regs, const uint8_t code[CLOCK_INSN_MAX]);
/* The clone flags, at the event-stop of fork, vfork, clone or clone3.  0 for
 * fork and for any other system call. */
uint64_t regs_clone_flags(const struct uregs *regs, const struct reader *mem);
/* Is nr the number of one of these four calls? */
bool regs_call_clones(int64_t nr);
/* A thread that continues with these registers executes the system call
 * instruction at insn_addr with this number and these arguments. */
void regs_set_syscall(
    struct uregs *regs, uint64_t insn_addr, long nr, const uint64_t args[6]);
/* At a syscall-enter-stop: replace the call by another one, as if the system
 * call instruction at insn_addr had made it. */
void regs_exchange_syscall(
    struct uregs *regs, uint64_t insn_addr, long nr, const uint64_t args[6]);
/* At a syscall-enter-stop, or after an interrupted call: set the pc back, so
 * that the thread makes the call again. */
void regs_redo_syscall(struct uregs *regs);
/* At a syscall-enter-stop: the kernel makes no call, and this is its result. */
void regs_skip_syscall(struct uregs *regs, int64_t result);
/* Change the registers before a system call instruction to those after it, as
 * if the call had been made with this result.  The pc is not changed. */
void regs_called(struct uregs *regs, int64_t result);
/* Move the pc from a system call instruction to the next instruction. */
void regs_past_syscall(struct uregs *regs);
/* The result of the call that has just returned. */
int64_t regs_result(const struct uregs *regs);
void regs_set_result(struct uregs *regs, int64_t result);
/* At a syscall-enter-stop: replace the number of the call; and its
 * arguments. */
void regs_set_syscall_nr(struct uregs *regs, long nr);
void regs_change_syscall(struct uregs *regs, long nr, const uint64_t args[6]);
/* The number and the arguments of the call that the thread is in or has just
 * left.  The number is negative if there is none. */
int64_t regs_syscall_nr(const struct uregs *regs);
void regs_syscall_args(const struct uregs *regs, uint64_t args[6]);

/* sigframe.c of the machine */

/* Change saved signal masks in the signal frames of a stopped thread, on its
 * stack and on the alternate stacks that the frames lead to.  In each mask that
 * contains all of `like', `bits' are set (block) or cleared.  Returns how many
 * masks were changed. */
unsigned sigframes_change(
    struct thread *th, uint64_t like, uint64_t bits, bool block);

/* wayback.c of the machine */

/* Write code for the target, which runs at any address that is a multiple of 8.
 * It begins with a system call instruction.  A thread that is left alone after
 * that call gets the signal mask `mask' and the registers `to', but not the
 * stack pointer and the flags, which the code does not change.  If unmap is not
 * 0, the code first unmaps that many bytes at the address that the call has
 * returned. */
#define WAYBACK_SIZE 256
void wayback_write(uint8_t buf[WAYBACK_SIZE], const struct uregs *to,
    uint64_t mask, uint64_t unmap);
/* Is buf such code?  *sp is then the stack pointer of `to'. */
bool wayback_is(const uint8_t buf[WAYBACK_SIZE], uint64_t *sp);
/* The address, in such code at start, behind its first call and the unmapping:
 * a thread that continues there gets the mask and the registers. */
uint64_t wayback_behind(uint64_t start);

/* wait.c of the machine */

/*
 * wait4(pid, status, options).  Returns the pid, 0, or a negative errno: -EINTR
 * without waiting if *flag is not 0.  A signal handler that sets *flag and then
 * calls wait_skip() ends the wait, at whatever instruction it interrupts.
 */
long wait_call(pid_t pid, int *status, int options, const volatile int *flag);
/* The same with WNOWAIT: the kernel keeps the status, and the next wait returns
 * it again.  pid is a thread, or -1 for any. */
long wait_peek(pid_t pid, int *status, int options, const volatile int *flag);
/* PTRACE_SEIZE; *flag and wait_skip() end it in the same way. */
int wait_seize(pid_t tid, unsigned options, const volatile int *flag);
/* Call it in a signal handler with its context.  If the handler has interrupted
 * one of these functions between its test of *flag and the end of its system
 * call instruction, the function returns -EINTR. */
void wait_skip(void *ucontext);

/* access.c: why ptrace was refused. */

/* Fill in *err; returns error. */
int proc_refuse(struct proc_error *err, int error, const char *fmt, ...)
    PRINTF_LIKE(3, 4);
/* ptrace has failed with `error': find out why, and fill in *err. */
void access_explain(pid_t pid, int error, struct proc_error *err);
/* Check for refusals that can be predicted.  0, or a negative errno with
 * *err. */
int access_check(pid_t pid, struct proc_error *err);

#endif
