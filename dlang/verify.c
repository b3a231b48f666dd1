/*
 * The verifier.  What it has admitted is run by dlang/vm/vm.c without another
 * look, on a store that the traced program may have scribbled on.  These rules
 * make that safe:
 *
 *  1. Every register number is below DIF_REGS, and %r0 is never a result: the
 *     machine indexes an array of eight and counts on r[0] being 0.
 *  2. Operand bytes that an opcode does not use are 0, so that they can mean
 *     something one day.
 *  3. Every opcode has a row and a meaning at run time (xlate and xlarg have
 *     none).
 *  4. A branch goes forward, to an instruction of the text; the last one is
 *     `ret'.  So a run ends after at most as many steps as there are
 *     instructions, and never leaves the text.
 *  5. setx and sets stay in their tables, and the string table ends in a NUL:
 *     a walk along a constant string ends in the image.
 *  6. A variable is a built-in with a meaning here, or one of the session with
 *     the scope and kind that the opcode needs: its place was laid out for it.
 *     Built-ins are never stored to.
 *  7. What the DIFO says about a variable is what the session says: a value by
 *     reference is copied with the size that its place was given.
 *  8. A variable by reference has a size; globals and clause-locals by
 *     reference stay below dif_static_max().
 *  9. A subroutine exists here (kernel ones do not).  How many arguments a
 *     call has, and how deep the tuple stack is, the machine checks itself:
 *     both depend on the path.
 * 10. pushtr pushes a "D type" or "string", pushtv a "D type".
 * 11. A result by value has 0, 1, 2, 4 or 8 bytes.
 *
 * Nothing is asked of addresses: they are checked when they are used.
 */
#include "dlang/verify.h"
#include "dlang/forms.h"

#include <errno.h>

#include "dlang/base/arena.h"
#include "dlang/needs.h"

/* DIFOs larger than this are refused: DTrace's limit too. */
static_assert(DIF_MAX_TEXT * sizeof(dif_instr) == 262144, "256 KiB");

struct verify {
	struct arena *arena;
	struct difo *d;
	const struct prog_globals *g;
	const char *why; /* NULL as long as nothing is wrong */
	uint32_t at;     /* instruction looked at */
};

/* The first reason stays. */
#define REFUSE(v, ...)      \
	((v)->why != NULL ? \
		(void)0 :   \
		(void)((v)->why = arena_printf((v)->arena, __VA_ARGS__)))

/* ---- tables by id ---- */

struct builtin {
	uint32_t id;
	enum dif_var_how how;
};

static const struct builtin builtins[] = {
#define DIF_VAR(id, NAME, name, type, needs, how) { id, how },
#include "dlang/dif_vars.def"
#undef DIF_VAR
};

static const struct {
	enum dif_subr_how how;
} subrs[] = {
#define DIF_SUBR(n, NAME, name, proto, needs, how) [n] = { how },
#include "dlang/dif_subrs.def"
#undef DIF_SUBR
};

static const struct builtin *
builtin_lookup(uint32_t id)
{
	for (size_t i = 0; i < ARRAY_SIZE(builtins); i++)
		if (builtins[i].id == id)
			return &builtins[i];
	return NULL;
}

static const struct prog_var *
var_lookup(const struct prog_globals *g, enum dif_scope scope, uint32_t id)
{
	for (size_t i = 0; i < g->vars.len; i++) {
		const struct prog_var *p = g->vars.at[i];
		if (p->id == id && p->scope == scope)
			return p;
	}
	return NULL;
}

/* ---- operands ---- */

static void
reg_read(struct verify *v, uint32_t reg)
{
	if (reg >= DIF_REGS)
		REFUSE(v, "invalid register %u", reg);
}

static void
reg_write(struct verify *v, uint32_t reg)
{
	reg_read(v, reg);
	if (reg == 0)
		REFUSE(v, "cannot write to %%r0");
}

static void
reserved(struct verify *v, uint32_t bits)
{
	if (bits != 0)
		REFUSE(v, "non-zero reserved bits");
}

static void
branch(struct verify *v, uint32_t label)
{
	if (label >= v->d->len)
		REFUSE(v, "invalid branch target %u", label);
	else if (label <= v->at)
		REFUSE(v, "backward branch to %u", label);
}

