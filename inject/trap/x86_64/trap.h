/*
 * The trap instruction of x86-64, int3; inject/trap/area.h says what is asked.
 */
#ifndef INJECT_TRAP_X86_64_TRAP_H
#define INJECT_TRAP_X86_64_TRAP_H

#include <stdint.h>

typedef uint8_t trap_insn;

#define TRAP_INSN      0xcc
#define TRAP_PC_AFTER  1
#define TRAP_JUMP      0xe9
#define TRAP_JUMP_LEN  5
#define TRAP_SHORT     0xeb
#define TRAP_SHORT_LEN 2
#define TRAP_CODE      0x80 /* SI_KERNEL, which not every <signal.h> has */
#define TRAP_MARK \
	"\xcc"    \
	"dtrap's slots"

#endif
