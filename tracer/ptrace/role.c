/*
 * Notes why a process is traced; see role.h.
 */
#include "tracer/ptrace/role.h"

#include "tracer/ptrace/proc.h"

void
role_launch(struct proc *p, enum launch_state state)
{
	p->role.launch = state;
}

void
role_begin(struct proc *p, bool named)
{
	p->role.named = named;
	p->role.family = p->pid;
}

void
role_found(struct proc *p)
{
	p->role.found = true;
}

void
role_unnamed(struct proc *p)
{
	p->role.named = false;
}

void
role_inherit(const struct proc *parent, struct proc *child)
{
	child->role.family = parent->role.family;
	child->role.followed = parent->role.followed;
}

void
role_follow(struct proc *p, bool followed)
{
	p->role.followed = followed;
}
