/*
 * Facts about the processors from the kernel, read at the first call.
 */
#ifndef TRACER_PTRACE_CPUINFO_H
#define TRACER_PTRACE_CPUINFO_H

#include <stdint.h>

/* The clock of a processor in MHz at the first call; 0: unknown. */
unsigned cpuinfo_mhz(uint64_t cpu);
/* The name of the machine; the name of its floating-point unit. */
void cpuinfo_type(char *buf, uint32_t size);
void cpuinfo_fpu(char *buf, uint32_t size);

#endif
