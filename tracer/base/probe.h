/*
 * The probe table: every probe that any provider has published, by id and by
 * its four names.
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

/* The types of the arguments of a probe, as they are asked for. */
struct typed_args {
	size_t n;                     /* of them */
	const struct world_arg *args; /* borrowed until the end; native is NULL
				       * and why is set where it cannot be had */
	const char *why;              /* there are none: a sentence or NULL */
};

struct probe {
	uint32_t id; /* from 1; what -l prints */
	const struct provider *provider;
	const char *prov, *mod, *func, *name; /* interned in the table */
	/* What else descriptions may call the function, interned too, up to a
	 * NULL; or NULL. */
	const char *const *also;
	uint32_t image_ref; /* struct img_probe; 0 until it is enabled */
	void *data;         /* the provider's */
	double cost;        /* of its hits: deadman.c */
	bool off, out;      /* that was too much; and it is done */
	/* The args[] that a clause of it was compiled for; n is 0 where none
	 * looks at them. */
	struct typed_args typed;
	struct probe *same_key; /* the next in by_name, by accident */
};

struct probes {
	VEC(struct probe *) list; /* by id, from 1, but for a gap */
	size_t fixed;             /* before the gap; 0: there is none yet */
	struct hash by_name;      /* by the addresses of the four names */
	struct intern names;
	struct arena arena; /* where the probes are */
};

void probes_init(struct probes *t);
void probes_fini(struct probes *t);

/* What was added so far is there in every run; the probes that come now belong
 * to processes, or were asked for, and their ids begin with PROBE_FIRST_MADE: an
 * id tells which it is, and columns of them are of one width. */
#define PROBE_FIRST_MADE 10001
void probes_fixed(struct probes *t);

/* The probe of these names, made if it is not there yet (*fresh says so). */
struct probe *probe_add(struct probes *t, const struct provider *p,
    const char *prov, const char *mod, const char *func, const char *name,
    bool *fresh);
/* Descriptions may call its function by these names, too; they end with a NULL. */
void probe_also(struct probes *t, struct probe *p, const char *const *names);
struct probe *probe_lookup(struct probes *t, const char *prov, const char *mod,
    const char *func, const char *name);
struct probe *probe_by_id(const struct probes *t, uint32_t id);

/*
 * Does a description mean this probe?  Each field is compared literally or as
 * a glob; an empty one matches all; the function also by its other names;
 * provider and module also match as
 * `prov_matches' and `module_matches' of its provider say.  A description with
 * four empty fields means anchored probes only.
 */
bool probe_matches(const struct probe *p, const struct probe_desc *pd);

#endif
