/*
 * Translates expressions to instructions, in tree order.
 *
 * A register has an integer that is extended from the size of its type if the
 * node has NF_CANON; or an address, for by-reference types.  Arithmetic is done
 * in 64 bits.  Unsigned results are truncated to their type at once; signed
 * ones only by cg_convert(), since they exceed their type only after an
 * overflow.
 */
#include "dlang/cc/cg_place.h"
#include "dlang/cc/view.h"
#include "dlang/cc/oper.h"

static bool
is_addressy(const struct node *n)
{
	enum type_kind k = kind_of(n->type);

	return k == TYPE_POINTER || k == TYPE_ARRAY;
}

/* ---- conversion ---- */

void
cg_extend(struct cg *g, unsigned r, uint32_t size, bool is_signed)
{
	unsigned n = asm_reg(&g->as);

	asm_setx(&g->as, 64 - size * 8, n);
	asm_rrr(&g->as, DIF_OP_SLL, r, n, r);
	asm_rrr(&g->as, is_signed ? DIF_OP_SRA : DIF_OP_SRL, r, n, r);
	asm_reg_free(&g->as, n);
}

bool
cg_is_int_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4;
}

/* Convert to a truth value: 1 for anything except 0. */
static void
truth(struct cg *g, unsigned r)
{
	uint32_t zero = asm_label(&g->as);

	asm_rrr(&g->as, DIF_OP_TST, r, 0, 0);
	asm_branch(&g->as, DIF_OP_BE, zero);
	asm_setx(&g->as, 1, r);
	asm_place(&g->as, zero);
}

/* Bits that a signed left shift has moved out of its type are kept if the
 * result is converted to a wider type: this is undefined in C, and constants do
 * the same (fold.c). */
static bool
is_signed_shl(const struct node *n)
{
	return n->kind == N_BINARY && n->op == O_SHL &&
	    type_dif(n->type).is_signed;
}

void
cg_convert(
    struct cg *g, unsigned r, const struct node *n, const struct type *to)
{
	struct dif_type f = type_dif(n->type), t = type_dif(to);
	bool canon = (n->flags & NF_CANON) != 0;

	if (!type_is_scalar(n->type) || !type_is_scalar(to))
		return;
	if (type_is_bool(to) && !type_is_bool(n->type))
		truth(g, r);
	else if (cg_is_int_size(t.size) &&
	    (t.size < f.size ||
		(t.size == f.size && (!canon || t.is_signed != f.is_signed)) ||
		(t.size > f.size && f.is_signed && !t.is_signed)))
		cg_extend(g, r, t.size, t.is_signed);
	else if (t.size > f.size && !canon && cg_is_int_size(f.size) &&
	    !is_signed_shl(n))
		cg_extend(g, r, f.size, f.is_signed);
}

/* ---- operators ---- */

/* rd = 1 if the branch on the last compare would be taken, else 0. */
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

	if (cg_is_int_size(size))
		cg_extend(g, r, size, false);
}

/* Truncate the result of an operator in r, if necessary. */
static void
cut(struct cg *g, unsigned r, const struct node *n)
{
	if (oper_may_outgrow(n))
		cg_extend(g, r, type_dif(n->type).size, false);
}

