/*
 * The processes the user named, and what comes of them: launch and attach,
 * their objects, the run-time linker's rendezvous, fork and exec, release.
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

/* A process in memory that nothing is known of yet, stopped: its objects are
 * learnt, and what matches is armed. */
void targets_set_up(struct state *st, struct proc *p);

/* sp, the space of a fork's child, with a copy of the parent's table of
 * tracepoints. */
void targets_fork_table(struct state *st, struct space *from, struct space *sp);

/* Take every thread of a process out of our slots, give the memory its own text
 * back (ctx: not used). */
void targets_clean(void *ctx, struct proc *p);

/* Do that and detach. */
void targets_let_go(struct state *st, struct proc *p);

/*
 * Launch a command line (quotes and backslashes as in a shell, no expansion)
 * and let it run to the point that option evaltime names: by default its
 * libraries are mapped and no constructor has run, or it is about to end as that
 * cannot be: what matches nothing is no error then.  0, or a negative errno after
 * a message.
 */
int targets_launch(struct state *st, const char *cmd);

/* Attach; it runs on, and is stopped again when tracepoints are written.
 * `named': by -p, so that its end is reported and awaited.  0, or a negative
 * errno with the reason in why. */
int targets_attach(
    struct state *st, pid_t pid, bool named, char *why, size_t size);

/*
 * When all is enabled: a launched program that has run to where its libraries are
 * mapped is begun once more, and is at its exec stop again, unless evaltime says
 * where the trace begins.  True: there was one.
 */
bool targets_begin_again(struct state *st);

/* A system call of a launched program that is on its way to there, or back: true,
 * and then it is nobody else's. */
bool targets_syscall(struct state *st, const struct event *ev);

/* Let every target run that is stopped for us. */
void targets_run(struct state *st);

/* New processes and programs: EV_FORK, EV_VFORK, EV_CLONE, EV_EXEC. */
void targets_event(struct state *st, const struct event *ev);

/* A process has ended: say so if it was named. */
void targets_gone(struct state *st, struct proc *p, int status);

/* Restore the text of every process and let it go as found. */
void targets_release(struct state *st);

/* Split as a shell does: blanks, '...', "...", backslash.  0 with *argv (to be
 * freed with targets_free_argv), or -EINVAL with a static reason. */
int targets_split(const char *cmd, char ***argv, const char **why);
void targets_free_argv(char **argv);
/* The file that execvp() finds, if it may be executed; the caller frees it with
 * mem_free().  NULL: none. */
char *targets_find_program(const char *name);
/* The environment of what is launched, ours as options setenv and unsetenv change
 * it; to be freed with targets_free_argv(). */
char **targets_env(const struct state *st);

#endif
