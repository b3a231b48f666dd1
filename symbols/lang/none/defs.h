/*
 * A machine that has not been written: the defs.h of others say what is asked.
 */
#ifndef SYMBOLS_LANG_NONE_DEFS_H
#define SYMBOLS_LANG_NONE_DEFS_H

#include "symbols/elf/machine.h"

#define V8_PROLOGUE         "\xff"
#define V8_PUSHED           1
#define V8_FUNCTION         CFI_FP
#define PHP_FRAME           CFI_FP
#define PHP_OPLINE          CFI_FP
#define CPYTHON_BEHIND_CALL "\xff"
#define CPYTHON_ROOM        0

#endif
