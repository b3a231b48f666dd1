/*
 * Struct, union and enum specifiers: definition, layout, forward references.
 *
 * A tag that is used before its definition is a TYPE_FORWARD. The definition
 * fills the same node, so that earlier references to it become references to
 * the definition.
 */
#include <limits.h>
#include <string.h>

#include "dlang/cc/decl.h"

static const char *
tag_name(struct comp *c, const char *word, const char *tag)
{
	return arena_printf(&c->cc->arena, "%s %s", word, tag);
}

static int
check_scope_op(
    struct comp *c, const struct node *at, const char *name, const char *what)
{
	if (name != NULL && strchr(name, '`') != NULL)
		return comp_error(c, D_DECL_SCOPE, at,
		    "D scoping operator may not be used in a %s name", what);
	return 0;
}

/* Look the tag up in the debug information of the target, if that is allowed.
 * Reading it may take longer than the rest of the start, so dtrap's own
 * library, which is part of every program, never asks. */
static bool
ask_world(struct cc *cc, const struct node *n, const char *object,
    const char *bare, struct type **out)
{
	const struct world *w = cc->world;

	return !n->has_body && !cc->in_library && w->ops->type != NULL &&
	    w->ops->type(w->ctx, object, bare, cc->types, out) == 0 &&
	    *out != NULL;
}

/*
 * The type of a tag; a new tag becomes a forward type.  A tag that only the
 * library has declared has no entry in the table.  It equals, by its tag, the
 * type that a program means, which may be a type of the target.
 */
static int
find_tag(struct comp *c, struct node *n, const char *word, enum type_kind kind,
    struct type **out)
{
	struct cc *cc = c->cc;
	/* D` and C` mean this program's own declarations. */
	if (strncmp(n->name, "D`", 2) == 0 || strncmp(n->name, "C`", 2) == 0)
		n->name += 2;
	const char *tick = strrchr(n->name, '`');
	const char *full = tag_name(c, word, n->name);

	*out = types_lookup(cc->types, full);
	if (*out != NULL)
		return 0;
	const char *object = "";
	if (tick != NULL)
		object = arena_strndup(
		    &cc->arena, n->name, (size_t)(tick - n->name));
	const char *bare = tag_name(c, word, tick != NULL ? tick + 1 : n->name);
	if (ask_world(cc, n, object, bare, out)) {
		types_define(cc->types, full, *out);
		return 0;
	}
	if (tick != NULL && !n->has_body)
		return comp_error(
		    c, D_DECL_IDENT, n, "cannot find type: %s", full);
	struct type *t = types_new(cc->types, TYPE_FORWARD);
	t->name = n->name;
	t->forward_of = kind;
	if (n->has_body || !cc->in_library)
		types_define(cc->types, full, t);
	*out = t;
	return 0;
}

/* ---- layout ---- */

static uint64_t
type_align(const struct type *t)
{
	uint64_t align = 1;

	t = type_resolve((struct type *)(uintptr_t)t);
	if (t == NULL)
		return 1;
	switch (t->kind) {
	case TYPE_ARRAY: return type_align(t->base);
	case TYPE_STRUCT:
	case TYPE_UNION:
		for (size_t i = 0; i < t->nmembers; i++)
			align = MAX(align, type_align(t->members[i].type));
		return align;
	case TYPE_STRING:
	case TYPE_VOID:
	case TYPE_DYN: return 1;
	default: return t->size > 0 ? t->size : 1; /* a scalar: its size */
	}
}

struct layout {
	struct type *t;
	VEC(struct type_member) members;
	uint64_t bits; /* used so far, in bits */
	uint64_t align;
};

static void
place(struct layout *l, const char *name, struct type *t)
{
	uint64_t align = type_align(t);
	uint64_t off = 0;

	if (l->t->kind == TYPE_STRUCT)
		off = ROUND_UP((l->bits + 7) / 8, align);
	l->align = MAX(l->align, align);
	*vec_push(&l->members) =
	    (struct type_member){ .name = name, .type = t, .offset = off };
	l->bits = MAX(l->bits, (off + t->size) * 8);
}

