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

/*
 * Numbers are computed as C has it (C11 6.3.1.1, 6.3.1.8).  Is this one taken as
 * an int?  What is narrower than int is, and an enumeration, and a bit-field
 * that int holds.
 */
bool oper_is_promoted(const struct node *n);
/* After that: is the first's type the one that both operands are taken in?  The
 * wider one is; of two equally wide the unsigned one. */
bool oper_first_wins(const struct node *a, const struct node *b);
/* Are the operands of a checked node taken as signed? */
bool oper_is_signed(const struct node *n);
/* The instruction, or the branch that a comparison takes when it holds. */
enum dif_op oper_instruction(unsigned op, bool is_signed);

/*
 * A signed operand beside an unsigned one that is as wide or wider is taken as
 * unsigned, in that one's size.  The bytes of that size, or 0 for an operand that
 * stays as it is.
 */
unsigned oper_taken_in(const struct node *operand, const struct node *other);
/* Comparisons and divisions need that done before; for others the lower bits of
 * the result do not depend on it. */
bool oper_aligns(unsigned op);
/* May a register then hold more than the type of this checked node, of one
 * operand or two?  So with 32 unsigned bits; what does not fit 32 signed ones C
 * leaves open. */
bool oper_may_outgrow(const struct node *n);

/* The value as a register that holds such a type would have it. */
uint64_t oper_extend(uint64_t v, unsigned size, bool is_signed);
/* What a checked node gives for two integers.  Not for a division by 0. */
uint64_t oper_value(const struct node *n, uint64_t x, uint64_t y);

#endif
