/*
 * Expressions to instructions, in tree order (dif.md, how D constructs
 * compile).
 *
 * What a register holds: an integer extended from the size of its type where
 * the node says NF_CANON; an address for by-reference types.  Arithmetic is
 * done in 64 bits and cut only by cg_convert().
 */
#include <string.h>

#include "dlang/cc/cg.h"
#include "dlang/cc/oper.h"

#define KEYS_MAX (DIF_TUPLE + 1)

static enum type_kind
kind_of(const struct type *t)
{
	return type_resolve((struct type *)(uintptr_t)t)->kind;
}

static bool
is_addressy(const struct node *n)
{
	enum type_kind k = kind_of(n->type);

	return k == TYPE_POINTER || k == TYPE_ARRAY;
}

/* ---- conversion ---- */

static void
extend(struct cg *g, unsigned r, uint32_t size, bool is_signed)
{
	unsigned n = asm_reg(&g->as);

	asm_setx(&g->as, 64 - size * 8, n);
	asm_rrr(&g->as, DIF_OP_SLL, r, n, r);
	asm_rrr(&g->as, is_signed ? DIF_OP_SRA : DIF_OP_SRL, r, n, r);
	asm_reg_free(&g->as, n);
}

static bool
is_int_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4;
}

void
cg_convert(
    struct cg *g, unsigned r, const struct node *n, const struct type *to)
{
	struct dif_type f = type_dif(n->type), t = type_dif(to);
	bool canon = (n->flags & NF_CANON) != 0;

	if (!type_is_scalar(n->type) || !type_is_scalar(to))
		return;
	if (is_int_size(t.size) &&
	    (t.size < f.size ||
		(t.size == f.size && (!canon || t.is_signed != f.is_signed)) ||
		(t.size > f.size && f.is_signed && !t.is_signed)))
		extend(g, r, t.size, t.is_signed);
	else if (t.size > f.size && !canon && is_int_size(f.size))
		extend(g, r, f.size, f.is_signed);
}

/* ---- variables ---- */

static struct difo_var
describe(const struct ident *id, const struct type *type)
{
	return (struct difo_var){ .name = id->name,
		.id = id->id,
		.kind = id->kind == ID_ASSOC || id->kind == ID_ARRAY ?
		    DIF_ARRAY :
		    DIF_SCALAR,
		.scope = (uint8_t)id->scope,
		.type = type_dif(type) };
}

static const enum dif_op load_scalar[] = { DIF_OP_LDGS, DIF_OP_LDTS,
	DIF_OP_LDLS };
static const enum dif_op store_scalar[] = { DIF_OP_STGS, DIF_OP_STTS,
	DIF_OP_STLS };

static void
load_var(
    struct cg *g, const struct ident *id, const struct type *type, unsigned r)
{
	struct difo_var v = describe(id, type);

	asm_var(&g->as, load_scalar[id->scope], &v, 0, r, false);
}

static void
store_var(struct cg *g, const struct ident *id, unsigned r)
{
	struct difo_var v = describe(id, id->type);

	asm_var(&g->as, store_scalar[id->scope], &v, 0, r, true);
}

/* ---- keys and arguments ---- */

struct keys {
	struct node *list;
	struct type *const *types; /* what the tuple wants; NULL: as they are */
	unsigned reg[KEYS_MAX];
	size_t n;
	bool late; /* too many for the registers: evaluate when pushed */
};

static int
uses_tuple(struct node *n, void *ctx)
{
	return n->kind == N_CALL || n->kind == N_ASSIGN ||
	    n->kind == N_POSTFIX ||
	    (n->kind == N_UNARY && (n->op == O_INC || n->op == O_DEC)) ||
	    (n->kind == N_INDEX && n->ident != NULL &&
		n->ident->kind == ID_ASSOC);
}

static bool
is_simple(struct node *n)
{
	return node_walk(n, uses_tuple, NULL) == 0;
}

int
cg_too_many_keys(struct comp *c, const struct node *n)
{
	struct span at = n->span;

	/* No part of the clause is wrong. */
	c->diags->context = NULL;
	at.whole = true;
	return diag_error(c->diags, D_UNKNOWN, &at,
	    "Insufficient tuple registers to generate code");
}

