/*
 * Names for the consumer's tests: address space 7 has a module "a.out" at
 * 0x1000 with functions of 0x100 bytes, f1 at 0x1100, f2 at 0x1200 and so on
 * to f9; f9 has an escape character in its name, f8 all that has a meaning to some
 * format, letters of other alphabets and what is no text.  No other space has
 * anything.
 */
#ifndef T_UNIT_DOUBLE_SYMBOLS_H
#define T_UNIT_DOUBLE_SYMBOLS_H

#include <stdio.h>

#include "dlang/types.h"
#include "symbols/symbolise.h"

struct addrspace {
	int id;
};

static struct addrspace double_space = { 7 };

struct addrspace *
addrspace_by_id(uint32_t id)
{
	return id == 7 ? &double_space : NULL;
}

uint32_t
addrspace_stamp_of(uint32_t stamp, const uint64_t *addrs, size_t n)
{
	return stamp;
}

static bool
double_covers(const struct addrspace *as, uint64_t addr)
{
	return as != NULL && addr >= 0x1000 && addr < 0x1a00;
}

char *
symbolise(
    struct addrspace *as, uint64_t addr, unsigned flags, char *buf, size_t size)
{
	unsigned long long n = addr >> 8 & 0xf, off = addr & 0xff;
	const char *name = n == 9 ? "\033" :
	    n == 8                ? "op; <&\"'\303\251\377> " :
				    "";
	const char *line = flags & SYM_LINE ? " (f.c:1)" : "";

	if (!double_covers(as, addr))
		snprintf(buf, size, "0x%llx", (unsigned long long)addr);
	else if (flags & SYM_MODULE)
		snprintf(buf, size, "a.out");
	else if (n == 0)
		snprintf(buf, size, "a.out`0x%llx", (unsigned long long)addr);
	else if (off == 0 || flags & SYM_NO_OFFSET)
		snprintf(buf, size, "a.out`%sf%llu%s", name, n, line);
	else
		snprintf(
		    buf, size, "a.out`%sf%llu+0x%llx%s", name, n, off, line);
	return buf;
}

char *
symbolise_then(
    uint32_t stamp, uint64_t addr, unsigned flags, char *buf, size_t size)
{
	return symbolise(addrspace_by_id(stamp), addr, flags, buf, size);
}

char *
symbolise_frame(uint32_t stamp, uint64_t pc, uint64_t inner, unsigned flags,
    char *buf, size_t size)
{
	return symbolise_then(stamp, pc, flags, buf, size);
}

uint64_t
symbolise_start(uint32_t stamp, uint64_t addr)
{
	return double_covers(addrspace_by_id(stamp), addr) ? addr & ~0xffULL :
							     addr;
}

uint64_t
symbolise_module(uint32_t stamp, uint64_t addr)
{
	return double_covers(addrspace_by_id(stamp), addr) ? 0x1000 : addr;
}

#endif
