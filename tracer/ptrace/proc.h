/*
 * Processes, threads and address spaces under ptrace: launch, seize, stop,
 * resume, detach.
 *
 *	super --- proc --- thread ...
 *	            \
 *	             space (counted: processes that share the memory)
 *
 * stop.h draws the states of a thread.  Stops that arrive while somebody waits
 * for another thread (space_stop) are queued and handed out by event_poll()
 * later.  ESRCH from ptrace means the thread was killed meanwhile: nothing is
 * reported, EV_GONE will arrive.
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
#include "tracer/ptrace/again.h"
#include "tracer/ptrace/call.h"
#include "inject/target.h"
#include "tracer/ptrace/event.h"
#include "tracer/base/part.h"
#include "tracer/ptrace/procfs.h"
#include "tracer/ptrace/registers.h"
#include "tracer/ptrace/restart.h"
#include "tracer/ptrace/stop.h"
#include "tracer/ptrace/trapmask.h"

struct addrspace;
struct leftover;
struct semaphores;
struct sigwatch;
struct tptable;
struct unwinder;
struct langs;

/* One address space.  Created by launch, attach, fork and exec; destroyed when
 * the last process leaves it. */
struct space {
	struct target target; /* first member: target_ptrace.c casts back */
	struct super *super;
	VEC(struct proc *) procs;
	struct reader mem;    /* memory as it is: our int3 included */
	struct reader text;   /* the same with original bytes overlaid */
	struct addrspace *as; /* symbols: set by the owner of the loop */
	struct tptable *tab;  /* tracepoints: the same; NULL before */
	struct unwinder *unwinder;
	struct langs *langs;     /* NULL until jstack() asks */
	struct semaphores *sems; /* of static probes; NULL: none raised */
	struct sigwatch *watch;  /* sigwatch.c's; NULL before the first site */
	struct leftover *leftover; /* of an earlier trace; NULL: nothing */
	bool parted; /* a process of it was let go, and runs on in it */
	bool
	    inherited; /* traps of a tracer that was killed may be on the way */
	/* The pcs of threads that were let go asleep: they come back there; 0:
	 * not known. */
	VEC(uint64_t) left;
	/* Where remote.c puts its code, for the time of a call; 0: not looked
	 * for yet. */
	uint64_t wayback;
	void *user;         /* the enabling's */
	struct parts parts; /* of the rooms above */
	int mem_fd;         /* /proc/PID/mem, read and write, or -1 */
	unsigned refs;      /* processes in it */
	unsigned stops;     /* space_stop() calls not yet undone */
	uint64_t still;     /* since when its threads stand still for us, ns; 0:
			    * they run */
	unsigned commits;   /* changes of its text so far */
	unsigned guardian;  /* its record there, + 1; 0: none */
	int exposed;        /* an errno: it cannot be protected now, and nothing
			    * of it is changed (protect.c); 0: it is, if
			    * anything is changed */
	const char *exposed_why;
	bool exposed_said;  /* the user knows */
	bool no_map;        /* the target may not map memory: do not ask */
	bool probed;        /* a probe has a site in it */
	bool sig_watched;   /* what the program does with SIGTRAP is seen by the
			    * watch as it does it */
	bool masks_watched; /* masks too: from the first int3 on */
	bool mask_unseen;   /* it has given up on them */
};

/* As many as the kernel has. */
#define SIGNALS     64
#define SIGBIT(sig) (1ULL << ((sig)-1))
/* The kernel takes no other size of a set of signals. */
#define SET_SIZE (SIGNALS / 8)

/* The kernel's struct sigaction on 64-bit machines, by words. */
enum {
	ACTION_HANDLER,
	ACTION_FLAGS,
	ACTION_RESTORER,
	ACTION_MASK,
	ACTION_WORDS
};

