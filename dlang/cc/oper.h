/*
 * What operators of two operands mean: the rows of opers.def.
 */
#ifndef DLANG_CC_OPER_H
#define DLANG_CC_OPER_H

#include "dlang/cc/ast.h"
#include "dlang/types.h"

enum oper_takes {
	OPER_SUM,
	OPER_ARITH,
	OPER_INT,
	OPER_SHIFT,
	OPER_COMPARE,
	OPER_LOGIC
};

enum oper_takes oper_takes(unsigned op);

/* Is the first the type that both operands are taken in?  The wider one is; of
 * two equally wide the unsigned one.  There is no promotion to int. */
bool oper_first_wins(const struct type *a, const struct type *b);
/* Are the operands of a checked node taken as signed? */
bool oper_is_signed(const struct node *n);
/* The instruction, or the branch that a comparison takes when it holds. */
enum dif_op oper_instruction(unsigned op, bool is_signed);

/*
 * A signed operand beside an unsigned one that is as wide or wider is taken as
 * unsigned, in that one's size, by comparisons and divisions, as C has it.  The
 * bytes of that size, or 0 for an operand that stays as it is.
 */
unsigned oper_taken_in(const struct node *operand, const struct node *other);

/* The value as a register that holds such a type would have it. */
uint64_t oper_extend(uint64_t v, unsigned size, bool is_signed);
/* What a checked node gives for two integers.  Not for a division by 0. */
uint64_t oper_value(const struct node *n, uint64_t x, uint64_t y);

#endif
