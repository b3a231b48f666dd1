/*
 * Processes, threads and address spaces under ptrace: launch, seize, stop,
 * resume, detach.
 *
 *	super --- proc --- thread ...
 *	            \
 *	             space (counted: processes that share the memory)
 *
 * stop.h draws the states of a thread.  Stops that arrive while space_stop()
 * waits for another thread are queued, and event_poll() returns them later.
 * ESRCH from ptrace means that the thread was killed meanwhile: nothing is
 * reported, and EV_GONE will come.
 */
#ifndef TRACER_PTRACE_PROC_H
#define TRACER_PTRACE_PROC_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "dlang/base/reader.h"
#include "dlang/base/vec.h"
#include "dlang/uregs.h"
#include "tracer/ptrace/call.h"
#include "inject/target.h"
#include "tracer/ptrace/event.h"
#include "tracer/base/part.h"
#include "tracer/ptrace/procfs.h"
#include "tracer/ptrace/registers.h"
#include "tracer/ptrace/restart.h"
#include "tracer/ptrace/role.h"
#include "tracer/ptrace/stop.h"
#include "tracer/ptrace/trapaction.h"
#include "tracer/ptrace/traphandler.h"
#include "tracer/ptrace/trapmask.h"

struct addrspace;
struct syscall_entry;
struct leftover;
struct semaphores;
struct sigwatch;
struct space_info;
struct tptable;

/*
 * One address space.  Created by launch, attach, fork and exec; destroyed when
 * the last process leaves it.  Each group of members has one writer, which is
 * named before it.
 */
struct space {
	/* super.c: */
	struct target target; /* first member: target_ptrace.c casts back */
	struct super *super;
	VEC(struct proc *) procs;
	struct reader mem;  /* memory as it is, with dtrap's int3s */
	struct reader text; /* the same with the original bytes */
	int mem_fd;         /* /proc/PID/mem, read and write, or -1 */
	unsigned refs;      /* processes in it, and space_keep() */
	uint64_t still; /* since when the tracer has stopped its threads, ns; 0:
			     * they run */
	/* halt.c: */
	unsigned stops; /* space_stop() calls not yet undone */
	/* How often dtrap has changed the memory in a way that the tables of the
	 * rooms above describe: mappings, commits of text, semaphores, objects
	 * that were forgotten. */
	unsigned changes;
	/* remote.c: address of its code during a call; 0: not searched yet. */
	uint64_t wayback;
	/* target_ptrace.c: the target may not map memory: do not try. */
	bool no_map;
	/* supervisor.c: */
	bool parted; /* a process that shares it was detached and still runs */
	/* The pcs of threads that were detached while asleep, to which they
	 * return; 0: unknown. */
	VEC(uint64_t) left;

	/* The room survive, semaphore.c: */
	struct semaphores *sems; /* of static probes; NULL: none raised */
	/* leftover.c: */
	struct leftover *leftover; /* of an earlier trace; NULL: nothing */
	bool inherited; /* traps of a killed tracer may still be delivered */
	/* guardian.c: number of its record in the guardian, + 1; 0: none. */
	unsigned guardian;

	/* The room sites, sigwatch.c: */
	struct sigwatch *watch; /* NULL before the first site */
	bool sig_watched;       /* it sees changes of the action of SIGTRAP */
	bool masks_watched;     /* masks too: from the first int3 on */
	bool mask_unseen;       /* it has stopped watching masks */
	/* protect.c: */
	int exposed; /* an errno: it cannot be protected now, so its text is not
		      * changed; 0: it is protected, or unchanged */
	const char *exposed_why;
	bool exposed_said; /* the user has been told */
	/* site.c, commit.c: */
	bool probed; /* a probe has a site in it */

	/* The room drive (leftover.c makes a table that it needs earlier): */
	struct tptable *tab;     /* tracepoints; NULL before */
	struct addrspace *as;    /* its objects; the same */
	struct space_info *info; /* targets_space.c: of the enabling; NULL:
				  * before */

	struct parts parts; /* of the rooms above */
};

