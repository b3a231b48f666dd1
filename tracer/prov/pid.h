/*
 * What the pid provider must hear of besides descriptions.
 */
#ifndef TRACER_PROV_PID_H
#define TRACER_PROV_PID_H

#include <stdint.h>

struct addrspace;
struct load;
struct proc;
struct state;

/* The resolver of an IFUNC, whose code holds pc, is about to return `impl':
 * probes on the function go there, before its first call. */
void pid_resolved(struct state *st, struct proc *p, uint64_t pc, uint64_t impl);

/* Every clause has been matched against what is mapped now. */
void pid_matched(struct state *st);

/* A fork's child has the tracepoints of its parent: what was matched there is
 * matched here, `as' being the child's. */
void pid_forked(struct addrspace *as);

/* An object was unmapped: its places have no tracepoints any more. */
void pid_unloaded(struct state *st, struct load *l);

/* A space has ended (exec, exit): its places are forgotten. */
void pid_space_end(struct state *st, const struct addrspace *as);

#endif
