/*
 * A machine that has not been written: symbols/elf/machine.h says what is asked.
 */
#ifndef SYMBOLS_ELF_NONE_DEFS_H
#define SYMBOLS_ELF_NONE_DEFS_H

enum {
	CFI_SP,
	CFI_FP,
	CFI_GOROUTINE,
	CFI_PC,
	CFI_REGS,
};

#define MACHINE_SIGRETURN 1
#define MACHINE_DTV       0
#define MACHINE_GOROUTINE 0

#endif
