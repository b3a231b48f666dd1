/*
 * A machine that has not been written: the least that compiles.  Nothing of it is
 * ever fetched.
 */
#ifndef DLANG_NONE_UREGS_H
#define DLANG_NONE_UREGS_H

#include <stdint.h>

enum ureg {
	UREG_PC,
	UREG_SP,
	UREG_FRAME,
	UREG_RESULT,
	UREG_RESULT_2,
	UREG_CALL,
	UREG_THREAD,
	UREG_LANE,
	UREG_COUNT,
	UREG_BODY = UREG_RESULT_2,
};

#define UREG_FP      8
#define UREG_ALL     10
#define UREG_D_COUNT 2
#define UREG_ARGS    1

static inline unsigned
ureg_of_d(uint64_t n)
{
	return n == 0 ? UREG_PC : UREG_SP;
}

static inline int
ureg_is_general(unsigned n)
{
	return 1;
}

static inline unsigned
ureg_arg(unsigned n)
{
	return UREG_RESULT;
}

static inline unsigned
ureg_call_arg(unsigned n)
{
	return UREG_RESULT;
}

#endif
