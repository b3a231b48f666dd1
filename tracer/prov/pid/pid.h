/*
 * What the pid provider must hear of besides descriptions.
 */
#ifndef TRACER_PROV_PID_PID_H
#define TRACER_PROV_PID_PID_H

#include <stdint.h>

struct proc;
struct state;

/* The resolver of an IFUNC, whose code holds pc, is about to return `impl':
 * probes on the function go there, before its first call. */
void pid_resolved(struct state *st, struct proc *p, uint64_t pc, uint64_t impl);

#endif
