/*
 * Aggregating statements: @name[keys] = function(arguments).
 */
#include <string.h>

#include "dlang/cc/check.h"

/* ---- constant parameters ---- */

struct quant {
	struct comp *c;
	struct node *n; /* the call */
	const char *name;
	struct node *arg[6]; /* [1] is the first parameter */
};

static int
quant_error(
    const struct quant *q, enum diag_tag tag, size_t i, const char *what)
{
	return comp_error(q->c, tag, q->arg[i] != NULL ? q->arg[i] : q->n,
	    "%s( ) argument #%zu %s", q->name, i, what);
}

static int
quant_const(const struct quant *q, size_t i, enum diag_tag tag, int64_t *v)
{
	if (q->arg[i] == NULL || !check_const(q->arg[i], v))
		return quant_error(q, tag, i, "must be an integer constant");
	return 0;
}

static int
lquantize_param(const struct quant *q, uint64_t *param)
{
	int64_t base = 0, limit = 0, step = 1;

	if (quant_const(q, 1, D_LQUANT_BASETYPE, &base) != 0)
		return -EINVAL;
	if (base < INT32_MIN || base > INT32_MAX)
		return quant_error(
		    q, D_LQUANT_BASEVAL, 1, "must be a 32-bit quantity");
	if (quant_const(q, 2, D_LQUANT_LIMTYPE, &limit) != 0)
		return -EINVAL;
	if (limit < INT32_MIN || limit > INT32_MAX)
		return quant_error(
		    q, D_LQUANT_LIMVAL, 2, "must be a 32-bit quantity");
	if (base >= limit)
		return comp_error(q->c, D_LQUANT_MISMATCH, q->n,
		    "lquantize( ) base (argument #1) must be less than limit "
		    "(argument #2)");
	if (q->arg[3] != NULL && (!check_const(q->arg[3], &step) || step <= 0))
		return quant_error(q, D_LQUANT_STEPTYPE, 3,
		    "must be a non-zero positive integer constant");
	if (step > UINT16_MAX)
		return quant_error(
		    q, D_LQUANT_STEPVAL, 3, "must be a 16-bit quantity");
	int64_t levels = (limit - base) / step;
	if (levels == 0)
		return comp_error(q->c, D_LQUANT_STEPLARGE, q->n,
		    "lquantize( ) step (argument #3) too large: must have at "
		    "least one quantization level");
	if (levels > UINT16_MAX)
		return comp_error(q->c, D_LQUANT_STEPSMALL, q->n,
		    "lquantize( ) step (argument #3) too small: number of "
		    "quantization levels must be a 16-bit quantity");
	*param = LQUANTIZE_ENCODE(base, levels, step);
	return 0;
}

/* factor^exp, or UINT64_MAX if it exceeds 63 bits. */
static uint64_t
power(uint64_t factor, int64_t exp)
{
	uint64_t v = 1;

	for (; exp > 0; exp--) {
		if (v > INT64_MAX / factor)
			return UINT64_MAX;
		v *= factor;
	}
	return v;
}

static int
llquantize_steps(
    const struct quant *q, int64_t factor, int64_t low, int64_t steps)
{
	if (steps < factor && factor % steps != 0)
		return quant_error(q, D_LLQUANT_STEPVAL, 4,
		    "(number of steps) must divide argument #1 (factor) when "
		    "it is less than the factor");
	if (steps <= factor)
		return 0;
	if (steps % factor != 0)
		return quant_error(q, D_LLQUANT_STEPVAL, 4,
		    "(number of steps) must be a multiple of argument #1 "
		    "(factor) when it is greater than the factor");
	uint64_t max = low == 0 ? (uint64_t)(factor * factor) :
				  power((uint64_t)factor, low + 1);
	if (max % (uint64_t)steps != 0)
		return quant_error(q, D_LLQUANT_STEPVAL, 4,
		    low == 0 ? "(number of steps) must divide the square of "
			       "argument #1 (factor)" :
			       "(number of steps) must divide argument #1 "
			       "(factor) raised to argument #2 (low magnitude) "
			       "plus 1");
	return 0;
}

