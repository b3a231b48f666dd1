/*
 * Providers that a process does not have.
 */
#ifndef TRACER_PROGRAM_ABSENT_H
#define TRACER_PROGRAM_ABSENT_H

struct probe_desc;
struct state;
struct str;

/*
 * Why a description that matches nothing names no provider of its process: which
 * static probes the process has, and how to have those that were asked for.
 * Words for diag_hint(), added to *to; none where the provider is there, or is
 * not one of a language or program that is known to have static probes.
 */
void absent_provider(
    struct state *st, const struct probe_desc *pd, struct str *to);

/* When all is enabled, and may match nothing (option zdefs): say the same of the
 * first description where nothing has matched in any process. */
void absent_tell(struct state *st);

#endif
