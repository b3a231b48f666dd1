/*
 * Typed arguments of functions; see prototype.h.
 *
 * Results are kept by object and address, because the clauses of a program, and
 * the processes that map one file, share them.
 */
#include "tracer/names/prototype.h"

#include <string.h>

#include "dlang/base/hash.h"
#include "dlang/cc/cc.h"
#include "dlang/types.h"
#include "symbols/addrspace.h"
#include "symbols/dwarf.h"
#include "tracer/names/abi.h"
#include "tracer/names/external.h"
#include "tracer/names/prototype_go.h"
#include "tracer/base/state.h"
#include "tracer/names/kept.h"

struct prototype {
	uint64_t addr;
	struct typed_args entry, result;
};

/* Those of one object. */
struct prototypes {
	struct hash by_addr; /* file's own */
	struct arena arena;
};

static void
prototypes_end(void *part)
{
	struct prototypes *all = part;

	hash_fini(&all->by_addr);
	arena_fini(&all->arena);
}

static const struct part prototypes_part = { .size = sizeof(struct prototypes),
	.end = prototypes_end };

/* ---- what is wrong ---- */

static const char *
no_types(struct prototypes *all, const struct load *l)
{
	const char *id = object_build_id(l->object);

	if (external_present(l->object))
		return arena_printf(&all->arena,
		    "the debug information of %s does not describe it",
		    l->module);
	if (id == NULL || strlen(id) < 3)
		return arena_printf(&all->arena,
		    "there is no debug information in %s", l->module);
	return arena_printf(&all->arena,
	    "there is no debug information in %s, and no "
	    "/usr/lib/debug/.build-id/%.2s/%s.debug (Debian: a package whose "
	    "name ends in -dbgsym)",
	    l->module, id, id + 2);
}

/* GCC gives such names to a function whose parameters it has changed, or from
 * which it has split off a part. */
static bool
is_changed(const char *name)
{
	static const char *const marks[] = { ".isra.", ".constprop.", ".part.",
		".cold" };

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (strstr(name, marks[i]) != NULL)
			return true;
	return false;
}

/* ---- making one ---- */

static void
set_entry(struct prototypes *all, struct prototype *p,
    const struct dwarf_proto *d, enum abi abi)
{
	const struct type *fn = d->type;
	size_t n = fn->nmembers;
	struct world_arg *args =
	    arena_alloc(&all->arena, (n + 1) * sizeof(*args));
	struct argplace *places =
	    arena_alloc(&all->arena, (n + 1) * sizeof(*places));
	size_t known = abi_args(fn, abi, places);

	for (size_t i = 0; i < n; i++) {
		args[i] = (struct world_arg){ .place = places[i] };
		args[i].native = args[i].translated =
		    i < known ? fn->members[i].type : NULL;
		if (i >= known)
			args[i].why = "it is not known where it is passed";
	}
	p->entry = (struct typed_args){ .n = n, .args = args };
	if (n == 0)
		p->entry.why = "the function has no parameters";
}

static void
set_result(struct state *st, struct prototypes *all, struct prototype *p,
    const struct dwarf_proto *d, enum abi abi)
{
	struct types *ts = cc_types(st->compiled.cc);
	struct world_arg *args = arena_alloc(&all->arena, 2 * sizeof(*args));
	struct type *to = d->type->base;

	args[0].native = args[0].translated = types_lookup(ts, "unsigned long");
	p->result = (struct typed_args){ .n = 2, .args = args };
	if (type_resolve(to)->kind == TYPE_VOID) {
		p->result.n = 1;
		p->result.why = "the function returns nothing";
	} else if (abi_result(d->type, abi, &args[1].place)) {
		args[1].native = args[1].translated = to;
	} else {
		args[1].why = "it is not known where it is returned";
	}
}

