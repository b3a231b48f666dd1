/*
 * Provider declarations: the static probes of a program and the types of their
 * arguments, for `dtrap -h' and `dtrap -G', and for args[] of probes that are not
 * there yet.
 */
#include "dlang/cc/decl.h"

#include <ctype.h>
#include <string.h>

#include "dlang/base/glob.h"

/* The most arguments of a probe: the argument count of USDT is a byte. */
#define PROBE_ARGS_MAX 255

static int
bad_provider(struct comp *c, const struct node *n, const char *why)
{
	return comp_error(c, D_PROV_BADNAME, n, "%s: %s", why, n->name);
}

/* Copy the parameters to *out; the name is NULL if there is none. */
static int
probe_params(struct comp *c, struct node *probe, struct node *list,
    const char *what, struct prog_params *out)
{
	size_t n = 0;

	for (struct node *p = list; p != NULL; p = p->next)
		n++;
	out->types = arena_alloc(&c->cc->arena, n * sizeof(*out->types));
	out->names = arena_alloc(&c->cc->arena, n * sizeof(*out->names));
	n = 0;

	for (struct node *p = list; p != NULL; p = p->next, n++) {
		struct declared m = { 0 };
		if (p->a == NULL)
			return comp_error(c, D_DECL_PROTO_VARARGS, p,
			    "%s prototype may not use a variable-length "
			    "argument list",
			    probe->name);
		if (decl_param(c, p, true, &m) != 0)
			return -EINVAL;
		out->types[n] = m.type;
		out->names[n] = m.name;
	}
	if (n > PROBE_ARGS_MAX)
		return comp_error(c, D_PROV_PRARGLEN, probe,
		    "probe %s %s prototype exceeds %d parameters: %zu used",
		    probe->name, what, PROBE_ARGS_MAX, n);
	/* `(void)' is no parameter. */
	if (n == 1 && type_resolve(out->types[0])->kind == TYPE_VOID)
		n = 0;
	out->count = n;
	return 0;
}

/* Find the native argument for each translated one: the one of the same name,
 * otherwise the one at the same position. */
static void
map_params(struct comp *c, struct prog_sdt_probe *p)
{
	p->map = arena_alloc(&c->cc->arena, p->xargs.count);
	for (size_t i = 0; i < p->xargs.count; i++) {
		const char *name = p->xargs.names[i];
		p->map[i] = (uint8_t)i;
		for (size_t k = 0; name != NULL && k < p->args.count; k++)
			if (p->args.names[k] != NULL &&
			    strcmp(p->args.names[k], name) == 0)
				p->map[i] = (uint8_t)k;
	}
}

/* Can args[] have type `to' if the program passes `from'? */
static bool
passes_as(struct comp *c, struct type *from, struct type *to)
{
	struct type *f = type_resolve(from), *t = type_resolve(to);

	if (type_equal(f, t) || (type_is_integer(f) && type_is_integer(t)) ||
	    (type_is_stringlike(f) && type_is_stringlike(t)))
		return true;
	if (f->kind == TYPE_POINTER && t->kind == TYPE_POINTER &&
	    (type_resolve(f->base)->kind == TYPE_VOID ||
		type_resolve(t->base)->kind == TYPE_VOID))
		return true;
	return xlate_find(c, to, from) != NULL;
}

static int
check_map(struct comp *c, const struct node *prov, const struct node *probe,
    const struct prog_sdt_probe *p)
{
	char from[128], to[128];

	for (size_t i = 0; i < p->xargs.count; i++) {
		struct type *t = p->xargs.types[i];
		struct type *f = p->map[i] < p->args.count ?
		    p->args.types[p->map[i]] :
		    c->cc->t_void;
		if (passes_as(c, f, t))
			continue;
		return comp_error(c, D_PROV_PRXLATOR, probe,
		    "translator for %s:%s output argument #%zu from %s to %s "
		    "is not defined",
		    prov->name, probe->name, i + 1,
		    type_name(f, from, sizeof(from)),
		    type_name(t, to, sizeof(to)));
	}
	return 0;
}

static int
declare_probe(struct comp *c, struct node *prov, struct node *probe,
    struct prog_sdt_probe *out)
{
	if (strchr(probe->name, '`') != NULL)
		return bad_provider(
		    c, probe, "probe name may not contain scoping operator");
	if (strlen(probe->name) > 63)
		return bad_provider(c, probe, "probe name is too long");
	for (struct node *p = prov->list; p != probe; p = p->next)
		if (strcmp(p->name, probe->name) == 0)
			return comp_error(c, D_PROV_PRDUP, probe,
			    "probe redeclared: %s:%s", prov->name, probe->name);
	out->name = probe->name;
	if (probe_params(c, probe, probe->list, "input", &out->args) != 0)
		return -EINVAL;
	out->xargs = out->args;
	if (probe->a != NULL &&
	    probe_params(c, probe, probe->a->list, "output", &out->xargs) != 0)
		return -EINVAL;
	map_params(c, out);
	return check_map(c, prov, probe, out);
}