struct proc {
	pid_t pid;
	pid_t parent;           /* traced process that made it, or 0; it may
				  * have ended since */
	unsigned maker_commits; /* that one's space->commits at the time */
	struct super *super;
	struct space *space;
	VEC(struct thread *) threads;
	bool launched;      /* by us (-c): its parent is the tracer */
	bool target;        /* named by -p or -c: its end is reported */
	bool found;         /* attached to because a description asked for
				 * it without naming it */
	bool exec_stopped;  /* launched and not yet let run */
	struct again again; /* its launch; name 0: it is not begun again */
	bool begins_again;  /* its next system call is to be that */
	bool filtered;      /* runs under a filter of ours (filter.c) */
	bool vfork_child;   /* shares its parent's space for now */
	pid_t family;    /* it, or the process that it descends from and whose
			    * pid$target probes it has; 0: none */
	bool followed;   /* it has them as a descendant, in memory of its
			    * own */
	bool exit_told;  /* its end has fired probes */
	int exit_status; /* wait status, once its last thread is gone */
	char comm[16];   /* executable name as the kernel has it */

	/* What is known of SIGTRAP's disposition (sigtrap.c): */
	bool trap_ignored, trap_caught;
	bool trap_saved; /* trap_action holds it, for putting it
				  * back */
	bool trap_sent;  /* somebody sends it: it is not hidden */
	bool trap_reset; /* by SA_RESETHAND: our handler knows the one before
			  * that still, which may be about to run */
	bool ignore_due; /* an exec is to inherit that it is ignored */
	uint64_t trap_action[ACTION_WORDS];
	uint64_t trap_looked; /* when it was last read, ms */
	/* What is blocked besides while the handler of signal n runs, at
	 * [n - 1]; 0 where there is no handler.  Known where the bit is set. */
	uint64_t handler_mask[SIGNALS], handler_known;

	/* Our handler of SIGTRAP is installed in place of the action that
	 * trap_... tells of (trapguard.c). */
	bool guarded;
	uint64_t guard_checked; /* when it was looked for last, ms */
	uint64_t guard_action[ACTION_WORDS]; /* what the kernel has */
	unsigned guard_losses; /* how often an int3 has taken it away */
	bool guard_down;       /* and it has not been put back */

	struct parts parts; /* of the rooms above */
};

struct thread {
	pid_t tid;
	struct proc *proc;
	struct stop stop;
	struct registers regs;
	struct trapmask mask;
	struct syscall_call call;
	struct restart restart;

	uint64_t birth;     /* counts threads from 1: the identity behind
				 * self->, as tids are used again */
	struct parts parts; /* of the rooms above */
};

static inline bool
thread_stopped(const struct thread *th)
{
	return th->stop.state == TH_STOPPED || th->stop.state == TH_WAITING;
}

/* It may, as far as we know. */
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

