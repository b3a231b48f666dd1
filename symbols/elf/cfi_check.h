/*
 * What libdw gets to run: unwind entries whose every length, reference and
 * register was looked at.  libdw makes room for each register that an entry
 * names and for each state that it saves, and an entry may name the four
 * billionth.
 */
#ifndef SYMBOLS_ELF_CFI_CHECK_H
#define SYMBOLS_ELF_CFI_CHECK_H

#include <stdbool.h>

#include "symbols/elf/parts.h"

/* Is this good: what dwarf_getcfi_elf() reads of a file; the .debug_frame of one
 * that dwarf_begin_elf() has decompressed? */
bool cficheck_eh(const struct elf_file *f);
bool cficheck_debug(const struct elf_file *f);

#endif
