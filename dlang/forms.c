/*
 * See forms.h.
 */
#include "dlang/forms.h"

#include "dlang/base/base.h"

static const uint8_t forms[] = {
#define DIF_OP(n, NAME, text, form) [n] = DIF_FORM_##form,
#include "dlang/dif_ops.def"
#undef DIF_OP
};

static const uint8_t uses[] = {
	[DIF_FORM_RRR] = DIF_READS_R1 | DIF_READS_R2 | DIF_WRITES_RD,
	[DIF_FORM_RR] = DIF_READS_R1 | DIF_WRITES_RD,
	[DIF_FORM_CMP] = DIF_READS_R1 | DIF_READS_R2,
	[DIF_FORM_TST] = DIF_READS_R1,
	[DIF_FORM_BRANCH] = 0,
	[DIF_FORM_LOAD] = DIF_READS_R1 | DIF_WRITES_RD,
	[DIF_FORM_STORE] = DIF_READS_R1 | DIF_READS_RD,
	[DIF_FORM_RET] = DIF_READS_RD,
	[DIF_FORM_NONE] = 0,
	[DIF_FORM_SETX] = DIF_WRITES_RD,
	[DIF_FORM_SETS] = DIF_WRITES_RD,
	[DIF_FORM_LDARRAY] = DIF_READS_R2 | DIF_WRITES_RD,
	[DIF_FORM_LDVAR] = DIF_WRITES_RD,
	[DIF_FORM_STVAR] = DIF_READS_RD,
	[DIF_FORM_CALL] = DIF_WRITES_RD,
	[DIF_FORM_PUSHREF] = DIF_READS_R2 | DIF_READS_RD,
	[DIF_FORM_PUSHVAL] = DIF_READS_RD,
	[DIF_FORM_COPY] = DIF_READS_R1 | DIF_READS_R2 | DIF_READS_RD,
	[DIF_FORM_XLATE] = 0,
};

bool
dif_is_op(uint32_t op)
{
	return op != 0 && op < ARRAY_SIZE(forms);
}

enum dif_form
dif_form(uint32_t op)
{
	return (enum dif_form)forms[op];
}

unsigned
dif_uses(dif_instr i)
{
	return uses[forms[DIF_OP_OF(i)]];
}
