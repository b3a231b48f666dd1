/*
 * Instructions as text, for the user.
 */
#ifndef DISASM_TEXT_H
#define DISASM_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Write the instruction that begins at p, of which n bytes can be read and whose
 * address is addr, as text.  Returns its length in bytes; 0: there is no
 * disassembler, or it does not know the instruction. */
size_t insn_text(
    const uint8_t *p, size_t n, uint64_t addr, char *text, size_t size);

#endif
