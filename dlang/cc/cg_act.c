/*
 * Translates statements to what the VM does at a hit, and decides where in the
 * record the values are.
 *
 * The record of a clause, values in the order they are written:
 *
 *	+---------+-------+-----+--------+- - -
 *	| rec_hdr | value | pad | value  |
 *	+---------+-------+-----+--------+- - -
 *	0         24            aligned to the value's size, 8 at most
 */
#include <string.h>

#include "dlang/cc/cg.h"
#include "dlang/cc/oper.h"

/* Records must fit the principal buffer; this keeps offsets from wrapping. */
#define RECORD_MAX (1U << 28)

static uint32_t
alignment(uint32_t size)
{
	return size >= 8 ? 8 : size >= 4 ? 4 : size >= 2 ? 2 : 1;
}

/* ---- one value ---- */

static enum type_kind
kind_of(const struct type *t)
{
	return type_resolve((struct type *)(uintptr_t)t)->kind;
}

static enum rec_kind
call_kind(enum dif_act act)
{
	switch (act) {
	case ACT_USYM:
	case ACT_UFUNC: return REC_USYM;
	case ACT_UMOD: return REC_UMOD;
	case ACT_UADDR: return REC_UADDR;
	case ACT_MOD: return REC_MOD;
	case ACT_SYM:
	case ACT_FUNC: return REC_SYM;
	default: return REC_STACK;
	}
}

/* Does the stack have frames of languages?  Those of jstack() do, and of
 * ustack() with space for names. */
static bool
stack_is_lang(struct comp *c, const struct node *n)
{
	int64_t strsize = n->ident->id == ACT_JSTACK ?
	    option_get(c->cc->opts, OPT_JSTACKSTRSIZE) :
	    0;

	if (n->list != NULL && n->list->next != NULL)
		check_const(n->list->next, &strsize);
	return strsize > 0;
}

static uint32_t
stack_frames(struct comp *c, const struct node *n)
{
	bool lang = n->ident->id == ACT_JSTACK;

	/* stack() is the kernel's stack, which is not available. */
	if (n->ident->id == ACT_STACK)
		return 0;
	int64_t frames =
	    option_get(c->cc->opts, lang ? OPT_JSTACKFRAMES : OPT_USTACKFRAMES);
	int64_t max = option_get(c->cc->opts, OPT_MAXFRAMES);

	if (n->list != NULL)
		check_const(n->list, &frames);
	if (max > 0 && frames > max)
		frames = max;
	return (uint32_t)MAX(frames, 1);
}

/* Describe the value of an expression in a record, except its offset. */
static struct prog_rec
describe(struct comp *c, const struct node *n, struct type *type)
{
	struct dif_type d = type_dif(type);
	struct prog_rec r = {
		.size = d.size, .is_signed = d.is_signed, .type = type
	};

	if (check_is_recordable_call(n)) {
		r.kind = call_kind((enum dif_act)n->ident->id);
		r.arg = r.kind == REC_STACK ? stack_frames(c, n) : n->ident->id;
		r.size = r.kind == REC_STACK ?
		    (uint32_t)(sizeof(struct rec_stack) + 8 * r.arg) :
		    sizeof(struct rec_sym);
		return r;
	}
	switch (kind_of(type)) {
	case TYPE_STRING: r.kind = REC_STRING; break;
	case TYPE_ARRAY:
		r.kind = type_is_stringlike(type) ? REC_CHARS : REC_BYTES;
		break;
	case TYPE_STRUCT:
	case TYPE_UNION: r.kind = REC_BYTES; break;
	case TYPE_FLOAT: r.kind = REC_FLOAT; break;
	case TYPE_INT:
		r.kind = d.size > 8 ? REC_BYTES : REC_INT; /* __int128 */
		break;
	case TYPE_POINTER:
		r.is_pointer = true;
		r.kind = REC_INT;
		break;
	default: r.kind = REC_INT; break;
	}
	return r;
}