static int
llquantize_param(const struct quant *q, uint64_t *param)
{
	static const char bits16[] = "must be an unsigned 16-bit quantity";
	int64_t factor = 0, low = 0, high = 0, steps;

	if (quant_const(q, 1, D_LLQUANT_FACTORTYPE, &factor) != 0)
		return -EINVAL;
	if (factor < 2 || factor > UINT16_MAX)
		return quant_error(q, D_LLQUANT_FACTORVAL, 1,
		    "(factor) must be an unsigned 16-bit quantity greater "
		    "than or equal to 2");
	if (quant_const(q, 2, D_LLQUANT_LMAGTYPE, &low) != 0)
		return -EINVAL;
	if (low < 0 || low > UINT16_MAX)
		return quant_error(q, D_LLQUANT_LMAGVAL, 2, bits16);
	if (quant_const(q, 3, D_LLQUANT_HMAGTYPE, &high) != 0)
		return -EINVAL;
	if (high < 0 || high > UINT16_MAX)
		return quant_error(q, D_LLQUANT_HMAGVAL, 3, bits16);
	if (high < low)
		return quant_error(q, D_LLQUANT_HMAGVAL, 3,
		    "(high magnitude) must be at least argument #2 (low "
		    "magnitude)");
	if (power((uint64_t)factor, high + 1) == UINT64_MAX)
		return quant_error(q, D_LLQUANT_HMAGVAL, 3,
		    "(high magnitude) is such that argument #1 (factor) "
		    "raised to it plus 1 overflows 64 bits");
	if (q->arg[4] == NULL || !check_const(q->arg[4], &steps) || steps <= 0)
		return quant_error(q, D_LLQUANT_STEPTYPE, 4,
		    "must be a non-zero positive integer constant");
	if (steps > UINT16_MAX)
		return quant_error(q, D_LLQUANT_STEPVAL, 4, bits16);
	*param = LLQUANTIZE_ENCODE(factor, low, high, steps);
	return llquantize_steps(q, factor, low, steps);
}

/* ---- the same as before? ---- */

static int
param_differs(const struct quant *q, enum diag_tag tag, const char *what,
    int64_t expected, int64_t found, int line)
{
	return comp_error(q->c, tag, q->n,
	    "%s( ) %s (%ld) doesn't match previous declaration (line %d): "
	    "expected %ld, found %ld",
	    q->name, what, (long)found, line, (long)expected, (long)found);
}

static int
match_param(const struct quant *q, const struct prog_agg *a, uint64_t now)
{
	uint64_t was = a->param;
	int line = a->span.line;
	const struct {
		enum dif_agg func;
		enum diag_tag tag;
		const char *what;
		int64_t was, now;
	} rows[] = {
		{ AGG_LQUANTIZE, D_LQUANT_MATCHBASE, "base (argument #1)",
		    LQUANTIZE_BASE(was), LQUANTIZE_BASE(now) },
		{ AGG_LQUANTIZE, D_LQUANT_MATCHSTEP, "step (argument #3)",
		    LQUANTIZE_STEP(was), LQUANTIZE_STEP(now) },
		{ AGG_LQUANTIZE, D_LQUANT_MATCHLIM, "limit (argument #2)",
		    LQUANTIZE_BASE(was) +
			(int64_t)LQUANTIZE_LEVELS(was) * LQUANTIZE_STEP(was),
		    LQUANTIZE_BASE(now) +
			(int64_t)LQUANTIZE_LEVELS(now) * LQUANTIZE_STEP(now) },
		{ AGG_LLQUANTIZE, D_LLQUANT_MATCHFACTOR, "factor (argument #1)",
		    LLQUANTIZE_FACTOR(was), LLQUANTIZE_FACTOR(now) },
		{ AGG_LLQUANTIZE, D_LLQUANT_MATCHLMAG,
		    "low magnitude (argument #2)", LLQUANTIZE_LOW(was),
		    LLQUANTIZE_LOW(now) },
		{ AGG_LLQUANTIZE, D_LLQUANT_MATCHHMAG,
		    "high magnitude (argument #3)", LLQUANTIZE_HIGH(was),
		    LLQUANTIZE_HIGH(now) },
		{ AGG_LLQUANTIZE, D_LLQUANT_MATCHSTEPS,
		    "number of steps (argument #4)", LLQUANTIZE_NSTEPS(was),
		    LLQUANTIZE_NSTEPS(now) },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].func == a->func && rows[i].was != rows[i].now)
			return param_differs(q, rows[i].tag, rows[i].what,
			    rows[i].was, rows[i].now, line);
	return 0;
}

