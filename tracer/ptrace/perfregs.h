/*
 * The registers of user code as perf events record them (sample_regs_user of
 * perf_event_open(2)).  The file of each machine implements it.
 */
#ifndef TRACER_PTRACE_PERFREGS_H
#define TRACER_PTRACE_PERFREGS_H

#include <stdint.h>

#include "dlang/uregs.h"

/* Which registers to record, at most 64; 0: this is not possible. */
uint64_t perfregs_mask(void);

/* One word for each bit of the mask, in the order of the bits.  Registers that are
 * not among them are 0. */
void perfregs_take(const uint64_t *words, struct uregs *out);

#endif
