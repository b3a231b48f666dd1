/*
 * What the files know of the code of a site (stub.c): what is on the stack, and where
 * its first and its last instructions end.
 */
#ifndef INJECT_X86_64_STUB_IMPL_H
#define INJECT_X86_64_STUB_IMPL_H

#include "inject/stub.h"

#define RED_ZONE 128U

/* Offsets behind the first instructions. */
#define IN_LEA   5U
#define IN_RAX   6U
#define IN_FLAGS 11U
#define IN_RCX   12U

/* Offsets of the three pushed words from rsp, and of the program's stack. */
#define ON_RCX   0
#define ON_FLAGS 8
#define ON_RAX   16
#define ON_SP    (24 + RED_ZONE)

/* The flags that are restored: those of lahf, and of. */
#define FLAGS_LOW  UINT64_C(0xd5)
#define FLAG_OF    UINT64_C(0x800)
#define FLAGS_KEPT (FLAGS_LOW | FLAG_OF)

/* Offsets behind instructions of the way out. */
#define OUT_RCX   1U
#define OUT_FLAGS 2U
#define OUT_OF    4U
#define OUT_SAHF  5U
#define OUT_RAX   6U
#define OUT_RSP   14U

/* The second piece begins with a jump (jb), and then restores the registers. */
#define AGAIN_JB 6U

#endif