struct proc {
	pid_t pid;
	pid_t parent;           /* traced process that created it, or 0; it may
				 * have ended since */
	unsigned maker_changes; /* space->changes of the parent at that time */
	struct super *super;
	struct space *space;
	VEC(struct thread *) threads;
	bool filtered;    /* runs under dtrap's filter (filter.c) */
	bool vfork_child; /* shares its parent's space for now */
	int exit_status;  /* wait status, once its last thread is gone */
	char comm[16];    /* executable name as the kernel has it */
	struct role role;
	struct trapaction trap;
	struct traphandler handler;

	struct parts parts; /* of the rooms above */
};

/* Is dtrap's handler for SIGTRAP installed, unless an int3 has removed it? */
static inline bool
proc_guarded(const struct proc *p)
{
	return p->handler.state != HANDLER_ABSENT;
}

struct thread {
	pid_t tid;
	struct proc *proc;
	struct stop stop;
	struct registers regs;
	struct trapmask mask;
	struct syscall_call call;
	struct restart restart;

	uint64_t birth;     /* number of the thread, from 1: its identity for
			 * self->, because tids are reused */
	struct parts parts; /* of the rooms above */
};

static inline bool
thread_stopped(const struct thread *th)
{
	return th->stop.state == TH_STOPPED || th->stop.state == TH_WAITING;
}

/*
 * May dtrap look at the thread and change it?  It is stopped, and what dtrap knows of
 * it is so.  If another thread executes a program, it gets the number of the leader.
 * Until that event is handed out, all that is known is of the old leader, of which a
 * stop may be in the queue, or be handled at this moment.  Then there are no
 * registers, as of a thread that was killed, and nothing is changed.
 */
static inline bool
thread_at_hand(const struct thread *th)
{
	return thread_stopped(th) && !th->stop.executed;
}

/* May the thread be running? */
static inline bool
thread_runs(const struct thread *th)
{
	return th->stop.state == TH_RUNNING || th->stop.state == TH_LISTENING;
}

static inline bool
thread_gone(const struct thread *th)
{
	return th->stop.state == TH_GONE;
}

/* Has the thread executed its last instruction? */
static inline bool
thread_ends(const struct thread *th)
{
	return th->stop.life == LIFE_ENDS;
}

/* Why a process cannot be traced; `text' is one sentence with the remedy. */
struct proc_error {
	int error; /* negative errno */
	char text[256];
};

/*
 * space_end is called just before a space is freed, after the last event that
 * refers to it or by proc_detach(): it frees what the rooms above have in it;
 * parts are freed after that.
 */
struct super_hooks {
	void (*space_end)(void *ctx, struct space *);
	/* About dtrap's handler for SIGTRAP (trapguard.h): an int3 may have
	 * removed it; check whether it is installed; a SIGTRAP is delivered. */
	void (*trap_lost)(struct thread *);
	void (*trap_check)(struct thread *);
	void (*trap_delivers)(struct thread *);
	/* System calls are traced, and dtrap has made this one in place of the
	 * kernel (trapcall.h): there is no syscall-stop. */
	void (*call_made)(void *ctx, struct thread *,
	    const struct syscall_entry *, int64_t result);
};

/* Call it before signals are blocked, caught or ignored: a launched process
 * gets mask and dispositions as they are now. */
struct super *super_create(void);
void super_set_hooks(
    struct super *su, const struct super_hooks *hooks, void *ctx);
/* Detaches whatever is left, then frees. */
void super_destroy(struct super *su);

/* Resume threads with PTRACE_SYSCALL from now on, or stop doing that. */
void super_want_syscalls(struct super *su, bool want);

/* The same for threads under dtrap's filter, because it does not name all
 * needed calls. */
void super_ignore_filters(struct super *su);
bool super_ignores_filters(const struct super *su);

/* Every process, in order of arrival; NULL after the last. */
struct proc *super_next(struct super *su, struct proc *prev);
struct proc *super_proc(struct super *su, pid_t pid); /* or NULL */
/* Is it traced, or has it been? */
bool super_knew(struct super *su, pid_t pid);
struct thread *super_thread(struct super *su, pid_t tid); /* or NULL */

