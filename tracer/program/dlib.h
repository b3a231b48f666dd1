/*
 * Libraries in D: the files NAME.d of the directories that the options
 * syslibdir and libdir (-L) name, compiled before the first program.  What
 * they declare, every program finds.  A library says what it needs:
 *
 *	#pragma D depends_on library other.d
 *	#pragma D depends_on provider NAME
 *	#pragma D depends_on module NAME
 *
 * Libraries are compiled after those they depend on.  One whose provider or
 * module is not there is left out, and so is what depends on it.
 */
#ifndef TRACER_PROGRAM_DLIB_H
#define TRACER_PROGRAM_DLIB_H

struct diags;
struct state;

/* Once; calls after the first do nothing.  0, or -EINVAL with the reason in
 * `d'. */
int dlibs_load(struct state *st, struct diags *d);

#endif
