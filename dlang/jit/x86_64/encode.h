/*
 * Encodes single instructions of x86-64, for write.c: those forms that it uses.
 */
#ifndef DLANG_JIT_X86_64_ENCODE_H
#define DLANG_JIT_X86_64_ENCODE_H

#include "dlang/base/x86_64/emit.h"

/* The numbers of the conditions. */
enum {
	CC_B = 2,
	CC_AE,
	CC_E,
	CC_NE,
	CC_BE,
	CC_A,
	CC_S,
	CC_L = 12,
	CC_GE,
	CC_LE,
	CC_G
};

/* An opcode of two bytes, 0f and another. */
#define OP_0F(b)     (0x0f00U | (b))

#define OP_MOV_STORE 0x89U /* rm = reg */
#define OP_MOV_LOAD  0x8bU /* reg = rm */
#define OP_CMP       0x39U /* rm with reg */
#define OP_CMP_LOAD  0x3bU /* reg with rm */
#define OP_TEST      0x85U
#define OP_LEA       0x8dU

/* reg and rm are registers; of 64 bits with `wide', otherwise of 32. */
void enc_rr(struct emit *e, bool wide, unsigned op, unsigned reg, unsigned rm);
/* rm is memory at [base + disp]. */
void enc_rm(struct emit *e, bool wide, unsigned op, unsigned reg, unsigned base,
    int32_t disp);
/* The same with an immediate of 8 or 32 bits; `more' is the part of the opcode
 * that is in place of reg. */
void enc_ri8(
    struct emit *e, bool wide, unsigned op, unsigned more, unsigned rm, int v);
void enc_mi8(struct emit *e, bool wide, unsigned op, unsigned more,
    unsigned base, int32_t disp, int v);
void enc_mi32(struct emit *e, bool wide, unsigned op, unsigned more,
    unsigned base, int32_t disp, int32_t v);
/* A 64-bit register becomes v.  The flags are changed if v is 0. */
void enc_set(struct emit *e, unsigned reg, uint64_t v);
/* rsp += n, by lea: the flags stay. */
void enc_move_stack(struct emit *e, int32_t n);

#endif