static struct prog_act *
add_act(struct cg_clause *k, enum img_op op)
{
	struct prog_act *a = vec_push(&k->acts);

	*a = (struct prog_act){ .op = op, .index = (unsigned)k->acts.len };
	return a;
}

/* Reserve space for a value in the record. */
static int
place(struct cg_clause *k, const struct node *n, struct prog_rec *r)
{
	r->off = ROUND_UP(k->off, alignment(r->size));
	if (r->size > RECORD_MAX || r->off + r->size > RECORD_MAX)
		return comp_error(k->c, D_UNKNOWN, n,
		    "the clause records more than %u bytes", RECORD_MAX);
	k->off = r->off + r->size;
	return 0;
}

static unsigned
act_flags(const struct prog_rec *r)
{
	switch (r->kind) {
	case REC_STRING: return ACT_F_STRING;
	case REC_CHARS:
	case REC_BYTES: return ACT_F_BYREF;
	case REC_FLOAT: return r->size > 8 ? ACT_F_BYREF : 0;
	default: return 0;
	}
}

/* Emit the act that stores a value at `r'. `to' is the type in which it is
 * needed. */
static int
emit_value(struct cg_clause *k, struct node *n, struct type *to,
    const struct prog_rec *r, unsigned flags)
{
	struct difo *d = NULL;
	enum img_op op = OP_EXPR;
	int64_t arg = 0;

	if (r->kind == REC_STACK) {
		op = stack_is_lang(k->c, n) ? OP_JSTACK : OP_STACK;
		arg = (int64_t)r->arg;
	} else if (check_is_recordable_call(n)) {
		op = OP_SYM;
		arg = (int64_t)r->arg;
		if (cg_difo(k->c, n->list, NULL, &d) != 0)
			return -EINVAL;
	} else if (cg_difo(k->c, n, to, &d) != 0) {
		return -EINVAL;
	}
	struct prog_act *a = add_act(k, op);
	a->difo = d;
	a->flags = flags | act_flags(r);
	if (r->is_pointer && (n->flags & NF_ALLOCA) != 0)
		a->flags |= ACT_F_POINTS;
	a->off = r->off;
	a->size = r->size;
	a->arg = arg;
	return 0;
}

/* ---- statements under construction ---- */

struct stmt {
	struct prog_stmt s;
	VEC(struct prog_rec) recs;
	VEC(uint32_t) aggs;
};

static int
record(struct cg_clause *k, struct stmt *s, struct node *n, struct type *to)
{
	struct prog_rec r = describe(k->c, n, to != NULL ? to : n->type);

	if (place(k, n, &r) != 0 || emit_value(k, n, to, &r, 0) != 0)
		return -EINVAL;
	*vec_push(&s->recs) = r;
	return 0;
}

static void
finish(struct cg_clause *k, struct stmt *s)
{
	struct arena *a = &k->c->prog->arena;

	s->s.nrecs = s->recs.len;
	s->s.recs = arena_alloc(a, s->recs.len * sizeof(*s->recs.at));
	if (s->recs.len > 0)
		memcpy(
		    s->s.recs, s->recs.at, s->recs.len * sizeof(*s->recs.at));
	s->s.naggs = s->aggs.len;
	s->s.aggs = arena_alloc(a, s->aggs.len * sizeof(*s->aggs.at));
	if (s->aggs.len > 0)
		memcpy(
		    s->s.aggs, s->aggs.at, s->aggs.len * sizeof(*s->aggs.at));
	*vec_push(&k->stmts) = s->s;
}

/* ---- actions ---- */

static bool
is_narrow(const struct type *t)
{
	return type_is_integer(t) && type_dif(t).size < 4;
}

/*
 * The type in which a value is printed, if it is not its own.  The sum of two
 * operands narrower than int is an int in further computations, but is printed
 * in the wider of their types, as in every DTrace: printf("%d", c + c) prints a
 * char.
 */