/* ---- arguments ---- */

/* How many arguments each function takes: value and parameters, then an
 * increment that may be left out. */
static const struct shape {
	enum dif_agg func;
	size_t min, max;
	size_t increment; /* index of the increment, or 0 */
} shapes[] = {
	{ AGG_COUNT, 0, 0, 0 },
	{ AGG_MIN, 1, 1, 0 },
	{ AGG_MAX, 1, 1, 0 },
	{ AGG_AVG, 1, 1, 0 },
	{ AGG_SUM, 1, 1, 0 },
	{ AGG_STDDEV, 1, 1, 0 },
	{ AGG_QUANTIZE, 1, 2, 1 },
	{ AGG_LQUANTIZE, 3, 5, 4 },
	{ AGG_LLQUANTIZE, 5, 6, 5 },
};

static const struct shape *
shape_of(enum dif_agg func)
{
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++)
		if (shapes[i].func == func)
			return &shapes[i];
	return NULL;
}

static int
check_agg_args(struct quant *q, const struct shape *s, size_t *count)
{
	struct comp *c = q->c;
	size_t n = 0;

	for (struct node *a = q->n->list; a != NULL; a = a->next) {
		if (check_expr(c, a) != 0)
			return -EINVAL;
		if (n < ARRAY_SIZE(q->arg))
			q->arg[n] = a;
		n++;
	}
	if (n < s->min || n > s->max)
		return comp_error(c, D_PROTO_LEN, q->n,
		    "%s( ) prototype mismatch: %zu arg%s passed, %s%zu "
		    "expected",
		    q->name, n, n == 1 ? "" : "s",
		    s->min == s->max ? "" :
			n < s->min   ? "at least " :
				       "at most ",
		    n < s->min ? s->min : s->max);
	if (n > 0 && !type_is_scalar(q->arg[0]->type))
		return comp_error(c, D_AGG_SCALAR, q->arg[0],
		    "%s( ) argument #1 must be of scalar type", q->name);
	if (s->increment != 0 && n > s->increment &&
	    !type_is_scalar(q->arg[s->increment]->type))
		return comp_error(c, D_PROTO_ARG, q->arg[s->increment],
		    "%s( ) argument #%zu is incompatible with prototype:\n"
		    "\tprototype: int64_t",
		    q->name, s->increment + 1);
	*count = n;
	return 0;
}

/* ---- keys ---- */

static int
check_agg_keys(struct comp *c, struct node *index, struct ident *id)
{
	size_t n = 0;

	for (struct node *k = index != NULL ? index->list : NULL; k != NULL;
	     k = k->next, n++)
		if (check_expr(c, k) != 0 ||
		    check_key(c, k, "aggregation", n + 1) != 0)
			return -EINVAL;
	if (!id->keys_known) {
		id->keys = arena_alloc(&c->cc->arena, n * sizeof(*id->keys));
		for (struct node *k = index != NULL ? index->list : NULL;
		     k != NULL; k = k->next)
			id->keys[id->nkeys++] = k->type;
		id->keys_known = true;
		return 0;
	}
	struct node none = { .kind = N_INDEX };
	struct proto p = {
		.args = id->keys, .nargs = id->nkeys, .nrequired = id->nkeys
	};
	if (index == NULL) {
		none.span = c->clause->span;
		index = &none;
	}
	return check_args(c, index, id, &p, "[ ]");
}

/* ---- the statement ---- */

/* The words of a value, if the row does not have the number. */
static uint32_t
words_of(const struct ident *func, uint64_t param)
{
	if (func->def_flags != 0)
		return func->def_flags;
	if (func->id == AGG_LQUANTIZE)
		return LQUANTIZE_LEVELS(param) + 3;
	/* After the parameters: the steps of all magnitudes on both sides of
	 * zero, values below the lowest, and both overflows. */
	uint32_t mags = LLQUANTIZE_HIGH(param) - LLQUANTIZE_LOW(param) + 1;
	return 2 * (mags * LLQUANTIZE_NSTEPS(param) + 1) + 2;
}