static void
fill(struct state *st, struct prototypes *all, struct prototype *p,
    const struct load *l, const char *name)
{
	struct dwarf_proto d;
	const char *why = NULL;

	if (prototype_go(
		st, &all->arena, l, p->addr, name, &p->entry, &p->result))
		return;
	if (is_changed(name))
		why = "the compiler has changed how it is called";
	else if (external_proto(st, l->object, p->addr, name, &d) != 0)
		why = no_types(all, l);
	else if (d.calls == DWARF_CALLS_OWN || d.calls == DWARF_CALLS_GO)
		why =
		    "its compiler has given it a calling convention of its own";
	if (why != NULL) {
		p->entry.why = p->result.why = why;
		return;
	}
	enum abi abi = d.calls == DWARF_CALLS_RUST ? ABI_RUST : ABI_C;
	set_entry(all, p, &d, abi);
	set_result(st, all, p, &d, abi);
}

static struct prototypes *
prototypes_of(struct state *st, struct object *o)
{
	struct parts *parts = object_parts(st, o);
	struct prototypes *all = part_had(parts, &prototypes_part);

	if (all == NULL) {
		all = part_of(parts, &prototypes_part);
		arena_init(&all->arena);
	}
	return all;
}

void
prototype_args(struct state *st, const struct load *l, uint64_t addr,
    const char *name, bool result, struct typed_args *out)
{
	struct prototypes *all = prototypes_of(st, l->object);
	uint64_t own = addr - l->bias;
	struct prototype *p = hash_get(&all->by_addr, own);

	if (p == NULL) {
		p = arena_alloc(&all->arena, sizeof(*p));
		p->addr = own;
		fill(st, all, p, l, name);
		hash_set(&all->by_addr, own, p);
	}
	*out = result ? p->result : p->entry;
}

/* ---- comparing ---- */

/* type_equal() compares tags by their names only. Objects may have different
 * structs of one name, and a program was compiled for the members of one of
 * them, so these are compared here. */
static bool
same_members(struct type *a, struct type *b)
{
	if (a == NULL || b == NULL || a->size != b->size ||
	    a->nmembers != b->nmembers)
		return false;
	for (size_t i = 0; i < a->nmembers; i++) {
		const struct type_member *x = &a->members[i],
					 *y = &b->members[i];
		if (x->offset != y->offset || x->bit_size != y->bit_size ||
		    x->bit_offset != y->bit_offset ||
		    (x->name == NULL) != (y->name == NULL) ||
		    (x->name != NULL && strcmp(x->name, y->name) != 0) ||
		    !type_equal(x->type, y->type))
			return false;
	}
	return true;
}

static bool
same_type(struct type *a, struct type *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	a = type_resolve(a);
	b = type_resolve(b);
	if (a == b)
		return true;
	if (!type_equal(a, b))
		return false;
	while (a != NULL && b != NULL && a->kind == TYPE_POINTER &&
	    b->kind == TYPE_POINTER && a != b) {
		a = type_resolve(a->base);
		b = type_resolve(b->base);
	}
	if (a == NULL || b == NULL)
		return a == b;
	return a == b || (a->kind != TYPE_STRUCT && a->kind != TYPE_UNION) ||
	    same_members(a, b);
}

static bool
same_place(const struct argplace *a, const struct argplace *b)
{
	if (a->kind != b->kind || a->npieces != b->npieces ||
	    a->reg != b->reg || a->disp != b->disp)
		return false;
	for (unsigned i = 0; i < a->npieces; i++)
		if (a->piece[i].reg != b->piece[i].reg ||
		    a->piece[i].size != b->piece[i].size ||
		    a->piece[i].offset != b->piece[i].offset)
			return false;
	return true;
}

bool
typed_args_equal(const struct typed_args *a, const struct typed_args *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (!same_type(a->args[i].native, b->args[i].native) ||
		    !same_place(&a->args[i].place, &b->args[i].place))
			return false;
	return true;
}

void
prototype_refused(struct state *st, const struct probe *p)
{
	state_message(st,
	    "%s:%s:%s:%s does not fire: its args[] have other types than those "
	    "that the program was compiled for",
	    p->prov, p->mod, p->func, p->name);
}
