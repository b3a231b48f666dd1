/*
 * Checks calls: prototypes, and actions whose arguments a prototype cannot
 * describe.
 */

#include "dlang/cc/check.h"

/* ---- prototypes ---- */

static size_t
check_count(const struct node *list)
{
	size_t n = 0;

	for (; list != NULL; list = list->next)
		n++;
	return n;
}

int
check_destructive_after_speculate(struct comp *c, const struct node *n)
{
	return comp_error(c, D_ACT_SPEC, n,
	    "destructive actions may not follow speculate( )");
}

static int
wrong_length(struct comp *c, const struct node *n, const struct ident *id,
    const char *name, const char *brackets, size_t got, const struct proto *p)
{
	bool range = p->nrequired != p->nargs || p->varargs;

	comp_error(c, D_PROTO_LEN, n,
	    "%s%s prototype mismatch: %zu %s%s passed, %s%zu expected", name,
	    brackets, got, brackets[0] == '[' ? "key" : "arg",
	    got == 1 ? "" : "s",
	    !range                 ? "" :
		got < p->nrequired ? "at least " :
				     "at most ",
	    got < p->nrequired ? p->nrequired : p->nargs);
	return hint_form(c, id, p);
}

int
check_wrong_arg(struct comp *c, const struct node *arg, const char *name,
    const char *brackets, size_t i, const struct type *want)
{
	char x[NAME_MAX_TEXT], y[NAME_MAX_TEXT];

	bool key = brackets[0] == '[';

	comp_error(c, D_PROTO_ARG, arg,
	    "%s%s %s #%zu is incompatible with prototype:\n"
	    "\tprototype: %s\n\t%9s: %s",
	    name, brackets, key ? "key" : "argument", i,
	    type_name(want, x, sizeof(x)), key ? "key" : "argument",
	    type_name(arg->type, y, sizeof(y)));
	return key ? -EINVAL : hint_argument(c, arg, want);
}

/* A string fits a `void *' parameter: its characters are in memory. */
static bool
argument_fits(struct type *want, const struct node *a)
{
	const struct type *t = type_resolve(want);

	return check_compatible(want, a) ||
	    (t->kind == TYPE_POINTER &&
		type_resolve(t->base)->kind == TYPE_VOID &&
		type_is_string(a->type));
}

int
check_args(struct comp *c, struct node *n, struct ident *id,
    const struct proto *p, const char *brackets)
{
	const char *name = id->kind == ID_AGG ?
	    arena_printf(&c->cc->arena, "@%s", id->name) :
	    id->name;
	size_t got = check_count(n->list), i = 0;

	if (got < p->nrequired || (got > p->nargs && !p->varargs))
		return wrong_length(c, n, id, name, brackets, got, p);
	for (struct node *a = n->list; a != NULL; a = a->next, i++) {
		enum type_kind k = type_resolve(a->type)->kind;
		struct type *want = i < p->nargs ? p->args[i] : NULL;
		if (k == TYPE_VOID || k == TYPE_DYN)
			return want != NULL ?
			    check_wrong_arg(c, a, name, brackets, i + 1, want) :
			    0;
		if (want != NULL && !argument_fits(want, a)) {
			check_wrong_arg(c, a, name, brackets, i + 1, want);
			return brackets[0] == '[' ? hint_form(c, id, p) :
						    -EINVAL;
		}
	}
	return 0;
}

int
check_key(struct comp *c, struct node *key, const char *kind, size_t n)
{
	char buf[NAME_MAX_TEXT];
	enum type_kind k = type_resolve(key->type)->kind;

	if (k == TYPE_VOID || k == TYPE_DYN || k == TYPE_FUNC ||
	    k == TYPE_FORWARD || is_translated(key))
		return comp_error(c, D_KEY_TYPE, key,
		    "%s expression may not be used as %s index: key #%zu",
		    type_name(key->type, buf, sizeof(buf)), kind, n);
	return 0;
}

/* ---- small helpers for actions ---- */

int
check_mismatch(
    struct comp *c, enum diag_tag tag, const struct node *n, const char *what)
{
	size_t got = check_count(n->list);

