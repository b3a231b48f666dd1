/*
 * Checks unwind entries before libdw interprets them: every length, reference
 * and register.  libdw allocates memory up to the highest register that an
 * entry names, and for each state that it saves; an entry may name register
 * four billion.
 */
#ifndef SYMBOLS_ELF_CFI_CHECK_H
#define SYMBOLS_ELF_CFI_CHECK_H

#include <stdbool.h>

#include "symbols/elf/parts.h"

/* Are the unwind entries valid?  cficheck_eh(): those that dwarf_getcfi_elf()
 * reads.  cficheck_debug(): .debug_frame, after dwarf_begin_elf() has
 * decompressed it. */
bool cficheck_eh(const struct elf_file *f);
bool cficheck_debug(const struct elf_file *f);

#endif
