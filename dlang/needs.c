/*
 * Needs; see needs.h.  Branches go forward only, so one pass over the text
 * sees each instruction after all that lead to it.
 */
#include "dlang/needs.h"
#include "dlang/forms.h"

#include <string.h>

#include "dlang/base/mem.h"
#include "dlang/base/str.h"

/* ---- tables by id ---- */

static const struct {
	uint32_t id, needs;
	enum dif_var_how how;
	const char *type;
} builtins[] = {
#define DIF_VAR(id, NAME, name, type, needs, how) { id, needs, how, type },
#include "dlang/dif_vars.def"
#undef DIF_VAR
};

static const struct {
	uint32_t needs;
	const char *proto;
} subrs[] = {
#define DIF_SUBR(n, NAME, name, proto, needs, how) [n] = { needs, proto },
#include "dlang/dif_subrs.def"
#undef DIF_SUBR
};

/* ---- the pass ---- */

#define BIT(reg) ((uint8_t)(1U << (reg)))

struct pass {
	const struct difo *d;
	const struct prog_globals *g;
	uint32_t needs;
	/* Registers that hold 0 or an address of the VM's memory: here, and
	 * after each branch to an instruction, by its index. */
	uint8_t ours, *joined;
};

/* Memory at the address in a register is read. */
static void
reads(struct pass *p, uint32_t reg)
{
	if (!(p->ours & BIT(reg)))
		p->needs |= NEED_MEM;
}

static void
sets(struct pass *p, uint32_t reg, bool ours)
{
	p->ours &= (uint8_t)~BIT(reg);
	if (ours || reg == 0)
		p->ours |= BIT(reg);
}

static const struct prog_var *
variable(const struct pass *p, enum dif_scope scope, uint32_t id)
{
	vec_foreach(v, &p->g->vars)
		if ((*v)->id == id && (*v)->scope == scope)
			return *v;
	return NULL;
}

static enum dif_scope
scope_of(uint32_t op)
{
	switch (op) {
	case DIF_OP_LDTS:
	case DIF_OP_STTS:
	case DIF_OP_LDTAA:
	case DIF_OP_STTAA: return DIF_THREAD;
	case DIF_OP_LDLS:
	case DIF_OP_STLS: return DIF_LOCAL;
	default: return DIF_GLOBAL;
	}
}

static uint32_t
needs_of_scope(uint32_t op)
{
	switch (scope_of(op)) {
	case DIF_THREAD: return NEED_SELF;
	case DIF_LOCAL: return 0;
	case DIF_GLOBAL: break;
	}
	return op == DIF_OP_LDGAA || op == DIF_OP_STGAA ? NEED_ARRAY :
							  NEED_GLOBAL;
}

static void
user_variable(struct pass *p, uint32_t op, uint32_t id, uint32_t rd, bool store)
{
	const struct prog_var *v = variable(p, scope_of(op), id);
	bool by_ref = v != NULL && (v->type.flags & DIF_BY_REF) != 0;

	p->needs |= needs_of_scope(op);
	if (!store)
		sets(p, rd, by_ref);
	else if (by_ref)
		reads(p, rd);
}

static void
built_in(struct pass *p, uint32_t id, uint32_t rd)
{
	for (size_t i = 0; i < ARRAY_SIZE(builtins); i++) {
		if (builtins[i].id != id)
			continue;
		p->needs |= builtins[i].needs;
		sets(p, rd, strcmp(builtins[i].type, "string") == 0);
	}
}

/* A string, or memory of scratch. */
static bool
gives_ours(uint32_t subr)
{
	const char *proto = subrs[subr].proto;

	return strncmp(proto, "string(", 7) == 0 ||
	    strncmp(proto, "void *(", 7) == 0;
}

/* An address of ours with something added is one still, or of nothing. */
static bool
arithmetic(const struct pass *p, uint32_t op, uint32_t r1, uint32_t r2)
{
	switch (op) {
	case DIF_OP_MOV: return (p->ours & BIT(r1)) != 0;
	case DIF_OP_ADD:
		return r1 != 0 && r2 != 0 && (p->ours & (BIT(r1) | BIT(r2)));
	case DIF_OP_SUB: return r1 != 0 && (p->ours & BIT(r1));
	default: return false;
	}
}

static void
branch(struct pass *p, uint32_t op, uint32_t label)
{
	p->joined[label] &= p->ours;
	if (op == DIF_OP_BA)
		p->ours = 0xff; /* control does not fall through to the next */
}

