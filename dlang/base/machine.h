/*
 * Facts about the machine that several rooms need.  The file of each machine
 * defines
 *
 *	MACHINE_TRACES     can programs be traced on it?
 *	MACHINE_NAME       its name in messages
 *	MACHINE_ELF        e_machine of an ELF file for it, and
 *	MACHINE_ELF_32     of one for its 32-bit programs; EM_NONE: it has none
 *	MACHINE_AUDIT      its system calls, for seccomp filters and ptrace
 *	MACHINE_CALL_OTHER a bit that marks system call numbers of another table
 *	MACHINE_CALL_BYTES bytes that a call pushes on the stack
 *	MACHINE_RED_ZONE   bytes below the stack pointer that a function may use
 *	MACHINE_TICKS      the clock source of Linux that reads machine_ticks();
 *			   "": this machine has none
 *	machine_ticks()    a count of the processor that grows all the time
 *	MACHINE_FEATURES   the line of /proc/TID/status that tells whether the
 *			   processor checks returns by a shadow stack: "shstk"
 *
 * dlang/uregs.h has the registers, disasm/insn.h the instructions,
 * inject/trap/area.h the trap instruction. doc/porting.md lists everything that
 * a machine defines.
 */
#ifndef DLANG_BASE_MACHINE_H
#define DLANG_BASE_MACHINE_H

#include "dlang/base/machine/machine.h"

#endif
