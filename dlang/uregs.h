/*
 * The registers of a stopped thread.  The VM's environment, argument locations,
 * inject/ and the unwinders use these numbers; the uregs[] of D programs has
 * other ones.
 *
 * The file of each machine defines
 *
 *	enum ureg        the registers that a stop fetches, UREG_COUNT of them
 *	UREG_PC          the program counter
 *	UREG_SP          the stack pointer
 *	UREG_FRAME       the frame pointer
 *	UREG_RESULT      the result of a function or a system call
 *	UREG_RESULT_2    arg2 of a return probe
 *	UREG_CALL        the number of a system call, before it is made
 *	UREG_THREAD      the address of thread-local storage
 *	UREG_LANE        the register by which a thread finds its lane
 *	                 (dlang/vm/store.h); programs do not use it, as a rule
 *	UREG_BODY        the register by which the code of a site hands the lane to
 *	                 the body of a clause (dlang/jit/jit.h)
 *	UREG_FP          the first floating-point or vector register, at least
 *	                 UREG_COUNT; these are fetched only when a program uses them
 *	UREG_ALL         one past the last of these
 *	ureg_is_general(n)  is it a general-purpose register, pc, stack pointer
 *	                 or flags?
 *	UREG_ARGS        number of arguments that a function gets in registers,
 *	ureg_arg(n)      and the register of argument n, from 0
 *	ureg_call_arg(n) the same for the six arguments of a system call
 *	UREG_D_COUNT     one past the last index of uregs[] (names: uregs.def)
 *	ureg_of_d(n)     the register of such an index; UREG_COUNT reads as 0
 */
#ifndef DLANG_UREGS_H
#define DLANG_UREGS_H

#include <stdint.h>

#include "dlang/machine/uregs.h"

#define UREG_FP_COUNT (UREG_ALL - UREG_FP)

/* From this index on, uregs[] means register number index - UREG_RAW. Only code
 * that the compiler generates uses such indices; programs cannot. */
#define UREG_RAW 0x100

struct uregs {
	uint64_t r[UREG_COUNT];
};

#endif
