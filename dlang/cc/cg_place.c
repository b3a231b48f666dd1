/*
 * Where values are stored: variables, keys, memory, and the place that an
 * assignment reads and writes.
 */
#include "dlang/cc/cg_place.h"

/* ---- variables ---- */

struct difo_var
cg_describe_var(const struct ident *id, const struct type *type)
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

void
cg_load_var(
    struct cg *g, const struct ident *id, const struct type *type, unsigned r)
{
	struct difo_var v = cg_describe_var(id, type);

	asm_var(&g->as, load_scalar[id->scope], &v, 0, r, false);
}

static void
cg_store_var(struct cg *g, const struct ident *id, unsigned r)
{
	struct difo_var v = cg_describe_var(id, id->type);

	asm_var(&g->as, store_scalar[id->scope], &v, 0, r, true);
}

/* Load the address of a symbol, which is known only in the process that
 * fires. */
unsigned
cg_symbol_address(struct cg *g, const struct ident *id)
{
	struct difo_var v = { .name = id->name,
		.id = DIF_VAR_EXTERN,
		.kind = DIF_ARRAY,
		.scope = DIF_GLOBAL,
		.type = type_dif(g->c->cc->t_uint64) };
	unsigned r = asm_reg(&g->as);

	asm_setx(&g->as, id->value, r);
	asm_var(&g->as, DIF_OP_LDGA, &v, r, r, false);
	return r;
}

unsigned
cg_builtin_at(struct cg *g, const char *name, uint32_t id, struct type *type,
    uint64_t index)
{
	const struct difo_var v = { .name = name,
		.id = id,
		.kind = DIF_ARRAY,
		.scope = DIF_GLOBAL,
		.type = type_dif(type) };
	unsigned r = asm_reg(&g->as);

	asm_setx(&g->as, index, r);
	asm_var(&g->as, DIF_OP_LDGA, &v, r, r, false);
	return r;
}

unsigned
cg_local(struct cg *g, const struct ident *id)
{
	return cg_builtin_at(
	    g, "args", DIF_VAR_ARGS, g->c->cc->t_int64, id->value);
}

/* ---- keys and arguments ---- */