/*
 * Launch argv: the file `path', or, if that is NULL, what execvp() finds for
 * argv[0]; unlike that it does not run a shell for a file that the kernel cannot
 * execute.  0: the process
 * has executed the program and is stopped before its first instruction, traced
 * with every option, in a space of its own.  It inherits the tracer's standard
 * files, and signal mask and dispositions as they were when the tracer started;
 * env is its environment, NULL: the tracer's.  Otherwise a negative errno, with
 * the reason in *err (no such file, not executable, 32-bit).
 */
int proc_launch_file(struct super *su, const char *path, char *const argv[],
    char **env, struct proc **out, struct proc_error *err);

/*
 * Seize every thread of a running process; the task list is read until two
 * passes agree.  0: all threads are traced and stopped (those in group-stop
 * stay in it); so are other processes that share its memory, in the same space.
 * Otherwise a negative errno, with the reason in *err (no such process, uid,
 * yama, not dumpable, seccomp, traced by pid N, a kernel thread, a zombie,
 * 32-bit, the tracer itself), and nothing is left attached.
 */
int proc_attach(
    struct super *su, pid_t pid, struct proc **out, struct proc_error *err);

/* Check for reasons why proc_attach() would fail: 0, or a negative errno with
 * *err. */
int proc_may_attach(pid_t pid, struct proc_error *err);

/* Append all processes, except traced ones, the tracer, and its ancestors: the
 * tracer's output may have to wait for these. */
void super_candidates(struct super *su, struct pids *out);

/* Write the thread's registers to the kernel, so that it goes on with them also
 * if the tracer is killed; the slot that it was in is not needed any more.  A
 * SIGTRAP that was handled is taken from the kernel, because no handler will be
 * there for it. */
void thread_settle(struct thread *th);

/* Move the registers of the stopped threads out of all code of dtrap, into text that
 * is, or will be, the program's own.  A thread in a firing cannot be moved; that code
 * stays mapped until the firing ends. */
void proc_leave_code(struct proc *p);

/*
 * If a PTRACE_INTERRUPT stops a thread that has just executed an int3, its
 * SIGTRAP is still pending, and would kill the process after the detach.  Lets
 * the thread run to the stop for that SIGTRAP, which executes no instruction;
 * its event is queued.
 */
void thread_take_trap(struct thread *th);

/*
 * Detach from a process: running threads are stopped, queued events are undone
 * (a pending signal is delivered, the pc is set back after an int3), and each
 * thread is detached in the state in which it was found: running, blocked in
 * its system call, or in group-stop.  `prepare' is called when all threads are
 * stopped, before the first is detached (to restore text and leave slots).
 * Frees the process.  A thread that cannot be stopped now (it waits for its
 * vfork child) is detached when it wakes, or when the tracer ends.
 *
 * Queued events are discarded.  A queued EV_FORK would be lost, although its
 * child has dtrap's int3s in its memory; so the caller first stops the space
 * and handles all events of event_poll(su, &ev, false).
 */
void proc_detach(
    struct proc *p, void (*prepare)(void *ctx, struct proc *), void *ctx);

/*
 * Stop every thread that shares the space, by PTRACE_INTERRUPT.  Returns when
 * all are stopped, have ended, or are `asleep' in the kernel for an unknown
 * time: such a thread executes no instruction before it stops, but its
 * registers are not available.  Calls nest.  Other stops that come meanwhile
 * are queued for event_poll().
 */
void space_stop(struct space *sp);

/* The space is not freed before space_leave(sp, NULL). */
void space_keep(struct space *sp);

/* Undo one space_stop(): at zero, threads that it stopped run again; those
 * with a queued event wait for it to be handled. */
void space_resume(struct space *sp);

/*
 * If a stop interrupts a system call with a time limit, the kernel restarts
 * some of these calls with the full time.  super_time_calls(su, true): from now
 * on such a call ends when its first time limit is over.  super_calls_due():
 * the monotonic time at which the next call must be ended, ns; 0: there is
 * none.  super_end_calls(): end the calls whose time is over; call it at that
 * time.
 */
void super_time_calls(struct super *su, bool on);
uint64_t super_calls_due(const struct super *su);
void super_end_calls(struct super *su);

/* The longest time for which all threads of a process were stopped by
 * space_stop(), proc_attach() or proc_detach(), ns. */