static int
too_many_keys(struct cg *g, const struct node *n)
{
	if (g->error == 0)
		g->error = cg_too_many_keys(g->c, n);
	return g->error;
}

/* Evaluate all members before the tuple stack is touched: their own calls use
 * it, too.  With many members those that do not are left for push_keys(). */
static void
eval_keys(struct cg *g, const struct node *at, struct keys *k)
{
	size_t n = 0;

	for (struct node *a = k->list; a != NULL; a = a->next)
		n++;
	if (n > DIF_TUPLE ||
	    (int64_t)n > option_get(g->c->cc->opts, OPT_TREGS)) {
		too_many_keys(g, at);
		k->list = NULL;
		return;
	}
	k->n = n;
	k->late = n > 4;
	size_t i = 0;
	for (struct node *a = k->list; a != NULL; a = a->next, i++) {
		struct type *want = k->types != NULL ? k->types[i] : NULL;
		if (k->late && is_simple(a))
			continue;
		k->reg[i] = cg_expr(g, a);
		if (want != NULL)
			cg_convert(g, k->reg[i], a, want);
	}
}

static void
push_key(struct cg *g, unsigned r, const struct type *t)
{
	struct dif_type d = type_dif(t);

	if ((d.flags & DIF_BY_REF) == 0) {
		asm_rrr(&g->as, DIF_OP_PUSHTV, d.kind, 0, r);
		return;
	}
	unsigned size = asm_reg(&g->as);
	asm_setx(&g->as, d.size, size);
	asm_rrr(&g->as, DIF_OP_PUSHTR, d.kind, size, r);
	asm_reg_free(&g->as, size);
}

static void
push_keys(struct cg *g, struct keys *k)
{
	size_t i = 0;

	asm_rrr(&g->as, DIF_OP_FLUSHTS, 0, 0, 0);
	for (struct node *a = k->list; a != NULL; a = a->next, i++) {
		struct type *want = k->types != NULL ? k->types[i] : a->type;
		bool here = k->late && k->reg[i] == 0;
		unsigned r = k->reg[i];
		if (here) {
			r = cg_expr(g, a);
			cg_convert(g, r, a, want);
		}
		push_key(g, r, want);
		if (here)
			asm_reg_free(&g->as, r);
	}
}

static void
free_keys(struct cg *g, struct keys *k)
{
	for (size_t i = 0; i < k->n; i++)
		asm_reg_free(&g->as, k->reg[i]);
}

static void
access_assoc(struct cg *g, const struct ident *id, unsigned r, bool store)
{
	struct difo_var v = describe(id, id->type);
	enum dif_op op = id->scope == DIF_THREAD ?
	    (store ? DIF_OP_STTAA : DIF_OP_LDTAA) :
	    (store ? DIF_OP_STGAA : DIF_OP_LDGAA);

	asm_var(&g->as, op, &v, 0, r, store);
}

/* ---- memory ---- */

/* Replace the address in r by what it points to, if that is a value. */
static void
load(struct cg *g, unsigned r, const struct type *t, bool userland)
{
	struct dif_type d = type_dif(t);
	static const enum dif_op ops[2][2][4] = {
		{ { DIF_OP_LDUB, DIF_OP_LDUH, DIF_OP_LDUW, DIF_OP_LDX },
		    { DIF_OP_LDSB, DIF_OP_LDSH, DIF_OP_LDSW, DIF_OP_LDX } },
		{ { DIF_OP_ULDUB, DIF_OP_ULDUH, DIF_OP_ULDUW, DIF_OP_ULDX },
		    { DIF_OP_ULDSB, DIF_OP_ULDSH, DIF_OP_ULDSW, DIF_OP_ULDX } },
	};
	unsigned log2 = d.size == 1 ? 0 : d.size == 2 ? 1 : d.size == 4 ? 2 : 3;

	if ((d.flags & DIF_BY_REF) != 0 || kind_of(t) == TYPE_FUNC)
		return;
	asm_rrr(&g->as, ops[userland][d.is_signed][log2], r, 0, r);
}

