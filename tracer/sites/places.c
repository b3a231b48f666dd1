/*
 * Enables probes that have places, at the places that are mapped, and forgets
 * places in objects that were unmapped.
 */
#include "tracer/sites/places.h"

#include "dlang/base/glob.h"
#include "dlang/base/mem.h"
#include "symbols/addrspace.h"
#include "tracer/base/probe.h"
#include "tracer/ptrace/proc.h"
#include "tracer/base/state.h"

struct place **
places_find(
    struct places *all, uint32_t space, uint64_t addr, const struct load *l)
{
	struct place **at = &all->first;

	while (*at != NULL) {
		struct place *pl = *at;
		if (pl->space != space || pl->addr != addr) {
			at = &pl->next;
			continue;
		}
		if (pl->load == l)
			break;
		*at = pl->next;
		mem_free(pl);
	}
	return at;
}

const struct func_names *
places_func_names(
    const struct state *st, const struct load *l, const struct sym *s)
{
	static const enum func_style styles[] = {
		[NAMES_MANGLED] = FUNC_MANGLED,
		[NAMES_READABLE] = FUNC_READABLE,
		[NAMES_FULL] = FUNC_FULL,
	};

	return object_func_names(
	    l->object, s, styles[option_get(&st->opts, OPT_DEMANGLE)]);
}

bool
places_func_matches(const struct state *st, const struct load *l,
    const struct sym *s, const char *field)
{
	const struct func_names *names = places_func_names(st, l, s);

	if (names == NULL)
		return glob_field(field, s->name);
	for (unsigned i = 0; names->all[i] != NULL; i++)
		if (glob_field(field, names->all[i]))
			return true;
	return false;
}

static void
enable_in(
    struct state *st, struct proc *proc, struct probe *p, place_enable *one)
{
	struct places *all = p->data;
	uint32_t space = addrspace_id(proc->space->as);

	if (p->off)
		return;
	for (struct place *pl = all->first; pl != NULL; pl = pl->next) {
		/* If the object is no longer mapped (seen), something else may
		 * be at this address. */
		if (pl->enabled || pl->space != space || !pl->load->seen)
			continue;
		pl->enabled = true;
		one(st, proc, p, pl);
	}
}

void
places_enable(struct state *st, struct probe *p, place_enable *one)
{
	const struct places *all = p->data;
	struct proc *proc = NULL;

	while ((proc = super_next(st->super, proc)) != NULL)
		if (proc->role.family == all->family && proc->space->as != NULL)
			enable_in(st, proc, p, one);
}

void
places_unloaded(struct state *st, const struct load *l)
{
	vec_foreach(p, &st->probes.list) {
		struct places *all = (*p)->data;
		if (!(*p)->provider->places)
			continue;
		for (struct place *pl = all->first; pl != NULL; pl = pl->next)
			if (pl->load == l)
				pl->enabled = false;
	}
}

static void
forget_space(struct places *all, uint32_t space)
{
	for (struct place **at = &all->first; *at != NULL;) {
		struct place *pl = *at;
		if (pl->space != space) {
			at = &pl->next;
			continue;
		}
		*at = pl->next;
		mem_free(pl);
	}
}

void
places_space_end(struct state *st, const struct addrspace *as)
{
	vec_foreach(p, &st->probes.list)
		if ((*p)->provider->places)
			forget_space((*p)->data, addrspace_id(as));
}

void
places_free(struct places *all)
{
	for (struct place *pl = all->first, *next; pl != NULL; pl = next) {
		next = pl->next;
		mem_free(pl);
	}
}

void
places_destroy(struct probe *p)
{
	places_free(p->data);
	mem_free(p->data);
}

bool
places_module_matches(const struct probe *p, const char *module)
{
	const struct places *all = p->data;

	for (const struct place *pl = all->first; pl != NULL; pl = pl->next)
		if (load_matches(pl->load, module))
			return true;
	return false;
}

void
places_sites(const struct probe *p, probe_site_fn each, void *ctx)
{
	const struct places *all = p->data;

	for (const struct place *pl = all->first; pl != NULL; pl = pl->next)
		each(ctx, pl->load, pl->addr, PASSES_ALL);
}
