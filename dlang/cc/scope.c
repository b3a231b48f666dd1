/*
 * Variables and aggregations of the session; see scope.h.
 *
 * All scopes share one counter of ids, so an id alone identifies a variable.
 * The image and the VM look variables up by id.
 */
#include "dlang/cc/scope.h"

#include "dlang/cc/cc_impl.h"

struct ident *
ident_new(struct cc *cc, const char *name, enum ident_kind kind)
{
	struct ident *id = arena_alloc(&cc->arena, sizeof(*id));

	id->name = name;
	id->kind = kind;
	id->attr = ATTR_DEFAULT;
	return id;
}

const char *
ident_kind_name(const struct ident *id)
{
	switch (id->kind) {
	case ID_SCALAR:
	case ID_BUILTIN: return "scalar";
	case ID_ASSOC: return "associative array";
	case ID_ARRAY: return "array";
	case ID_SUBR:
	case ID_ACTION: return "function";
	case ID_AGGFUNC: return "aggregating function";
	case ID_AGG: return "aggregation";
	case ID_INLINE: return "inline";
	case ID_ENUM: return "enumerator";
	case ID_SYMBOL: return "external symbol";
	case ID_LOCAL: return "local variable of the target";
	case ID_PARAM: return "parameter";
	}
	return "identifier";
}

struct ident *
scope_global(struct cc *cc, const char *name)
{
	struct ident *id = hash_get_str(&cc->globals, name);
	int64_t version = option_get(cc->opts, OPT_VERSION);

	if (id != NULL && version != OPTION_UNSET && id->since > version)
		return NULL;
	return id;
}

static struct hash *
table_of(struct comp *c, enum dif_scope scope)
{
	switch (scope) {
	case DIF_GLOBAL: return &c->cc->globals;
	case DIF_THREAD: return &c->cc->threads;
	case DIF_LOCAL: return &c->locals;
	}
	return NULL;
}

struct ident *
scope_lookup(struct comp *c, enum dif_scope scope, const char *name)
{
	return scope == DIF_GLOBAL ? scope_global(c->cc, name) :
				     hash_get_str(table_of(c, scope), name);
}

struct ident *
scope_variable(struct comp *c, enum dif_scope scope, const char *name,
    enum ident_kind kind, const struct span *at)
{
	static const char *const class[] = { "global", "thread-local",
		"clause-local" };
	struct cc *cc = c->cc;

	if (cc->next_var > DIF_VAR_MAX) {
		diag_error(c->diags, D_ID_OFLOW, at,
		    "cannot create %s: limit on number of %s variables "
		    "exceeded",
		    name, class[scope]);
		return NULL;
	}
	struct ident *id = ident_new(cc, arena_strdup(&cc->arena, name), kind);
	id->scope = scope;
	id->id = cc->next_var++;
	id->flags = IDF_FLOATING;
	id->span = *at;
	id->line = at->line;
	id->var = arena_alloc(&cc->arena, sizeof(*id->var));
	*id->var = (struct prog_var){ .name = id->name,
		.id = id->id,
		.scope = scope,
		.kind = kind == ID_ASSOC ? DIF_ARRAY : DIF_SCALAR };
	hash_set_str(table_of(c, scope), id->name, id);
	return id;
}

/* The bytes of a key member in a tuple: 8 for integers, its size for other
 * types. */
static uint32_t
key_bytes(const struct type *t)
{
	struct dif_type d = type_dif(t);

	return d.flags & DIF_BY_REF ? ROUND_UP(d.size, 8) : 8;
}

static int
check_size(struct comp *c, const struct ident *id, const struct node *at)
{
	struct dif_type d = type_dif(id->type);

	if ((d.flags & DIF_BY_REF) == 0)
		return 0;
	if (d.size == 0)
		return comp_error(c, D_DECL_INCOMPLETE, at,
		    "cannot have an object of no size: %s", id->name);
	if (d.size > dif_static_max(&d))
		return comp_error(c, D_DECL_ARRBIG, at,
		    "%s takes %u bytes; a variable has %u at most", id->name,
		    d.size, dif_static_max(&d));
	return 0;
}

int
scope_settle(struct comp *c, struct ident *id, const struct node *at)
{
	struct prog_var *v = id->var;

	if (check_size(c, id, at) != 0)
		return -EINVAL;
	id->flags &= ~(uint32_t)IDF_FLOATING;
	if ((id->flags & IDF_SHARED) == 0)
		*vec_push(&c->cc->shared.vars) = v;
	id->flags |= IDF_SHARED;
	v->type = type_dif(id->type);
	v->nkeys = (unsigned)id->nkeys;
	v->key_size = 0;
	for (size_t i = 0; i < id->nkeys; i++)
		v->key_size += key_bytes(id->keys[i]);
	return 0;
}

struct ident *
scope_agg(struct comp *c, const char *name, const struct span *at)
{
	struct cc *cc = c->cc;
	struct ident *id = hash_get_str(&cc->aggs, name);

	if (id != NULL)
		return id;
	id = ident_new(cc, arena_strdup(&cc->arena, name), ID_AGG);
	id->span = *at;
	id->line = at->line;
	hash_set_str(&cc->aggs, id->name, id);
	return id;
}
