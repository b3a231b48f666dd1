/*
 * x86-64, for the files of symbols/ that know no machine: see symbols/elf/machine.h.
 */
#ifndef SYMBOLS_ELF_X86_64_DEFS_H
#define SYMBOLS_ELF_X86_64_DEFS_H

#include <elf.h>

/* DWARF numbers of the registers (psABI, "DWARF Register Number Mapping"); 16 is
 * the return address. */
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

	/* By what they do. */
	CFI_PC = CFI_RIP,
	CFI_SP = CFI_RSP,
	CFI_FP = CFI_RBP,
	CFI_GOROUTINE = CFI_R14, /* in functions of Go */
};

/* The bytes of the code that a signal handler returns to. */
#define MACHINE_SIGRETURN 9

/* From UREG_THREAD: where a thread's memory has the address of its thread-local
 * blocks (glibc's dtv), and Go the goroutine that runs. */
#define MACHINE_DTV       8
#define MACHINE_GOROUTINE (-8)

#endif
