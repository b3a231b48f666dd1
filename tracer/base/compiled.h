/*
 * The compiled D programs of a run.  dtrap.c, plockstat.c and (for libraries)
 * program/dlib.c compile them; drive/session.c frees them.
 */
#ifndef TRACER_BASE_COMPILED_H
#define TRACER_BASE_COMPILED_H

#include "dlang/base/vec.h"
#include "dlang/prog.h"
#include "dlang/world.h"

struct cc;

struct compiled {
	struct world world; /* answers for the compiler */
	struct cc *cc;      /* NULL before the first text */
	VEC(struct prog *) progs;
};

#endif
