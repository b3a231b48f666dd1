/*
 * The entry to the compiler: sessions, and the list of passes over a program.
 */
#include "dlang/cc/cc.h"

#include "dlang/base/log.h"
#include "dlang/cc/cc_impl.h"

/* ---- sessions ---- */

static void
find_types(struct cc *cc)
{
	struct types *ts = cc->types;

	cc->t_int = types_lookup(ts, "int");
	cc->t_uint = types_lookup(ts, "unsigned int");
	cc->t_long = types_lookup(ts, "long");
	cc->t_ulong = types_lookup(ts, "unsigned long");
	cc->t_llong = types_lookup(ts, "long long");
	cc->t_ullong = types_lookup(ts, "unsigned long long");
	cc->t_void = types_lookup(ts, "void");
	cc->t_char = types_lookup(ts, "char");
	cc->t_string = types_lookup(ts, "string");
	cc->t_dyn = types_lookup(ts, "<DYN>");
	cc->t_int64 = types_lookup(ts, "int64_t");
	cc->t_uint64 = types_lookup(ts, "uint64_t");
	cc->t_ptrdiff = types_lookup(ts, "ptrdiff_t");
	cc->t_size = types_lookup(ts, "size_t");
	cc->t_voidp = types_pointer(ts, cc->t_void);
}

void
cc_destroy(struct cc *cc)
{
	if (cc == NULL)
		return;
	hash_fini(&cc->globals);
	hash_fini(&cc->threads);
	hash_fini(&cc->aggs);
	hash_fini(&cc->typedefs);
	hash_fini(&cc->no_types);
	hash_fini(&cc->providers);
	vec_fini(&cc->xlators);
	vec_fini(&cc->shared.vars);
	vec_fini(&cc->shared.aggs);
	vec_fini(&cc->shared.clauses);
	vec_fini(&cc->shared.providers);
	types_destroy(cc->types);
	arena_fini(&cc->arena);
	mem_free(cc);
}

const struct prog_globals *
cc_globals(const struct cc *cc)
{
	return &cc->shared;
}

struct types *
cc_types(struct cc *cc)
{
	return cc->types;
}

/* ---- clauses ---- */

/* Option tree has a bit for each state that a clause passes through. */
enum { TREE_PARSED = 1, TREE_SPLIT = 2, TREE_CHECKED = 4 | 8 };

static void
show_tree(const struct comp *c, int64_t state, const struct node *clause)
{
	if ((option_get(c->cc->opts, OPT_TREE) & state) != 0)
		node_dump(stderr, clause, 0);
}

/* Compile a copy of a clause for one description. */
static int
compile_clause(
    struct comp *c, const struct probe_desc *pd, const struct node *source)
{
	struct prog_clause *p = arena_alloc(&c->prog->arena, sizeof(*p));
	struct node *clause = comp_copy(c, source);

	if (clause == NULL)
		return -EINVAL;
	p->desc = *pd;
	p->span = source->span;
	p->index = (unsigned)c->clauses.len;
	c->desc = &p->desc;
	c->clause = p;
	c->untyped = false;
	show_tree(c, TREE_SPLIT, clause);
	int error = stab_desc(c, source, pd);
	if (error == 0)
		error = check_clause(c, clause);
	if (error == 0)
		error = stab_clause(c, clause);
	if (error == 0) {
		show_tree(c, TREE_CHECKED, clause);
		error = cg_clause(c, clause);
	}
	c->desc = NULL;
	c->clause = NULL;
	c->diags->context = NULL;
	c->prog->destructive |= p->destructive;
	*vec_push(&c->clauses) = p;
	return error;
}

static int
compile_parts(
    struct comp *c, const struct probe_desc *pd, const struct node *parts)
{
	for (const struct node *p = parts; p != NULL; p = p->next)
		if (compile_clause(c, pd, p) != 0)
			return -EINVAL;
	return 0;
}

/* The clause for one of its descriptions.  That of another host is compiled, so
 * that all have the same aggregations, and matches what it can. */
static int
process_desc(
    struct comp *c, struct node *n, struct node *d, const struct node *parts)
{
	int64_t *zdefs = &c->cc->opts->value[OPT_ZDEFS], was = *zdefs;
	size_t before = c->clauses.len;
	struct probe_desc pd;
	bool none = false, here;

	if (host_strip(c, d, &here) != 0)
		return -EINVAL;
	*zdefs |= !here;
	int error = desc_match(c, d, &pd, &none);
	*zdefs = was;
	if (error != 0)
		return error;
	if (compile_parts(c, &pd, parts) != 0) {
		if (!none || !leave_clause(c, n, d->name))
			return -EINVAL;
		c->clauses.len = before;
	}
	for (size_t i = before; i < c->clauses.len; i++)
		c->clauses.at[i]->elsewhere = !here;
	return 0;
}