static int
agg_create(struct comp *c, const struct node *n, struct ident *id,
    const struct quant *q, const struct ident *func, uint64_t param)
{
	struct prog_agg *a = arena_alloc(&c->cc->arena, sizeof(*a));

	if (c->cc->shared.aggs.len >= DIF_VAR_MAX)
		return comp_error(c, D_ID_OFLOW, n,
		    "cannot create @%s: limit on number of aggregation "
		    "variables exceeded",
		    id->name);
	a->name = id->name;
	a->func = (enum dif_agg)func->id;
	a->param = param;
	a->words = words_of(func, param);
	a->is_signed = q->arg[0] == NULL || type_dif(q->arg[0]->type).is_signed;
	a->span = n->span;
	*vec_push(&c->cc->shared.aggs) = a;
	a->id = (uint32_t)c->cc->shared.aggs.len;
	id->agg = a;
	id->id = a->id;
	id->line = n->span.line;
	return 0;
}

static const char *
func_name(struct comp *c, enum dif_agg func)
{
	hash_foreach(e, &c->cc->globals) {
		const struct ident *id = e->value;
		if (id->kind == ID_AGGFUNC && id->id == func)
			return id->name;
	}
	return "";
}

static int
check_agg_func(struct comp *c, struct node *n, struct ident *id,
    struct ident *func, struct quant *q, const struct shape *s)
{
	uint64_t param = 0;

	if (func->id == AGG_LQUANTIZE && lquantize_param(q, &param) != 0)
		return -EINVAL;
	if (func->id == AGG_LLQUANTIZE && llquantize_param(q, &param) != 0)
		return -EINVAL;
	if (id->agg == NULL)
		return agg_create(c, n, id, q, func, param);
	if (id->agg->func != (enum dif_agg)func->id)
		return comp_error(c, D_AGG_REDEF, n,
		    "aggregation redefined: @%s\n\t current: @%s = %s( )\n\t"
		    "previous: @%s = %s( ) : line %d",
		    id->name, id->name, func->name, id->name,
		    func_name(c, id->agg->func), id->line);
	return match_param(q, id->agg, param);
}

static int
check_designator(struct node *n, void *ctx)
{
	if (n->kind != N_CALL || n->a->kind == N_NAME)
		return 0;
	return comp_error(ctx, D_FUNC_IDENT, n,
	    "function designator is not of function type");
}

int
check_agg_assign(struct comp *c, struct node *n)
{
	struct node *index = n->a->kind == N_INDEX ? n->a : NULL;
	struct node *agg = index != NULL ? index->a : n->a;
	struct node *call = n->b;
	struct ident *func = NULL;
	size_t count = 0;

	if (agg->kind == N_INDEX)
		return check_expr(c, n->a); /* D_AGG_MDIM */
	if (call->kind == N_CALL && call->a->kind == N_NAME)
		func = scope_global(c->cc, call->a->name);
	if (call->kind == N_CALL && call->a->kind == N_NAME && func == NULL) {
		comp_error(c, D_FUNC_UNDEF, call, "undefined function name: %s",
		    call->a->name);
		return hint_function(c, call->a->name);
	}
	if (node_walk(call, check_designator, c) != 0)
		return -EINVAL;
	if (func == NULL || func->kind != ID_AGGFUNC || n->op != O_SET) {
		comp_error(c, D_AGG_FUNC, n,
		    "@%s must be assigned the result of an aggregating "
		    "function",
		    agg->name);
		return diag_hint(c->diags,
		    "write @%s = count( ), or sum(x), max(x), quantize(x)",
		    strcmp(agg->name, "_") == 0 ? "" : agg->name);
	}
	struct quant q = { .c = c, .n = call, .name = func->name };
	const struct shape *s = shape_of((enum dif_agg)func->id);
	struct ident *id = scope_agg(c, agg->name, &agg->span);
	if (check_agg_keys(c, index, id) != 0 ||
	    check_agg_args(&q, s, &count) != 0 ||
	    check_agg_func(c, n, id, func, &q, s) != 0)
		return -EINVAL;
	agg->ident = id;
	call->ident = func;
	/* For the code generator: the value in a, the increment in b. */
	n->a->type = n->type = call->type = c->cc->t_void;
	n->ident = id;
	n->c = count > s->increment && s->increment != 0 ? q.arg[s->increment] :
							   NULL;
	n->b = call;
	return 0;
}