static void
store_memory(struct cg *g, unsigned value, unsigned addr, const struct type *t)
{
	struct dif_type d = type_dif(t);
	static const enum dif_op ops[] = { DIF_OP_STB, DIF_OP_STH, DIF_OP_STW,
		DIF_OP_STX };
	unsigned log2 = d.size == 1 ? 0 : d.size == 2 ? 1 : d.size == 4 ? 2 : 3;

	if ((d.flags & DIF_BY_REF) == 0) {
		asm_rrr(&g->as, ops[log2], value, 0, addr);
		return;
	}
	unsigned size = asm_reg(&g->as);
	asm_setx(&g->as, d.size, size);
	asm_rrr(&g->as, DIF_OP_COPYS, value, size, addr);
	asm_reg_free(&g->as, size);
}

static void
op_const(struct cg *g, enum dif_op op, unsigned r, uint64_t value)
{
	unsigned n = asm_reg(&g->as);

	asm_setx(&g->as, value, n);
	asm_rrr(&g->as, op, r, n, r);
	asm_reg_free(&g->as, n);
}

static bool
is_userland(const struct node *n)
{
	const struct type *t = n != NULL ? type_resolve(n->type) : NULL;

	return t != NULL && t->kind == TYPE_POINTER && t->userland;
}

static uint64_t
element_size(const struct node *n)
{
	const struct type *t = type_resolve(n->type);

	if (t->kind == TYPE_STRING)
		return 1;
	return MAX(type_resolve(t->base)->size, (uint64_t)1);
}

/* Is this an array of the program, which is as large as it says?  C's own may
 * be the first part of a larger one. */
static bool
is_own_array(const struct node *n)
{
	const struct node *base = n;

	while ((base->kind == N_MEMBER && base->op == O_DOT) ||
	    (base->kind == N_INDEX && base->ident == NULL &&
		kind_of(base->a->type) == TYPE_ARRAY))
		base = base->a;
	return kind_of(n->type) == TYPE_ARRAY && base->kind == N_VAR &&
	    base->ident->kind == ID_SCALAR;
}

/* a[i], i known only now: a fault if it is not in the array. */
static void
check_bound(struct cg *g, unsigned i, const struct node *n)
{
	if (!is_own_array(n->a) || n->list->kind == N_INT)
		return;
	cg_convert(g, i, n->list, g->c->cc->t_int64);
	unsigned size = asm_reg(&g->as);
	asm_setx(&g->as, type_resolve(n->a->type)->nelems, size);
	asm_rrr(&g->as, DIF_OP_BOUND, i, size, 0);
	asm_reg_free(&g->as, size);
}

/* The address of an lvalue in memory. */
static unsigned
address(struct cg *g, struct node *n)
{
	unsigned r;

	switch ((enum node_kind)n->kind) {
	case N_VAR:
		if (n->ident->kind == ID_SYMBOL) {
			r = asm_reg(&g->as);
			asm_setx(&g->as, n->ident->value, r);
			return r;
		}
		return cg_expr(g, n); /* by reference: the value is it */
	case N_MEMBER:
		r = cg_expr(g, n->a);
		if (n->value != 0)
			op_const(g, DIF_OP_ADD, r, n->value);
		return r;
	case N_INDEX: {
		r = cg_expr(g, n->a);
		unsigned i = cg_expr(g, n->list);
		check_bound(g, i, n);
		if (element_size(n->a) != 1)
			op_const(g, DIF_OP_MUL, i, element_size(n->a));
		asm_rrr(&g->as, DIF_OP_ADD, r, i, r);
		asm_reg_free(&g->as, i);
		return r;
	}
	case N_UNARY: return cg_expr(g, n->a); /* *p */
	default: return cg_expr(g, n);
	}
}

/* A bit-field from its storage unit at the address in r. */
static void
load_bits(struct cg *g, unsigned r, const struct node *n)
{
	struct type unit = *type_resolve(n->type);
	unsigned left = 64 - n->bit_offset - n->bit_size;

	unit.is_signed = false;
	load(g, r, &unit, false);
	if (left != 0)
		op_const(g, DIF_OP_SLL, r, left);
	op_const(g, type_resolve(n->type)->is_signed ? DIF_OP_SRA : DIF_OP_SRL,
	    r, 64 - n->bit_size);
}

