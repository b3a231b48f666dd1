/*
 * Why a process is traced.  Only role.c writes struct role.
 *
 *	LAUNCH_NOT --proc_launch_file()--> LAUNCH_RUNS --exec--> LAUNCH_AT_EXEC
 *	LAUNCH_AT_EXEC --it continues----> LAUNCH_RUNS
 */
#ifndef TRACER_PTRACE_ROLE_H
#define TRACER_PTRACE_ROLE_H

#include <stdbool.h>
#include <sys/types.h>

struct proc;

enum launch_state {
	LAUNCH_NOT,
	LAUNCH_RUNS,    /* by -c: its parent is the tracer */
	LAUNCH_AT_EXEC, /* the same; it has not run yet since it executed the
			 * program */
};

struct role {
	enum launch_state launch;
	bool named;   /* by -p or -c: its end is reported */
	bool found;   /* attached to because of a description that does not name
		     * it */
	pid_t family; /* the process, itself or an ancestor, whose pid$target
			* probes it has; 0: none */
	bool followed; /* it has these as a descendant, in its own memory */
};

void role_launch(struct proc *p, enum launch_state state);

/* It was launched or attached to, so it has a family of its own.  `named': by
 * -p or -c. */
void role_begin(struct proc *p, bool named);
/* A description that does not name it has found it. */
void role_found(struct proc *p);
/* Its end has been reported, or will not be. */
void role_unnamed(struct proc *p);
/* It was created by the parent, and is of the same family. */
void role_inherit(const struct proc *parent, struct proc *child);
/* Has it the probes of its family in its own memory? */
void role_follow(struct proc *p, bool followed);

#endif
