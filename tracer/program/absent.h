/*
 * Explains why a process does not have a provider.
 */
#ifndef TRACER_PROGRAM_ABSENT_H
#define TRACER_PROGRAM_ABSENT_H

struct probe_desc;
struct state;
struct str;

/*
 * A description matches nothing.  If its process lacks the named provider,
 * append text for diag_hint() to *to: which static probes the process has, and
 * how to get the wanted ones.  Appends nothing if the process has the provider,
 * or if it is not the provider of a language or program that is known to have
 * static probes.
 */
void absent_provider(
    struct state *st, const struct probe_desc *pd, struct str *to);

/* With option zdefs, when all probes are enabled: if nothing matched in any
 * process, print the same for the first description. */
void absent_tell(struct state *st);

#endif
