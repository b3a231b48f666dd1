/*
 * Constants of x86-64 for the common files of symbols/; see
 * symbols/elf/machine.h.
 */
#ifndef SYMBOLS_ELF_X86_64_DEFS_H
#define SYMBOLS_ELF_X86_64_DEFS_H

#include <elf.h>

/* DWARF numbers of the registers (psABI, "DWARF Register Number Mapping"); 16
 * is the return address. */
enum {
	CFI_RAX,
	CFI_RDX,
	CFI_RCX,
	CFI_RBX,
	CFI_RSI,
	CFI_RDI,
	CFI_RBP,
	CFI_RSP,
	CFI_R8,
	CFI_R12 = 12,
	CFI_R13,
	CFI_R14,
	CFI_R15,
	CFI_RIP,
	CFI_REGS,

	/* By purpose. */
	CFI_PC = CFI_RIP,
	CFI_SP = CFI_RSP,
	CFI_FP = CFI_RBP,
	CFI_GOROUTINE = CFI_R14, /* in functions of Go */
};

/* The bytes of the code that a signal handler returns to. */
#define MACHINE_SIGRETURN 9

/* Offsets from UREG_THREAD: of the address of a thread's thread-local blocks
 * (glibc's dtv), and of Go's running goroutine. */
#define MACHINE_DTV       8
#define MACHINE_GOROUTINE (-8)

#endif
