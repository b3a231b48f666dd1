/*
 * Names for the consumer's tests: address space 7 has a module "a.out" at
 * 0x1000 with functions of 0x100 bytes, f1 at 0x1100, f2 at 0x1200 and so on
 * to f9; f9 has an escape character in its name.  No other space has anything.
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

	if (!double_covers(as, addr))
		snprintf(buf, size, "0x%llx", (unsigned long long)addr);
	else if (flags & SYM_MODULE)
		snprintf(buf, size, "a.out");
	else if (n == 0)
		snprintf(buf, size, "a.out`0x%llx", (unsigned long long)addr);
	else if (off == 0 || flags & SYM_NO_OFFSET)
		snprintf(buf, size, "a.out`%sf%llu", n == 9 ? "\033" : "", n);
	else
		snprintf(buf, size, "a.out`f%llu+0x%llx", n, off);
	return buf;
}

uint64_t
symbolise_start(struct addrspace *as, uint64_t addr)
{
	return double_covers(as, addr) ? addr & ~0xffULL : addr;
}

uint64_t
symbolise_module(struct addrspace *as, uint64_t addr)
{
	return double_covers(as, addr) ? 0x1000 : addr;
}

#endif
