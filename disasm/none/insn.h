/*
 * A machine that has not been written: disasm/insn.h says what is asked.
 */
#ifndef DISASM_NONE_INSN_H
#define DISASM_NONE_INSN_H

#include <stdint.h>

#define INSN_MAX_LEN       4
#define INSN_SYSCALL_BYTES "\xff\xff\xff\xff"
#define INSN_CAPSTONE_ARCH CS_ARCH_MAX
#define INSN_CAPSTONE_MODE 0

struct insn {
	uint64_t addr, target;
	int64_t imm;
	uint8_t bytes[INSN_MAX_LEN], len;
	uint8_t kind;
	uint8_t reg;
	const char *refuse;
};

#endif