static struct type *
shown(const struct node *n)
{
	enum oper_takes takes =
	    n->kind == N_BINARY ? oper_takes(n->op) : OPER_LOGIC;

	if (takes != OPER_SUM && takes != OPER_ARITH && takes != OPER_INT)
		return NULL;
	struct type *a = shown(n->a), *b = shown(n->b);
	a = a != NULL ? a : n->a->type;
	b = b != NULL ? b : n->b->type;
	if (!is_narrow(a) || !is_narrow(b))
		return NULL;
	struct dif_type x = type_dif(a), y = type_dif(b);
	return x.size > y.size || (x.size == y.size && y.is_signed) ? a : b;
}

static int
act_list(struct cg_clause *k, struct stmt *s, struct node *list)
{
	for (; list != NULL; list = list->next)
		if (record(k, s, list, shown(list)) != 0)
			return -EINVAL;
	return 0;
}

static int
act_trace(struct cg_clause *k, struct stmt *s, struct node *n)
{
	if (check_is_recordable_call(n->list)) {
		/* trace(ustack()) is ustack(). */
		s->s.kind = (enum dif_act)n->list->ident->id;
	}
	return act_list(k, s, n->list);
}

/* The bytes of an object that are recorded.  `printsize' can be changed while
 * tracing, so at least its default. */
#define PRINT_SIZE 8192

/* print(): the address and the object there.  Objects in D variables have no
 * address. */
static int
act_print(struct cg_clause *k, struct stmt *s, struct node *n)
{
	struct node *a = n->list;
	int64_t most = option_get(k->c->cc->opts, OPT_PRINTSIZE);

	if (kind_of(a->type) != TYPE_POINTER)
		return act_list(k, s, a);
	struct type *to = type_resolve(a->type)->base;
	uint64_t size = type_resolve(to)->size;
	struct prog_rec addr = { .kind = REC_INT, .size = 8, .type = a->type };
	struct prog_rec obj = { .kind = REC_BYTES, .type = to };
	obj.size = (uint32_t)MIN(size, (uint64_t)MAX(most, PRINT_SIZE));
	if (place(k, n, &addr) != 0 || place(k, n, &obj) != 0)
		return -EINVAL;
	/* One act for both, so that the address is computed once. */
	struct prog_rec both = addr;
	both.size = 8 + obj.size;
	if (emit_value(k, a, NULL, &both, ACT_F_OBJECT) != 0)
		return -EINVAL;
	*vec_push(&s->recs) = addr;
	*vec_push(&s->recs) = obj;
	return 0;
}

/* ustack(), usym() ... as statements: the call itself is the value. */
static int
act_self(struct cg_clause *k, struct stmt *s, struct node *n)
{
	return record(k, s, n, NULL);
}

/* Report a format that prints nothing; only for a statement, since inside
 * another call that call is the error. */
static int
check_format(struct cg_clause *k, const struct node *n)
{
	const struct node *text = n->list;

	if (text->kind != N_STRING || text->name[0] != '\0' ||
	    n->ident->id == ACT_FREOPEN)
		return 0;
	return comp_error(k->c, D_PRINTF_FMT_EMPTY, text,
	    "%s( ) format string is empty", n->ident->name);
}

static int
act_printf(struct cg_clause *k, struct stmt *s, struct node *n)
{
	s->s.fmt = n->extra;
	if (check_format(k, n) != 0)
		return -EINVAL;
	if (n->list->next == NULL)
		add_act(k, OP_MARK);
	return act_list(k, s, n->list->next);
}

static int
act_aggs(struct cg_clause *k, struct stmt *s, struct node *n)
{
	s->s.fmt = n->extra;
	if (check_format(k, n) != 0)
		return -EINVAL;
	for (struct node *a = n->list; a != NULL; a = a->next)
		if (a->kind == N_AGG)
			*vec_push(&s->aggs) = a->ident->agg->id;
	add_act(k, OP_MARK);
	struct node *last = n->list->next;
	if (n->ident->id == ACT_PRINTA || last == NULL)
		return 0;
	s->s.has_arg = true;
	return record(k, s, last,
	    n->ident->id == ACT_TRUNC ? k->c->cc->t_int64 : k->c->cc->t_uint64);
}

