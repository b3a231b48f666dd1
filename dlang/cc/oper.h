/*
 * The meaning of operators with two operands, by the rows of opers.def.
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
 * Arithmetic follows C (C11 6.3.1.1, 6.3.1.8).  Is this operand promoted to
 * int?  Types narrower than int are, and enumerations, and bit-fields that fit
 * int.
 */
bool oper_is_promoted(const struct node *n);
/* After promotion: are both operands converted to the type of the first?  The
 * wider type is used; of two equally wide ones, the unsigned one. */
bool oper_first_wins(const struct node *a, const struct node *b);
/* Are the operands of a checked node signed after conversion? */
bool oper_is_signed(const struct node *n);
/* The instruction of an operator; for a comparison the branch that is taken if
 * it is true. */
enum dif_op oper_instruction(unsigned op, bool is_signed);

/*
 * A signed operand next to an unsigned one that is as wide or wider is
 * converted to that unsigned type. Returns its size in bytes, or 0 if the
 * operand needs no conversion (a constant that is not negative needs none
 * either).
 */
unsigned oper_taken_in(const struct node *operand, const struct node *other);
/* Does the operator need that conversion before it?  Comparisons and divisions
 * do; for others the lower bits of the result do not depend on it. */
bool oper_aligns(unsigned op);
/* Can the register hold more bits than the type of this checked node has?  It
 * can for unsigned 32-bit types; signed overflow is undefined in C. */
bool oper_may_outgrow(const struct node *n);

/* v extended from `size' bytes to 64 bits. */
uint64_t oper_extend(uint64_t v, unsigned size, bool is_signed);
/* The value of a checked node for the operands x and y.  Not for a division by
 * 0. */
uint64_t oper_value(const struct node *n, uint64_t x, uint64_t y);

#endif
