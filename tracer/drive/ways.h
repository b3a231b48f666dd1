/*
 * Option fastpath, before a trace: which way hits of a probe would go.
 */
#ifndef TRACER_DRIVE_WAYS_H
#define TRACER_DRIVE_WAYS_H

struct probe;
struct state;
struct str;

/*
 * Append the number of the probe's places at which a jump would replace the int3,
 * and for each reason the number of those at which it would not, each a line
 * that begins with `indent'.  Nothing is appended without option fastpath, or if
 * the probe has no place in a traced process.  No process is changed.
 *
 * It is what code and clauses tell.  What is known only when probes are inserted
 * is not considered: other probes near a place, with which it may share a jump or which
 * are in its way, where arguments are.
 */
void ways_text(struct state *st, const struct probe *p, const char *indent,
    struct str *to);

#endif
