/*
 * A machine that has not been written: no signal frame is found.
 */
#include "tracer/ptrace/super.h"

unsigned
sigframes_change(struct thread *th, uint64_t like, uint64_t bits, bool block)
{
	return 0;
}

uint64_t
sigframe_mask(const struct uregs *regs)
{
	return 0;
}
