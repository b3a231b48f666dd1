/*
 * What has become of the text of D programs.  Those who have the text make it
 * (dtrap.c, plockstat.c, and program/dlib.c of libraries); drive/session.c ends it.
 */
#ifndef TRACER_BASE_COMPILED_H
#define TRACER_BASE_COMPILED_H

#include "dlang/base/vec.h"
#include "dlang/prog.h"
#include "dlang/world.h"

struct cc;

struct compiled {
	struct world world; /* what the compiler asks */
	struct cc *cc;      /* NULL before the first text */
	VEC(struct prog *) progs;
};

#endif