static void
store_bits(struct cg *g, unsigned value, unsigned addr, const struct node *n)
{
	struct type unit = *type_resolve(n->type);
	uint64_t mask = (n->bit_size == 64 ? 0 : 1ULL << n->bit_size) - 1;
	unsigned old = asm_reg(&g->as), bits = asm_reg(&g->as);

	unit.is_signed = false;
	asm_rrr(&g->as, DIF_OP_MOV, addr, 0, old);
	load(g, old, &unit, false);
	op_const(g, DIF_OP_AND, old, ~(mask << n->bit_offset));
	asm_rrr(&g->as, DIF_OP_MOV, value, 0, bits);
	op_const(g, DIF_OP_AND, bits, mask);
	op_const(g, DIF_OP_SLL, bits, n->bit_offset);
	asm_rrr(&g->as, DIF_OP_OR, old, bits, old);
	asm_reg_free(&g->as, bits);
	store_memory(g, old, addr, &unit);
	asm_reg_free(&g->as, old);
}

static unsigned
load_lvalue(struct cg *g, struct node *n)
{
	unsigned r = address(g, n);

	if ((n->flags & NF_BITFIELD) != 0)
		load_bits(g, r, n);
	else
		load(g, r, n->type, is_userland(n->a));
	return r;
}

/* ---- operators ---- */

/* rd = cond ? 1 : 0, for the branch that the last compare decides. */
static void
set_on(struct cg *g, enum dif_op branch, unsigned rd)
{
	uint32_t yes = asm_label(&g->as), end = asm_label(&g->as);

	asm_branch(&g->as, branch, yes);
	asm_rrr(&g->as, DIF_OP_MOV, 0, 0, rd);
	asm_branch(&g->as, DIF_OP_BA, end);
	asm_place(&g->as, yes);
	asm_setx(&g->as, 1, rd);
	asm_place(&g->as, end);
}

static void
align_sign(
    struct cg *g, unsigned r, const struct node *n, const struct node *other)
{
	unsigned size = oper_taken_in(n, other);

	if (is_int_size(size))
		extend(g, r, size, false);
}

static unsigned
compare(struct cg *g, struct node *n)
{
	/* Beside a number, NULL, the address of a string is meant. */
	bool string =
	    (type_is_string(n->a->type) || type_is_string(n->b->type)) &&
	    !type_is_integer(n->a->type) && !type_is_integer(n->b->type);
	unsigned a = cg_expr(g, n->a);
	unsigned b = cg_expr(g, n->b);
	/* scmp leaves N and Z as a signed difference would. */
	bool is_signed = string || oper_is_signed(n);

	if (!string) {
		align_sign(g, a, n->a, n->b);
		align_sign(g, b, n->b, n->a);
	}
	asm_rrr(&g->as, string ? DIF_OP_SCMP : DIF_OP_CMP, a, b, 0);
	asm_reg_free(&g->as, b);
	set_on(g, oper_instruction(n->op, is_signed), a);
	return a;
}

static void
branch_if(struct cg *g, struct node *n, enum dif_op op, uint32_t label)
{
	unsigned r = cg_expr(g, n);

	asm_rrr(&g->as, DIF_OP_TST, r, 0, 0);
	asm_reg_free(&g->as, r);
	asm_branch(&g->as, op, label);
}

static unsigned
logical(struct cg *g, struct node *n)
{
	bool and = n->op == O_LAND;
	enum dif_op out = oper_instruction(n->op, false);
	uint32_t decided = asm_label(&g->as), end = asm_label(&g->as);

	branch_if(g, n->a, out, decided);
	branch_if(g, n->b, out, decided);
	unsigned r = asm_reg(&g->as);
	if (and)
		asm_setx(&g->as, 1, r);
	else
		asm_rrr(&g->as, DIF_OP_MOV, 0, 0, r);
	asm_branch(&g->as, DIF_OP_BA, end);
	asm_place(&g->as, decided);
	if (and)
		asm_rrr(&g->as, DIF_OP_MOV, 0, 0, r);
	else
		asm_setx(&g->as, 1, r);
	asm_place(&g->as, end);
	return r;
}

