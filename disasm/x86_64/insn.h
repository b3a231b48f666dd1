/*
 * struct insn for x86-64; disasm/insn.h specifies what this file defines.  Of
 * its kinds: INSN_LANDING is endbr64 and endbr32; INSN_LOOP is loop, loope,
 * loopne, jcxz, jecxz and jrcxz; INSN_ADD_SP is add or sub of a constant to
 * rsp, and sets the flags too; INSN_XSTATE is xbegin, int n, sysenter, iret and
 * far transfers; INSN_SYSCALL saves the pc in rcx; INSN_UD is ud0, ud1, ud2,
 * hlt.
 */
#ifndef DISASM_X86_64_INSN_H
#define DISASM_X86_64_INSN_H

#include <stdbool.h>
#include <stdint.h>

#define INSN_MAX_LEN       15 /* Intel SDM volume 2, 2.3.11 */
#define INSN_SYSCALL_BYTES "\x0f\x05"
#define INSN_CAPSTONE_ARCH CS_ARCH_X86
#define INSN_CAPSTONE_MODE CS_MODE_64

enum insn_loop { LOOP_LOOP, LOOP_LOOPE, LOOP_LOOPNE, LOOP_JCXZ };

struct insn {
	uint64_t addr;   /* where it was decoded */
	uint64_t target; /* JMP, JCC, LOOP, CALL: absolute target; of xbegin:
			  * where an aborted transaction continues */
	int64_t imm;     /* RET, ADD_SP */
	int32_t disp;    /* LEA, *_IND: displacement (also rip-relative) */
	uint16_t opcode; /* for messages and tests only */
	uint8_t bytes[INSN_MAX_LEN];
	uint8_t len;
	uint8_t kind;      /* enum insn_kind */
	uint8_t cond;      /* JCC: condition code 0..15 as in the opcode's low
			   * four bits; LOOP: enum insn_loop */
	uint8_t opsize;    /* operand size in bytes where it matters: 2,4,8 */
	uint8_t addrsize;  /* 4 with a 67 prefix, else 8 */
	uint8_t reg, reg2; /* enum ureg numbers (dlang/uregs.h order), or
			    * INSN_NOREG */
	uint8_t base, index, scale; /* memory operand of LEA and *_IND; base is
				     * INSN_NOREG when absent or rip */
	uint8_t segment; /* 0x64 or 0x65 when an fs or gs prefix applies */
	bool mem;        /* *_IND: the operand is memory, not a register */
	bool rip_relative;
	uint8_t disp_at;   /* offset of the 4-byte rip-relative displacement in
			   * bytes[] (rip_relative only) */
	uint8_t opcode_at; /* offset of the first byte after the legacy
			    * prefixes: REX, VEX, EVEX, escape or opcode */
	uint8_t modrm_at;  /* offset of ModRM, 0 when there is none */
	uint16_t gpr_used; /* bit per general register read or written, numbered
			    * by hardware (0 rax .. 15 r15); an
			    * over-estimate is allowed, used to pick a
			    * scratch register */
	const char *refuse; /* why it cannot be displaced, or NULL: a phrase for
			     * `-v' ("transaction begin", ...) */
};

#endif
