/*
 * One x86-64 instruction as the patcher and the providers need to see it.
 * A door: the decoder and Capstone stay in disasm/, and decoding happens only
 * while probes are being armed.
 */
#ifndef DISASM_INSN_H
#define DISASM_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INSN_MAX_LEN 15 /* Intel SDM volume 2, 2.3.11 */

/*
 * What matters for displacing an instruction and for finding the ends of a
 * function.  Everything that may run from another address as it stands, or
 * with its rip-relative field rewritten, is INSN_PLAIN.
 */
enum insn_kind {
	INSN_PLAIN,
	INSN_NOP,      /* any nop form, endbr64 and prefetches excepted: see
			 * INSN_ENDBR */
	INSN_ENDBR,    /* endbr64, endbr32 */
	INSN_JMP,      /* direct, target known */
	INSN_JMP_IND,  /* through a register or memory */
	INSN_JCC,      /* conditional, target known, `cond' set */
	INSN_LOOP,     /* loop, loope, loopne, jcxz, jecxz, jrcxz: target known,
			 * `cond' holds enum insn_loop */
	INSN_CALL,     /* direct, target known */
	INSN_CALL_IND, /* through a register or memory */
	INSN_RET,      /* near; `imm' holds the bytes popped besides */
	INSN_PUSH_REG, /* 64-bit push of `reg' */
	INSN_POP_REG,  /* 64-bit pop into `reg' */
	INSN_LEAVE,
	INSN_MOV_REG, /* mov reg64 <- reg2, 64 or 32 bits (`opsize') */
	INSN_LEA,     /* lea, 64 or 32 bits (`opsize'): reg <-
			 * base+index*scale+disp */
	INSN_ADD_RSP, /* add or sub of a constant to rsp: `imm' is what is
			 * added (flags are set too) */
	INSN_XSTATE,  /* reads or writes rip in another way: xbegin, int n,
			 * syscall, sysenter, iret, far transfers: see
			 * `refuse' */
	INSN_SYSCALL, /* syscall: pc is saved in rcx */
	INSN_INT3,    /* the program's own breakpoint */
	INSN_UD,      /* ud0, ud1, ud2, hlt: never returns normally */
};

enum insn_loop { LOOP_LOOP, LOOP_LOOPE, LOOP_LOOPNE, LOOP_JCXZ };

#define INSN_NOREG 0xff

struct insn {
	uint64_t addr;   /* where it was decoded */
	uint64_t target; /* JMP, JCC, LOOP, CALL: absolute target */
	int64_t imm;     /* RET, ADD_RSP */
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
	const char *refuse; /* why it must not be displaced, or NULL: one
			     * phrase for `-v' ("transaction begin", ...) */
};

/*
 * Decode one instruction of at most `len' bytes at `code', which lies at
 * `addr'.  0; or -EILSEQ when it is no instruction, -ENODATA when `len' cuts
 * it off.  *insn is then undefined.
 */
int insn_decode(
    const uint8_t *code, size_t len, uint64_t addr, struct insn *insn);

/* Does it put a constant into a general register and do nothing else?  Then
 * *reg (enum ureg) and *value say which; 32 bits extend with zeros. */
bool insn_constant(const struct insn *insn, uint8_t *reg, uint64_t *value);

/* Does it take the stack pointer of another function, as the end of
 * __builtin_eh_return does? */
bool insn_is_unwound(const struct insn *insn);

/* The hint that a loop waits for another processor. */
bool insn_is_pause(const struct insn *insn);

/*
 * A second opinion, from a decoder that shares nothing with insn_decode():
 * false when it knows the instruction and finds it longer or shorter.  For a
 * byte of text that is about to be changed.
 */
bool insn_agreed(const struct insn *insn);
/* Was there nobody to ask?  Then insn_agreed() has been true each time. */
bool insn_unopposed(void);

#endif
