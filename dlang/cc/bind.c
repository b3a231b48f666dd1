/*
 * Binds names to identifiers.
 */
#include <string.h>

#include "dlang/cc/cc_impl.h"

static void
become_var(struct node *n, struct ident *id)
{
	n->kind = N_VAR;
	n->ident = id;
	n->type = id->type;
	n->a = n->list = NULL;
	n->flags = NF_CANON;
	if (id->kind == ID_SCALAR || id->kind == ID_ASSOC)
		n->flags |= NF_LVALUE | NF_WRITABLE;
}

/* Bind a parameter of an inline or translator to its argument. */
static int
bind_param(struct comp *c, struct node *n, struct ident *id)
{
	struct node *next = n->next;

	if (id->body == NULL) {
		become_var(n, id); /* a definition is being checked */
		return 0;
	}
	struct node *arg = comp_copy(c, id->body);
	if (arg == NULL)
		return -EINVAL;
	if (type_equal(arg->type, id->type) || type_is_byref(id->type)) {
		*n = *arg;
	} else {
		n->kind = N_CAST;
		n->a = NULL;
		n->b = arg;
		n->type = id->type;
	}
	n->next = next;
	return 0;
}

/* Make the node a variable of the traced program. */
static void
become_foreign(struct comp *c, struct node *n, const char *full,
    enum ident_kind kind, uint64_t value, struct type *type)
{
	struct ident *id = ident_new(c->cc, full, kind);

	id->value = value;
	id->type = type;
	id->attr = (struct attr){ ATTR_PRIVATE, ATTR_PRIVATE, ATTR_UNKNOWN };
	become_var(n, id);
	n->flags = NF_LVALUE;
}

int
bind_local(struct comp *c, struct node *n, const char *full, bool address)
{
	const struct world *w = c->cc->world;
	const char *name = full + strlen(BIND_LOCAL);
	struct world_local local = { 0 };

	if (c->desc == NULL)
		return comp_error(c, D_ARGS_NONE, n,
		    "%s may not be referenced outside of a probe clause", full);
	if (w->ops->local == NULL ||
	    w->ops->local(
		w->ctx, c->desc, name, address, c->cc->types, &local) != 0)
		return comp_error(c, D_IDENT_UNDEF, n,
		    "failed to resolve %s: %s", full,
		    local.why != NULL ? local.why : "Unknown variable name");
	become_foreign(c, n, full, ID_LOCAL, local.arg, local.type);
	n->flags |= NF_CANON;
	return 0;
}

static int
bind_symbol(struct comp *c, struct node *n, const char *full)
{
	const struct world *w = c->cc->world;
	const char *tick = strrchr(full, '`');
	const char *name = tick != NULL ? tick + 1 : full;
	const char *object = "";
	struct world_symbol sym = { 0 };

	if (strncmp(full, BIND_LOCAL, strlen(BIND_LOCAL)) == 0)
		return bind_local(c, n, full, false);
	if (tick != NULL) {
		/* In pid123`lib`name the process is ignored: it is the one that
		 * fires the probe. */
		const char *from = full;
		const char *first = strchr(full, '`');
		if (first != tick && strncmp(full, "pid", 3) == 0)
			from = first + 1;
		object = arena_strndup(&c->cc->arena, from,
		    tick > from ? (size_t)(tick - from) : 0);
		if (strchr(object, '`') != NULL)
			return comp_error(c, D_IDENT_UNDEF, n,
			    "failed to resolve %s: Invalid scope", full);
	}
	if (w->ops->symbol == NULL ||
	    w->ops->symbol(w->ctx, object, name, c->cc->types, &sym) != 0)
		return comp_error(c, D_IDENT_UNDEF, n,
		    "failed to resolve %s: %s", full,
		    sym.why != NULL ? sym.why : "Unknown symbol name");
	become_foreign(c, n, full, ID_SYMBOL, sym.ref, sym.type);
	return 0;
}

static int
bind_global(struct comp *c, struct node *n, struct ident *id)
{
	if ((id->flags & IDF_KERNEL) != 0)
		return comp_error(c, D_UNKNOWN, n,
		    "%s has no meaning for a user process: only a tracer of "
		    "the kernel has it",
		    id->name);
	if (id->kind == ID_ENUM) {
		n->kind = N_INT;
		n->value = id->value;
		n->type = id->type;
		n->flags = NF_CONST | NF_CANON;
		return 0;
	}
	if (id->kind == ID_SYMBOL) {
		struct type *declared = id->type;
		int error = bind_symbol(c, n, id->name);
		if (error == 0 && declared != NULL)
			n->type = n->ident->type = declared;
		return error;
	}
	become_var(n, id);
	return 0;
}

static int
bind_new(struct comp *c, struct node *n, enum dif_scope scope, const char *name)
{
	struct ident *id = scope_variable(c, scope, name, ID_SCALAR, &n->span);

	if (id == NULL)
		return -EINVAL;
	become_var(n, id);
	return 0;
}

static int
bind_name(struct comp *c, struct node *n, bool assigning)
{
	const char *name = n->name;

	if (strncmp(name, "D`", 2) == 0 || strncmp(name, "C`", 2) == 0)
		name += 2;
	if (strchr(name, '`') != NULL)
		return bind_symbol(c, n, name);
	for (size_t i = 0; i < c->nparams; i++)
		if (strcmp(c->params[i]->name, name) == 0)
			return bind_param(c, n, c->params[i]);
	struct ident *id = scope_global(c->cc, name);
	if (id != NULL)
		return bind_global(c, n, id);
	if (assigning)
		return bind_new(c, n, DIF_GLOBAL, name);
	comp_error(c, D_IDENT_UNDEF, n,
	    "failed to resolve %s: Unknown variable name", name);
	return hint_variable(c, DIF_GLOBAL, name);
}

/* self->x, this->x */
static int
bind_scoped(struct comp *c, struct node *n, bool assigning)
{
	bool self = n->a->kind == N_SELF;
	enum dif_scope scope = self ? DIF_THREAD : DIF_LOCAL;
	struct ident *id = scope_lookup(c, scope, n->name);

	if (n->op != O_ARROW)
		return comp_error(c, D_SYNTAX, n,
		    "syntax error near \".\": %s is followed by ->",
		    self ? "self" : "this");
	if (id != NULL) {
		become_var(n, id);
		return 0;
	}
	if (assigning)
		return bind_new(c, n, scope, n->name);
	comp_error(c, D_VAR_UNDEF, n,
	    "%s->%s has not yet been declared or assigned",
	    self ? "self" : "this", n->name);
	return hint_variable(c, scope, n->name);
}

int
bind_expr(struct comp *c, struct node *n, bool assigning)
{
	if (n->kind == N_NAME)
		return bind_name(c, n, assigning);
	if (n->kind == N_MEMBER &&
	    (n->a->kind == N_SELF || n->a->kind == N_THIS))
		return bind_scoped(c, n, assigning);
	return 0;
}

bool
bind_untyped_address(struct comp *c, struct node *n)
{
	struct node *a = n->a;

	if (a->kind != N_NAME || strchr(a->name, '`') == NULL ||
	    bind_expr(c, a, false) != 0 || a->kind != N_VAR ||
	    a->ident->kind != ID_SYMBOL || a->type != NULL)
		return false;
	a->type = c->cc->t_void;
	n->type = types_pointer(c->cc->types, a->type);
	n->flags = NF_CANON;
	return true;
}