	/* The tags of single actions have no singular. */
	comp_error(c, tag, n,
	    "%s( ) prototype mismatch: %zu arg%s passed, %s expected",
	    n->ident->name, got, got == 1 && tag == D_PROTO_LEN ? "" : "s",
	    what);
	return hint_form(c, n->ident, NULL);
}

static bool
positive_const(const struct node *n)
{
	int64_t v;

	return check_const(n, &v) && v > 0;
}

int
check_list(struct comp *c, struct node *list)
{
	for (; list != NULL; list = list->next)
		if (check_expr(c, list) != 0)
			return -EINVAL;
	return 0;
}

bool
check_is_recordable_call(const struct node *n)
{
	if (n->kind != N_CALL || n->ident == NULL ||
	    n->ident->kind != ID_ACTION)
		return false;
	switch ((enum dif_act)n->ident->id) {
	case ACT_STACK:
	case ACT_USTACK:
	case ACT_JSTACK:
	case ACT_USYM:
	case ACT_UFUNC:
	case ACT_UMOD:
	case ACT_UADDR:
	case ACT_SYM:
	case ACT_FUNC:
	case ACT_MOD: return true;
	default: return false;
	}
}

/* ---- actions on aggregations ---- */

int
check_agg_arg(struct comp *c, const struct node *n, struct node *a, size_t i,
    enum diag_tag not_agg, enum diag_tag unknown)
{
	char buf[NAME_MAX_TEXT];

	if (a->kind != N_AGG) {
		if (a->type == NULL && check_expr(c, a) != 0)
			return -EINVAL;
		return comp_error(c, not_agg, a,
		    "%s( ) argument #%zu is incompatible with prototype:\n"
		    "\tprototype: aggregation\n\t argument: %s",
		    n->ident->name, i, type_name(a->type, buf, sizeof(buf)));
	}
	a->ident = hash_get_str(&c->cc->aggs, a->name);
	a->type = c->cc->t_dyn;
	if (a->ident == NULL || a->ident->agg == NULL) {
		comp_error(
		    c, unknown, a, "undefined aggregation: @%s", a->name);
		return hint_agg(c, a->name);
	}
	return 0;
}

static int
check_clear(struct comp *c, struct node *n)
{
	bool clear = n->ident->id == ACT_CLEAR;

	if (check_count(n->list) != 1)
		return check_mismatch(c, D_PROTO_LEN, n, "1");
	return check_agg_arg(c, n, n->list, 1,
	    clear ? D_CLEAR_AGGARG : D_NORMALIZE_AGGARG,
	    clear ? D_CLEAR_AGGBAD : D_NORMALIZE_AGGBAD);
}

static int
check_agg_value(struct comp *c, struct node *n)
{
	struct node *v = n->list->next;

	if (v == NULL)
		return 0;
	if (check_expr(c, v) != 0)
		return -EINVAL;
	if (!type_is_scalar(v->type))
		return check_wrong_arg(
		    c, v, n->ident->name, "( )", 2, c->cc->t_uint64);
	return 0;
}

static int
check_trunc(struct comp *c, struct node *n)
{
	size_t got = check_count(n->list);

	if (got < 1 || got > 2)
		return check_mismatch(c, D_PROTO_LEN, n,
		    got < 1 ? "at least 1" : "no more than 2");
	if (check_agg_arg(c, n, n->list, 1, D_TRUNC_AGGARG, D_TRUNC_AGGBAD) !=
	    0)
		return -EINVAL;
	return check_agg_value(c, n);
}

static int
check_normalize(struct comp *c, struct node *n)
{
	if (check_count(n->list) != 2)
		return check_mismatch(c, D_PROTO_LEN, n, "2");
	if (check_agg_arg(
		c, n, n->list, 1, D_NORMALIZE_AGGARG, D_NORMALIZE_AGGBAD) != 0)
		return -EINVAL;
	return check_agg_value(c, n);
}

/* ---- trace, tracemem, print, stacks ---- */