static int
process_clause(struct comp *c, struct node *n)
{
	struct nlist parts = { 0 };
	bool split = false;

	show_tree(c, TREE_PARSED, n);
	for (struct node *d = n->list; d != NULL; d = d->next) {
		if (c->in->elsewhere != NULL && c->in->elsewhere(d->name))
			continue;
		if (!split && sugar_clause(c, n, &parts) != 0)
			return -EINVAL;
		split = true;
		if (process_desc(c, n, d, parts.head) != 0)
			return -EINVAL;
	}
	return 0;
}

/* ---- programs ---- */

static int
process(struct comp *c, struct node *n)
{
	c->had_effect = true;
	if (pragma_apply(c) != 0)
		return -EINVAL;
	switch ((enum node_kind)n->kind) {
	case N_CLAUSE: return process_clause(c, n);
	case N_DECL: return decl_process(c, n);
	case N_INLINEDEF: return decl_inline(c, n);
	case N_XLATOR: return xlate_declare(c, n);
	case N_PROVIDER: return decl_provider(c, n);
	default: return 0; /* the grammar has no other outer node */
	}
}

/* Report the last operand that the program does not use. */
static int
check_operands(struct comp *c)
{
	const struct cc_input *in = c->in;
	int last = in->argc - 1;

	if (last < 1 || (uint64_t)last < c->args_used ||
	    option_get(c->cc->opts, OPT_ARGREF) != 0)
		return 0;
	return diag_error(c->diags, D_MACRO_UNUSED, NULL,
	    "extraneous argument '%s' ($%d is not referenced)", in->argv[last],
	    last);
}

static struct span
end_of_text(const struct source *source)
{
	struct span at = { .source = source, .line = 1, .col = 1 };

	for (const char *p = source->text; *p != '\0'; p++)
		if (*p == '\n')
			at.line++;
	return at;
}

static int
compile(struct comp *c)
{
	struct node *program = NULL;
	struct span end = end_of_text(c->in->source);
	int error = parse_program(c, &program);

	if (error != 0)
		return error;
	for (struct node *n = program->list; n != NULL; n = n->next)
		if (process(c, n) != 0)
			return -EINVAL;
	if (!c->had_effect && !c->in->library &&
	    option_get(c->cc->opts, OPT_EMPTY) == 0)
		return diag_error(c->diags, D_EMPTY, &end,
		    "empty D program translation unit");
	if (pragma_finish(c) != 0)
		return -EINVAL;
	return check_operands(c);
}

/* Add the clauses to the program, and number them among those of all
 * programs. */
static void
publish(struct comp *c)
{
	struct prog_globals *g = &c->cc->shared;

	for (size_t i = 0; i < c->clauses.len; i++) {
		struct prog_clause *p = c->clauses.at[i];
		p->global_index = (unsigned)g->clauses.len;
		*vec_push(&g->clauses) = p;
	}
	c->prog->clauses = c->clauses.at;
	c->prog->nclauses = c->clauses.len;
	c->clauses.at = NULL;
}

int
cc_compile(struct cc *cc, const struct cc_input *in, struct prog **out,
    struct diags *d)
{
	struct prog *prog = mem_zalloc(sizeof(*prog));
	struct comp c = { .cc = cc, .prog = prog, .in = in, .diags = d };

	*out = NULL;
	arena_init(&prog->arena);
	prog->source = in->source;
	prog->desc_attr = prog->stmt_attr = ATTR_DEFAULT;
	types_set_strsize(
	    cc->types, (uint32_t)option_get(cc->opts, OPT_STRSIZE));
	int error = compile(&c);
	if (error == 0 && !in->library)
		publish(&c);
	if (!in->library)
		LOG("cc", "%s: %s, %zu clauses", in->source->name,
		    error == 0 ? "compiled" : "refused", prog->nclauses);
	hash_fini(&c.locals);
	vec_fini(&c.pragmas);
	vec_fini(&c.clauses);
	if (error != 0) {
		prog_destroy(prog);
		return error;
	}
	*out = prog;
	return 0;
}

/* Compile the D library.  It is part of dtrap, so it compiles. */
static void
load_library(struct cc *cc)
{
	/* Static, because spans of its declarations refer to it as long as the
	 * session exists. */
	static const struct source source = { "library", builtins_library,
		true };
	struct cc_input in = { .source = &source, .level = CC_SCRIPT };
	struct prog *p = NULL;
	struct diags d;

	diags_init(&d);
	cc->in_library = true;
	int error = cc_compile(cc, &in, &p, &d);
	cc->in_library = false;
	ASSERT(error == 0);
	/* Headers may define these types too. */
	types_lookup(cc->types, "struct in_addr")->spare = true;
	types_lookup(cc->types, "struct in6_addr")->spare = true;
	prog_destroy(p);
	diags_fini(&d);
}

struct cc *
cc_create(const struct world *w, struct options *opts)
{
	struct cc *cc = mem_zalloc(sizeof(*cc));

	cc->world = w;
	cc->opts = opts;
	cc->types = types_create((uint32_t)option_get(opts, OPT_STRSIZE));
	cc->next_var = DIF_VAR_USER;
	arena_init(&cc->arena);
	find_types(cc);
	builtins_add(cc);
	if (option_get(opts, OPT_NOLIBS) == 0)
		load_library(cc);
	return cc;
}
