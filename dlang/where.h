/*
 * Where a clause runs when one program is traced on many hosts: clauses of
 * tick-N and END run once, where the hosts' streams are merged, and all others
 * at each host.
 */
#ifndef DLANG_WHERE_H
#define DLANG_WHERE_H

#include <stdbool.h>

#include "dlang/world.h"

struct prog;
struct prog_globals;

/* The part of a program that a run of dtrap has. */
enum where {
	WHERE_ALL,   /* of one host, or of none: everything */
	WHERE_HOST,  /* of one host of many */
	WHERE_MERGE, /* of the merge */
};

/* Does a clause with this description run where the streams are merged?  The
 * description names tick-N or END, and no more than the provider. */
bool where_is_merged(const struct probe_desc *pd);
/* The same for a description as in the program. */
bool where_text_is_merged(const char *desc);

/* Has the program such clauses? */
bool where_any_merged(const struct prog *p);

/* A global variable that a merged clause reads and a clause of the hosts writes,
 * so that it has a value of each host.  NULL: there is none.  *clause is the
 * clause that reads it. */
struct prog_clause;
const char *where_bad_variable(
    const struct prog_globals *g, const struct prog_clause **clause);

#endif
