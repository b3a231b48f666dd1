/*
 * External names; see external.h.
 */
#include "tracer/names/external.h"

#include <errno.h>

#include "dlang/base/vec.h"
#include "dlang/cc/cc.h"
#include "symbols/addrspace.h"
#include "symbols/ctf.h"
#include "symbols/dwarf.h"
#include "tracer/ptrace/proc.h"
#include "tracer/base/progress.h"
#include "tracer/base/state.h"

/* What a reference means. */
struct external {
	struct object *object;
	uint64_t addr; /* the file's own */
};

struct externals {
	struct dwtypes *dw;
	struct ctftypes *ctf; /* of objects without DWARF */
	VEC(struct external) refs;
};

/* A symbol while it is looked for. */
struct search {
	struct state *st;
	struct externals *x;
	const char *name;
	struct world_symbol *out;
	bool mapped; /* some object is called so */
};

static void
externals_end(void *part)
{
	struct externals *x = part;

	dwtypes_destroy(x->dw);
	ctftypes_destroy(x->ctf);
	vec_foreach(e, &x->refs)
		object_put(e->object);
	vec_fini(&x->refs);
}

static const struct part externals_part = { .size = sizeof(struct externals),
	.end = externals_end };

static struct externals *
externals_of(struct state *st, struct types *ts)
{
	struct externals *x = part_of(&st->parts, &externals_part);

	if (x->dw == NULL) {
		x->dw = dwtypes_create(ts);
		x->ctf = ctftypes_create(ts);
	}
	return x;
}

struct dwtypes *
external_types(struct state *st, struct types *ts)
{
	return externals_of(st, ts)->dw;
}

static uint64_t
ref_to(struct externals *x, struct object *o, uint64_t addr)
{
	for (size_t i = 0; i < x->refs.len; i++)
		if (x->refs.at[i].object == o && x->refs.at[i].addr == addr)
			return i;
	*vec_push(&x->refs) = (struct external){ object_get(o), addr };
	return x->refs.len - 1;
}

/* ---- the debug information that there is: DWARF, else CTF ---- */

static int
variable(struct externals *x, struct object *o, const char *name, uint64_t addr,
    struct dwarf_var *out)
{
	return dwarf_present(o) ? dwarf_var(x->dw, o, name, addr, out) :
				  ctftypes_var(x->ctf, o, name, addr, out);
}

bool
external_present(struct object *o)
{
	return dwarf_present(o) || ctftypes_present(o);
}

int
external_proto(struct state *st, struct object *o, uint64_t addr,
    const char *name, struct dwarf_proto *out)
{
	struct externals *x = externals_of(st, cc_types(st->compiled.cc));

	progress(st, "debug information of %s", object_basename(o));
	return dwarf_present(o) ? dwarf_proto(x->dw, o, addr, name, out) :
				  ctftypes_proto(x->ctf, o, name, out);
}

/* ---- each object of the targets ---- */

typedef bool (*load_fn)(void *ctx, struct load *l);

static bool
space_loads(struct addrspace *as, const char *module, load_fn fn, void *ctx)
{
	struct load *const *loads;
	size_t n = addrspace_loads(as, &loads);

	for (int exec = 1; exec >= 0; exec--)
		for (size_t i = 0; i < n; i++)
			if (loads[i]->seen && loads[i]->is_exec == exec &&
			    load_matches(loads[i], module) && fn(ctx, loads[i]))
				return true;
	return false;
}

/* Call fn() for every object that the field matches, until it returns true.
 * Returns whether it did. */
static bool
each_load(struct state *st, const char *module, load_fn fn, void *ctx)
{
	struct proc *target = super_proc(st->super, st->named.pid);

	if (target != NULL && target->space->as != NULL &&
	    space_loads(target->space->as, module, fn, ctx))
		return true;
	for (struct proc *p = super_next(st->super, NULL); p != NULL;
	     p = super_next(st->super, p))
		if (p != target && p->space->as != NULL &&
		    space_loads(p->space->as, module, fn, ctx))
			return true;
	return false;
}

/* ---- symbols ---- */

