/*
 * The program's actions for signals: the whole one for SIGTRAP, and for every
 * signal which others its handler blocks.  Only trapaction.c writes struct
 * trapaction.
 *
 *	TRAP_DEFAULT --sigtrap_becomes(): an action was seen--> the one it says
 *	TRAP_IGNORED --trapaction_look(), _refresh(): /proc---> the one it says
 *	TRAP_CAUGHT  --sigtrap_flushed(): an exec-------------> TRAP_IGNORED
 *	                                              stays, else TRAP_DEFAULT
 *
 * /proc does not tell the action itself: `saved' says whether it is known, too.
 * While dtrap's handler is installed (traphandler.h), /proc shows that one.
 */
#ifndef TRACER_PTRACE_TRAPACTION_H
#define TRACER_PTRACE_TRAPACTION_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct proc;
struct proc_status;
struct thread;

/* The number of signals in the kernel. */
#define SIGNALS     64
#define SIGBIT(sig) (1ULL << ((sig)-1))
/* The kernel takes no other size of a set of signals. */
#define SET_SIZE (SIGNALS / 8)
/* No mask contains these. */
#define NEVER_BLOCKED   (SIGBIT(SIGKILL) | SIGBIT(SIGSTOP))

#define HANDLER_DEFAULT ((uint64_t)(uintptr_t)SIG_DFL)
#define HANDLER_IGNORE  ((uint64_t)(uintptr_t)SIG_IGN)

/* The kernel's struct sigaction on 64-bit machines, by words. */
enum {
	ACTION_HANDLER,
	ACTION_FLAGS,
	ACTION_RESTORER,
	ACTION_MASK,
	ACTION_WORDS
};

enum trap_does { TRAP_DEFAULT, TRAP_IGNORED, TRAP_CAUGHT };

struct trapaction {
	enum trap_does does; /* with a SIGTRAP */
	bool saved;          /* `action' holds it, for putting it back */
	bool sent;       /* processes send SIGTRAP to it, so it is not hidden */
	bool ignore_due; /* a program after exec must inherit that it is
			  * ignored */
	uint64_t action[ACTION_WORDS];
	uint64_t looked; /* when trapaction_look() last read it, ms */
	/* Additional signals that are blocked while the handler of signal n
	 * runs, at [n - 1]; 0: no handler.  An entry is known if its bit in
	 * handler_known is set: the call was seen, or sigtrap_learn() asked. */
	uint64_t handler_mask[SIGNALS], handler_known;
};

/* Note the program's action for a signal: which signals its handler blocks. */
void trapaction_is(
    struct proc *p, int sig, const uint64_t action[ACTION_WORDS]);
/* Note the program's new action for SIGTRAP. */
void sigtrap_becomes(struct proc *p, const uint64_t action[ACTION_WORDS]);
/* The thread is about to call rt_sigaction(sig, action). */
void sigtrap_action_set(
    struct thread *th, int sig, const uint64_t action[ACTION_WORDS]);
/* The action for SIGTRAP could not be read: it is not saved. */
void trapaction_unsaved(struct proc *p);
/* Processes send SIGTRAP to this one. */
void trapaction_sent(struct proc *p);

/* Note what /proc says of the process; the actions themselves are not known. */
void trapaction_refresh(struct proc *p, const struct proc_status *st);
/* Read from /proc what the program does with a SIGTRAP; dtrap's handler is not
 * installed.  False: it was read a short time before `now' (ms), or the thread
 * has ended. */
bool trapaction_look(struct thread *th, uint64_t now);

/* A process was created by fork, with the actions of its parent. */
void trapaction_inherit(const struct proc *parent, struct proc *child);
/* The kernel has removed the handlers of the process, dtrap's one too: it has
 * executed a program, or was created with CLONE_CLEAR_SIGHAND. */
void trapaction_handlers_gone(struct proc *p);
/* Note that the kernel has reset the program's action for SIGTRAP: after
 * flush_signal_handlers() it is SIG_IGN if it was that before, else SIG_DFL.
 * sigtrap_flushed(): the process has executed a program.  sigtrap_cleared():
 * the process was created with CLONE_CLEAR_SIGHAND. */
void sigtrap_flushed(struct proc *p);
void sigtrap_cleared(struct proc *p);
/* Must the new program ignore SIGTRAP, because the old one did?  The caller
 * sees to it: the next answer is false. */
bool trapaction_take_ignore(struct proc *p);

#endif
