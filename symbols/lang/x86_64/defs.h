/*
 * How language runtimes use x86-64, for the common files of symbols/lang/.
 */
#ifndef SYMBOLS_LANG_X86_64_DEFS_H
#define SYMBOLS_LANG_X86_64_DEFS_H

#include "symbols/elf/machine.h"

/* V8: push %rbp; mov %rsp,%rbp.  The called function is in a register. */
#define V8_PROLOGUE "\x55\x48\x89\xe5"
#define V8_PUSHED   1 /* length of its first instruction */
#define V8_FUNCTION CFI_RDI

/* PHP's interpreter keeps the frame and the instruction in registers. */
#define PHP_FRAME  CFI_R14
#define PHP_OPLINE CFI_R15

/* CPython's trampoline: the code behind its call (add $8, %rsp; ret), and the
 * bytes on the stack below its return address. */
#define CPYTHON_BEHIND_CALL "\x48\x83\xc4\x08\xc3"
#define CPYTHON_ROOM        8

#endif
