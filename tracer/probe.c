/*
 * The probe table; see probe.h.
 */
#include "tracer/probe.h"

#include <string.h>

#include "dlang/base/glob.h"
#include "dlang/base/mem.h"
#include "tracer/provider.h"

void
probes_init(struct probes *t)
{
	*t = (struct probes){ 0 };
}

void
probes_fini(struct probes *t)
{
	hash_foreach(e, &t->by_name)
		mem_free((void *)e->str);
	hash_fini(&t->by_name);
	vec_foreach(p, &t->list) {
		if ((*p)->provider->destroy != NULL)
			(*p)->provider->destroy(*p);
		mem_free(*p);
	}
	vec_fini(&t->list);
	intern_fini(&t->names);
}

/* prov:mod:func:name, to be freed.  Hundreds are made at every start, and tens
 * of thousands where a whole program is probed: printf would take longer than
 * all the rest. */
static char *
full_name(const char *prov, const char *mod, const char *func, const char *name)
{
	const char *const part[] = { prov, mod, func, name };
	size_t len[ARRAY_SIZE(part)], sum = 0;

	for (size_t i = 0; i < ARRAY_SIZE(part); i++)
		sum += (len[i] = strlen(part[i])) + 1;
	char *all = mem_alloc(sum), *p = all;
	for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
		memcpy(p, part[i], len[i]);
		p += len[i];
		*p++ = ':';
	}
	p[-1] = '\0';
	return all;
}

struct probe *
probe_lookup(const struct probes *t, const char *prov, const char *mod,
    const char *func, const char *name)
{
	char *key = full_name(prov, mod, func, name);
	struct probe *p = hash_get_str(&t->by_name, key);

	mem_free(key);
	return p;
}

struct probe *
probe_add(struct probes *t, const struct provider *pr, const char *prov,
    const char *mod, const char *func, const char *name, bool *fresh)
{
	char *key = full_name(prov, mod, func, name);
	struct probe *p = hash_get_str(&t->by_name, key);

	*fresh = p == NULL;
	if (p != NULL) {
		mem_free(key);
		return p;
	}
	p = mem_zalloc(sizeof(*p));
	p->provider = pr;
	p->prov = intern(&t->names, prov);
	p->mod = intern(&t->names, mod);
	p->func = intern(&t->names, func);
	p->name = intern(&t->names, name);
	*vec_push(&t->list) = p;
	p->id = (uint32_t)t->list.len;
	hash_set_str(&t->by_name, key, p);
	return p;
}

struct probe *
probe_by_id(const struct probes *t, uint32_t id)
{
	return id - 1 < t->list.len ? t->list.at[id - 1] : NULL;
}

static bool
field_matches(const char *pattern, const char *text)
{
	if (*pattern == '\0')
		return true;
	return glob_is(pattern) ? glob_match(pattern, text) :
				  strcmp(pattern, text) == 0;
}

bool
probe_matches(const struct probe *p, const struct probe_desc *pd)
{
	if (pd->id != 0)
		return p->id == pd->id;
	if (*pd->prov == '\0' && *pd->mod == '\0' && *pd->func == '\0' &&
	    *pd->name == '\0')
		return *p->func != '\0';
	if (!field_matches(pd->name, p->name))
		return false;
	if (!field_matches(pd->func, p->func) &&
	    (p->provider->function_matches == NULL ||
		!p->provider->function_matches(p, pd->func)))
		return false;
	if (!field_matches(pd->prov, p->prov) &&
	    (p->provider->prov_matches == NULL ||
		!p->provider->prov_matches(p, pd->prov)))
		return false;
	return field_matches(pd->mod, p->mod) ||
	    (p->provider->module_matches != NULL &&
		p->provider->module_matches(p, pd->mod));
}
