/*
 * A machine that has not been written: no program can be traced on it.
 */
#ifndef DLANG_BASE_NONE_MACHINE_H
#define DLANG_BASE_NONE_MACHINE_H

#include <elf.h>
#include <stdint.h>

#define MACHINE_TRACES     0
#define MACHINE_NAME       "none"
#define MACHINE_ELF        EM_NONE
#define MACHINE_ELF_32     EM_NONE
#define MACHINE_AUDIT      0
#define MACHINE_CALL_OTHER 0
#define MACHINE_CALL_BYTES 8
#define MACHINE_RED_ZONE   0
#define MACHINE_FEATURES   ""
#define MACHINE_TICKS      ""

static inline uint64_t
machine_ticks(void)
{
	return 0;
}

#endif
