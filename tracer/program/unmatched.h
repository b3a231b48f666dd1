/*
 * Explains why a probe description matches no probe, and which probe may have
 * been meant.
 */
#ifndef TRACER_PROGRAM_UNMATCHED_H
#define TRACER_PROGRAM_UNMATCHED_H

#include <stdbool.h>

#include "dlang/base/str.h"

struct nearest;
struct probe_desc;
struct proc;
struct state;

/* Append text for a hint to *to; nothing if there is no advice. */
void unmatched_why(
    struct state *st, const struct probe_desc *pd, struct str *to);

/* Is this a provider of other DTraces that shows the kernel? */
bool unmatched_kernel(const char *prov);

/* ---- unmatched_pid.c: the same for provider pid ---- */

/* The object, function or name of the description does not exist in process
 * p. */
void unmatched_pid(struct state *st, struct proc *p,
    const struct probe_desc *pd, struct str *to);
/* If a traced process has a function of that name, append how to describe it.
 * False: there is none. */
bool unmatched_function(struct state *st, const char *func, struct str *to);
/* The same for a function with a similar name. */
bool unmatched_like(struct state *st, const char *func, struct str *to);
/* ---- unmatched_words.c ---- */

/* The process as messages call it: "process 123 (name)". */
void unmatched_name(const struct proc *p, struct str *to);
/* Append names, separated by commas, and "and" before the last of several. */
void unmatched_list(struct str *to, const char *const *names, size_t n);

#endif
