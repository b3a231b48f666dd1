/*
 * Which processor runs the thread; see inject/agent/agent.h.
 */
#include "inject/agent/agent.h"

/* Linux keeps a segment of which the limit is the processor's number, below 12
 * bits of the node's; a processor without it leaves 0. */
uint32_t
agent_cpu(void)
{
	uint32_t limit = 0, segment = 15 * 8 + 3;

	__asm__ volatile("lsl %1, %0" : "+r"(limit) : "r"(segment) : "cc");
	return limit & 0xfff;
}
