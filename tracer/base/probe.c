/*
 * The probe table; see probe.h.
 */
#include "tracer/base/probe.h"

#include <string.h>

#include "dlang/base/glob.h"
#include "tracer/base/provider.h"

void
probes_init(struct probes *t)
{
	*t = (struct probes){ 0 };
}

void
probes_fini(struct probes *t)
{
	vec_foreach(p, &t->list)
		if ((*p)->provider->destroy != NULL)
			(*p)->provider->destroy(*p);
	vec_fini(&t->list);
	hash_fini(&t->by_name);
	intern_fini(&t->names);
	arena_fini(&t->arena);
}

void
probes_fixed(struct probes *t)
{
	ASSERT(t->list.len < PROBE_FIRST_MADE);
	t->fixed = t->list.len;
}

/* A probe of these names, of which interned ones are unique addresses: some
 * hundred thousand are made where every instruction of a program is listed, and
 * texts of four names would take longer than all the rest. */
static uint64_t
names_key(const struct probe *p)
{
	uint64_t key = hash_u64((uintptr_t)p->func);

	key = hash_u64(key ^ (uintptr_t)p->name);
	key = hash_u64(key ^ (uintptr_t)p->mod);
	return hash_u64(key ^ (uintptr_t)p->prov);
}

static struct probe *
find(const struct probes *t, const struct probe *like)
{
	struct probe *p = hash_get(&t->by_name, names_key(like));

	while (p != NULL &&
	    (p->func != like->func || p->name != like->name ||
		p->mod != like->mod || p->prov != like->prov))
		p = p->same_key;
	return p;
}

/* A name that was most likely the last probe's as well. */
static const char *
again(struct probes *t, const char *last, const char *name)
{
	return last != NULL && strcmp(last, name) == 0 ?
	    last :
	    intern(&t->names, name);
}

static struct probe
named(struct probes *t, const char *prov, const char *mod, const char *func,
    const char *name)
{
	static const struct probe none;
	const struct probe *last =
	    t->list.len != 0 ? t->list.at[t->list.len - 1] : &none;

	return (struct probe){
		.prov = again(t, last->prov, prov),
		.mod = again(t, last->mod, mod),
		.func = again(t, last->func, func),
		.name = intern(&t->names, name),
	};
}

struct probe *
probe_add(struct probes *t, const struct provider *pr, const char *prov,
    const char *mod, const char *func, const char *name, bool *fresh)
{
	const struct probe like = named(t, prov, mod, func, name);
	struct probe *p = find(t, &like);

	*fresh = p == NULL;
	if (p != NULL)
		return p;
	p = arena_alloc(&t->arena, sizeof(*p));
	*p = like;
	p->provider = pr;
	*vec_push(&t->list) = p;
	p->id = (uint32_t)t->list.len;
	if (t->fixed != 0)
		p->id += PROBE_FIRST_MADE - 1 - (uint32_t)t->fixed;
	p->same_key = hash_set(&t->by_name, names_key(p), p);
	return p;
}

void
probe_also(struct probes *t, struct probe *p, const char *const *names)
{
	size_t n = 0;

	while (names[n] != NULL)
		n++;
	const char **to = arena_alloc(&t->arena, (n + 1) * sizeof(*to));
	for (size_t i = 0; i < n; i++)
		to[i] = intern(&t->names, names[i]);
	p->also = to;
}

static bool
is_also(const struct probe *p, const char *func)
{
	for (const char *const *name = p->also; name != NULL && *name != NULL;
	     name++)
		if (glob_field(func, *name))
			return true;
	return false;
}

struct probe *
probe_by_id(const struct probes *t, uint32_t id)
{
	size_t i = (size_t)id - 1;

	if (t->fixed != 0 && i >= t->fixed)
		i = id < PROBE_FIRST_MADE ? SIZE_MAX :
					    t->fixed + id - PROBE_FIRST_MADE;
	return i < t->list.len ? t->list.at[i] : NULL;
}

bool
probe_matches(const struct probe *p, const struct probe_desc *pd)
{
	if (pd->id != 0)
		return p->id == pd->id;
	if (*pd->prov == '\0' && *pd->mod == '\0' && *pd->func == '\0' &&
	    *pd->name == '\0')
		return *p->func != '\0';
	if (!glob_field(pd->name, p->name))
		return false;
	if (!glob_field(pd->func, p->func) && !is_also(p, pd->func) &&
	    (p->provider->function_matches == NULL ||
		!p->provider->function_matches(p, pd->func)))
		return false;
	if (!glob_field(pd->prov, p->prov) &&
	    (p->provider->prov_matches == NULL ||
		!p->provider->prov_matches(p, pd->prov)))
		return false;
	if (!glob_field(pd->mod, p->mod) &&
	    (p->provider->module_matches == NULL ||
		!p->provider->module_matches(p, pd->mod)))
		return false;
	return p->provider->means == NULL || p->provider->means(p, pd);
}