static void
place_bits(struct layout *l, const char *name, struct type *t, uint64_t width)
{
	uint64_t unit = t->size * 8;
	uint64_t at = l->t->kind == TYPE_STRUCT ? l->bits : 0;

	/* A bit-field does not cross a storage unit of its type.  Width 0 ends
	 * the unit. */
	if (width == 0 || at / unit != (at + width - 1) / unit)
		at = ROUND_UP(at, unit);
	if (name != NULL) {
		l->align = MAX(l->align, t->size);
		*vec_push(&l->members) = (struct type_member){ .name = name,
			.type = t,
			.offset = at / unit * t->size,
			.bit_offset = (uint8_t)(at % unit),
			.bit_size = (uint8_t)width };
	}
	l->bits = MAX(l->bits, at + width);
}

static int
add_bitfield(
    struct comp *c, struct layout *l, struct node *d, const struct declared *m)
{
	int64_t width;

	if (check_expr(c, d->b) != 0)
		return -EINVAL;
	if (!check_const(d->b, &width) || width < 0 ||
	    (width == 0 && m->name != NULL))
		return comp_error(c, D_DECL_BFCONST, d->b,
		    "positive integral constant expression expected as "
		    "bit-field size");
	struct type *t = type_resolve(m->type);
	if (!type_is_integer(t))
		return comp_error(c, D_DECL_BFTYPE, d,
		    "invalid type for bit-field: %s",
		    m->name != NULL ? m->name : "(anon)");
	if ((uint64_t)width > t->size * 8)
		return comp_error(c, D_DECL_BFSIZE, d->b,
		    "bit-field too big for type: %s",
		    m->name != NULL ? m->name : "(anon)");
	place_bits(l, m->name, m->type, (uint64_t)width);
	return 0;
}

static int
check_new_member(struct comp *c, struct layout *l, const struct declared *m)
{
	uint64_t off = 0;
	struct type probe = *l->t;

	if (m->name == NULL)
		return 0;
	probe.members = l->members.at;
	probe.nmembers = l->members.len;
	if (type_member(&probe, m->name, &off) != NULL)
		return comp_error(c, D_UNKNOWN, m->at,
		    "failed to define member '%s': Duplicate member or "
		    "variable name",
		    m->name);
	return check_scope_op(c, m->at, m->name, "member");
}

static int
add_member(struct comp *c, struct layout *l, struct node *d, struct type *base)
{
	struct declared m = { 0 };
	bool bits = d->kind == N_DBITS;

	if (decl_declarator(c, bits ? d->a : d, base, &m) != 0 ||
	    check_new_member(c, l, &m) != 0)
		return -EINVAL;
	if (bits)
		return add_bitfield(c, l, d, &m);
	if (m.assoc)
		return comp_error(c, D_DECL_DYNOBJ, d,
		    "cannot have dynamic member: %s", m.name);
	if (type_resolve(m.type)->kind == TYPE_VOID ||
	    type_resolve(m.type)->kind == TYPE_FUNC)
		return comp_error(c, D_DECL_VOIDOBJ, d,
		    "cannot have void member: %s", m.name);
	if (decl_object(c, &m) != 0)
		return -EINVAL;
	place(l, m.name, m.type);
	return 0;
}

static int
add_members(struct comp *c, struct layout *l, struct node *decl)
{
	struct type *base;

	if (decl_specs(c, decl->a, &base) != 0)
		return -EINVAL;
	if (decl->list == NULL) {
		struct type *t = type_resolve(base);
		if ((t->kind != TYPE_STRUCT && t->kind != TYPE_UNION) ||
		    t->name != NULL)
			return comp_error(c, D_DECL_MNAME, decl,
			    "member declaration requires a name");
		place(l, NULL, base);
		return 0;
	}
	for (struct node *d = decl->list; d != NULL; d = d->next)
		if (add_member(c, l, d, base) != 0)
			return -EINVAL;
	return 0;
}

/* Larger objects cannot be recorded or copied.  Sums of smaller sizes do not
 * overflow. */
#define OBJECT_MAX (1ULL << 31)

