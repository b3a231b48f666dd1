/*
 * Loads that may fault; see inject/agent/agent.h.
 *
 * After a fault in the instruction at 1 the thread goes on at 2, with RAX -1.
 */
#include "inject/agent/agent.h"

#define FIXUP                               \
	"2:\n"                              \
	".pushsection agent_fixups,\"a\"\n" \
	".long 1b - ., 2b - .\n"            \
	".popsection\n"

int64_t
agent_word(uint64_t src, uint64_t *word)
{
	int64_t result = 0;

	__asm__ volatile("1: mov (%2), %1\n" FIXUP
			 : "+a"(result), "=&r"(*word)
			 : "r"(src)
			 : "memory");
	return result;
}

int64_t
agent_copy(void *dst, uint64_t src, uint64_t n)
{
	int64_t result = 0;
	uint64_t word;

	/* Most often it is one word. */
	if (n == 8) {
		result = agent_word(src, &word);
		memcpy(dst, &word, 8);
		return result;
	}
	__asm__ volatile("1: rep movsb\n" FIXUP
			 : "+a"(result), "+D"(dst), "+S"(src), "+c"(n)
			 :
			 : "memory");
	return result;
}