static unsigned
compare(struct cg *g, struct node *n)
{
	/* Next to a number (NULL), the address of the string is compared. */
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

/* a = a op b; frees b.  Shared by `a op b' and `a op= b'. */
static void
arithmetic(struct cg *g, struct node *n, unsigned a, unsigned b)
{
	bool pa = is_addressy(n->a), pb = is_addressy(n->b);

	if (pa && !pb && cg_element_size(n->a) != 1)
		cg_op_const(g, DIF_OP_MUL, b, cg_element_size(n->a));
	if (pb && !pa && cg_element_size(n->b) != 1)
		cg_op_const(g, DIF_OP_MUL, a, cg_element_size(n->b));
	if (oper_aligns(n->op)) {
		align_sign(g, a, n->a, n->b);
		align_sign(g, b, n->b, n->a);
	}
	asm_rrr(&g->as, oper_instruction(n->op, oper_is_signed(n)), a, b, a);
	asm_reg_free(&g->as, b);
	if (pa && pb && cg_element_size(n->a) != 1)
		cg_op_const(g, DIF_OP_SDIV, a, cg_element_size(n->a));
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
	cut(g, a, n);
	return a;
}

/* ---- assignment ---- */

static unsigned
assign(struct cg *g, struct node *n)
{
	struct cg_place p;
	unsigned r;

	if (n->op == O_SET) {
		/* The value is evaluated first, then the keys. */
		r = cg_expr(g, n->b);
		cg_convert(g, r, n->b, n->a->type);
		cg_cut_bits(g, r, n->a);
		cg_place_open(g, n->a, &p);
		cg_place_store(g, &p, r);
		cg_place_close(g, &p);
		return r;
	}
	cg_place_open(g, n->a, &p);
	r = cg_place_load(g, &p);
	unsigned b = cg_expr(g, n->b);
	arithmetic(g, n, r, b);
	/* The result of the operator, in the type in which it was computed. */
	struct node result = { .type = type_is_integer(n->a->type) ?
		    g->c->cc->t_int64 :
		    n->a->type };
	cg_convert(g, r, &result, n->a->type);
	cg_cut_bits(g, r, n->a);
	cg_place_store(g, &p, r);
	cg_place_close(g, &p);
	return r;
}

/* ++x, --x, x++, x-- */
static unsigned
step(struct cg *g, struct node *n)
{
	const struct type *t = type_resolve(n->a->type);
	uint64_t by = t->kind == TYPE_POINTER ? cg_element_size(n->a) : 1;
	struct node result = { .type = g->c->cc->t_int64 };
	struct cg_place p;

	cg_place_open(g, n->a, &p);
	unsigned r = cg_place_load(g, &p);
	unsigned fresh = r;
	if (n->kind == N_POSTFIX) {
		fresh = asm_reg(&g->as);
		asm_rrr(&g->as, DIF_OP_MOV, r, 0, fresh);
	}
	cg_op_const(g, n->op == O_INC ? DIF_OP_ADD : DIF_OP_SUB, fresh, by);
	if (t->kind != TYPE_POINTER)
		cg_convert(g, fresh, &result, n->a->type);
	cg_cut_bits(g, fresh, n->a);
	cg_place_store(g, &p, fresh);
	if (fresh != r)
		asm_reg_free(&g->as, fresh);
	cg_place_close(g, &p);
	return r;
}

/* ---- the rest ---- */

static unsigned
unary(struct cg *g, struct node *n)
{
	unsigned r;

	switch ((enum oper)n->op) {
	case O_DEREF: return cg_load_lvalue(g, n);
	case O_ADDR: return cg_address(g, n->a);
	case O_INC:
	case O_DEC: return step(g, n);
	case O_STRINGOF:
		if (view_is_text(n->a->type))
			return cg_view(g, n->a, DIF_SUBR_COPYINSTR);
		break;
	default: break;
	}
	r = cg_expr(g, n->a);
	switch ((enum oper)n->op) {
	case O_NEG:
		asm_rrr(&g->as, DIF_OP_SUB, 0, r, r);
		cut(g, r, n);
		break;
	case O_COMPL:
		asm_rrr(&g->as, DIF_OP_NOT, r, 0, r);
		cut(g, r, n);
		break;
	case O_NOT:
		asm_rrr(&g->as, DIF_OP_TST, r, 0, 0);
		set_on(g, DIF_OP_BE, r);
		break;
	default: break; /* + and stringof: the same value */
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
	/* Both branches leave their value in the same register.  The registers
	 * of the first are free for the second. */
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
	struct cg_keys k = { .list = n->list };

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
	if (n->ident->id == DIF_SUBR_COPYIN && n->list->next == NULL)
		return cg_view(g, n->list, DIF_SUBR_COPYIN);
	cg_eval_keys(g, n, &k);
	cg_push_keys(g, &k);
	cg_free_keys(g, &k);
	unsigned r = asm_reg(&g->as);
	asm_call(&g->as, (enum dif_subr)n->ident->id, r);
	return r;
}

static unsigned
index_expr(struct cg *g, struct node *n)
{
	unsigned r;

	if (n->ident == NULL)
		return cg_load_lvalue(g, n);
	if (n->ident->kind == ID_ASSOC) {
		struct cg_keys k = { .list = n->list, .types = n->ident->keys };
		cg_eval_keys(g, n, &k);
		cg_push_keys(g, &k);
		cg_free_keys(g, &k);
		r = asm_reg(&g->as);
		cg_access_assoc(g, n->ident, r, false);
		return r;
	}
	if (n->ident->id == DIF_VAR_ARGS && n->extra != NULL)
		return cg_argument(g, n);
	/* args[] and uregs[]; the checker may have moved args[]'s index. */
	struct difo_var v = cg_describe_var(n->ident, n->type);
	if (n->ident->id == DIF_VAR_ARGS) {
		r = asm_reg(&g->as);
		asm_setx(&g->as, n->value, r);
	} else {
		r = cg_expr(g, n->list);
	}
	asm_var(&g->as, DIF_OP_LDGA, &v, r, r, false);
	struct dif_type d = type_dif(n->type);
	if (n->ident->id == DIF_VAR_ARGS && type_is_scalar(n->type) &&
	    cg_is_int_size(d.size)) {
		cg_extend(g, r, d.size, d.is_signed);
		n->flags |= NF_CANON;
	}
	return r;
}

static unsigned
variable(struct cg *g, struct node *n)
{
	unsigned r;

	if (n->ident->kind == ID_SYMBOL) {
		r = cg_symbol_address(g, n->ident);
		cg_load(g, r, n->type, false);
		return r;
	}
	if (n->ident->kind == ID_LOCAL)
		return cg_local(g, n->ident);
	r = asm_reg(&g->as);
	cg_load_var(g, n->ident, n->type, r);
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

static unsigned
any_expr(struct cg *g, struct node *n)
{
	switch ((enum node_kind)n->kind) {
	case N_INT: return constant(g, n);
	case N_STRING: return literal(g, n);
	case N_VAR: return variable(g, n);
	case N_MEMBER: return cg_load_lvalue(g, n);
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

/* Code that comes from a library is attributed to the place of the name in the
 * program. */
static struct difo_place
place_of(const struct cg *g, const struct node *n)
{
	const struct span *at = &n->span;

	if (at->source != g->c->in->source || at->file != NULL || at->line <= 0)
		return g->as.here;
	return (struct difo_place){
		at->file_line > 0 ? at->file_line : at->line, at->col
	};
}

unsigned
cg_expr(struct cg *g, struct node *n)
{
	const struct difo_place outer = g->as.here;

	g->as.here = place_of(g, n);
	unsigned r = any_expr(g, n);
	g->as.here = outer;
	return r;
}
