/*
 * The registers of a stopped thread, as D sees them: uregs[] index, and the
 * order in which the VM's environment, argument locations, the patcher and
 * the unwinders name them.
 *
 * The machine's file defines
 *
 *	enum ureg        the registers that a stop fetches, UREG_COUNT of them
 *	UREG_PC          the address of the instruction to come
 *	UREG_SP          the stack pointer
 *	UREG_FRAME       the frame pointer
 *	UREG_RESULT      what a function or a system call returns
 *	UREG_RESULT_2    arg2 of a return probe, whatever the convention says of it
 *	UREG_CALL        before a system call is made: its number
 *	UREG_THREAD      what a thread's own memory is found by
 *	UREG_FP          the first of the floating-point and vector registers, not
 *	                 below UREG_COUNT, and
 *	UREG_ALL         the end of them: those are fetched when they are asked for
 *	ureg_is_general(n)  is it one that functions compute with, or pc, stack
 *	                 pointer or flags?
 *	UREG_ARGS        so many arguments of a function come in registers,
 *	ureg_arg(n)      and this is the register of number n, from 0
 *	ureg_call_arg(n) the same for the six arguments of a system call
 *	UREG_D_COUNT     uregs[] takes indices below it (uregs.def has their names)
 *	ureg_of_d(n)     and this is the register of one of them, or UREG_COUNT: it
 *	                 reads as 0
 */
#ifndef DLANG_UREGS_H
#define DLANG_UREGS_H

#include <stdint.h>

#include "dlang/machine/uregs.h"

#define UREG_FP_COUNT (UREG_ALL - UREG_FP)

/* From this index on uregs[] is register number index - UREG_RAW: code that the
 * compiler writes asks so, programs cannot. */
#define UREG_RAW 0x100

struct uregs {
	uint64_t r[UREG_COUNT];
};

#endif
