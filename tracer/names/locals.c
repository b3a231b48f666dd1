/*
 * Local variables at a probe; see locals.h.
 */
#include "tracer/names/locals.h"

#include <errno.h>
#include <string.h>

#include "dlang/base/mem.h"
#include "dlang/base/vec.h"
#include "symbols/addrspace.h"
#include "symbols/dwarf_source.h"
#include "tracer/names/external.h"
#include "tracer/base/probe.h"
#include "tracer/ptrace/proc.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"

/* A name that a clause with this description uses. */
struct local {
	struct probe_desc pd; /* its strings live as long as the program */
	char *name;
	bool address;
	struct type *type;
};

struct locals {
	struct dwtypes *dw; /* borrowed */
	VEC(struct local) list;
};

static void
locals_end(void *part)
{
	struct locals *x = part;

	vec_foreach(l, &x->list)
		mem_free(l->name);
	vec_fini(&x->list);
}

static const struct part locals_part = { .size = sizeof(struct locals),
	.end = locals_end };

static struct locals *
locals_of(struct state *st, struct types *ts)
{
	struct locals *x = part_of(&st->parts, &locals_part);

	x->dw = external_types(st, ts);
	return x;
}

/* What is asked for of a variable, or why not. */
static enum dwarf_have
local_at(struct locals *x, const struct probe *p, const struct load *l,
    uint64_t addr, const char *name, bool address, struct type **type,
    struct argloc *out)
{
	struct dwarf_local at;
	struct dwarf_sense sense = { 0 };

	if (p->provider->sense != NULL)
		sense = p->provider->sense(p);
	dwarf_local(x->dw, l->object, addr - l->bias, &sense, name, &at);
	*type = at.type;
	*out = address ? at.place_loc : at.value_loc;
	if (at.relative)
		out->disp = (int64_t)((uint64_t)out->disp + l->bias);
	return address ? at.place : at.value;
}

/* ---- while a program is compiled ---- */

struct search {
	struct locals *x;
	const struct probe *p; /* that is being looked at */
	const char *name;
	bool address;
	struct type *type; /* where it was found first; NULL: nowhere */
	bool differs, placed;
	enum dwarf_have why;
};

/* Of several reasons, choose the one that says most. */
static bool
says_more(enum dwarf_have why, enum dwarf_have than)
{
	return than == DWARF_HAVE || than == DWARF_NO_SCOPE ||
	    (than == DWARF_NO_NAME && why != DWARF_NO_SCOPE);
}

static void
look(void *ctx, const struct load *l, uint64_t addr, enum probe_passes passes)
{
	struct search *s = ctx;
	struct argloc where;
	struct type *t;

	s->placed = true;
	enum dwarf_have have =
	    local_at(s->x, s->p, l, addr, s->name, s->address, &t, &where);
	if (have != DWARF_HAVE) {
		if (says_more(have, s->why))
			s->why = have;
	} else if (s->type == NULL) {
		s->type = t;
	} else if (!type_equal(s->type, t)) {
		s->differs = true;
	}
}

static const char *
complaint(const struct search *s)
{
	if (s->differs)
		return "It has different types at the places of this probe";
	return s->placed ? dwarf_have_text(s->why) :
			   "The probe is at no place in a program";
}

static bool
same_desc(const struct probe_desc *a, const struct probe_desc *b)
{
	return a->id == b->id && strcmp(a->prov, b->prov) == 0 &&
	    strcmp(a->mod, b->mod) == 0 && strcmp(a->func, b->func) == 0 &&
	    strcmp(a->name, b->name) == 0;
}

/* The number of the name, the same for each use. */
static uint32_t
number_of(const struct search *s, const struct probe_desc *pd)
{
	struct locals *x = s->x;
	uint32_t i = 0;

	vec_foreach(l, &x->list) {
		if (l->address == s->address && strcmp(l->name, s->name) == 0 &&
		    same_desc(&l->pd, pd))
			return ARGLOC_LOCALS + i;
		i++;
	}
	*vec_push(&x->list) = (struct local){
		.pd = *pd,
		.name = mem_strdup(s->name),
		.address = s->address,
		.type = s->type,
	};
	return ARGLOC_LOCALS + i;
}

int
locals_find(struct state *st, const struct probe_desc *pd, const char *name,
    bool address, struct types *ts, struct world_local *out)
{
	struct search s = {
		.x = locals_of(st, ts), .name = name, .address = address
	};

	vec_foreach(p, &st->probes.list) {
		s.p = *p;
		if (s.p->provider->sites != NULL && probe_matches(s.p, pd))
			s.p->provider->sites(s.p, look, &s);
	}
	if (s.type == NULL || s.differs) {
		out->why = complaint(&s);
		return -ENOENT;
	}
	out->type = s.type;
	out->arg = number_of(&s, pd);
	return 0;
}

/* ---- when a site is made ---- */

static struct argloc
locate(struct locals *x, const struct probe *p, const struct local *l,
    const struct load *load, uint64_t addr)
{
	static const struct argloc none = { .kind = ARGLOC_NONE };
	struct argloc at;
	struct type *t;

	/* An object that is mapped later may have another variable of that
	 * name. */
	if (local_at(x, p, load, addr, l->name, l->address, &t, &at) !=
		DWARF_HAVE ||
	    !type_equal(t, l->type))
		return none;
	return at;
}

struct argloc *
locals_table(struct state *st, const struct space *sp, const struct probe *p,
    uint64_t addr, const struct argloc *args, uint32_t nargs, uint32_t *total)
{
	static const struct argloc zero = { .kind = ARGLOC_ZERO };
	struct locals *x = part_had(&st->parts, &locals_part);
	VEC(struct argloc) table = { 0 };
	bool any = false;

	const struct load *load = x != NULL && sp->as != NULL ?
	    addrspace_load_at(sp->as, addr) :
	    NULL;
	if (load == NULL)
		return NULL;
	for (uint32_t i = 0; i < ARGLOC_LOCALS; i++)
		*vec_push(&table) = i < nargs ? args[i] : zero;
	vec_foreach(l, &x->list) {
		bool named = probe_matches(p, &l->pd);

		any |= named;
		*vec_push(&table) = named ? locate(x, p, l, load, addr) : zero;
	}
	if (!any)
		vec_fini(&table);
	else
		*total = (uint32_t)table.len;
	return table.at;
}
