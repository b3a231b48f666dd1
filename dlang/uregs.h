/*
 * The registers of a stopped thread, as D sees them: uregs[] index, and the
 * order in which the VM's environment, argument locations, the patcher and
 * the unwinders name them.
 *
 * The order is that of the kernel's struct user_regs_struct for x86-64
 * (PTRACE_GETREGS), so that one ptrace call fills the array;
 * tracer/ptrace/x86_64/regs.c asserts it.  D's documented indices are the first 21 of
 * them and differ after that (UREG_D_* below).
 */
#ifndef DLANG_UREGS_H
#define DLANG_UREGS_H

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
	UREG_COUNT
};

/* Indices that D documents; the last, R_TRAPNO, reads as 0. */
#define UREG_D_COUNT 26

/*
 * More registers, for who asks the environment: the low and the high eight
 * bytes of xmm0 to xmm15, significand and exponent of st(0) to st(7), as
 * FXSAVE has them (Intel SDM volume 1, 10.5.1).
 */
#define UREG_FP           32
#define UREG_XMM(n, half) (UREG_FP + 2 * (n) + (half))
#define UREG_ST(n, half)  (UREG_FP + 32 + 2 * (n) + (half))
#define UREG_ALL          UREG_ST(8, 0)
#define UREG_FP_COUNT     (UREG_ALL - UREG_FP)

/* From this index on uregs[] is register number index - UREG_RAW: code that the
 * compiler writes asks so, programs cannot. */
#define UREG_RAW 0x100

struct uregs {
	uint64_t r[UREG_COUNT];
};

/* rflags bits (Intel SDM volume 1, 3.4.3) */
#define RFLAGS_CF (1ULL << 0)
#define RFLAGS_PF (1ULL << 2)
#define RFLAGS_ZF (1ULL << 6)
#define RFLAGS_SF (1ULL << 7)
#define RFLAGS_TF (1ULL << 8)
#define RFLAGS_DF (1ULL << 10)
#define RFLAGS_OF (1ULL << 11)

#endif