static void
truth(struct cg *g, unsigned r)
{
	uint32_t zero = asm_label(&g->as);

	asm_rrr(&g->as, DIF_OP_TST, r, 0, 0);
	asm_branch(&g->as, DIF_OP_BE, zero);
	asm_setx(&g->as, 1, r);
	asm_place(&g->as, zero);
}

static unsigned
logical_xor(struct cg *g, struct node *n)
{
	unsigned a = cg_expr(g, n->a);

	truth(g, a);
	unsigned b = cg_expr(g, n->b);
	truth(g, b);
	asm_rrr(&g->as, DIF_OP_XOR, a, b, a);
	asm_reg_free(&g->as, b);
	return a;
}

/* a op b into a; b is freed.  Shared by `a op b' and `a op= b'. */
static void
arithmetic(struct cg *g, struct node *n, unsigned a, unsigned b)
{
	bool pa = is_addressy(n->a), pb = is_addressy(n->b);

	if (pa && !pb && element_size(n->a) != 1)
		op_const(g, DIF_OP_MUL, b, element_size(n->a));
	if (pb && !pa && element_size(n->b) != 1)
		op_const(g, DIF_OP_MUL, a, element_size(n->b));
	if (n->op == O_DIV || n->op == O_MOD) {
		align_sign(g, a, n->a, n->b);
		align_sign(g, b, n->b, n->a);
	}
	asm_rrr(&g->as, oper_instruction(n->op, oper_is_signed(n)), a, b, a);
	asm_reg_free(&g->as, b);
	if (pa && pb && element_size(n->a) != 1)
		op_const(g, DIF_OP_SDIV, a, element_size(n->a));
}

static unsigned
binary(struct cg *g, struct node *n)
{
	switch (oper_takes(n->op)) {
	case OPER_COMPARE: return compare(g, n);
	case OPER_LOGIC:
		return n->op == O_LXOR ? logical_xor(g, n) : logical(g, n);
	default: break;
	}
	unsigned a = cg_expr(g, n->a);
	unsigned b = cg_expr(g, n->b);
	arithmetic(g, n, a, b);
	return a;
}

/* ---- assignment ---- */

/* Where a value goes: evaluated once, read and written. */
struct place {
	struct node *n;
	struct ident *id; /* variable, or NULL: memory */
	struct keys keys; /* ID_ASSOC */
	unsigned addr;    /* memory */
};

static void
place_open(struct cg *g, struct node *n, struct place *p)
{
	*p = (struct place){ .n = n };
	if (n->kind == N_VAR && n->ident->kind == ID_SCALAR) {
		p->id = n->ident;
	} else if (n->kind == N_INDEX && n->ident != NULL &&
	    n->ident->kind == ID_ASSOC) {
		p->id = n->ident;
		p->keys =
		    (struct keys){ .list = n->list, .types = n->ident->keys };
		eval_keys(g, n, &p->keys);
	} else {
		p->addr = address(g, n);
	}
}

static unsigned
place_load(struct cg *g, struct place *p)
{
	unsigned r = asm_reg(&g->as);

	if (p->id == NULL) {
		asm_rrr(&g->as, DIF_OP_MOV, p->addr, 0, r);
		if ((p->n->flags & NF_BITFIELD) != 0)
			load_bits(g, r, p->n);
		else
			load(g, r, p->n->type, is_userland(p->n->a));
	} else if (p->id->kind == ID_ASSOC) {
		push_keys(g, &p->keys);
		access_assoc(g, p->id, r, false);
	} else {
		load_var(g, p->id, p->id->type, r);
	}
	return r;
}

static void
place_store(struct cg *g, struct place *p, unsigned r)
{
	if (p->id == NULL) {
		if ((p->n->flags & NF_BITFIELD) != 0)
			store_bits(g, r, p->addr, p->n);
		else
			store_memory(g, r, p->addr, p->n->type);
	} else if (p->id->kind == ID_ASSOC) {
		push_keys(g, &p->keys);
		access_assoc(g, p->id, r, true);
	} else {
		store_var(g, p->id, r);
	}
}