static int
act_exit(struct cg_clause *k, struct stmt *s, struct node *n)
{
	int error = record(k, s, n->list, k->c->cc->t_int);

	if (error == 0)
		k->acts.at[k->acts.len - 1].op = OP_EXIT;
	return error;
}

static int
act_tracemem(struct cg_clause *k, struct stmt *s, struct node *n)
{
	struct node *size = n->list->next;
	struct prog_rec r = {
		.kind = REC_BYTES, .size = (uint32_t)size->value, .type = NULL
	};

	if (size->value > RECORD_MAX)
		r.size = RECORD_MAX + 1;
	if (place(k, n, &r) != 0 ||
	    emit_value(k, n->list, NULL, &r, ACT_F_BYREF) != 0)
		return -EINVAL;
	*vec_push(&s->recs) = r;
	if (size->next == NULL)
		return 0;
	s->s.has_arg = true;
	return record(k, s, size->next, k->c->cc->t_uint64);
}

static int
act_setopt(struct cg_clause *k, struct stmt *s, struct node *n)
{
	size_t i = 0;

	add_act(k, OP_MARK);
	for (struct node *a = n->list; a != NULL; a = a->next, i++)
		if (a->kind == N_STRING)
			s->s.strs[i] = a->name;
		else if (record(k, s, a, k->c->cc->t_string) != 0)
			return -EINVAL;
	return 0;
}

static int
act_mark(struct cg_clause *k, struct stmt *s, struct node *n)
{
	add_act(k, OP_MARK);
	return 0;
}

/* speculate(), raise() ...: evaluate the argument and do it. */
static int
act_control(struct cg_clause *k, struct stmt *s, struct node *n)
{
	static const struct {
		enum dif_act act;
		enum img_op op;
	} table[] = {
		{ ACT_SPECULATE, OP_SPECULATE },
		{ ACT_COMMIT, OP_COMMIT },
		{ ACT_DISCARD, OP_DISCARD },
		{ ACT_STOP, OP_STOP },
		{ ACT_RAISE, OP_RAISE },
		{ ACT_CHILL, OP_CHILL },
	};
	struct difo *d = NULL;

	if (n->list != NULL && cg_difo(k->c, n->list, NULL, &d) != 0)
		return -EINVAL;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		if (table[i].act == (enum dif_act)n->ident->id)
			add_act(k, table[i].op)->difo = d;
	}
	/* A speculation records at least that the clause ran. */
	k->marks |= n->ident->id == ACT_SPECULATE;
	k->clause->speculates |= n->ident->id == ACT_SPECULATE;
	k->clause->commits |= n->ident->id == ACT_COMMIT;
	return 0;
}

static int
action(struct cg_clause *k, struct stmt *s, struct node *n)
{
	static const struct {
		enum dif_act act;
		int (*fn)(struct cg_clause *, struct stmt *, struct node *);
	} table[] = {
		{ ACT_TRACE, act_trace },
		{ ACT_PRINT, act_print },
		{ ACT_PRINTF, act_printf },
		{ ACT_SYSTEM, act_printf },
		{ ACT_FREOPEN, act_printf },
		{ ACT_PRINTA, act_aggs },
		{ ACT_CLEAR, act_aggs },
		{ ACT_TRUNC, act_aggs },
		{ ACT_NORMALIZE, act_aggs },
		{ ACT_DENORMALIZE, act_aggs },
		{ ACT_EXIT, act_exit },
		{ ACT_TRACEMEM, act_tracemem },
		{ ACT_SETOPT, act_setopt },
		{ ACT_FTRUNCATE, act_mark },
		{ ACT_SPECULATE, act_control },
		{ ACT_COMMIT, act_control },
		{ ACT_DISCARD, act_control },
		{ ACT_STOP, act_control },
		{ ACT_RAISE, act_control },
		{ ACT_CHILL, act_control },
	};
	const struct ident *id = n->ident;

	s->s.kind = (enum dif_act)id->id;
	k->clause->destructive |= (id->def_flags & A_DESTRUCTIVE) != 0;
	k->marks |= (id->def_flags & (A_REC | A_DESTRUCTIVE)) != 0;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].act == s->s.kind)
			return table[i].fn(k, s, n);
	return act_self(k, s, n);
}

