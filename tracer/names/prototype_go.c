/*
 * Typed arguments and results of functions of Go: see prototype_go.h.
 */
#include "tracer/names/prototype_go.h"

#include <string.h>

#include "dlang/base/arena.h"
#include "dlang/base/mem.h"
#include "dlang/cc/cc.h"
#include "dlang/types.h"
#include "symbols/addrspace.h"
#include "symbols/dwarf.h"
#include "symbols/golang.h"
#include "tracer/names/abi.h"
#include "tracer/names/external.h"
#include "tracer/base/state.h"

static const char *const unplaced =
    "some parameters have no name, and it is not known which";

static struct world_arg
arg_of(const struct type_member *m, const struct argplace *p, const char *why)
{
	struct world_arg a = { .place = *p };

	if (p->kind == ARGPLACE_UNKNOWN || m->type == NULL)
		a.why = why;
	else
		a.native = a.translated = m->type;
	return a;
}

/* A function in assembly has no types. But the code by which Go calls it has:
 * its name is the same without ".abi0". */
static int
proto_of(struct state *st, struct object *o, uint64_t addr, const char *name,
    const struct go_func *f, struct dwarf_proto *d)
{
	char *plain;
	const struct sym *s;
	size_t len = strlen(name);

	if (f->assembly && f->calls == GO_STACK && len > 5) {
		plain = mem_strndup(name, len - 5);
		s = object_sym(o, plain);
		mem_free(plain);
		return s != NULL ? external_proto(st, o, s->addr, s->name, d) :
				   -1;
	}
	return f->assembly ? -1 : external_proto(st, o, addr, name, d);
}

/* The debug information gives the places for other code. */
static const struct argplace *
nothing_said(struct arena *arena, size_t n)
{
	struct argplace *said = arena_alloc(arena, (n + 1) * sizeof(*said));

	for (size_t i = 0; i < n; i++)
		said[i] = (struct argplace){ .kind = ARGPLACE_UNKNOWN };
	return said;
}

static const char *
why_not(struct arena *arena, const struct load *l, const struct go_func *f)
{
	if (!external_present(l->object))
		return arena_printf(
		    arena, "there is no debug information in %s", l->module);
	if (f->calls == GO_UNKNOWN)
		return "it is not known whether they are on the stack";
	if (f->assembly)
		return "it is written in assembly";
	return arena_printf(arena,
	    "the debug information of %s does not describe it", l->module);
}

bool
prototype_go(struct state *st, struct arena *arena, const struct load *l,
    uint64_t addr, const char *name, struct typed_args *entry,
    struct typed_args *result)
{
	struct go_func f = go_func(l->object, addr, name);
	struct dwarf_proto d;

	if (f.calls == GO_NOT)
		return false;
	if (f.calls == GO_UNKNOWN ||
	    proto_of(st, l->object, addr, name, &f, &d) != 0 ||
	    d.calls != DWARF_CALLS_GO) {
		entry->why = result->why = why_not(arena, l, &f);
		return true;
	}
	size_t n = d.type->nmembers, nr = d.go.nresults;
	struct world_arg *args = arena_alloc(arena, (n + 1) * sizeof(*args));
	struct world_arg *res = arena_alloc(arena, (nr + 1) * sizeof(*res));
	struct argplace *places =
	    arena_alloc(arena, (n + nr + 1) * sizeof(*places));
	struct abi_go go = { .fn = d.type,
		.results = d.go.results,
		.nresults = nr,
		.said = f.assembly ? nothing_said(arena, n) : d.go.said,
		.width = f.width,
		.stack = f.calls == GO_STACK };

	abi_go(&go, places, places + n);
	for (size_t i = 0; i < n; i++)
		args[i] = arg_of(&d.type->members[i], &places[i], unplaced);
	res[0] = (struct world_arg){ 0 };
	res[0].native = res[0].translated =
	    types_lookup(cc_types(st->compiled.cc), "unsigned long");
	for (size_t i = 0; i < nr; i++)
		res[i + 1] = arg_of(&d.go.results[i], &places[n + i],
		    "it is not known where it is returned");
	*entry = (struct typed_args){ .n = n, .args = args };
	if (n == 0)
		entry->why = "the function has no parameters";
	*result = (struct typed_args){ .n = nr + 1, .args = res };
	if (nr == 0)
		result->why = "the function returns nothing";
	return true;
}
