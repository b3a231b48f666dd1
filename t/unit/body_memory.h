/*
 * Memory with code, for the tests of disasm/.
 */
#ifndef T_UNIT_BODY_MEMORY_H
#define T_UNIT_BODY_MEMORY_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* From address 0 on. */

static uint8_t memory[0x6000];

static int
read_memory(void *ctx, uint64_t addr, void *buf, size_t len)
{
	if (addr > sizeof(memory) || sizeof(memory) - addr < len)
		return -EFAULT;
	memcpy(buf, memory + addr, len);
	return 0;
}

/* Bytes from hex text; returns the address behind them. */
static uint64_t
put(uint64_t addr, const char *text)
{
	for (const char *p = text; *p != '\0'; p++) {
		char two[3] = { p[0], p[1], '\0' };
		if (*p == ' ')
			continue;
		memory[addr++] = (uint8_t)strtoul(two, NULL, 16);
		p++;
	}
	return addr;
}

#endif
