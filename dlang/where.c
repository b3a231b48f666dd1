/*
 * Where a clause runs; see where.h.
 */
#include "dlang/where.h"

#include <string.h>

#include "dlang/base/glob.h"
#include "dlang/base/mem.h"
#include "dlang/prog.h"

bool
where_is_merged(const struct probe_desc *pd)
{
	bool end = strcmp(pd->name, "END") == 0;

	if (pd->id != 0 || *pd->mod != '\0' || *pd->func != '\0' ||
	    (!end && strncmp(pd->name, "tick-", 5) != 0))
		return false;
	return *pd->prov == '\0' ||
	    glob_match(pd->prov, end ? "dtrace" : "profile");
}

bool
where_text_is_merged(const char *desc)
{
	char *copy = mem_strdup(desc), *colon;
	const char *fields[4] = { "", "", "", "" };
	size_t at = 4;
	bool merged = false;

	/* From the last field on. */
	while (at > 0 && (colon = strrchr(copy, ':')) != NULL) {
		*colon = '\0';
		fields[--at] = colon + 1;
	}
	if (at > 0) {
		fields[--at] = copy;
		struct probe_desc pd = { .prov = fields[0],
			.mod = fields[1],
			.func = fields[2],
			.name = fields[3] };
		merged = where_is_merged(&pd);
	}
	mem_free(copy);
	return merged;
}

bool
where_any_merged(const struct prog *p)
{
	for (size_t i = 0; i < p->nclauses; i++)
		if (where_is_merged(&p->clauses[i]->desc))
			return true;
	return false;
}

/* ---- variables ---- */

static bool
uses(const struct difo *d, uint32_t id, bool writes)
{
	for (uint32_t i = 0; d != NULL && i < d->nvars; i++)
		if (d->vars[i].id == id && d->vars[i].scope == DIF_GLOBAL &&
		    (writes ? d->vars[i].written : d->vars[i].read))
			return true;
	return false;
}

static bool
clause_uses(const struct prog_clause *p, uint32_t id, bool writes)
{
	if (uses(p->pred, id, writes))
		return true;
	for (size_t i = 0; i < p->nacts; i++)
		if (uses(p->acts[i].difo, id, writes) ||
		    uses(p->acts[i].difo2, id, writes))
			return true;
	return false;
}

const char *
where_bad_variable(
    const struct prog_globals *g, const struct prog_clause **clause)
{
	vec_foreach(v, &g->vars) {
		const struct prog_clause *reads = NULL;
		bool written = false;

		if ((*v)->scope != DIF_GLOBAL)
			continue;
		vec_foreach(p, &g->clauses) {
			bool merged = where_is_merged(&(*p)->desc);
			if (merged && clause_uses(*p, (*v)->id, false))
				reads = *p;
			written |= !merged && clause_uses(*p, (*v)->id, true);
		}
		*clause = reads;
		if (reads != NULL && written)
			return (*v)->name;
	}
	return NULL;
}
