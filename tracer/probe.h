/*
 * The probe table: every probe that any provider has published, by id and by
 * its four names.
 */
#ifndef TRACER_PROBE_H
#define TRACER_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "dlang/base/hash.h"
#include "dlang/base/str.h"
#include "dlang/base/vec.h"
#include "dlang/world.h"

struct provider;

struct probe {
	uint32_t id; /* from 1; what -l prints */
	const struct provider *provider;
	const char *prov, *mod, *func, *name; /* interned in the table */
	uint32_t image_ref; /* struct img_probe; 0 until it is enabled */
	void *data;         /* the provider's */
};

struct probes {
	VEC(struct probe *) list; /* by id - 1 */
	struct hash by_name;
	struct intern names;
};

void probes_init(struct probes *t);
void probes_fini(struct probes *t);

/* The probe of these names, made if it is not there yet (*fresh says so). */
struct probe *probe_add(struct probes *t, const struct provider *p,
    const char *prov, const char *mod, const char *func, const char *name,
    bool *fresh);
struct probe *probe_lookup(const struct probes *t, const char *prov,
    const char *mod, const char *func, const char *name);
struct probe *probe_by_id(const struct probes *t, uint32_t id);

/*
 * Does a description mean this probe?  Each field is compared literally or as
 * a glob; an empty one matches all; provider and module also match
 * as `prov_matches' and `module_matches' of its provider say.  A description with four empty fields means
 * anchored probes only.
 */
bool probe_matches(const struct probe *p, const struct probe_desc *pd);

#endif