/* Has it passed its last instruction? */
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
 * Called just before a struct is freed, after the last event that names it or
 * by proc_detach(): to free what `user', as, tab, unwinder and langs
 * point to; parts end after that.
 */
struct super_hooks {
	void (*space_end)(void *ctx, struct space *);
	/* Of our handler of SIGTRAP, where there is one (trapguard.h): an int3
	 * may have taken it away; has anybody?; a SIGTRAP is delivered. */
	void (*trap_lost)(struct thread *);
	bool (*trap_check)(struct thread *);
	void (*trap_delivers)(struct thread *);
};

/* To be called before signals are blocked, caught or ignored: a launched
 * process gets them as they are now. */
struct super *super_create(void);
void super_set_hooks(
    struct super *su, const struct super_hooks *hooks, void *ctx);
/* Detaches whatever is left, then frees. */
void super_destroy(struct super *su);

/* From now on threads are resumed with PTRACE_SYSCALL, or no longer. */
void super_want_syscalls(struct super *su, bool want);

/* Those under a filter too: it does not name all that is wanted. */
void super_ignore_filters(struct super *su);
bool super_ignores_filters(const struct super *su);

/* Every process, in order of arrival; NULL after the last. */
struct proc *super_next(struct super *su, struct proc *prev);
struct proc *super_proc(struct super *su, pid_t pid); /* or NULL */
/* Is it traced, or has it been? */
bool super_knew(struct super *su, pid_t pid);
struct thread *super_thread(struct super *su, pid_t tid); /* or NULL */

/*
 * Launch argv (argv[0] is looked up in PATH as execvp does).  0: the process
 * has executed the program and is stopped before its first instruction, traced
 * with every option, in a space of its own.  It inherits our standard files,
 * signal mask and dispositions as they were when the tracer started; env is its
 * environment, NULL for ours.  Else *err says why in words (no such file, not
 * executable, 32-bit).
 */
int proc_launch(struct super *su, char *const argv[], char **env,
    struct proc **out, struct proc_error *err);
/* The same of this file and no other: one that the kernel cannot execute is not
 * given to a shell, as execvp() does.  NULL: as proc_launch(). */
int proc_launch_file(struct super *su, const char *path, char *const argv[],
    char **env, struct proc **out, struct proc_error *err);

/*
 * Seize every thread of a running process; the task list is read until two
 * passes agree.  0: all threads are traced and stopped (those in group-stop
 * stay in it); so are other processes that share its memory, in the same
 * space.  Else *err names the cause (no such process; ours? uid, yama,
 * not dumpable, seccomp, traced by pid N, a kernel thread, a zombie, 32-bit,
 * ourselves) and nothing is left attached.
 */
int proc_attach(
    struct super *su, pid_t pid, struct proc **out, struct proc_error *err);

/* Refusals of proc_attach() that are known before: 0, or *err. */
int proc_may_attach(pid_t pid, struct proc_error *err);

/* Every process there is, but those that are traced already, ourselves, and
 * those we descend from: what we write may wait for them.  Appended. */
void super_candidates(struct super *su, struct pids *out);

/* The registers that the thread is to go on with are the kernel's from now on,
 * also if we are killed: nothing that it had is needed any more, as a slot.  A
 * SIGTRAP that has been dealt with is taken from the kernel, as nobody will be
 * there for it then. */
void thread_settle(struct thread *th);

/*
 * A stop that was asked for comes before the SIGTRAP of an int3 that the thread
 * has just executed: that is still pending, and would be fatal when we are
 * gone.  The thread goes on to it, which takes no instruction; its event is
 * queued.
 */
void thread_take_trap(struct thread *th);

/*
 * Let a process go: threads that run are stopped, everything that is queued
 * for them is undone (a pending signal is delivered, an int3 of ours that was
 * hit is backed up), and each is detached with its state as found: running,
 * blocked in its system call, or in group-stop.  `prepare' is called with all
 * threads stopped, before the first is let go (restore text, leave slots).
 * Frees the process.  A thread that cannot be stopped now (it waits for its
 * vfork child) is let go when it wakes, or when the tracer ends.
 *
 * What is queued is forgotten.  A queued EV_FORK is lost that way while its
 * child has our int3s in its memory; so the caller first stops the space and
 * handles what event_poll(su, &ev, false) still has.
 */
void proc_detach(
    struct proc *p, void (*prepare)(void *ctx, struct proc *), void *ctx);

/*
 * Stop every thread that shares the space, by PTRACE_INTERRUPT; returns when
 * all are stopped or gone, or `asleep' in the kernel for an unknown time: such
 * a thread runs no instruction before it stops too, but its registers cannot
 * be had.  Nests.  Other stops that come meanwhile are queued for event_poll().
 */
void space_stop(struct space *sp);
/* From now on calls that are made again end when they would have, if
 * super_end_calls() is called by then; or no longer.  When that is, ns; 0: there
 * is none. */
void super_time_calls(struct super *su, bool on);
uint64_t super_calls_due(const struct super *su);
void super_end_calls(struct super *su);

/* For as long no thread of a process has run, at most, because of
 * space_stop(), proc_attach() and proc_detach(), ns. */
