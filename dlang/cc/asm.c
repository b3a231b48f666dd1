/*
 * Labels, tables, registers; see asm.h.
 *
 * A branch has the number of its label until asm_finish() replaces it by the
 * index of the instruction.  Every label is placed after the branches to it,
 * because DIF has only forward branches.
 */
#include "dlang/cc/asm.h"

#include <string.h>

#define TABLE_MAX 0xffff /* largest index or offset of 16 bits */

void
asm_init(struct as *as, unsigned nregs)
{
	*as = (struct as){ 0 };
	arena_init(&as->scratch);
	as->nregs = nregs < 2 || nregs > DIF_REGS ? DIF_REGS : nregs;
	str_addc(&as->strs, '\0');
	as->used[0] = true; /* %r0 is always 0 */
}

void
asm_fini(struct as *as)
{
	vec_fini(&as->text);
	vec_fini(&as->places);
	vec_fini(&as->labels);
	vec_fini(&as->ints);
	vec_fini(&as->vars);
	hash_fini(&as->int_index);
	hash_fini(&as->str_index);
	str_fini(&as->strs);
	arena_fini(&as->scratch);
}

static void
fail(struct as *as, enum asm_status why)
{
	if (as->status == ASM_OK)
		as->status = why;
}

unsigned
asm_reg(struct as *as)
{
	for (unsigned r = 1; r < ASM_REGS; r++) {
		if (!as->used[r]) {
			as->used[r] = true;
			as->high = MAX(as->high, r);
			return r;
		}
	}
	fail(as, ASM_NOREG);
	return 0;
}

void
asm_reg_free(struct as *as, unsigned r)
{
	if (r != 0)
		as->used[r] = false;
}

void
asm_reg_take(struct as *as, unsigned r)
{
	as->used[r] = true;
}

uint32_t
asm_label(struct as *as)
{
	*vec_push(&as->labels) = ASM_UNPLACED;
	return (uint32_t)as->labels.len - 1;
}

void
asm_place(struct as *as, uint32_t label)
{
	as->labels.at[label] = (uint32_t)as->text.len;
}

void
asm_emit(struct as *as, dif_instr i)
{
	if (as->text.len >= DIF_MAX_TEXT) {
		fail(as, ASM_TOO_LONG);
		return;
	}
	*vec_push(&as->text) = i;
	*vec_push(&as->places) = as->here;
}

void
asm_rrr(struct as *as, enum dif_op op, unsigned r1, unsigned r2, unsigned rd)
{
	asm_emit(as, DIF_INSTR(op, r1, r2, rd));
}

void
asm_branch(struct as *as, enum dif_op op, uint32_t label)
{
	asm_emit(as, DIF_INSTR_BRANCH(op, label));
}

void
asm_setx(struct as *as, uint64_t value, unsigned rd)
{
	uintptr_t known = (uintptr_t)hash_get(&as->int_index, value);

	if (known == 0) {
		*vec_push(&as->ints) = value;
		known = as->ints.len;
		hash_set(&as->int_index, value, (void *)known);
	}
	if (known - 1 > TABLE_MAX) {
		fail(as, ASM_TOO_LONG);
		return;
	}
	asm_emit(as, DIF_INSTR_INDEX(DIF_OP_SETX, known - 1, rd));
}

void
asm_sets(struct as *as, const char *text, unsigned rd)
{
	uintptr_t off = 0;

	if (text[0] != '\0') {
		off = (uintptr_t)hash_get_str(&as->str_index, text);
		if (off == 0) {
			off = as->strs.len;
			str_addn(&as->strs, text, strlen(text) + 1);
			hash_set_str(&as->str_index,
			    arena_strdup(&as->scratch, text), (void *)off);
		}
	}
	if (off > TABLE_MAX) {
		fail(as, ASM_TOO_LONG);
		return;
	}
	asm_emit(as, DIF_INSTR_INDEX(DIF_OP_SETS, off, rd));
}

void
asm_note_var(struct as *as, const struct difo_var *v, bool write)
{
	struct difo_var *known = NULL;

	for (size_t i = 0; i < as->vars.len; i++)
		if (as->vars.at[i].id == v->id &&
		    as->vars.at[i].scope == v->scope)
			known = &as->vars.at[i];
	if (known == NULL) {
		known = vec_push(&as->vars);
		*known = *v;
		known->read = known->written = false;
	}
	known->read |= !write;
	known->written |= write;
}

void
asm_var(struct as *as, enum dif_op op, const struct difo_var *v, unsigned r2,
    unsigned rd, bool write)
{
	asm_note_var(as, v, write);
	if (op == DIF_OP_LDGA)
		asm_emit(as, DIF_INSTR(op, v->id, r2, rd));
	else
		asm_emit(as, DIF_INSTR_INDEX(op, v->id, rd));
}

void
asm_call(struct as *as, enum dif_subr subr, unsigned rd)
{
	asm_emit(as, DIF_INSTR_INDEX(DIF_OP_CALL, subr, rd));
}