/* ---- aggregations ---- */

/* Lay out the keys, at the first use. */
static int
lay_out_keys(struct cg_clause *k, struct ident *id, struct node *list)
{
	struct prog_agg *a = id->agg;
	uint32_t off = 0;
	size_t i = 0;

	if (a->keys != NULL || id->nkeys == 0)
		return 0;
	a->nkeys = id->nkeys;
	a->keys = arena_alloc(&k->c->cc->arena, a->nkeys * sizeof(*a->keys));
	for (struct node *n = list; n != NULL; n = n->next, i++) {
		struct prog_rec r = describe(k->c, n, id->keys[i]);
		r.off = ROUND_UP(off, alignment(r.size));
		if (r.size > RECORD_MAX || r.off + r.size > RECORD_MAX)
			return comp_error(k->c, D_UNKNOWN, n,
			    "the keys take more than %u bytes", RECORD_MAX);
		off = r.off + r.size;
		a->keys[i] = r;
	}
	a->key_size = ROUND_UP(off, 8);
	return 0;
}

static int
emit_key(struct cg_clause *k, struct node *n, struct type *type,
    const struct prog_rec *as)
{
	struct prog_rec r = describe(k->c, n, type);

	/* Later uses are limited to the space of the first. */
	if (r.kind == REC_STACK)
		r.arg = MIN(r.arg, as->arg);
	r.off = as->off;
	r.size = as->size;
	return emit_value(
	    k, n, check_is_recordable_call(n) ? NULL : type, &r, ACT_F_KEY);
}

static int
aggregate(struct cg_clause *k, struct node *n)
{
	struct ident *id = n->ident;
	struct node *keys = n->a->kind == N_INDEX ? n->a->list : NULL;
	struct node *value = n->b->list;
	struct difo *d = NULL, *inc = NULL;
	size_t i = 0;

	if (k->c->cc->opts->set[OPT_TREGS] &&
	    (int64_t)id->nkeys > option_get(k->c->cc->opts, OPT_TREGS))
		return cg_too_many_keys(k->c, n);
	if (lay_out_keys(k, id, keys) != 0)
		return -EINVAL;
	for (struct node *key = keys; key != NULL; key = key->next, i++)
		if (emit_key(k, key, id->keys[i], &id->agg->keys[i]) != 0)
			return -EINVAL;
	if (value != NULL && cg_difo(k->c, value, k->c->cc->t_int64, &d) != 0)
		return -EINVAL;
	if (n->c != NULL && cg_difo(k->c, n->c, k->c->cc->t_int64, &inc) != 0)
		return -EINVAL;
	struct prog_act *a = add_act(k, OP_AGG);
	a->difo = d;
	a->difo2 = inc;
	a->nkeys = (uint32_t)i;
	a->arg = id->agg->id;
	return 0;
}

/* ---- */

static int
expression(struct cg_clause *k, struct node *n)
{
	struct difo *d;

	if (cg_difo(k->c, n, NULL, &d) != 0)
		return -EINVAL;
	add_act(k, OP_EXPR)->difo = d;
	return 0;
}

int
cg_stmt(struct cg_clause *k, struct node *stmt)
{
	struct stmt s = { .s = { .kind = ACT_NONE, .span = stmt->span } };
	struct node *n = stmt->a;
	int error;

	if (n->kind == N_CALL && n->ident->kind == ID_ACTION)
		error = action(k, &s, n);
	else if (n->kind == N_ASSIGN && n->ident != NULL &&
	    n->ident->kind == ID_AGG)
		error = aggregate(k, n);
	else
		error = expression(k, n);
	if (error == 0)
		finish(k, &s);
	vec_fini(&s.recs);
	vec_fini(&s.aggs);
	return error;
}