uint64_t super_longest_stop(const struct super *su);
/* Undo one space_stop(): at zero, threads that it stopped run again; those
 * with a queued event wait for it to be handled. */
void space_resume(struct space *sp);

/*
 * Let a stopped thread go on: write back registers, deliver th->stop.sig, by
 * PTRACE_CONT, PTRACE_SYSCALL or PTRACE_LISTEN as its stop asks for.  Does
 * nothing to a thread that is held, or while its space is stopped (then
 * space_resume() does it).
 */
void thread_resume(struct thread *th);

/* What a filter of ours returns besides SECCOMP_RET_TRACE: another's is not
 * meant for us. */
#define SECCOMP_TAG 0x6474

/* From now on EV_SECCOMP comes, and the process ends with the tracer; for its
 * children too.  0 or -errno. */
int thread_take_seccomp(struct thread *th);

/* At EV_SECCOMP: is it our filter's? */
bool thread_filter_is_ours(struct thread *th);

/* Then not: let the call fail as without a tracer. */
void thread_refuse_call(struct thread *th);

/* What a thread is told to do at a syscall-enter-stop or EV_SECCOMP.  nr is -1
 * when the number is not one of the 64-bit table. */
struct syscall_entry {
	int nr;
	uint64_t args[6];
	uint64_t ip, sp;
	bool sure; /* the kernel says so (Linux 5.3); else int 0x80 in 64-bit
		    * code counts as 64-bit */
};

/* 0 or -errno, and then the thread has gone. */
int thread_syscall_entry(struct thread *th, struct syscall_entry *out);

/* The call that the registers of a stopped thread are still in, or at the end
 * of: its number and arguments.  False when there is none. */
bool thread_syscall_regs(struct thread *th, struct syscall_entry *out);

/* Does the result mean that the kernel makes the call again? */
bool syscall_restarts(int64_t result);

/* siginfo of a signal-delivery-stop, and another for it.  0 or -errno. */
int thread_siginfo(struct thread *th, siginfo_t *si);
int thread_set_siginfo(struct thread *th, const siginfo_t *si);

/*
 * The kernel resets a blocked or ignored SIGTRAP when int3 raises it
 * (force_sig): put mask and disposition back as they were before the hit.
 * Called with the thread stopped at EV_TRAP of an int3 of ours, once a hit.
 * No system call, as a rule, when nothing is to be done; see sigtrap.c for what
 * can be known and what cannot.
 */
void thread_mend_sigtrap(struct thread *th);

/*
 * What is seen of a thread's doings, so that thread_mend_sigtrap() knows what
 * to put back (sigtrap.c keeps it, sigwatch.c sees it; of masks: trapmask.h).  The call is about to
 * be made, the signal to be delivered.
 */
/* From now on every change is told: read what is so now.  All threads of the
 * space are stopped. */
void sigtrap_begin(struct space *sp);
/* rt_sigaction(sig, action). */
void sigtrap_action_set(
    struct thread *th, int sig, const uint64_t action[ACTION_WORDS]);
/* th->stop.sig is delivered.  True when it runs a handler, and what is blocked there
 * or on its return does not tell by itself whether SIGTRAP is: the return is to
 * be watched. */
bool sigtrap_delivered(struct thread *th);
/* The last before thread_resume() with th->stop.sig: where it is not known what its
 * handler blocks, it is delivered here and now, and that is known. */
void sigtrap_learn(struct thread *th);
/*
 * At EV_TRAP: let the int3 become a fault.  th->stop.sig is then `sig' with this
 * code and address, as the processor would have raised it at pc.
 */
void thread_fault(struct thread *th, int sig, int code, uint64_t addr);

/* Stop a running thread for a moment: its EV_STOP will be handed out. */
void thread_ask(struct thread *th);

/* The processor the thread last ran on, or -1. */
int thread_cpu(struct thread *th);

#endif
