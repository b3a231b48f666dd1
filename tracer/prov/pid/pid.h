/*
 * What other rooms tell the pid provider.
 */
#ifndef TRACER_PROV_PID_PID_H
#define TRACER_PROV_PID_PID_H

#include <stdint.h>

struct proc;
struct state;

/* The resolver of an IFUNC, whose code contains pc, is about to return `impl'.
 * Probes on the function are moved there before its first call. */
void pid_resolved(struct state *st, struct proc *p, uint64_t pc, uint64_t impl);

#endif
