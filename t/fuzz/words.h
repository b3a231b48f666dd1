/*
 * For fuzzers of what reads a process's memory: memory that is the input.
 *
 * An input is a stream of bytes, and so a stream of words, each a byte for its
 * kind and what belongs to it: few bytes make memory that has structure.  The
 * words are at ARENA, and once more at `made', where code is that was made at
 * run time; behind them are zeroes.
 */
#ifndef T_FUZZ_WORDS_H
#define T_FUZZ_WORDS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "dlang/base/base.h"
#include "dlang/base/reader.h"

#define WORDS_MOST 4096
#define ARENA      0x10000000ULL
#define MADE_BYTES (1 << 20)

struct input {
	const uint8_t *at, *end;
};

static uint64_t words[WORDS_MOST];
static size_t nwords;
static uint8_t *made;

static void
made_create(void)
{
	made = mmap(NULL, MADE_BYTES, PROT_READ | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (made == MAP_FAILED)
		abort();
}

/* A number of n bytes; what is behind the end is 0. */
static uint64_t
take(struct input *in, unsigned n)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < n; i++)
		if (in->at < in->end)
			v |= (uint64_t)*in->at++ << (8 * i);
	return v;
}

/* The fuzzer's: code of the n-th kind, and the n-th word that has a meaning. */
static uint64_t code_at(unsigned n, unsigned offset);
static uint64_t known(unsigned n);

/* A word.  Pointers lead on, mostly: in circles there would be nothing but
 * circles. */
static uint64_t
take_word(struct input *in)
{
	unsigned kind = (unsigned)take(in, 1);
	uint64_t v;

	switch (kind % 12) {
	case 0: return take(in, 1);
	case 1: return take(in, 2);
	case 2: return ARENA + (nwords + take(in, 1)) * 8;
	case 3: return ARENA + (nwords + take(in, 1)) * 8 + 1;
	case 4: return take(in, 2) << 32;
	case 5: return code_at(kind / 12, (unsigned)take(in, 2));
	case 6: return known((unsigned)take(in, 1));
	case 7: return take(in, 4) << 32;
	case 8: return take(in, 4);
	case 9: v = take(in, 2); return v | take(in, 2) << 32;
	case 10: return ARENA + take(in, 2);
	default: return take(in, 8);
	}
}

/* The rest of an input. */
static void
take_words(struct input *in)
{
	for (nwords = 0; nwords < WORDS_MOST && in->at < in->end;)
		words[nwords++] = take_word(in);
	if (nwords == 0)
		words[nwords++] = ARENA;
}

/* The words, from the i-th byte on; then zeroes. */
static void
words_read(uint64_t i, uint8_t *to, size_t len)
{
	size_t n = i < nwords * 8 ? MIN(len, nwords * 8 - i) : 0;

	if (n != 0)
		memcpy(to, (const uint8_t *)words + i, n);
	memset(to + n, 0, len - n);
}

/* Does [addr, addr + len) lie there? */
static bool
within(uint64_t addr, size_t len, uint64_t start, uint64_t size)
{
	return addr >= start && len <= size && addr - start <= size - len;
}

/* Whole pages can be read. */
static int
words_at(uint64_t addr, void *buf, size_t len)
{
	uint64_t code = (uintptr_t)made;

	if (within(addr, len, ARENA, ROUND_UP(nwords * 8, 4096)))
		words_read(addr - ARENA, buf, len);
	else if (within(addr, len, code, MADE_BYTES))
		words_read(addr - code, buf, len);
	else
		return -1;
	return 0;
}

#endif