static void
instruction(struct pass *p, dif_instr i)
{
	uint32_t op = DIF_OP_OF(i), index = DIF_INDEX(i);
	uint32_t r1 = DIF_R1(i), r2 = DIF_R2(i), rd = DIF_RD(i);

	switch (dif_form(op)) {
	case DIF_FORM_RRR: sets(p, rd, arithmetic(p, op, r1, r2)); break;
	case DIF_FORM_RR:
		sets(p, rd, op == DIF_OP_ALLOCS || arithmetic(p, op, r1, 0));
		break;
	case DIF_FORM_CMP:
		if (op == DIF_OP_SCMP) {
			p->needs |= NEED_TEXT;
			reads(p, r1), reads(p, r2);
		}
		break;
	case DIF_FORM_BRANCH: branch(p, op, DIF_LABEL(i)); break;
	case DIF_FORM_LOAD: reads(p, r1), sets(p, rd, false); break;
	case DIF_FORM_SETX: sets(p, rd, p->d->ints[index] == 0); break;
	case DIF_FORM_SETS: sets(p, rd, true); break;
	case DIF_FORM_LDARRAY: built_in(p, r1, rd), sets(p, rd, false); break;
	case DIF_FORM_LDVAR:
		if (index < DIF_VAR_USER)
			built_in(p, index, rd);
		else
			user_variable(p, op, index, rd, false);
		break;
	case DIF_FORM_STVAR: user_variable(p, op, index, rd, true); break;
	case DIF_FORM_CALL:
		p->needs |= subrs[index].needs;
		sets(p, rd, gives_ours(index));
		break;
	case DIF_FORM_PUSHREF:
		if (r1 == DIF_TYPE_STRING)
			p->needs |= NEED_TEXT;
		reads(p, rd);
		break;
	case DIF_FORM_COPY: reads(p, r1); break;
	case DIF_FORM_RET:
		if (p->d->rtype.flags & DIF_BY_REF)
			reads(p, rd);
		p->ours = 0xff;
		break;
	case DIF_FORM_TST:
	case DIF_FORM_STORE:
	case DIF_FORM_NONE:
	case DIF_FORM_PUSHVAL:
	case DIF_FORM_XLATE: break;
	}
}

uint32_t
needs_of_difo(const struct difo *d, const struct prog_globals *g)
{
	struct pass p = { .d = d, .g = g, .ours = BIT(0) };

	p.joined = mem_alloc(d->len);
	memset(p.joined, 0xff, d->len);
	for (uint32_t i = 0; i < d->len; i++) {
		p.ours &= p.joined[i];
		instruction(&p, d->text[i]);
	}
	mem_free(p.joined);
	return p.needs;
}

static uint32_t
needs_of_act(const struct prog_act *a)
{
	uint32_t needs = 0;

	if (a->difo != NULL)
		needs |= a->difo->needs;
	if (a->difo2 != NULL)
		needs |= a->difo2->needs;
	if (a->flags & ACT_F_STRING)
		needs |= NEED_TEXT;
	/* What its value points to, of a type that does not say so. */
	if (a->flags & (ACT_F_STRING | ACT_F_BYREF | ACT_F_OBJECT) &&
	    a->difo != NULL && !(a->difo->rtype.flags & DIF_BY_REF))
		needs |= NEED_MEM;
	switch (a->op) {
	case OP_STACK: return needs | NEED_STACK;
	case OP_JSTACK: return needs | NEED_STACK | NEED_LANG;
	case OP_STOP:
	case OP_RAISE:
	case OP_CHILL: return needs | NEED_CONTROL;
	case OP_EXIT: return needs | NEED_EXIT;
	case OP_SPECULATE:
	case OP_COMMIT:
	case OP_DISCARD: return needs | NEED_SPEC;
	case OP_EXPR:
	case OP_SYM:
	case OP_AGG:
	case OP_MARK: break;
	}
	return needs;
}

uint32_t
needs_of_acts(const struct prog_clause *c)
{
	uint32_t needs = 0;

	for (size_t i = 0; i < c->nacts; i++)
		needs |= needs_of_act(&c->acts[i]);
	return needs;
}

void
needs_text(uint32_t needs, struct str *to)
{
	static const struct {
		const char *words;
		enum dif_need_who who;
	} rows[] = {
#define DIF_NEED(bit, NAME, words, who) [bit] = { words, who },
#include "dlang/dif_needs.def"
#undef DIF_NEED
	};
	bool any = false;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!(needs & 1U << i) || rows[i].who != N_TRACER)
			continue;
		str_printf(to, "%s%s", any ? ", " : "", rows[i].words);
		any = true;
	}
}
