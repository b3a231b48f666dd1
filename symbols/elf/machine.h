/*
 * Machine-specific facts for the files of symbols/.  The folder of the machine
 * has them: defs.h the constants, machine.c these functions.  Other machine
 * files in symbols/ have their own headers: unwind_fp.c (unwind/frame.h),
 * dwarf_passed.c (dwarf/dwarf_scope.h), sdtarg.c (sdtarg.h), and the folder of
 * the machine in symbols/lang/.
 */
#ifndef SYMBOLS_ELF_MACHINE_H
#define SYMBOLS_ELF_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlang/base/machine.h"
#include "dlang/uregs.h"
#include "symbols/elf/machine/defs.h"

/* The enum ureg of each DWARF register. */
extern const uint8_t machine_uregs[CFI_REGS];

/* Bit n: the register with DWARF number n is callee-saved. */
extern const uint32_t machine_kept;

/* Is this the DWARF number of a vector register?  With `ureg' not NULL: does it
 * also have a register number (UREG_FP and above)?  Then *ureg is that of its
 * lower half. */
bool machine_vector(uint64_t dwarf, uint8_t *ureg);

/* Do these n bytes begin an entry of a procedure linkage table? */
bool machine_is_plt(const uint8_t *code, size_t n);

/* Are these MACHINE_SIGRETURN bytes the code that a signal handler returns
 * to? */
bool machine_is_sigreturn(const uint8_t *code);

/* What a relocation stores. */
enum machine_reloc {
	RELOC_OTHER,
	RELOC_SYMBOL,   /* the address of its symbol */
	RELOC_RESOLVED, /* what the function at its addend returns */
};
enum machine_reloc machine_reloc(uint32_t type);

#endif
