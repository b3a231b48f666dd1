/*
 * The form of each DIF operation (dif_ops.def), and which registers its
 * instructions use.
 */
#ifndef DLANG_FORMS_H
#define DLANG_FORMS_H

#include <stdbool.h>

#include "dlang/dif.h"

/* Is there an operation of this number? */
bool dif_is_op(uint32_t op);

/* The form of an operation that there is. */
enum dif_form dif_form(uint32_t op);

#define DIF_READS_R1  1U
#define DIF_READS_R2  2U
#define DIF_READS_RD  4U
#define DIF_WRITES_RD 8U

/* What an instruction does with the registers that it names: DIF_READS_*,
 * DIF_WRITES_RD. */
unsigned dif_uses(dif_instr i);

#endif