static void
place_close(struct cg *g, struct place *p)
{
	if (p->id == NULL)
		asm_reg_free(&g->as, p->addr);
	else if (p->id->kind == ID_ASSOC)
		free_keys(g, &p->keys);
}

static unsigned
assign(struct cg *g, struct node *n)
{
	struct place p;
	unsigned r;

	if (n->op == O_SET) {
		/* Value first, then keys (dif.md, `a[k] = v'). */
		r = cg_expr(g, n->b);
		cg_convert(g, r, n->b, n->a->type);
		place_open(g, n->a, &p);
		place_store(g, &p, r);
		place_close(g, &p);
		return r;
	}
	place_open(g, n->a, &p);
	r = place_load(g, &p);
	unsigned b = cg_expr(g, n->b);
	arithmetic(g, n, r, b);
	/* What the operator gave, in the type it works in. */
	struct node result = { .type = type_is_integer(n->a->type) ?
		    g->c->cc->t_int64 :
		    n->a->type };
	cg_convert(g, r, &result, n->a->type);
	place_store(g, &p, r);
	place_close(g, &p);
	return r;
}

/* ++x, --x, x++, x-- */
static unsigned
step(struct cg *g, struct node *n)
{
	const struct type *t = type_resolve(n->a->type);
	uint64_t by = t->kind == TYPE_POINTER ? element_size(n->a) : 1;
	struct node result = { .type = g->c->cc->t_int64 };
	struct place p;

	place_open(g, n->a, &p);
	unsigned r = place_load(g, &p);
	unsigned fresh = r;
	if (n->kind == N_POSTFIX) {
		fresh = asm_reg(&g->as);
		asm_rrr(&g->as, DIF_OP_MOV, r, 0, fresh);
	}
	op_const(g, n->op == O_INC ? DIF_OP_ADD : DIF_OP_SUB, fresh, by);
	if (t->kind != TYPE_POINTER)
		cg_convert(g, fresh, &result, n->a->type);
	place_store(g, &p, fresh);
	if (fresh != r)
		asm_reg_free(&g->as, fresh);
	place_close(g, &p);
	return r;
}

/* ---- the rest ---- */

static unsigned
unary(struct cg *g, struct node *n)
{
	unsigned r;

	switch ((enum oper)n->op) {
	case O_DEREF: return load_lvalue(g, n);
	case O_ADDR: return address(g, n->a);
	case O_INC:
	case O_DEC: return step(g, n);
	default: break;
	}
	r = cg_expr(g, n->a);
	switch ((enum oper)n->op) {
	case O_NEG: asm_rrr(&g->as, DIF_OP_SUB, 0, r, r); break;
	case O_COMPL: asm_rrr(&g->as, DIF_OP_NOT, r, 0, r); break;
	case O_NOT:
		asm_rrr(&g->as, DIF_OP_TST, r, 0, 0);
		set_on(g, DIF_OP_BE, r);
		break;
	default: break; /* + and stringof: the value as it is */
	}
	return r;
}

static unsigned
conditional(struct cg *g, struct node *n)
{
	uint32_t no = asm_label(&g->as), end = asm_label(&g->as);

	branch_if(g, n->a, DIF_OP_BE, no);
	unsigned x = cg_expr(g, n->b);
	cg_convert(g, x, n->b, n->type);
	asm_branch(&g->as, DIF_OP_BA, end);
	asm_place(&g->as, no);
	/* Both sides leave their value in one register.  What the first used
	 * is free for the second. */
	asm_reg_free(&g->as, x);
	unsigned y = cg_expr(g, n->c);
	cg_convert(g, y, n->c, n->type);
	if (x != y) {
		asm_rrr(&g->as, DIF_OP_MOV, y, 0, x);
		asm_reg_free(&g->as, y);
		asm_reg_take(&g->as, x);
	}
	asm_place(&g->as, end);
	return x;
}