static int
define_sou(struct comp *c, struct node *n, struct type *t)
{
	struct type def = { .name = n->name,
		.kind = n->op == O_UNION ? TYPE_UNION : TYPE_STRUCT };
	struct layout l = { .t = &def, .align = 1 };
	int error = 0;

	for (struct node *m = n->list; m != NULL && error == 0; m = m->next) {
		error = add_members(c, &l, m);
		if (error == 0 && l.bits / 8 > OBJECT_MAX)
			error = comp_error(
			    c, D_DECL_ARRBIG, m, "struct or union too big");
	}
	if (error == 0) {
		t->kind = def.kind;
		t->spare = false;
		t->name = n->name;
		t->size = ROUND_UP((l.bits + 7) / 8, l.align);
		t->nmembers = l.members.len;
		t->members = arena_alloc(
		    &c->cc->arena, l.members.len * sizeof(*t->members));
		if (l.members.len > 0)
			memcpy(t->members, l.members.at,
			    l.members.len * sizeof(*t->members));
	}
	vec_fini(&l.members);
	return error;
}

/* ---- enum ---- */

static int
add_enumerator(struct comp *c, struct node *e, struct type *t, int64_t *value)
{
	struct cc *cc = c->cc;

	if (check_scope_op(c, e, e->name, "enumerator") != 0)
		return -EINVAL;
	for (size_t i = 0; i < t->nenumerators; i++)
		if (strcmp(t->enumerators[i].name, e->name) == 0)
			return comp_error(c, D_UNKNOWN, e,
			    "failed to define enumerator '%s': Duplicate "
			    "member or variable name",
			    e->name);
	if (scope_global(cc, e->name) != NULL ||
	    hash_get_str(&cc->typedefs, e->name) != NULL)
		return comp_error(
		    c, D_DECL_IDRED, e, "identifier redeclared: %s", e->name);
	if (e->a != NULL) {
		if (check_expr(c, e->a) != 0)
			return -EINVAL;
		if (!check_const(e->a, value))
			return comp_error(c, D_DECL_ENCONST, e,
			    "enumerator '%s' must be assigned to an integral "
			    "constant expression",
			    e->name);
	}
	if (*value > INT_MAX || *value < INT_MIN)
		return comp_error(c, D_DECL_ENOFLOW, e,
		    "enumerator '%s' value overflows INT_MAX (%d)", e->name,
		    INT_MAX);
	struct ident *id = ident_new(cc, e->name, ID_ENUM);
	id->value = (uint64_t)*value;
	id->type = t;
	id->span = e->span;
	hash_set_str(&cc->globals, id->name, id);
	return 0;
}

static int
define_enum(struct comp *c, struct node *n, struct type *t)
{
	size_t count = 0;
	int64_t value = 0;

	for (struct node *e = n->list; e != NULL; e = e->next)
		count++;
	t->kind = TYPE_ENUM;
	t->name = n->name;
	t->size = 4;
	t->is_signed = true;
	t->enumerators =
	    arena_alloc(&c->cc->arena, count * sizeof(*t->enumerators));
	for (struct node *e = n->list; e != NULL; e = e->next, value++) {
		if (add_enumerator(c, e, t, &value) != 0)
			return -EINVAL;
		t->enumerators[t->nenumerators++] =
		    (struct type_enumerator){ e->name, value };
	}
	return 0;
}

/* ---- both ---- */

int
decl_tag(struct comp *c, struct node *n, struct type **out)
{
	bool sou = n->kind == N_SOU;
	enum type_kind kind = !sou ? TYPE_ENUM :
	    n->op == O_UNION       ? TYPE_UNION :
				     TYPE_STRUCT;
	const char *word = sou ? oper_text(n->op) : "enum";
	struct type *t = NULL;

	if (n->name == NULL) {
		t = types_new(c->cc->types, TYPE_FORWARD);
		t->forward_of = kind;
	} else {
		if (n->has_body && check_scope_op(c, n, n->name, "type") != 0)
			return -EINVAL;
		if (find_tag(c, n, word, kind, &t) != 0)
			return -EINVAL;
	}
	*out = t;
	if (!n->has_body)
		return 0;
	if (t->foreign)
		type_disown(t);
	if (t->kind != TYPE_FORWARD && !(sou && t->spare))
		return comp_error(c, D_DECL_TYPERED, n,
		    "type redeclared: %s %s", word, n->name);
	return sou ? define_sou(c, n, t) : define_enum(c, n, t);
}