uint64_t super_longest_stop(const struct super *su);

/*
 * Continue a stopped thread: write back its registers, deliver th->stop.sig, by
 * PTRACE_CONT, PTRACE_SYSCALL or PTRACE_LISTEN, depending on its stop.  Does
 * nothing to a thread that is held, or while its space is stopped (then
 * space_resume() does it).
 */
void thread_resume(struct thread *th);

/* The data with which dtrap's filter returns SECCOMP_RET_TRACE; other filters
 * use other data. */
#define SECCOMP_TAG 0x6474

/* From now on EV_SECCOMP is reported for the thread and its children, and they
 * end with the tracer.  0 or -errno. */
int thread_take_seccomp(struct thread *th);

/* At EV_SECCOMP: is it from dtrap's filter? */
bool thread_filter_is_ours(struct thread *th);

/* At EV_SECCOMP of a filter of the program's own: the call fails with ENOSYS,
 * as it does without a tracer. */
void thread_refuse_call(struct thread *th);

/* The system call at a syscall-enter-stop or EV_SECCOMP.  nr is -1 if the
 * number is not in the 64-bit table. */
struct syscall_entry {
	int nr;
	uint64_t args[6];
	uint64_t ip, sp;
	bool sure; /* from the kernel (Linux 5.3); otherwise int 0x80 in 64-bit
		    * code counts as 64-bit */
};

/* 0; or -errno: the thread has ended. */
int thread_syscall_entry(struct thread *th, struct syscall_entry *out);

/* The number and arguments of the call that a stopped thread is in or has just
 * left, from its registers.  False if there is none, or no registers. */
bool thread_syscall_regs(struct thread *th, struct syscall_entry *out);

/* Does this result mean that the kernel will restart the call? */
bool syscall_restarts(int64_t result);

/* Read and replace the siginfo of a signal-delivery-stop.  0 or -errno. */
int thread_siginfo(struct thread *th, siginfo_t *si);
int thread_set_siginfo(struct thread *th, const siginfo_t *si);

/*
 * The kernel resets a blocked or ignored SIGTRAP when an int3 raises it
 * (force_sig): restore mask and disposition as they were before the hit.
 * Called once a hit, with the thread stopped at EV_TRAP of dtrap's int3.
 * Usually it makes no system call if nothing must be restored; see sigtrap.c
 * for what can be known.
 */
void thread_mend_sigtrap(struct thread *th);

/*
 * The caller reports changes of signal masks and dispositions, so that
 * thread_mend_sigtrap() knows what to restore.  sigwatch.c sees the changes,
 * sigtrap.c keeps the dispositions and trapmask.c the masks.
 */
/* All threads of the space are stopped, and from now on every change will be
 * reported: read the present masks and dispositions.  SIGTRAP is hidden in
 * threads that block it, if possible (trapmask.h). */
void sigtrap_begin(struct space *sp);
/* th->stop.sig is about to be delivered.  True if it runs a handler, and
 * SIGTRAP's bit in the mask of the handler, or in the mask to which it returns,
 * cannot be derived from the other bits: the caller must watch the return.  A
 * SIGTRAP that a process has sent is made pending if the program blocks it, and
 * discarded if the program ignores it; th->stop.sig may become 0 then. */
bool sigtrap_delivered(struct thread *th);
/* Call it just before thread_resume() with th->stop.sig.  If it is not known
 * which signals the handler of that signal blocks, the signal is delivered now,
 * and the mask is read when the thread has stopped at the handler. */
void sigtrap_learn(struct thread *th);
/*
 * At dtrap's int3, when it is handled, and the registers are those with which the
 * thread goes on: these n signals, one or more, are delivered before it executes an
 * instruction.  If the stop is still EV_TRAP, it is EV_SIGNAL now, of the first one.
 */
void thread_signals_instead(struct thread *th, const siginfo_t *si, size_t n);
/* The same with a fault, as the processor would have raised it. */
void thread_fault(struct thread *th, int sig, int code, uint64_t addr);

/* Interrupt a running thread: its EV_STOP will be returned by event_poll(). */
void thread_ask(struct thread *th);

/* The processor the thread last ran on, or -1. */
int thread_cpu(struct thread *th);

#endif