static int
uses_tuple(struct node *n, void *ctx)
{
	return n->kind == N_CALL || n->kind == N_ASSIGN ||
	    n->kind == N_POSTFIX ||
	    (n->kind == N_UNARY &&
		(n->op == O_INC || n->op == O_DEC || n->op == O_STRINGOF)) ||
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

	/* The message names no part of the clause. */
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

/* Evaluate all members before the tuple stack is used, because calls in them
 * use it as well.  If there are many members, those without calls are left for
 * cg_push_keys(). */
void
cg_eval_keys(struct cg *g, const struct node *at, struct cg_keys *k)
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

void
cg_push_keys(struct cg *g, struct cg_keys *k)
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

void
cg_free_keys(struct cg *g, struct cg_keys *k)
{
	for (size_t i = 0; i < k->n; i++)
		asm_reg_free(&g->as, k->reg[i]);
}

void
cg_access_assoc(struct cg *g, const struct ident *id, unsigned r, bool store)
{
	struct difo_var v = cg_describe_var(id, id->type);
	enum dif_op op = id->scope == DIF_THREAD ?
	    (store ? DIF_OP_STTAA : DIF_OP_LDTAA) :
	    (store ? DIF_OP_STGAA : DIF_OP_LDGAA);

	asm_var(&g->as, op, &v, 0, r, store);
}

/* ---- memory ---- */

/* Load the value at the address in r, if the type is a scalar. */
void
cg_load(struct cg *g, unsigned r, const struct type *t, bool userland)
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

void
cg_op_const(struct cg *g, enum dif_op op, unsigned r, uint64_t value)
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

uint64_t
cg_element_size(const struct node *n)
{
	const struct type *t = type_resolve(n->type);

	if (t->kind == TYPE_STRING)
		return 1;
	return MAX(type_resolve(t->base)->size, (uint64_t)1);
}

/* Is this an array declared in the D program, whose size is exact?  A C array
 * may be the beginning of a larger one. */
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

/* Check the index of a[i] at run time: a fault if it is outside of the
 * array. */
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
unsigned
cg_address(struct cg *g, struct node *n)
{
	unsigned r;

	switch ((enum node_kind)n->kind) {
	case N_VAR:
		if (n->ident->kind == ID_SYMBOL)
			return cg_symbol_address(g, n->ident);
		return cg_expr(g, n); /* a by-reference value is its address */
	case N_MEMBER:
		r = cg_expr(g, n->a);
		if (n->value != 0)
			cg_op_const(g, DIF_OP_ADD, r, n->value);
		return r;
	case N_INDEX: {
		r = cg_expr(g, n->a);
		unsigned i = cg_expr(g, n->list);
		check_bound(g, i, n);
		if (cg_element_size(n->a) != 1)
			cg_op_const(g, DIF_OP_MUL, i, cg_element_size(n->a));
		asm_rrr(&g->as, DIF_OP_ADD, r, i, r);
		asm_reg_free(&g->as, i);
		return r;
	}
	case N_UNARY: return cg_expr(g, n->a); /* *p */
	default: return cg_expr(g, n);
	}
}

/* Extract a bit-field from its storage unit at the address in r. */
static void
load_bits(struct cg *g, unsigned r, const struct node *n)
{
	struct type unit = *type_resolve(n->type);
	unsigned left = 64 - n->bit_offset - n->bit_size;

	unit.is_signed = false;
	cg_load(g, r, &unit, false);
	if (left != 0)
		cg_op_const(g, DIF_OP_SLL, r, left);
	cg_op_const(g,
	    type_resolve(n->type)->is_signed ? DIF_OP_SRA : DIF_OP_SRL, r,
	    64 - n->bit_size);
}

void
cg_cut_bits(struct cg *g, unsigned r, const struct node *n)
{
	if ((n->flags & NF_BITFIELD) == 0 || n->bit_size == 64)
		return;
	cg_op_const(g, DIF_OP_SLL, r, 64 - n->bit_size);
	cg_op_const(g,
	    type_resolve(n->type)->is_signed ? DIF_OP_SRA : DIF_OP_SRL, r,
	    64 - n->bit_size);
}

static void
store_bits(struct cg *g, unsigned value, unsigned addr, const struct node *n)
{
	struct type unit = *type_resolve(n->type);
	uint64_t mask = (n->bit_size == 64 ? 0 : 1ULL << n->bit_size) - 1;
	unsigned old = asm_reg(&g->as), bits = asm_reg(&g->as);

	unit.is_signed = false;
	asm_rrr(&g->as, DIF_OP_MOV, addr, 0, old);
	cg_load(g, old, &unit, false);
	cg_op_const(g, DIF_OP_AND, old, ~(mask << n->bit_offset));
	asm_rrr(&g->as, DIF_OP_MOV, value, 0, bits);
	cg_op_const(g, DIF_OP_AND, bits, mask);
	cg_op_const(g, DIF_OP_SLL, bits, n->bit_offset);
	asm_rrr(&g->as, DIF_OP_OR, old, bits, old);
	asm_reg_free(&g->as, bits);
	store_memory(g, old, addr, &unit);
	asm_reg_free(&g->as, old);
}

unsigned
cg_load_lvalue(struct cg *g, struct node *n)
{
	unsigned r = cg_address(g, n);

	if ((n->flags & NF_BITFIELD) != 0)
		load_bits(g, r, n);
	else
		cg_load(g, r, n->type, is_userland(n->a));
	return r;
}

/* ---- places ---- */

void
cg_place_open(struct cg *g, struct node *n, struct cg_place *p)
{
	*p = (struct cg_place){ .n = n };
	if (n->kind == N_VAR && n->ident->kind == ID_SCALAR) {
		p->id = n->ident;
	} else if (n->kind == N_INDEX && n->ident != NULL &&
	    n->ident->kind == ID_ASSOC) {
		p->id = n->ident;
		p->keys = (struct cg_keys){ .list = n->list,
			.types = n->ident->keys };
		cg_eval_keys(g, n, &p->keys);
	} else {
		p->addr = cg_address(g, n);
	}
}

unsigned
cg_place_load(struct cg *g, struct cg_place *p)
{
	unsigned r = asm_reg(&g->as);

	if (p->id == NULL) {
		asm_rrr(&g->as, DIF_OP_MOV, p->addr, 0, r);
		if ((p->n->flags & NF_BITFIELD) != 0)
			load_bits(g, r, p->n);
		else
			cg_load(g, r, p->n->type, is_userland(p->n->a));
	} else if (p->id->kind == ID_ASSOC) {
		cg_push_keys(g, &p->keys);
		cg_access_assoc(g, p->id, r, false);
	} else {
		cg_load_var(g, p->id, p->id->type, r);
	}
	return r;
}

void
cg_place_store(struct cg *g, struct cg_place *p, unsigned r)
{
	if (p->id == NULL) {
		if ((p->n->flags & NF_BITFIELD) != 0)
			store_bits(g, r, p->addr, p->n);
		else
			store_memory(g, r, p->addr, p->n->type);
	} else if (p->id->kind == ID_ASSOC) {
		cg_push_keys(g, &p->keys);
		cg_access_assoc(g, p->id, r, true);
	} else {
		cg_store_var(g, p->id, r);
	}
}

void
cg_place_close(struct cg *g, struct cg_place *p)
{
	if (p->id == NULL)
		asm_reg_free(&g->as, p->addr);
	else if (p->id->kind == ID_ASSOC)
		cg_free_keys(g, &p->keys);
}
