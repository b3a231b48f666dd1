/*
 * A machine that has not been written: inject/trap/area.h says what is asked.
 */
#ifndef INJECT_TRAP_NONE_TRAP_H
#define INJECT_TRAP_NONE_TRAP_H

#include <stdint.h>

typedef uint8_t trap_insn;

#define TRAP_INSN      0xff
#define TRAP_PC_AFTER  0
#define TRAP_JUMP      0xfe
#define TRAP_JUMP_LEN  2
#define TRAP_SHORT     0xfd
#define TRAP_SHORT_LEN 0
#define TRAP_CODE      1
#define TRAP_MARK      "dtrap's slots"

#endif