static int
check_trace(struct comp *c, struct node *n)
{
	struct node *a = n->list;
	bool print = n->ident->id == ACT_PRINT;
	const char *name = n->ident->name;

	if (check_count(a) != 1)
		return check_mismatch(c, D_PROTO_LEN, n, "1");
	if (a->kind == N_AGG && print)
		return comp_error(c, D_PRINT_AGG, a,
		    "print( ) may not be applied to an aggregation -- did you "
		    "mean printa( )?");
	if (a->kind == N_AGG)
		return comp_error(c, D_TRACE_DYN, a,
		    "trace( ) may not be applied to a dynamic expression");
	if (check_expr(c, a) != 0)
		return -EINVAL;
	enum type_kind k = kind_of(a);
	if (k == TYPE_VOID || k == TYPE_FUNC || k == TYPE_FORWARD)
		return comp_error(c, print ? D_PRINT_VOID : D_TRACE_VOID, a,
		    "%s( ) may not be applied to a void expression", name);
	if (k == TYPE_DYN)
		return comp_error(c, print ? D_PRINT_DYN : D_TRACE_DYN, a,
		    "%s( ) may not be applied to a dynamic expression", name);
	if (a->kind == N_XLATE)
		return comp_error(c, print ? D_PRINT_DYN : D_TRACE_DYN, a,
		    "%s( ) may not be applied to a translated pointer", name);
	return 0;
}

/* The argument must be a pointer to an object of known size, or an object in
 * D. */
static int
check_print(struct comp *c, struct node *n)
{
	struct node *a = n->list;
	char buf[NAME_MAX_TEXT];

	if (check_trace(c, n) != 0)
		return -EINVAL;
	enum type_kind k = kind_of(a);
	if (k == TYPE_STRUCT || k == TYPE_UNION || k == TYPE_ARRAY ||
	    k == TYPE_STRING)
		return 0;
	if (k != TYPE_POINTER)
		return check_wrong_arg(
		    c, a, n->ident->name, "( )", 1, c->cc->t_voidp);
	struct type *to = type_resolve(a->type)->base;
	if (type_resolve(to)->size == 0)
		return comp_error(c, D_PRINT_SIZE, a,
		    "%s( ) argument #1 reference has type '%s' with size 0; "
		    "cannot %s( ) it.",
		    n->ident->name, type_name(to, buf, sizeof(buf)),
		    n->ident->name);
	return 0;
}

static int
check_tracemem(struct comp *c, struct node *n)
{
	struct node *addr = n->list;
	size_t got = check_count(addr);
	char buf[NAME_MAX_TEXT];

	if (got > 3)
		return check_mismatch(c, D_PROTO_LEN, n, "at most 3");
	if (got < 2)
		return check_mismatch(c, D_PROTO_LEN, n, "at least 2");
	if (check_list(c, addr) != 0)
		return -EINVAL;
	if (!type_is_scalar(addr->type) && kind_of(addr) != TYPE_ARRAY &&
	    !type_is_string(addr->type))
		return comp_error(c, D_TRACEMEM_ADDR, addr,
		    "tracemem( ) argument #1 is incompatible with prototype:\n"
		    "\tprototype: pointer or integer\n\t argument: %s",
		    type_name(addr->type, buf, sizeof(buf)));
	if (!type_is_integer(addr->next->type))
		return check_wrong_arg(c, addr->next, "tracemem", "( )", 2,
		    types_lookup(c->cc->types, "size_t"));
	if (!positive_const(addr->next))
		return comp_error(c, D_TRACEMEM_SIZE, addr->next,
		    "tracemem( ) argument #2 must be a non-zero positive "
		    "integral constant expression");
	if (got == 3 && !type_is_scalar(addr->next->next->type))
		return comp_error(c, D_TRACEMEM_DYNSIZE, addr->next->next,
		    "tracemem( ) dynamic size (argument #3) must be of scalar "
		    "type");
	return 0;
}

