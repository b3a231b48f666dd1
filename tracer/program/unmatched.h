/*
 * A description of probes matches none: why, and what may have been meant?
 */
#ifndef TRACER_PROGRAM_UNMATCHED_H
#define TRACER_PROGRAM_UNMATCHED_H

#include <stdbool.h>

#include "dlang/base/str.h"

struct nearest;
struct probe_desc;
struct proc;
struct state;

/* Words for a hint, added to *to; none if there is nothing to say. */
void unmatched_why(
    struct state *st, const struct probe_desc *pd, struct str *to);

/* Is this a provider of DTrace's that shows a kernel? */
bool unmatched_kernel(const char *prov);

/* ---- unmatched_pid.c: the same of functions ---- */

/* Of the description's process, which `p' is: an object, a function or a name
 * that is not there. */
void unmatched_pid(struct state *st, struct proc *p,
    const struct probe_desc *pd, struct str *to);
/* A function of a traced process that is called so: how to ask for it.  False:
 * there is none. */
bool unmatched_function(struct state *st, const char *func, struct str *to);
/* The same of one whose name is near. */
bool unmatched_like(struct state *st, const char *func, struct str *to);
/* ---- unmatched_words.c ---- */

/* The process as messages call it: "process 123 (name)". */
void unmatched_name(const struct proc *p, struct str *to);
/* Names with commas between them, and "and" before the last of several. */
void unmatched_list(struct str *to, const char *const *names, size_t n);

#endif
