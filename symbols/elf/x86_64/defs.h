/*
 * x86-64, for the files of symbols/ that know no machine: see symbols/elf/machine.h.
 */
#ifndef SYMBOLS_ELF_X86_64_DEFS_H
#define SYMBOLS_ELF_X86_64_DEFS_H

#include <elf.h>

/* What an ELF file for this machine says that it is, and its name in messages. */
#define MACHINE_ELF  EM_X86_64
#define MACHINE_NAME "x86-64"

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

/* What a call pushes on the stack: the return address. */
#define MACHINE_CALL_BYTES 8

/* The bytes of the code that a signal handler returns to. */
#define MACHINE_SIGRETURN 9

/* The register in struct uregs that a thread's own memory is found by. */
#define UREG_THREAD UREG_FS_BASE

#endif
