/*
 * Checks names, and names with keys: variables, inlines, built-in arrays.
 */
#include <string.h>

#include "dlang/cc/check.h"
#include "dlang/cc/decl.h"

/* ---- names ---- */

/* Replace a use of an inline by its body, with its parameters bound to
 * `args'. */
static int
expand_inline(
    struct comp *c, struct node *n, struct ident *id, struct node *args)
{
	struct node *arg = args;
	struct node *body = comp_copy(c, id->body);

	if (body == NULL)
		return -EINVAL;
	for (size_t i = 0; i < id->nformals; i++, arg = arg->next)
		id->formals[i]->body = arg;
	int error = check_with(c, body, id->formals, id->nformals);
	for (size_t i = 0; i < id->nformals; i++)
		id->formals[i]->body = NULL;
	if (error != 0)
		return error;
	if (body->kind == N_INT && type_equal(body->type, id->type)) {
		/* The name is no longer in the tree when the clause is
		 * checked. */
		if ((id->flags & IDF_ATTR) != 0 && stab_name(c, n, id) != 0)
			return -EINVAL;
		struct node *next = n->next;
		struct span span = n->span;
		*n = *body;
		n->span = span;
		n->next = next;
		return 0;
	}
	n->kind = N_INLINE;
	n->a = body;
	n->list = NULL;
	n->ident = id;
	n->type = id->type;
	n->flags = NF_CANON | (body->flags & NF_POINTS);
	return 0;
}

int
check_var(struct comp *c, struct node *n)
{
	struct ident *id = n->ident;

	if (n->kind != N_VAR)
		return check_expr(c, n); /* a parameter or enumerator */
	switch (id->kind) {
	case ID_SCALAR:
	case ID_LOCAL:
	case ID_PARAM: break;
	case ID_BUILTIN: n->type = id->type; break;
	case ID_SYMBOL:
		if (n->type == NULL)
			return comp_error(c, D_SYM_NOTYPES, n,
			    "no symbolic type information is available for %s",
			    id->name);
		break;
	default:
		if (id->kind == ID_INLINE && id->nformals == 0)
			return expand_inline(c, n, id, NULL);
		comp_error(c, D_IDENT_BADREF, n,
		    "%s '%s' may not be referenced as scalar",
		    ident_kind_name(id), id->name);
		return hint_call(c, id);
	}
	if ((id->flags & IDF_ALLOCA) != 0)
		n->flags |= NF_ALLOCA;
	if (n->type == NULL) {
		comp_error(c, D_IDENT_UNDEF, n,
		    "failed to resolve %s: Unknown variable name", id->name);
		return hint_variable(c, id->scope, id->name);
	}
	return 0;
}

int
check_name(struct comp *c, struct node *n)
{
	int error = bind_expr(c, n, false);

	return error != 0 ? error : check_var(c, n);
}

/* ---- name[...] ---- */

static int
check_tuple(struct comp *c, struct node *n, struct ident *id)
{
	struct proto p = {
		.args = id->keys, .nargs = id->nkeys, .nrequired = id->nkeys
	};

	for (struct node *k = n->list; k != NULL; k = k->next)
		if (check_expr(c, k) != 0)
			return -EINVAL;
	return check_args(c, n, id, &p, "[ ]");
}

static int
check_assoc(struct comp *c, struct node *n, struct ident *id)
{
	if (check_tuple(c, n, id) != 0)
		return -EINVAL;
	n->ident = id;
	n->type = id->type;
	n->flags = NF_LVALUE | NF_WRITABLE | NF_CANON;
	return 0;
}

/* An argument whose declared type differs from the one of the probe. */
static int
translate_arg(struct comp *c, struct node *n, int64_t index, struct type *to)
{
	char x[NAME_MAX_TEXT], y[NAME_MAX_TEXT];
	struct node *value = comp_copy(c, n);

	if (value == NULL)
		return -EINVAL;
	n->list = n->a = NULL;
	n->ident = NULL;
	n->b = value;
	n->type = to;
	if (type_is_scalar(to) && check_compatible(to, value)) {
		n->kind = N_CAST;
		n->flags = NF_CANON;
		return 0;
	}
	n->kind = N_XLATE;
	n->extra = xlate_find(c, to, value->type);
	if (n->extra == NULL)
		return comp_error(c, D_ARGS_XLATOR, n,
		    "translator for args[%ld] from %s to %s is not defined",
		    (long)index, type_name(value->type, x, sizeof(x)),
		    type_name(to, y, sizeof(y)));
	return 0;
}

/* How many typed arguments do the probes have?  If there is no such probe yet, as
 * its declaration in the program says, which is set then. */
static int
count_args(
    struct comp *c, const struct prog_sdt_probe **declared, const char **why)
{
	const struct world *w = c->cc->world;
	int count = w->ops->nargs != NULL ?
	    w->ops->nargs(w->ctx, c->desc, c->cc->types, why) :
	    -ENOENT;

	*declared = count == -ENOENT ? decl_probe(c, c->desc) : NULL;
	if (*declared == NULL)
		return count;
	*why = NULL;
	return (int)(*declared)->args.count;
}

/* Argument `index', of which there are more.  A probe that comes has its arguments in
 * the order of the declaration. */
static int
find_arg(struct comp *c, unsigned index, const struct prog_sdt_probe *declared,
    struct world_arg *out)
{
	const struct world *w = c->cc->world;

	if (declared == NULL)
		return w->ops->arg(w->ctx, c->desc, index, c->cc->types, out);
	out->native = out->translated = declared->args.types[index];
	out->source = index;
	return 0;
}

