/*
 * Text is changed only in a process that survives our death: what undoes the
 * change is known to work before (trapguard_begin).
 *
 *	untouched --commit--> protected --something of it is lost--> exposed
 *	    |                     ^                                   |   ^
 *	    |                     +------ it can be had again --------+   |
 *	    +--------------- it cannot be had ----------------------------+
 *
 * In an exposed space no int3 stands and no semaphore is raised, whatever is
 * wanted.  What may pass is tried again; a child that was not asked for by name
 * is let go.  Option `unprotected' is for those who know what they do: then
 * text is changed all the same.
 */
#ifndef TRACER_SITES_PROTECT_H
#define TRACER_SITES_PROTECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct space;
struct state;

/* Just before what is queued in the space is committed; its threads are
 * stopped. */
void protect_space(struct state *st, struct space *sp);

/* May a byte of it be changed? */
bool protect_allows(const struct state *st, const struct space *sp);

/* Tell the user that it may not, and why; once. */
void protect_say(struct state *st, struct space *sp);

/* It could not be protected after another try: the user is told, or a process
 * that was not asked for by name is let go, if somebody misses a probe in it. */
void protect_still_not(struct state *st, struct space *sp);

/* Does somebody miss what cannot be changed in it? */
bool protect_matters(const struct space *sp);
/* Does the user trace what cannot be protected? */
bool protect_is_off(const struct state *st);
/* One of its processes; 0: none is left. */
pid_t protect_pid(const struct space *sp);
/* The space that cannot be protected after that one, or the first; NULL: none. */
struct space *protect_next(struct state *st, struct space *after);

/* ---- lost.c ---- */

/* A child's memory is a copy, with int3s and the area that lists them. */
void protect_fork(struct state *st, struct space *sp, uint64_t area);

/* Before tracing begins: waits for what may pass.  NULL, or why a target that
 * has probes in its text cannot be traced. */
const char *protect_start(struct state *st);

/* For the loop: has a handler, or the guardian, been lost?  Then the user is
 * told, and what may be missing is had again, or text is put back. */
void protect_look(struct state *st);

#endif
