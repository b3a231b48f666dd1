/*
 * The targets: launching and attaching, their objects, the run-time linker's
 * notifications, fork and exec, detaching.
 */
#ifndef TRACER_DRIVE_TARGETS_H
#define TRACER_DRIVE_TARGETS_H

#include <stdbool.h>
#include <sys/types.h>

#include "tracer/ptrace/event.h"

struct proc;
struct space;
struct state;
struct thread;
struct tp_user;

/* Once, after super_create(). */
void targets_init(struct state *st);

/* A stopped process with a new address space: read its objects, and arm the
 * probes that match. */
void targets_set_up(struct state *st, struct proc *p);

/* Give sp, the space of a fork's child, a copy of the parent's table of
 * tracepoints. */
void targets_fork_table(struct state *st, struct space *from, struct space *sp);
/* Give the space of a fork's child a copy of what is known of the parent's
 * objects. */
void targets_fork_objects(const struct space *from, struct proc *child);

/* Move every thread of a process out of the slots, restore its text, and
 * detach. */
void targets_let_go(struct state *st, struct proc *p);

/*
 * Launch a command line (with a shell's quotes and backslashes, without
 * expansion) and let it run to the point that option evaltime names.  By
 * default its libraries are mapped then, and no constructor has run.  If it
 * cannot reach that point, it is stopped just before its end, and descriptions
 * that match nothing are no error.  0, or a negative errno after a message.
 */
int targets_launch(struct state *st, const char *cmd);

/* Attach to a process.  It goes on running, and is stopped again when
 * tracepoints are written.  `named': the process is named by -p, so its end is
 * reported, and dtrap waits for it.  0, or a negative errno with the reason in
 * why. */
int targets_attach(
    struct state *st, pid_t pid, bool named, char *why, size_t size);

/*
 * Call it when all probes are enabled: a launched program that has run until
 * its libraries are mapped is executed again, and is at its exec stop then,
 * unless option evaltime sets another begin of the trace.  True: there was such
 * a program.
 */
bool targets_begin_again(struct state *st);

/* Let every target run that dtrap keeps stopped. */
void targets_run(struct state *st);

/* Handle new processes and programs: EV_FORK, EV_VFORK, EV_CLONE, EV_EXEC. */
void targets_event(struct state *st, const struct event *ev);

/* A process has ended: print that if the user named it. */
void targets_gone(struct state *st, struct proc *p, int status);
/* A thread of the process is about to end; or the process is about to be detached.
 * Tell the user, once, if its breakpoints were removed by a thread that is not
 * traced. */
void targets_exits(struct state *st, struct proc *p);

/* Restore the text of every process and detach from it. */
void targets_release(struct state *st);

/* Split a command line as a shell does: blanks, '...', "...", backslash.  0
 * with *argv (free it with targets_free_argv), or -EINVAL with a static text in
 * *why. */
int targets_split(const char *cmd, char ***argv, const char **why);
void targets_free_argv(char **argv);
/* The file that execvp() finds, if it may be executed; the caller frees it with
 * mem_free().  NULL: none. */
char *targets_find_program(const char *name);
/* The environment of launched programs: dtrap's own, changed by options setenv
 * and unsetenv.  Free it with targets_free_argv(). */
char **targets_env(const struct state *st);

#endif
