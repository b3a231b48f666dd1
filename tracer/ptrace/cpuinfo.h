/*
 * What the kernel says of the processors, as it was when somebody first asked.
 */
#ifndef TRACER_PTRACE_CPUINFO_H
#define TRACER_PTRACE_CPUINFO_H

#include <stdint.h>

/* The clock of a processor in MHz, then; 0 if it is not known. */
unsigned cpuinfo_mhz(uint64_t cpu);
/* The machine's name, and words for what computes with floating point. */
void cpuinfo_type(char *buf, uint32_t size);
void cpuinfo_fpu(char *buf, uint32_t size);

#endif