/* What is known of a function without debug information: only its address. */
static struct type *
plain_function(struct types *ts)
{
	struct type *t = types_new(ts, TYPE_FUNC);

	t->base = types_lookup(ts, "int");
	t->varargs = true;
	return t;
}

static const char *
why_not(enum dwarf_place p)
{
	switch (p) {
	case DWARF_THREAD:
		return "Thread-local variables cannot be read by name";
	case DWARF_NOWHERE: return "The compiler optimised it away";
	case DWARF_UNSUPPORTED: return "It has no fixed address";
	case DWARF_AT:
	case DWARF_ELSEWHERE: break;
	}
	return NULL;
}

static bool
found_symbol(struct search *s, struct load *l, const struct sym *sym,
    const struct dwarf_var *v)
{
	struct world_symbol *out = s->out;

	out->ref = ref_to(s->x, l->object, sym != NULL ? sym->addr : v->addr);
	out->object = l->module;
	out->type = v->type;
	out->function = sym != NULL && sym->kind != SYM_OBJECT;
	out->why = NULL;
	return true;
}

static bool
symbol_in(void *ctx, struct load *l)
{
	struct search *s = ctx;
	const struct sym *sym = object_sym(l->object, s->name);
	struct dwarf_var v = { 0 };

	s->mapped = true;
	progress(s->st, "debug information of %s", l->module);
	if (sym != NULL && sym->kind == SYM_TLS) {
		s->out->why = why_not(DWARF_THREAD);
		return true;
	}
	int error = variable(
	    s->x, l->object, s->name, sym != NULL ? sym->addr : UINT64_MAX, &v);
	if (sym != NULL)
		return found_symbol(s, l, sym, &v);
	if (error != 0 || v.place == DWARF_ELSEWHERE)
		return false;
	if (v.place == DWARF_AT)
		return found_symbol(s, l, NULL, &v);
	s->out->why = why_not(v.place);
	return true;
}

int
external_symbol(struct state *st, const char *object, const char *name,
    struct types *ts, struct world_symbol *out)
{
	struct search s = {
		.st = st, .x = externals_of(st, ts), .name = name, .out = out
	};

	*out = (struct world_symbol){ 0 };
	if (st->super != NULL && each_load(st, object, symbol_in, &s) &&
	    out->why == NULL) {
		if (out->type == NULL && out->function)
			out->type = plain_function(ts);
		return 0;
	}
	if (out->why == NULL && object[0] != '\0' && !s.mapped)
		out->why = "No object of that name is mapped";
	return -ENOENT;
}

int
external_addr(const struct state *st, const struct space *sp, uint64_t ref,
    uint64_t *addr)
{
	const struct externals *x = part_had(&st->parts, &externals_part);
	struct load *const *loads;

	if (x == NULL || ref >= x->refs.len || sp->as == NULL)
		return -ENOENT;
	const struct external *e = &x->refs.at[ref];
	size_t n = addrspace_loads(sp->as, &loads);
	for (size_t i = 0; i < n; i++) {
		if (!loads[i]->seen || loads[i]->object != e->object)
			continue;
		*addr = e->addr + loads[i]->bias;
		return 0;
	}
	return -ENOENT;
}

/* ---- types ---- */

struct type_search {
	struct state *st;
	struct externals *x;
	const char *name;
	struct type *type;
};

static bool
type_in(void *ctx, struct load *l)
{
	struct type_search *s = ctx;

	struct externals *x = s->x;
	progress(s->st, "debug information of %s", l->module);
	int error = dwarf_present(l->object) ?
	    dwarf_type(x->dw, l->object, s->name, &s->type) :
	    ctftypes_type(x->ctf, l->object, s->name, &s->type);

	return error == 0;
}

int
external_type(struct state *st, const char *object, const char *name,
    struct types *ts, struct type **out)
{
	struct type_search s = {
		.st = st, .x = externals_of(st, ts), .name = name
	};

	if (st->super == NULL || !each_load(st, object, type_in, &s))
		return -ENOENT;
	*out = s.type;
	return 0;
}
