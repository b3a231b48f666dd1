/*
 * What the files of symbols/ ask of the machine that the traced programs are
 * built for.  The folder of the machine answers: defs.h has the constants, machine.c
 * these functions.  The machine's files in other rooms have headers of their own:
 * unwind_fp.c (unwind/frame.h), dwarf_passed.c (dwarf/dwarf_scope.h), sdtarg.c
 * (sdtarg.h), and the folder of the machine in symbols/lang/.
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

/* Bit n: a function leaves the register with that DWARF number as it was. */
extern const uint32_t machine_kept;

/* Is it the DWARF number of a vector register?  With ureg: is it one that struct
 * uregs has room for?  Then *ureg is its lower half. */
bool machine_vector(uint64_t dwarf, uint8_t *ureg);

/* Does a part of a procedure linkage table begin with these n bytes? */
bool machine_is_plt(const uint8_t *code, size_t n);

/* Are these MACHINE_SIGRETURN bytes the code that a signal handler returns to? */
bool machine_is_sigreturn(const uint8_t *code);

/* What a relocation stores. */
enum machine_reloc {
	RELOC_OTHER,
	RELOC_SYMBOL,   /* the address of its symbol */
	RELOC_RESOLVED, /* what the function at its addend returns */
};
enum machine_reloc machine_reloc(uint32_t type);

#endif