/* ---- variables ---- */

/* What an opcode that names a variable wants of it. */
struct var_use {
	uint8_t op;
	enum dif_scope scope;
	enum dif_kind kind;
};

static const struct var_use uses[] = {
	{ DIF_OP_LDGS, DIF_GLOBAL, DIF_SCALAR },
	{ DIF_OP_STGS, DIF_GLOBAL, DIF_SCALAR },
	{ DIF_OP_LDTS, DIF_THREAD, DIF_SCALAR },
	{ DIF_OP_STTS, DIF_THREAD, DIF_SCALAR },
	{ DIF_OP_LDLS, DIF_LOCAL, DIF_SCALAR },
	{ DIF_OP_STLS, DIF_LOCAL, DIF_SCALAR },
	{ DIF_OP_LDGAA, DIF_GLOBAL, DIF_ARRAY },
	{ DIF_OP_STGAA, DIF_GLOBAL, DIF_ARRAY },
	{ DIF_OP_LDTAA, DIF_THREAD, DIF_ARRAY },
	{ DIF_OP_STTAA, DIF_THREAD, DIF_ARRAY },
};

static void
user_var(struct verify *v, uint32_t op, uint32_t id)
{
	const struct var_use *u = uses;

	while (u->op != op)
		u++;
	const struct prog_var *p = var_lookup(v->g, u->scope, id);
	if (p == NULL || p->kind != u->kind)
		REFUSE(v, "invalid variable %u", id);
}

static void
var(struct verify *v, uint32_t op, uint32_t id)
{
	if (id >= DIF_VAR_USER) {
		user_var(v, op, id);
		return;
	}
	const struct builtin *b = builtin_lookup(id);
	if (op != DIF_OP_LDGS || id < 0x100 || b == NULL || b->how == V_NONE)
		REFUSE(v, "invalid variable %u", id);
}

static void
array_var(struct verify *v, uint32_t op, uint32_t id)
{
	const struct builtin *b = builtin_lookup(id);

	/* There are no arrays of the thread. */
	if (op != DIF_OP_LDGA || b == NULL || id > 0xff)
		REFUSE(v, "invalid array %u", id);
}

/* Rules 7 and 8. */
static void
declared_var(struct verify *v, const struct difo_var *dv)
{
	if (dv->id < DIF_VAR_USER)
		return;
	const struct prog_var *p = var_lookup(v->g, dv->scope, dv->id);
	if (p == NULL)
		REFUSE(v, "invalid variable %u", dv->id);
	else if (p->kind != dv->kind)
		REFUSE(v, "%u changed variable kind", dv->id);
	else if (p->type.flags != dv->type.flags)
		REFUSE(v, "%u changed variable type flags", dv->id);
	else if (p->type.size != dv->type.size)
		REFUSE(v, "%u changed variable type size", dv->id);
	else if (!(p->type.flags & DIF_BY_REF))
		return;
	else if (p->type.size == 0)
		REFUSE(v, "zero-sized variable");
	else if (p->type.size > dif_static_max(&p->type) &&
	    p->kind == DIF_SCALAR && p->scope != DIF_THREAD)
		REFUSE(v, "oversized by-ref static");
}

/* ---- instructions ---- */

static void
subr(struct verify *v, uint32_t id)
{
	if (id >= ARRAY_SIZE(subrs) || subrs[id].how == S_KERNEL) {
		REFUSE(v, "invalid subr %u", id);
		return;
	}
	if (subrs[id].how == S_DESTRUCTIVE)
		v->d->destructive = true;
}

static void
push_ref(struct verify *v, uint32_t type)
{
	if (type != DIF_TYPE_STRING && type != DIF_TYPE_CTF)
		REFUSE(v, "invalid ref type");
}