static unsigned
call(struct cg *g, struct node *n)
{
	struct keys k = { .list = n->list };

	if (n->ident->kind != ID_SUBR) {
		if (g->error == 0)
			g->error = comp_error(g->c, D_CG_EXPR, n,
			    "%s %s( ) may not be called from a D expression",
			    n->ident->kind == ID_ACTION ?
				"action" :
				"aggregating function",
			    n->ident->name);
		return asm_reg(&g->as);
	}
	eval_keys(g, n, &k);
	push_keys(g, &k);
	free_keys(g, &k);
	unsigned r = asm_reg(&g->as);
	asm_call(&g->as, (enum dif_subr)n->ident->id, r);
	return r;
}

static unsigned
index_expr(struct cg *g, struct node *n)
{
	unsigned r;

	if (n->ident == NULL)
		return load_lvalue(g, n);
	if (n->ident->kind == ID_ASSOC) {
		struct keys k = { .list = n->list, .types = n->ident->keys };
		eval_keys(g, n, &k);
		push_keys(g, &k);
		free_keys(g, &k);
		r = asm_reg(&g->as);
		access_assoc(g, n->ident, r, false);
		return r;
	}
	/* args[] and uregs[]; the checker may have moved args[]'s index. */
	struct difo_var v = describe(n->ident, n->type);
	if (n->ident->id == DIF_VAR_ARGS) {
		r = asm_reg(&g->as);
		asm_setx(&g->as, n->value, r);
	} else {
		r = cg_expr(g, n->list);
	}
	asm_var(&g->as, DIF_OP_LDGA, &v, r, r, false);
	struct dif_type d = type_dif(n->type);
	if (n->ident->id == DIF_VAR_ARGS && type_is_scalar(n->type) &&
	    is_int_size(d.size)) {
		extend(g, r, d.size, d.is_signed);
		n->flags |= NF_CANON;
	}
	return r;
}

static unsigned
variable(struct cg *g, struct node *n)
{
	unsigned r = asm_reg(&g->as);

	if (n->ident->kind == ID_SYMBOL) {
		asm_setx(&g->as, n->ident->value, r);
		load(g, r, n->type, false);
		return r;
	}
	load_var(g, n->ident, n->type, r);
	return r;
}

static unsigned
constant(struct cg *g, struct node *n)
{
	unsigned r = asm_reg(&g->as);

	asm_setx(&g->as, n->value, r);
	return r;
}

static unsigned
literal(struct cg *g, struct node *n)
{
	unsigned r = asm_reg(&g->as);

	asm_sets(&g->as, n->name, r);
	return r;
}

static unsigned
comma(struct cg *g, struct node *n)
{
	asm_reg_free(&g->as, cg_expr(g, n->a));
	return cg_expr(g, n->b);
}

static unsigned
cast(struct cg *g, struct node *n)
{
	unsigned r = cg_expr(g, n->b);

	cg_convert(g, r, n->b, n->type);
	return r;
}

static unsigned
inlined(struct cg *g, struct node *n)
{
	unsigned r = cg_expr(g, n->a);

	cg_convert(g, r, n->a, n->type);
	return r;
}

static unsigned
dynamic(struct cg *g, struct node *n)
{
	if (g->error == 0)
		g->error = comp_error(g->c, D_CG_DYN, n,
		    "expression cannot evaluate to a %s result",
		    n->kind == N_XLATE ? "translated" : "dynamic");
	return asm_reg(&g->as);
}

unsigned
cg_expr(struct cg *g, struct node *n)
{
	switch ((enum node_kind)n->kind) {
	case N_INT: return constant(g, n);
	case N_STRING: return literal(g, n);
	case N_VAR: return variable(g, n);
	case N_MEMBER: return load_lvalue(g, n);
	case N_INDEX:
		if (kind_of(n->type) == TYPE_DYN)
			return dynamic(g, n);
		return index_expr(g, n);
	case N_CALL: return call(g, n);
	case N_UNARY: return unary(g, n);
	case N_POSTFIX: return step(g, n);
	case N_BINARY: return binary(g, n);
	case N_ASSIGN: return assign(g, n);
	case N_COND: return conditional(g, n);
	case N_COMMA: return comma(g, n);
	case N_CAST: return cast(g, n);
	case N_INLINE: return inlined(g, n);
	default: return dynamic(g, n);
	}
}
