/*
 * What -v tells when a run is over.
 */
#ifndef TRACER_FIGURES_H
#define TRACER_FIGURES_H

struct state;

/* Print a message a line: the longest stop, which way hits went, what was
 * lacking. */
void figures_tell(struct state *st);

#endif