static bool
same_params(const struct prog_params *a, const struct prog_params *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (!type_equal(a->types[i], b->types[i]))
			return false;
	return true;
}

static bool
same_probes(const struct prog_provider *a, const struct prog_provider *b)
{
	if (a->nprobes != b->nprobes)
		return false;
	for (size_t i = 0; i < a->nprobes; i++) {
		const struct prog_sdt_probe *x = &a->probes[i];
		const struct prog_sdt_probe *y = &b->probes[i];
		if (strcmp(x->name, y->name) != 0 ||
		    !same_params(&x->args, &y->args) ||
		    !same_params(&x->xargs, &y->xargs) ||
		    memcmp(x->map, y->map, x->xargs.count) != 0)
			return false;
	}
	return true;
}

/* The provider was declared before: an equal declaration is allowed. */
static int
check_same_provider(struct comp *c, const struct node *n,
    const struct node *old, const struct prog_provider *decl)
{
	vec_foreach(p, &c->cc->shared.providers)
		if (strcmp((*p)->name, n->name) == 0 && same_probes(*p, decl))
			return 0;
	return comp_error(c, D_PROV_INCOMPAT, n,
	    "provider interface mismatch: %s\n\t current: line %d\n\t"
	    "previous: line %d",
	    n->name, n->span.line, old->span.line);
}

static int
declare(struct comp *c, struct node *n, struct prog_provider *out)
{
	size_t count = 0;

	for (struct node *p = n->list; p != NULL; p = p->next)
		count++;
	out->name = n->name;
	out->source = c->in->source;
	out->probes = arena_alloc(&c->cc->arena, count * sizeof(*out->probes));
	for (struct node *p = n->list; p != NULL; p = p->next)
		if (declare_probe(c, n, p, &out->probes[out->nprobes++]) != 0)
			return -EINVAL;
	return 0;
}

int
decl_provider(struct comp *c, struct node *n)
{
	size_t len = strlen(n->name);

	if (strchr(n->name, '`') != NULL)
		return bad_provider(
		    c, n, "provider name may not contain scoping operator");
	if (len >= 64)
		return bad_provider(c, n, "provider name is too long");
	if (n->name[len - 1] >= '0' && n->name[len - 1] <= '9')
		return bad_provider(
		    c, n, "provider name may not end with a digit");
	struct prog_provider *decl = arena_alloc(&c->cc->arena, sizeof(*decl));
	if (declare(c, n, decl) != 0)
		return -EINVAL;
	struct node *old = hash_get_str(&c->cc->providers, n->name);
	if (old != NULL)
		return check_same_provider(c, n, old, decl);
	hash_set_str(&c->cc->providers, n->name, n);
	*vec_push(&c->cc->shared.providers) = decl;
	return 0;
}

/* ---- the declaration of a probe that is not there yet ---- */

/* A declared name as descriptions have it, `-' for `__', with an ending. */
static const char *
described(const char *name, const char *ending, char *to, size_t size)
{
	size_t n = 0;

	while (*name != '\0' && n < size - 1) {
		bool two = name[0] == '_' && name[1] == '_';
		to[n++] = two ? '-' : *name;
		name += two ? 2 : 1;
	}
	while (*ending != '\0' && n < size - 1)
		to[n++] = *ending++;
	to[n] = '\0';
	return to;
}

/* The field is a glob for the name with a process's number, or the name with or
 * without one. */
static bool
means_provider(const char *field, const char *name)
{
	char full[128];
	size_t n;

	if (glob_is(field))
		return glob_match(
		    field, described(name, "1", full, sizeof(full)));
	described(name, "", full, sizeof(full));
	n = strlen(full);
	if (strncmp(field, full, n) != 0)
		return false;
	while (isdigit((unsigned char)field[n]))
		n++;
	return field[n] == '\0';
}

const struct prog_sdt_probe *
decl_probe(const struct comp *c, const struct probe_desc *pd)
{
	const struct prog_sdt_probe *found = NULL;
	char name[128];

	if (pd->id != 0 || *pd->prov == '\0' || *pd->name == '\0')
		return NULL;
	vec_foreach(p, &c->cc->shared.providers) {
		if (!means_provider(pd->prov, (*p)->name))
			continue;
		for (size_t i = 0; i < (*p)->nprobes; i++) {
			const struct prog_sdt_probe *pr = &(*p)->probes[i];
			if (!glob_field(pd->name,
				described(pr->name, "", name, sizeof(name))))
				continue;
			if (found != NULL || pr->xargs.types != pr->args.types)
				return NULL;
			found = pr;
		}
	}
	return found;
}
