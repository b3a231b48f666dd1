/*
 * Which processor runs the thread, and its count; see inject/agent/agent.h.
 */
#include "inject/agent/agent.h"

/* rdpid reads the register IA32_TSC_AUX, in which Linux keeps the same number.  It
 * takes a nanosecond, where lsl takes fifty on some processors. */
static uint32_t
by_rdpid(void)
{
	uint64_t number;

	__asm__ volatile(".byte 0xf3, 0x0f, 0xc7, 0xf8" : "=a"(number));
	return (uint32_t)number & 0xfff;
}

/* Linux keeps a segment of which the limit is the processor's number, below 12
 * bits of the node's; a processor without it leaves 0. */
static uint32_t
by_segment(void)
{
	uint32_t limit = 0, segment = 15 * 8 + 3;

	__asm__ volatile("lsl %1, %0" : "+r"(limit) : "r"(segment) : "cc");
	return limit & 0xfff;
}

uint64_t
agent_ticks(void)
{
	return __builtin_ia32_rdtsc();
}

uint32_t
agent_cpu(void)
{
	return agent.processor != 0 ? by_rdpid() : by_segment();
}
