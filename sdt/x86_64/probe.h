/*
 * A probe on x86-64: a function of one nop, which has room for a jump, whose
 * argument is the address of an array.
 */
#ifndef SDT_X86_64_PROBE_H
#define SDT_X86_64_PROBE_H

#include <elf.h>
#include <stdint.h>

#define PROBE_ELF EM_X86_64

/* nop of five bytes; ret; the rest is never reached. */
#define PROBE_BYTES 16
#define PROBE_CODE                                                          \
	{                                                                   \
		0x0f, 0x1f, 0x44, 0, 0, 0xc3, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, \
		    0xcc, 0xcc, 0xcc, 0xcc, 0xcc                            \
	}
#define PROBE_SIZE 6 /* of the function in it */

/* Argument n, for printf(): its size, negative if it is signed; 8 * n. */
#define PROBE_OPERAND "%d@%u(%%rdi)"

/* The unwind entries of a leaf function: code and data alignment, the register
 * that holds the return address, "the CFA is %rsp + 8, the return address
 * is at the CFA - 8". */
#define PROBE_CODE_ALIGN 1
#define PROBE_DATA_ALIGN 0x78 /* -8 as sleb128 */
#define PROBE_RETURN     16
#define PROBE_CFA                              \
	{                                      \
		0x0c, 7, 8, 0x80 | 16, 1, 0, 0 \
	}

#endif
