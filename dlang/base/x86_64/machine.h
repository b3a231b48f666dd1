/*
 * x86-64; dlang/base/machine.h says what is asked of this file.
 */
#ifndef DLANG_BASE_X86_64_MACHINE_H
#define DLANG_BASE_X86_64_MACHINE_H

#include <elf.h>
#include <linux/audit.h>
#include <stdint.h>

#define MACHINE_TRACES     1
#define MACHINE_NAME       "x86-64"
#define MACHINE_ELF        EM_X86_64
#define MACHINE_ELF_32     EM_386
#define MACHINE_AUDIT      AUDIT_ARCH_X86_64
#define MACHINE_CALL_OTHER 0x40000000 /* x32 */
#define MACHINE_CALL_BYTES 8
#define MACHINE_RED_ZONE   128
#define MACHINE_FEATURES   "x86_Thread_features"
#define MACHINE_TICKS      "tsc"

static inline uint64_t
machine_ticks(void)
{
	return __builtin_ia32_rdtsc();
}

#endif