static int
check_ustack(struct comp *c, struct node *n)
{
	struct node *frames = n->list;
	int64_t v;

	if (check_list(c, frames) != 0 ||
	    check_args(c, n, n->ident, ident_proto(c->cc, n->ident), "( )") !=
		0)
		return -EINVAL;
	if (frames != NULL && !positive_const(frames))
		return comp_error(c, D_USTACK_FRAMES, frames,
		    "%s( ) argument #1 must be a non-zero positive integer "
		    "constant",
		    n->ident->name);
	if (frames != NULL && frames->next != NULL &&
	    (!check_const(frames->next, &v) || v < 0))
		return comp_error(c, D_USTACK_STRSIZE, frames->next,
		    "%s( ) argument #2 must be a positive integer constant",
		    n->ident->name);
	return 0;
}

static int
check_stack(struct comp *c, struct node *n)
{
	if (check_list(c, n->list) != 0 ||
	    check_args(c, n, n->ident, ident_proto(c->cc, n->ident), "( )") !=
		0)
		return -EINVAL;
	if (n->list != NULL && !positive_const(n->list))
		return comp_error(c, D_STACK_SIZE, n->list,
		    "%s( ) argument #1 must be a non-zero positive integer "
		    "constant",
		    n->ident->name);
	return 0;
}

/* usym(), sym() ...: an argument is required. */
static int
check_plain(struct comp *c, struct node *n)
{
	if (check_list(c, n->list) != 0)
		return -EINVAL;
	/* The address may also be a pointer. */
	if (check_is_recordable_call(n) && n->list != NULL &&
	    n->list->next == NULL &&
	    type_resolve(n->list->type)->kind == TYPE_POINTER)
		return 0;
	return check_args(c, n, n->ident, ident_proto(c->cc, n->ident), "( )");
}

int
check_kernel_only(struct comp *c, const struct node *n)
{
	return comp_error(c, D_UNKNOWN, n,
	    "%s( ) has no meaning for a user process: only a tracer of the "
	    "kernel has it",
	    n->ident->name);
}

static int
check_action(struct comp *c, struct node *n)
{
	static const struct {
		enum dif_act act;
		int (*fn)(struct comp *, struct node *);
	} table[] = {
		{ ACT_TRACE, check_trace },
		{ ACT_PRINT, check_print },
		{ ACT_PRINTF, check_printf },
		{ ACT_SYSTEM, check_printf },
		{ ACT_FREOPEN, check_printf },
		{ ACT_PRINTA, check_printa },
		{ ACT_CLEAR, check_clear },
		{ ACT_DENORMALIZE, check_clear },
		{ ACT_TRUNC, check_trunc },
		{ ACT_NORMALIZE, check_normalize },
		{ ACT_TRACEMEM, check_tracemem },
		{ ACT_STACK, check_stack },
		{ ACT_USTACK, check_ustack },
		{ ACT_JSTACK, check_ustack },
	};

	/* A wrong order is an error in every DTrace, so it is reported
	 * first. */
	if (c->speculating && (n->ident->def_flags & A_DESTRUCTIVE) != 0)
		return check_destructive_after_speculate(c, n);

	int (*fn)(struct comp *, struct node *) = check_plain;

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].act == (enum dif_act)n->ident->id)
			fn = table[i].fn;
	if (fn(c, n) != 0)
		return -EINVAL;
	return (n->ident->flags & IDF_KERNEL) != 0 ? check_kernel_only(c, n) :
						     0;
}

/* ---- any call ---- */

int
check_call(struct comp *c, struct node *n)
{
	if (n->a->kind != N_NAME)
		return comp_error(c, D_FUNC_IDENT, n,
		    "function designator is not of function type");
	struct ident *id = scope_global(c->cc, n->a->name);
	if (id == NULL) {
		comp_error(c, D_FUNC_UNDEF, n, "undefined function name: %s",
		    n->a->name);
		return hint_function(c, n->a->name);
	}
	n->ident = id;
	n->flags = NF_CANON;
	int error = 0;
	switch (id->kind) {
	case ID_SUBR: return check_subr(c, n);
	case ID_ACTION:
		error = check_action(c, n);
		n->type = ident_proto(c->cc, id)->result;
		return error;
	case ID_AGGFUNC:
		error = check_list(c, n->list);
		n->type = c->cc->t_void;
		return error;
	default:
		return comp_error(c, D_FUNC_IDKIND, n,
		    "%s '%s' may not be referenced as a function",
		    ident_kind_name(id), id->name);
	}
}
