/*
 * The registers of x86-64; dlang/uregs.h specifies what this file defines.
 *
 * The order is that of the kernel's struct user_regs_struct (PTRACE_GETREGS), so
 * that one ptrace call fills the array; tracer/ptrace/x86_64/regs.c asserts it.
 */
#ifndef DLANG_X86_64_UREGS_H
#define DLANG_X86_64_UREGS_H

#include <stdint.h>

enum ureg {
	UREG_R15,
	UREG_R14,
	UREG_R13,
	UREG_R12,
	UREG_RBP,
	UREG_RBX,
	UREG_R11,
	UREG_R10,
	UREG_R9,
	UREG_R8,
	UREG_RAX,
	UREG_RCX,
	UREG_RDX,
	UREG_RSI,
	UREG_RDI,
	UREG_ORIG_RAX,
	UREG_RIP,
	UREG_CS,
	UREG_RFLAGS,
	UREG_RSP,
	UREG_SS,
	UREG_FS_BASE,
	UREG_GS_BASE,
	UREG_DS,
	UREG_ES,
	UREG_FS,
	UREG_GS,
	UREG_COUNT,

	/* By purpose. */
	UREG_PC = UREG_RIP,
	UREG_SP = UREG_RSP,
	UREG_FRAME = UREG_RBP,
	UREG_RESULT = UREG_RAX,
	UREG_RESULT_2 = UREG_RBX,
	UREG_CALL = UREG_RAX,
	UREG_THREAD = UREG_FS_BASE,
	UREG_LANE = UREG_GS_BASE,
	UREG_BODY = UREG_RBX,
};

/*
 * The low and the high eight bytes of xmm0 to xmm15, significand and exponent of
 * st(0) to st(7), as FXSAVE has them (Intel SDM volume 1, 10.5.1).
 */
#define UREG_FP           32
#define UREG_XMM(n, half) (UREG_FP + 2 * (n) + (half))
#define UREG_ST(n, half)  (UREG_FP + 32 + 2 * (n) + (half))
#define UREG_ALL          UREG_ST(8, 0)

/* Up to R_GS and R_TRAPNO; the latter is always 0. */
#define UREG_D_COUNT 26

static inline unsigned
ureg_of_d(uint64_t n)
{
	static const uint8_t rest[] = { UREG_DS, UREG_ES, UREG_FS, UREG_GS,
		UREG_COUNT };

	return n <= UREG_SS ? (unsigned)n : rest[n - UREG_SS - 1];
}

static inline int
ureg_is_general(unsigned n)
{
	return n <= UREG_RDI || n == UREG_RIP || n == UREG_RFLAGS ||
	    n == UREG_RSP;
}

/* The register with such a number in instructions (Intel SDM volume 2, table
 * 3-1). */
#define UREG_NUMBERS 16

static inline unsigned
ureg_by_number(unsigned n)
{
	static const uint8_t at[UREG_NUMBERS] = { UREG_RAX, UREG_RCX, UREG_RDX,
		UREG_RBX, UREG_RSP, UREG_RBP, UREG_RSI, UREG_RDI, UREG_R8,
		UREG_R9, UREG_R10, UREG_R11, UREG_R12, UREG_R13, UREG_R14,
		UREG_R15 };

	return at[n];
}

#define UREG_ARGS 6

/* System V ABI for x86-64, 3.2.3 and A.2.1. */
static inline unsigned
ureg_arg(unsigned n)
{
	static const uint8_t at[UREG_ARGS] = { UREG_RDI, UREG_RSI, UREG_RDX,
		UREG_RCX, UREG_R8, UREG_R9 };

	return at[n];
}

static inline unsigned
ureg_call_arg(unsigned n)
{
	static const uint8_t at[6] = { UREG_RDI, UREG_RSI, UREG_RDX, UREG_R10,
		UREG_R8, UREG_R9 };

	return at[n];
}

/* rflags bits (Intel SDM volume 1, 3.4.3) */
#define RFLAGS_CF (1ULL << 0)
#define RFLAGS_PF (1ULL << 2)
#define RFLAGS_ZF (1ULL << 6)
#define RFLAGS_SF (1ULL << 7)
#define RFLAGS_TF (1ULL << 8)
#define RFLAGS_DF (1ULL << 10)
#define RFLAGS_OF (1ULL << 11)

#endif
