/*
 * Reads memory of the program; agent.h says how.
 */
#include "inject/agent/agent.h"

int64_t
agent_ask(const struct vm_env *env, enum agent_what what, uint64_t addr,
    void *buf, uint64_t size)
{
	const struct lane *l = env->ctx;
	agent_ask_fn *fn = (agent_ask_fn *)(uintptr_t)l->ask;

	return fn != NULL ? fn(what, addr, buf, size) : -1;
}

/* The number of bytes from addr on that can be read; 0 if that is not known. */
static uint64_t
room_at(uint64_t addr)
{
	const struct agent_ranges *r =
	    (const void *)(uintptr_t)LOAD_ACQUIRE(&agent.ranges);

	return r != NULL ? agent_room(r, LOAD_ONCE(&r->n), addr) : 0;
}

int
agent_load(struct vm_env *env, uint64_t addr, void *buf, uint32_t len)
{
	if (room_at(addr) >= len && agent_copy(buf, addr, len) == 0)
		return 0;
	return (int)agent_ask(env, AGENT_BYTES, addr, buf, len);
}

/* The byte of a word that is 0: its number, or 8. */
static unsigned
first_zero(uint64_t word)
{
	uint64_t low = 0x0101010101010101, zeros = (word - low) & ~word;

	zeros &= low << 7;
	return zeros != 0 ? (unsigned)__builtin_ctzll(zeros) / 8 : 8;
}

/* Like load_str, but -1 if the tracer must read.  By whole words: none of them is on
 * two pages.  A word is stored as a whole where there is room, and what follows the
 * string is overwritten by the next one. */
static int64_t
text_here(uint64_t addr, char *buf, uint32_t size)
{
	uint64_t room = room_at(addr), done = 0, word;

	while (done < size && done < room) {
		unsigned skip = (unsigned)((addr + done) & 7);
		if (agent_word(addr + done - skip, &word) != 0)
			return -1;
		/* The bytes before it count as not 0. */
		word |= ((uint64_t)1 << 8 * skip) - 1;
		unsigned zero = first_zero(word);
		uint64_t n = VM_MIN(8 - skip, size - done);
		word >>= 8 * skip;
		if (size - done >= 8)
			memcpy(buf + done, &word, 8);
		else
			memcpy(buf + done, &word, n);
		if (zero < 8 && zero - skip < n)
			return (int64_t)(done + zero + 1 - skip);
		done += n;
	}
	return done == size ? (int64_t)size : -1;
}

int64_t
agent_load_str(struct vm_env *env, uint64_t addr, char *buf, uint32_t size)
{
	int64_t n = text_here(addr, buf, size);

	return n >= 0 ? n : agent_ask(env, AGENT_STRING, addr, buf, size);
}

int64_t
agent_text(struct lane *l, uint64_t addr, char *buf, uint32_t limit,
    uint32_t size, uint32_t fill)
{
	int64_t n =
	    addr == 0 || VMA_IS(addr) ? -1 : text_here(addr, buf, limit);

	if (n < 0)
		return -1;
	uint32_t len = (uint32_t)(n > 0 && buf[n - 1] == 0 ? n - 1 : n);
	len = VM_MIN(len, size - 1);
	uint32_t end = VM_ALIGN(len + 1);
	for (; end < fill; end += 8)
		memset(buf + end, 0, 8);
	memset(buf + len, 0, VM_ALIGN(len + 1) - len);
	return len + 1;
}
