/*
 * Creates a DIFO: generates code for one expression and verifies it.
 */
#include "dlang/cc/cg.h"
#include "dlang/verify.h"

static int
asm_error(struct comp *c, const struct node *n, enum asm_status why)
{
	if (why == ASM_NOREG)
		return comp_error(
		    c, D_NOREG, n, "Insufficient registers to generate code");
	return comp_error(c, D_UNKNOWN, n,
	    "the expression is too long: DIF program exceeds maximum program "
	    "size");
}

static int
admit(struct comp *c, const struct node *n, struct difo *d)
{
	const char *why = "";
	uint32_t at = 0;

	if (verify_difo(&c->prog->arena, d, &c->cc->shared, &why, &at) != 0)
		return comp_error(c, D_UNKNOWN, n,
		    "internal error -- instruction %u: %s", at, why);
	if (c->in->listing != NULL)
		dis_difo(c->in->listing, d);
	c->clause->destructive |= d->destructive;
	return 0;
}

/* Create the variables that replace registers.  All DIFOs share them, since no
 * DIFO runs during another. */
static int
give_slots(struct comp *c, const struct node *n, struct as *as)
{
	unsigned count = asm_slots(as);

	if (count == 0)
		return 0;
	struct difo_var *slots =
	    arena_alloc(&c->prog->arena, count * sizeof(*slots));
	for (unsigned i = 0; i < count; i++) {
		const char *name = arena_printf(&c->cc->arena, "%%spill%u", i);
		struct ident *id = scope_lookup(c, DIF_LOCAL, name);
		if (id == NULL) {
			id = scope_variable(
			    c, DIF_LOCAL, name, ID_SCALAR, &n->span);
			if (id == NULL)
				return -EINVAL;
			id->type = c->cc->t_uint64;
			if (scope_settle(c, id, n) != 0)
				return -EINVAL;
		}
		slots[i] = (struct difo_var){ .name = id->name,
			.id = id->id,
			.kind = DIF_SCALAR,
			.scope = DIF_LOCAL,
			.type = type_dif(id->type) };
	}
	as->slots = slots;
	return 0;
}

int
cg_difo(struct comp *c, struct node *n, struct type *to, struct difo **out)
{
	struct cg g = { .c = c };
	struct type *type = to != NULL ? to : n->type;

	asm_init(&g.as, (unsigned)option_get(c->cc->opts, OPT_IREGS));
	g.as.here = (struct difo_place){ n->span.line, n->span.col };
	unsigned r = cg_expr(&g, n);
	if (to != NULL)
		cg_convert(&g, r, n, to);
	*out = NULL;
	if (g.error == 0)
		g.error = give_slots(c, n, &g.as);
	if (g.error == 0)
		*out = asm_finish(&g.as, r, type_dif(type), &c->prog->arena);
	enum asm_status status = g.as.status;
	asm_fini(&g.as);
	if (g.error != 0)
		return g.error;
	if (*out == NULL)
		return asm_error(c, n, status);
	return admit(c, n, *out);
}