static void
instruction(struct verify *v, dif_instr i)
{
	uint32_t op = DIF_OP_OF(i), index = DIF_INDEX(i);
	uint32_t r1 = DIF_R1(i), r2 = DIF_R2(i), rd = DIF_RD(i);

	if (!dif_is_op(op)) {
		REFUSE(v, "invalid opcode %u", op);
		return;
	}
	switch (dif_form(op)) {
	case DIF_FORM_RRR:
		reg_read(v, r1), reg_read(v, r2), reg_write(v, rd);
		break;
	case DIF_FORM_RR:
		reg_read(v, r1), reg_write(v, rd), reserved(v, r2);
		break;
	case DIF_FORM_CMP:
		reg_read(v, r1), reg_read(v, r2), reserved(v, rd);
		break;
	case DIF_FORM_TST: reg_read(v, r1), reserved(v, r2 | rd); break;
	case DIF_FORM_BRANCH: branch(v, DIF_LABEL(i)); break;
	case DIF_FORM_LOAD:
		reg_read(v, r1), reg_write(v, rd), reserved(v, r2);
		break;
	case DIF_FORM_STORE:
		reg_read(v, r1), reg_read(v, rd), reserved(v, r2);
		if (rd == 0)
			REFUSE(v, "cannot write to 0 address");
		break;
	case DIF_FORM_RET: reg_read(v, rd), reserved(v, r1 | r2); break;
	case DIF_FORM_NONE: reserved(v, r1 | r2 | rd); break;
	case DIF_FORM_SETX:
		reg_write(v, rd);
		if (index >= v->d->nints)
			REFUSE(v, "invalid integer ref %u", index);
		break;
	case DIF_FORM_SETS:
		reg_write(v, rd);
		if (index >= v->d->strs_len)
			REFUSE(v, "invalid string ref %u", index);
		break;
	case DIF_FORM_LDARRAY:
		reg_read(v, r2), reg_write(v, rd), array_var(v, op, r1);
		break;
	case DIF_FORM_LDVAR: reg_write(v, rd), var(v, op, index); break;
	case DIF_FORM_STVAR: reg_read(v, rd), var(v, op, index); break;
	case DIF_FORM_CALL: reg_write(v, rd), subr(v, index); break;
	case DIF_FORM_PUSHREF:
		reg_read(v, r2), reg_read(v, rd), push_ref(v, r1);
		break;
	case DIF_FORM_PUSHVAL:
		reg_read(v, rd), reserved(v, r2);
		if (r1 != DIF_TYPE_CTF)
			REFUSE(v, "invalid val type");
		break;
	case DIF_FORM_COPY:
		reg_read(v, r1), reg_read(v, r2), reg_read(v, rd);
		if (rd == 0)
			REFUSE(v, "cannot write to 0 address");
		break;
	case DIF_FORM_XLATE: REFUSE(v, "invalid opcode %u", op); break;
	}
}

/* ---- the whole ---- */

static void
result_type(struct verify *v)
{
	const struct dif_type *t = &v->d->rtype;

	if (!(t->flags & DIF_BY_REF) &&
	    (t->size > 8 || (t->size & (t->size - 1)) != 0))
		REFUSE(v, "bad return size");
}

static void
shape(struct verify *v)
{
	const struct difo *d = v->d;

	if (d->len == 0 || d->len > DIF_MAX_TEXT)
		REFUSE(v, "invalid text length %u", d->len);
	else if (DIF_OP_OF(d->text[d->len - 1]) != DIF_OP_RET)
		REFUSE(v, "expected 'ret' as last DIF instruction");
	else if (d->strs_len > 0 && d->strs[d->strs_len - 1] != '\0')
		REFUSE(v, "string table does not end");
}

int
verify_difo(struct arena *a, struct difo *d, const struct prog_globals *g,
    const char **why, uint32_t *at)
{
	struct verify v = { .arena = a, .d = d, .g = g };

	d->verified = false;
	d->destructive = false;
	d->needs = 0;
	shape(&v);
	for (; v.why == NULL && v.at < d->len; v.at++) {
		instruction(&v, d->text[v.at]);
		if (v.why != NULL)
			break;
	}
	for (uint32_t i = 0; v.why == NULL && i < d->nvars; i++)
		declared_var(&v, &d->vars[i]);
	if (v.why == NULL)
		result_type(&v);
	if (v.why != NULL) {
		*why = v.why;
		*at = v.at < d->len ? v.at : d->len - (d->len > 0);
		return -EINVAL;
	}
	d->needs = needs_of_difo(d, g);
	d->verified = true;
	return 0;
}
