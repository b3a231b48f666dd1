/*
 * Children and what they execute: kept under the tracer, where a provider has
 * something to say of them.
 */
#ifndef TRACER_FOLLOW_H
#define TRACER_FOLLOW_H

#include <stdbool.h>

struct proc;
struct space;
struct state;
struct thread;

/* For providers: processes that traced ones make stay traced from now on, also
 * through exec, unless option follow is `none'. */
void follow_ask(struct state *st);

/* Is it so? */
bool follow_wanted(const struct state *st);

/* A forked child, in a copy of the memory, is kept: it holds nothing of ours
 * any more before it runs an instruction. */
void follow_forked(
    struct state *st, struct thread *parent, struct thread *child);

/* A child that is kept has executed a program.  False: it is to be let go. */
bool follow_executed(struct state *st, struct proc *p);

/* Before names are asked for: see what a followed process has mapped, which
 * nobody tells us. */
void follow_refresh(struct space *sp);

#endif
