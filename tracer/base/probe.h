/*
 * The probe table: every probe that a provider has created, by id and by its
 * four names.
 */
#ifndef TRACER_BASE_PROBE_H
#define TRACER_BASE_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "dlang/base/arena.h"
#include "dlang/base/hash.h"
#include "dlang/base/str.h"
#include "dlang/base/vec.h"
#include "dlang/world.h"

struct provider;

/* The types of the arguments of a probe. */
struct typed_args {
	size_t n;                     /* of them */
	const struct world_arg *args; /* borrowed until the end of the run; if
				       * an argument is unknown, native is NULL
				       * and why is set */
	const char *why; /* why there are none: a sentence or NULL */
};

struct probe {
	uint32_t id; /* from 1; what -l prints */
	const struct provider *provider;
	const char *prov, *mod, *func, *name; /* interned in the table */
	/* Other names of the function for descriptions, interned too, up to a
	 * NULL; or NULL. */
	const char *const *also;
	uint32_t image_ref; /* struct img_probe; 0 until it is enabled */
	void *data;         /* the provider's */
	double cost;        /* of its hits: deadman.c */
	bool off, out;      /* deadman.c: to be removed; removed */
	/* The args[] for which a clause of it was compiled; n is 0 if no clause
	 * uses args[]. */
	struct typed_args typed;
	struct probe *same_key; /* the next one with the same hash in by_name */
};

struct probes {
	VEC(struct probe *) list; /* by id, from 1, with one gap */
	size_t fixed;             /* before the gap; 0: there is none yet */
	struct hash by_name;      /* by the addresses of the four names */
	struct intern names;
	struct arena arena; /* where the probes are */
};

void probes_init(struct probes *t);
void probes_fini(struct probes *t);

/* Call it after the probes that exist in every run were added.  Ids of later
 * probes, which belong to processes or are created on demand, begin with
 * PROBE_FIRST_MADE, so that an id tells the kind and columns of ids have one
 * width. */
#define PROBE_FIRST_MADE 10001
void probes_fixed(struct probes *t);

/* The probe with these names; created if it does not exist (*fresh is then
 * true). */
struct probe *probe_add(struct probes *t, const struct provider *p,
    const char *prov, const char *mod, const char *func, const char *name,
    bool *fresh);
/* Set other names of its function for descriptions; names ends with NULL. */
void probe_also(struct probes *t, struct probe *p, const char *const *names);
struct probe *probe_by_id(const struct probes *t, uint32_t id);

/*
 * Does a description match this probe?  Each field is compared literally or as
 * a glob; an empty field matches all.  The function also matches by its other
 * names, and provider and module by `prov_matches' and `module_matches' of its
 * provider.  A description with four empty fields matches anchored probes only.
 */
bool probe_matches(const struct probe *p, const struct probe_desc *pd);

#endif
