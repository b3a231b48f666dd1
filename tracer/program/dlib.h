/*
 * Libraries in D: the files NAME.d of the directories that the options
 * syslibdir and libdir (-L) name, compiled before the first program.  Every
 * program can use their declarations.  A library names its dependencies:
 *
 *	#pragma D depends_on library other.d
 *	#pragma D depends_on provider NAME
 *	#pragma D depends_on module NAME
 *
 * Libraries are compiled after those they depend on.  A library whose provider
 * or module does not exist is skipped, and so are libraries that depend on it.
 */
#ifndef TRACER_PROGRAM_DLIB_H
#define TRACER_PROGRAM_DLIB_H

struct diags;
struct state;

/* Compile all libraries; later calls do nothing.  0, or -EINVAL with a
 * diagnostic in `d'. */
int dlibs_load(struct state *st, struct diags *d);

#endif