static int
check_args_array(struct comp *c, struct node *n, int64_t index)
{
	const struct prog_sdt_probe *declared;
	struct world_arg arg = { 0 };

	if (c->desc == NULL)
		return comp_error(c, D_ARGS_NONE, n,
		    "args[ ] may not be referenced outside of a probe clause");
	int count = count_args(c, &declared, &arg.why);
	if (count == -ENOTUNIQ) {
		comp_error(c, D_ARGS_MULTI, n,
		    "args[ ] may not be referenced because probe description "
		    "%s:%s:%s:%s matches an unstable set of probes",
		    c->desc->prov, c->desc->mod, c->desc->func, c->desc->name);
		return arg.why != NULL ? diag_hint(c->diags, "%s", arg.why) :
					 -EINVAL;
	}
	c->untyped |= count < 0;
	if (index < 0 || index >= (count < 0 ? 0 : count)) {
		comp_error(c, D_ARGS_IDX, n,
		    "index %ld is out of range for %s:%s:%s:%s args[ ]%s%s",
		    (long)index, c->desc->prov, c->desc->mod, c->desc->func,
		    c->desc->name, arg.why != NULL ? ": " : "",
		    arg.why != NULL ? arg.why : "");
		return count > 1 ?
		    diag_hint(
			c->diags, "it has args[0] to args[%d]", count - 1) :
		    count == 1 ? diag_hint(c->diags, "it has only args[0]") :
				 -EINVAL;
	}
	if (find_arg(c, (unsigned)index, declared, &arg) != 0 ||
	    arg.native == NULL)
		return comp_error(c, D_ARGS_TYPE, n,
		    "failed to resolve native type for args[%ld]%s%s",
		    (long)index, arg.why != NULL ? ": " : "",
		    arg.why != NULL ? arg.why : "");
	n->value = arg.source;
	n->type = arg.native;
	n->flags = 0;
	n->extra = NULL;
	if (arg.place.kind != ARGPLACE_ARG) {
		n->extra = arena_alloc(&c->cc->arena, sizeof(arg.place));
		memcpy(n->extra, &arg.place, sizeof(arg.place));
		/* An assembled object is in scratch memory. */
		if (arg.place.kind == ARGPLACE_PIECES)
			n->a->flags |= NF_ALLOCA;
	}
	if (arg.translated != NULL && !type_equal(arg.translated, arg.native))
		return translate_arg(c, n, index, arg.translated);
	return 0;
}

/* args[n], uregs[n] */
static int
check_builtin_array(struct comp *c, struct node *n, struct ident *id)
{
	struct node *i = n->list;
	char buf[NAME_MAX_TEXT];
	int64_t index;

	if (i->next != NULL)
		return comp_error(c, D_PROTO_LEN, n,
		    "%s[ ] prototype mismatch: 2 args passed, 1 expected",
		    id->name);
	if (check_expr(c, i) != 0)
		return -EINVAL;
	bool constant = check_const(i, &index);
	n->ident = id;
	n->flags = 0;
	if (!constant)
		return comp_error(c, D_PROTO_ARG, n,
		    "%s[ ] argument #1 is incompatible with prototype:\n"
		    "\tprototype: integer constant\n\t argument: %s",
		    id->name, type_name(i->type, buf, sizeof(buf)));
	if (id->id == DIF_VAR_ARGS)
		return check_args_array(c, n, index);
	if (index < 0 || index >= UREG_D_COUNT)
		return comp_error(c, D_UNKNOWN, n,
		    "%s[]: index out of bounds (%ld)", id->name, (long)index);
	n->type = id->type;
	n->flags = NF_CANON;
	return 0;
}

static int
check_inline_call(struct comp *c, struct node *n, struct ident *id)
{
	if (check_tuple(c, n, id) != 0)
		return -EINVAL;
	return expand_inline(c, n, id, n->list);
}

/* An aggregation with keys.  It may be used only in the statement that assigns
 * it, and in actions. */
static int
check_agg_index(struct comp *c, struct node *n)
{
	if (n->a->kind == N_INDEX)
		return comp_error(c, D_AGG_MDIM, n,
		    "improper attempt to reference @%s as a "
		    "multi-dimensional array",
		    n->a->a->name);
	n->type = c->cc->t_dyn;
	return 0;
}

int
check_index(struct comp *c, struct node *n)
{
	struct node *a = n->a;

	if (a->kind == N_AGG || (a->kind == N_INDEX && a->a->kind == N_AGG))
		return check_agg_index(c, n);
	if (bind_expr(c, a, false) != 0)
		return -EINVAL;
	if (a->kind != N_VAR)
		return check_element(c, n);
	struct ident *id = a->ident;
	switch (id->kind) {
	case ID_ASSOC: return check_assoc(c, n, id);
	case ID_ARRAY: return check_builtin_array(c, n, id);
	case ID_INLINE:
		if (id->nformals > 0)
			return check_inline_call(c, n, id);
		break;
	case ID_SUBR:
	case ID_ACTION:
	case ID_AGGFUNC:
		return comp_error(c, D_ARR_BADREF, n,
		    "cannot access %s %s as an associative array",
		    ident_kind_name(id), id->name);
	default: break;
	}
	if (id->scope == DIF_LOCAL && id->kind == ID_SCALAR &&
	    id->type != NULL && !type_is_byref(id->type) && !is_pointer(a))
		return comp_error(c, D_ARR_LOCAL, n,
		    "local variables may not be used as associative arrays: "
		    "%s",
		    id->name);
	int error = check_var(c, a);
	return error != 0 ? error : check_element(c, n);
}
